// SPDX-License-Identifier: Apache-2.0

// Package memory finds how much memory a process may still use.
//
// In: the files in which Linux reports it. Out: bytes. Promised: it respects the limits
// of all control groups that contain the process, including those of a service manager
// and of a container. Refused: control groups that are not below /sys/fs/cgroup, and
// other systems, for which the result is unknown.
package memory

import (
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// Available returns how many more bytes the process may use before the system kills
// a process; -1 if the system does not report it.
func Available() int64 { return available(os.DirFS("/")) }

// controller holds the file names of one version of control groups.
type controller struct {
	root, limit, usage string
	// inactive is the line in memory.stat, for the group and those below it, for cached
	// file pages that the kernel can drop: they count as used, but can be freed when
	// needed.
	inactive string
}

var (
	version1 = controller{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
	version2 = controller{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"}
)

// available is Available with the root of the file system as an argument.
func available(root fs.FS) int64 {
	least := int64(-1)
	consider := func(n int64) {
		if least < 0 || n < least {
			least = max(n, 0)
		}
	}
	if kib, ok := field(root, "proc/meminfo", "MemAvailable:"); ok {
		consider(min(kib, math.MaxInt64/1024) * 1024)
	}
	groups, _ := fs.ReadFile(root, "proc/self/cgroup") // none where there are no groups
	for line := range strings.Lines(string(groups)) {
		// NUMBER:CONTROLLERS:PATH; version 2 has the number 0 and lists no controllers.
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) < 3 {
			continue
		}
		var c controller
		switch {
		case part[0] == "0" && part[1] == "":
			c = version2
		case strings.Contains(","+part[1]+",", ",memory,"):
			c = version1
		default:
			continue
		}
		// The groups outside of the namespace are invisible, but the root of the namespace
		// can be read.
		if strings.HasPrefix(part[2]+"/", "/../") {
			part[2] = "/"
		}
		// The limits of enclosing groups also apply to a group. In a container the path may
		// be relative to the outside; then the root is the container's own group.
		for group := path.Join("/", part[2]); ; group = path.Dir(group) {
			if n, ok := c.left(root, group); ok {
				consider(n)
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}

// left returns how much more memory a group may use.
func (c controller) left(root fs.FS, group string) (bytes int64, ok bool) {
	dir := path.Join(c.root, group)
	limit, ok := number(root, path.Join(dir, c.limit)) // "max" is none
	if !ok {
		return 0, false
	}
	usage, ok := number(root, path.Join(dir, c.usage))
	if !ok {
		return 0, false
	}
	inactive, _ := field(root, path.Join(dir, "memory.stat"), c.inactive)
	return limit - max(usage-inactive, 0), true
}

// number reads a file that holds a number.
func number(root fs.FS, name string) (n int64, ok bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	return count(strings.TrimSpace(string(text)))
}

// count reads a number that is not negative.
func count(text string) (n int64, ok bool) {
	u, err := strconv.ParseUint(text, 10, 63)
	return int64(u), err == nil
}

// field reads the number that follows a name in a file of lines.
func field(root fs.FS, name, wanted string) (n int64, ok bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == wanted {
			return count(f[1])
		}
	}
	return 0, false
}
