// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// quotaPeriod is the period of a quota, in microseconds: a node that has used up its share waits
// until the next one begins.
const quotaPeriod = 50_000

// groupsDir is where control groups are.
const groupsDir = "/sys/fs/cgroup"

// confine moves a process to a control group of its own, which gives it a share of a
// core, in percent. It returns the group's directory, which the caller removes when the process
// has ended. It needs Linux and the right to make groups.
func confine(pid int, percent float64) (string, error) {
	quota := strconv.Itoa(max(int(percent*quotaPeriod/100), 1000)) // the kernel takes no less
	base, files := filepath.Join(groupsDir, "cpu"), map[string]string{"cpu.cfs_period_us": strconv.Itoa(quotaPeriod), "cpu.cfs_quota_us": quota}
	if text, err := os.ReadFile(filepath.Join(groupsDir, "cgroup.controllers")); err == nil && bytes.Contains(text, []byte("cpu")) {
		base, files = groupsDir, map[string]string{"cpu.max": quota + " " + strconv.Itoa(quotaPeriod)}
	}
	dir := filepath.Join(base, fmt.Sprintf("ashlar-bench-%d", pid))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("-quota: %w", err)
	}
	files["cgroup.procs"] = strconv.Itoa(pid)
	for _, name := range []string{"cpu.cfs_period_us", "cpu.cfs_quota_us", "cpu.max", "cgroup.procs"} {
		if text, ok := files[name]; ok {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				return dir, fmt.Errorf("-quota: %w", err)
			}
		}
	}
	return dir, nil
}
