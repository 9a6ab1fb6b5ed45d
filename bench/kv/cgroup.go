// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cage holds one process below a memory limit that counts page cache too: a
// control group of the system, version 1 or 2.
type cage struct {
	dir string
	v2  bool
}

// cages makes control groups in one place.
type cages struct {
	parent string
	v2     bool
	// Why says how the place was found, or why there is none; parent is ""
	// then.
	Why string
}

// findCages looks for a place where control groups with a memory limit can be
// made: dir when it is not "", else the usual ones.
func findCages(dir string) cages {
	try := []string{dir}
	if dir == "" {
		try = []string{"/sys/fs/cgroup/memory", "/sys/fs/cgroup", "/sys/fs/cgroup/unified"}
		own, _ := os.ReadFile("/proc/self/cgroup")
		for _, l := range strings.Split(string(own), "\n") {
			switch f := strings.SplitN(l, ":", 3); {
			case len(f) == 3 && f[1] == "memory":
				try = append(try, filepath.Join("/sys/fs/cgroup/memory", f[2]))
			case len(f) == 3 && f[0] == "0":
				try = append(try, filepath.Join("/sys/fs/cgroup", f[2]), filepath.Dir(filepath.Join("/sys/fs/cgroup", f[2])))
			}
		}
	}
	var why []string
	for _, place := range try {
		c := cages{parent: place}
		_, err := os.Stat(filepath.Join(place, "cgroup.controllers"))
		c.v2 = err == nil
		g, err := c.make("probe", 64<<20)
		if err != nil {
			why = append(why, err.Error())
			continue
		}
		if err := g.remove(); err != nil {
			why = append(why, err.Error())
			continue
		}
		version := 1
		if c.v2 {
			version = 2
		}
		c.Why = fmt.Sprintf("control groups of version %d in %s", version, place)
		return c
	}
	return cages{Why: "none: " + strings.Join(why, "; ")}
}

// make makes a control group with a limit in bytes.
func (c cages) make(name string, limit int64) (*cage, error) {
	g := &cage{dir: filepath.Join(c.parent, fmt.Sprintf("kv-%d-%s", os.Getpid(), name)), v2: c.v2}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, err
	}
	limits := map[string]string{"memory.limit_in_bytes": strconv.FormatInt(limit, 10)}
	if c.v2 {
		limits = map[string]string{"memory.max": strconv.FormatInt(limit, 10), "memory.swap.max": "0"}
	}
	for file, text := range limits {
		err := g.write(file, text)
		if errors.Is(err, os.ErrNotExist) && file == "memory.swap.max" {
			continue // a kernel without swap
		}
		if err != nil {
			return nil, errors.Join(err, os.Remove(g.dir))
		}
	}
	return g, nil
}

// write sets a knob, which has to be there already.
func (g *cage) write(file, text string) error {
	f, err := os.OpenFile(filepath.Join(g.dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// add puts a process in.
func (g *cage) add(pid int) error { return g.write("cgroup.procs", strconv.Itoa(pid)) }

// peak is the most memory that was charged, page cache included.
func (g *cage) peak() int64 {
	file := "memory.max_usage_in_bytes"
	if g.v2 {
		file = "memory.peak"
	}
	text, err := os.ReadFile(filepath.Join(g.dir, file))
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// kills is how often the kernel killed something in the group for memory.
func (g *cage) kills() int64 {
	file := "memory.oom_control"
	if g.v2 {
		file = "memory.events"
	}
	return numberIn(filepath.Join(g.dir, file), "oom_kill")
}

// remove gives back the page cache that is charged to the group, which another
// group would have for free otherwise, and removes it. It waits a moment for a
// process that has just ended.
func (g *cage) remove() (err error) {
	for range 50 {
		if !g.v2 {
			g.write("memory.force_empty", "0") // what cannot be freed now is charged to the parent
		}
		if err = os.Remove(g.dir); err == nil || errors.Is(err, os.ErrNotExist) {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}
