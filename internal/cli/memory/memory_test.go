// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"os"
	"runtime"
	"testing"
	"testing/fstest"
)

// TestAvailable: the least of what the machine has and of what each group around the
// process has left. The numbers are computed by hand.
func TestAvailable(t *testing.T) {
	type files map[string]string
	machine := "MemTotal:  9000 kB\nMemFree:  10 kB\nMemAvailable:   4000 kB\n" // 4,096,000 bytes
	for name, c := range map[string]struct {
		files files
		want  int64
	}{
		"nothing is known": {nil, -1},
		"no groups":        {files{"proc/meminfo": machine}, 4_096_000},
		"a service": {files{"proc/meminfo": machine, "proc/self/cgroup": "0::/system.slice/a.service\n",
			"sys/fs/cgroup/system.slice/a.service/memory.max":     "3000000\n",
			"sys/fs/cgroup/system.slice/a.service/memory.current": "2000000\n",
			"sys/fs/cgroup/system.slice/a.service/memory.stat":    "anon 1\ninactive_file 300000\nactive_file 7\n"}, 1_300_000},
		"around the service": {files{"proc/meminfo": machine, "proc/self/cgroup": "0::/system.slice/a.service\n",
			"sys/fs/cgroup/system.slice/a.service/memory.max":     "max\n",
			"sys/fs/cgroup/system.slice/a.service/memory.current": "5\n",
			"sys/fs/cgroup/system.slice/memory.max":               "3000000\n",
			"sys/fs/cgroup/system.slice/memory.current":           "2600000\n"}, 400_000},
		"no limit": {files{"proc/meminfo": machine, "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, 4_096_000},
		"more than the machine has": {files{"proc/meminfo": machine, "proc/self/cgroup": "0::/a\n",
			"sys/fs/cgroup/a/memory.max": "90000000\n", "sys/fs/cgroup/a/memory.current": "1\n"}, 4_096_000},
		"full": {files{"proc/meminfo": machine, "proc/self/cgroup": "0::/a\n",
			"sys/fs/cgroup/a/memory.max": "3000000\n", "sys/fs/cgroup/a/memory.current": "3000001\n"}, 0},
		"a container": {files{"proc/meminfo": machine, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "3000000\n", "sys/fs/cgroup/memory.current": "1000000\n"}, 2_000_000},
		"a container that sees the path outside": {files{"proc/meminfo": machine, "proc/self/cgroup": "9:memory:/docker/1234\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "3000000\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "1000000\n"}, 2_000_000},
		"a path that leads out": {files{"proc/meminfo": machine, "proc/self/cgroup": "0::/../../a\n",
			"sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/memory.current": "1\n"}, 4_096_000},
		"a path to the group around": {files{"proc/meminfo": machine, "proc/self/cgroup": "0::/..\n",
			"sys/fs/cgroup/memory.max": "3000000\n", "sys/fs/cgroup/memory.current": "1000000\n"}, 2_000_000},
		"a name with dots": {files{"proc/meminfo": machine, "proc/self/cgroup": "0::/..a\n",
			"sys/fs/cgroup/..a/memory.max": "3000000\n", "sys/fs/cgroup/..a/memory.current": "1000000\n"}, 2_000_000},
		"no usage": {files{"proc/meminfo": machine, "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "1000\n"}, 4_096_000},
		"more can be dropped than is used": {files{"proc/meminfo": machine, "proc/self/cgroup": "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "5\n",
			"sys/fs/cgroup/memory/memory.stat": "total_inactive_file 900000\n"}, 4_096_000},
		"numbers without sense": {files{"proc/meminfo": "MemAvailable: 9223372036854775807 kB\n", "proc/self/cgroup": "0::/a\n",
			"sys/fs/cgroup/a/memory.max": "9223372036854775807\n", "sys/fs/cgroup/a/memory.current": "-5\n"}, 9223372036854774784},
		"version 1": {files{"proc/meminfo": machine, "proc/self/cgroup": "12:cpu,cpuacct:/x\n4:hugetlb,memory:/user/b\n0::/c\n",
			"sys/fs/cgroup/memory/user/b/memory.limit_in_bytes": "9223372036854771712\n",
			"sys/fs/cgroup/memory/user/b/memory.usage_in_bytes": "900000\n",
			"sys/fs/cgroup/memory/user/memory.limit_in_bytes":   "2000000\n",
			"sys/fs/cgroup/memory/user/memory.usage_in_bytes":   "1000000\n",
			"sys/fs/cgroup/memory/user/memory.stat":             "inactive_file 5\ntotal_inactive_file 100000\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes":      "7\n"}, 1_100_000},
		"another's group": {files{"proc/meminfo": machine, "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/b/memory.max": "7\n"}, 4_096_000},
		"nonsense": {files{"proc/meminfo": "MemAvailable:\nMemAvailable: much kB\n", "proc/self/cgroup": "\n::\n0:\nx\n0::\n",
			"sys/fs/cgroup/memory.max": "\n"}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{}
			for file, text := range c.files {
				root[file] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := available(root); got != c.want {
				t.Errorf("%d bytes are available, want %d", got, c.want)
			}
		})
	}
}

// TestThisMachine: where the kernel says how much is available, it is found.
func TestThisMachine(t *testing.T) {
	if _, err := os.Stat("/proc/meminfo"); err != nil || runtime.GOOS != "linux" {
		t.Skip("did not run: there is no /proc/meminfo")
	}
	if Available() < 0 {
		t.Error("it is not known how much memory is available")
	}
}
