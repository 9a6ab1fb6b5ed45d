// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pin keeps this process, all of its threads and those that they will start,
// on the last n CPUs that it may use: the first one serves interrupts.
func pin(n int) error {
	var may, want unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil {
		return fmt.Errorf("ask for the CPUs: %w", err)
	}
	if n > may.Count() {
		return fmt.Errorf("%d CPUs are wanted, this process may use %d", n, may.Count())
	}
	for cpu := len(may)*64 - 1; cpu >= 0 && want.Count() < n; cpu-- {
		if may.IsSet(cpu) {
			want.Set(cpu)
		}
	}
	// A thread that starts while the list is read inherits from one that was
	// done, or is found the second time.
	for range 2 {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		for _, t := range tasks {
			tid, err := strconv.Atoi(t.Name())
			if err != nil {
				return err
			}
			if err := unix.SchedSetaffinity(tid, &want); err != nil && err != unix.ESRCH {
				return fmt.Errorf("keep to %d CPUs: %w", n, err)
			}
		}
	}
	return nil
}

// usage is what the process has used since it started.
type usage struct {
	cpu           time.Duration
	written, read int64
}

func usageNow() usage {
	var u usage
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) == nil {
		u.cpu = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	u.read = numberIn("/proc/self/io", "read_bytes:")
	u.written = numberIn("/proc/self/io", "write_bytes:")
	return u
}

func (u usage) since(before usage) usage {
	return usage{cpu: u.cpu - before.cpu, written: u.written - before.written, read: u.read - before.read}
}

// numberIn finds the number behind a word at the start of a line; 0: none.
func numberIn(name, word string) int64 {
	f, err := os.Open(name)
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if fields := strings.Fields(s.Text()); len(fields) >= 2 && fields[0] == word {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0
			}
			return n
		}
	}
	return 0
}

// peakRSS is the most memory that was resident, in bytes.
func peakRSS() int64 { return numberIn("/proc/self/status", "VmHWM:") << 10 }

// anonOf is the anonymous memory of a process now, in bytes.
func anonOf(pid int) int64 { return numberIn(fmt.Sprintf("/proc/%d/status", pid), "RssAnon:") << 10 }

// allocated is the space that a file takes.
func allocated(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}

// dropCache has the system forget what it caches of the files below a
// directory, so that every phase begins cold and owes its cache to its own
// limit.
func dropCache(dir string) error {
	return filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := f.Sync(); err != nil { // dirty pages would stay
			return err
		}
		return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	})
}

// openDirect opens a file that goes around the page cache.
func openDirect(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_DIRECT, 0o600)
}

// datasync makes a file's bytes durable.
func datasync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }

// pages is memory at a page's border, as direct files want it.
func pages(n int) ([]byte, error) {
	return unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

// cpuModel is the processor's name.
func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for _, l := range strings.Split(string(text), "\n") {
		if name, ok := strings.CutPrefix(l, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return ""
}

// loadAverage is the system's over the last minute.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	load, _, _ := strings.Cut(string(text), " ")
	return load
}

// freeSpace is what this user may still write below a directory, in bytes.
func freeSpace(dir string) (n int64, known bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * s.Bsize, true
}

// libraryVersion is what follows prefix in the name of a library that is
// loaded.
func libraryVersion(prefix string) string {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return ""
	}
	_, after, _ := strings.Cut(string(text), prefix)
	version, _, _ := strings.Cut(after, "\n")
	return version
}
