// SPDX-License-Identifier: Apache-2.0

// Package memory is how much memory a process can still have.
//
// In: the files by which Linux says so. Out: bytes. Promised: the limits of all control
// groups that the process is in count, those of a service manager and of a container
// too. Refused: control groups that are not below /sys/fs/cgroup, and other systems, of
// which nothing is known.
package memory

import (
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// Available is how many bytes the process can have beyond what it holds, before the
// system ends a process; -1 where the system does not say.
func Available() int64 { return available(os.DirFS("/")) }

// controller is what one version of control groups calls its files.
type controller struct {
	root, limit, usage string
	// inactive is the line of memory.stat, of the group and those below it, for pages of
	// files that can be dropped: they count as used, and make room when it is needed.
	inactive string
}

var (
	version1 = controller{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
	version2 = controller{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"}
)

// available is Available where the root of the file system is given.
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
		// What is outside of the namespace of groups cannot be seen; what is at the root can.
		if strings.HasPrefix(part[2]+"/", "/../") {
			part[2] = "/"
		}
		// The limits of the groups around it bound a group too. In a container the path may
		// be that outside of it; what is at the root is then the container's own group.
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

// left is how much more memory a group can have.
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
