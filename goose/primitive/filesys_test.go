// SPDX-License-Identifier: Apache-2.0

package primitive_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/goose/primitive/filesys"
	"github.com/ashlar-dev/ashlar/goose/primitive/internal/model"
	"github.com/ashlar-dev/ashlar/goose/primitive/mem"
	"github.com/ashlar-dev/ashlar/internal/evidence/crashtest"
)

type fsDo = crashtest.Do[model.FSOp, model.FSRet]

func fsDirs() []string { return []string{"a", "b"} }

// doFS runs operations, and knows which descriptor a number is.
func doFS(f *filesys.FS) fsDo {
	var mu sync.Mutex
	fds := map[int]filesys.File{}
	return func(o model.FSOp) (ret model.FSRet) {
		mu.Lock()
		fd := fds[o.Fd]
		mu.Unlock()
		switch o.Name {
		case "Create", "Open":
			if o.Name == "Create" {
				fd, ret.OK = f.Create(o.Dir, o.Entry)
			} else {
				fd, ret.OK = f.Open(o.Dir, o.Entry)
			}
			if ret.OK {
				mu.Lock()
				fds[o.Fd] = fd
				mu.Unlock()
			}
		case "Append":
			f.Append(fd, []byte(o.Data))
		case "ReadAt":
			ret.Data = string(f.ReadAt(fd, o.Off, o.N))
		case "Size":
			ret.Size = f.Size(fd)
		case "Close":
			f.Close(fd)
		case "Link":
			ret.OK = f.Link(o.Dir, o.Entry, o.Dir2, o.Entry2)
		case "Unlink":
			f.Unlink(o.Dir, o.Entry)
		case "List":
			ret.Names = f.List(o.Dir)
			slices.Sort(ret.Names)
		case "Sync":
			f.Sync(fd)
		case "SyncDir":
			f.SyncDir(o.Dir)
		}
		return ret
	}
}

// fsClient makes only calls for which the model has steps, whatever the others
// do. Only it removes names that begin with its letter, and only client 0
// removes the common ones.
func fsClient(r env.Random, client int, do fsDo) {
	dir := func() string { return fsDirs()[env.IntN(r, 2)] }
	own := func() string { return fmt.Sprintf("%c%d", 'p'+client, env.IntN(r, 3)) }
	common := func() string { return fmt.Sprint("common", env.IntN(r, 2)) }
	fd := client
	mine := func(name string) bool {
		return name[0] == 'p'+byte(client) || client == 0 && strings.HasPrefix(name, "common")
	}
	switch p := env.IntN(r, 12); {
	case p < 4:
		d, name := dir(), own()
		if p == 0 {
			name = common()
		}
		if !do(model.FSOp{Name: "Create", Dir: d, Entry: name, Fd: fd, New: r.Uint64() | 1}).OK {
			return
		}
		for range env.IntN(r, 3) {
			length := []int{0, 1, 100, 9000}[env.IntN(r, 4)]
			do(model.FSOp{Name: "Append", Fd: fd, Data: strings.Repeat(string(rune('a'+env.IntN(r, 26))), length)})
		}
		if env.IntN(r, 2) == 0 {
			do(model.FSOp{Name: "Sync", Fd: fd})
		}
		do(model.FSOp{Name: "Close", Fd: fd})
		if p == 1 {
			do(model.FSOp{Name: "Link", Dir: d, Entry: name, Dir2: dir(), Entry2: common()})
		}
	case p < 8:
		name := common()
		if p == 4 {
			name = fmt.Sprintf("%c%d", 'p'+env.IntN(r, 3), env.IntN(r, 3))
		}
		if !do(model.FSOp{Name: "Open", Dir: dir(), Entry: name, Fd: fd}).OK {
			return
		}
		for range env.IntN(r, 3) {
			do(model.FSOp{Name: "ReadAt", Fd: fd, Off: uint64(env.IntN(r, 200)), N: uint64(env.IntN(r, 15_000))})
			do(model.FSOp{Name: "Size", Fd: fd})
		}
		do(model.FSOp{Name: "Close", Fd: fd})
	case p == 8:
		do(model.FSOp{Name: "SyncDir", Dir: dir()})
	default:
		d := dir()
		for _, name := range do(model.FSOp{Name: "List", Dir: d}).Names {
			if !mine(name) {
				continue
			}
			switch env.IntN(r, 3) {
			case 0:
				do(model.FSOp{Name: "Unlink", Dir: d, Entry: name})
			case 1:
				do(model.FSOp{Name: "Link", Dir: d, Entry: name, Dir2: dir(), Entry2: own()})
			}
		}
	}
}

func fsSystem() crashtest.System[model.FSState, model.FSOp, model.FSRet] {
	return crashtest.System[model.FSState, model.FSOp, model.FSRet]{
		Name: "filesys", Spec: model.FS(fsDirs()...), Clients: 3, Client: fsClient,
		Observe: func(do fsDo) {
			for _, d := range fsDirs() {
				for _, name := range do(model.FSOp{Name: "List", Dir: d}).Names {
					do(model.FSOp{Name: "Open", Dir: d, Entry: name, Fd: 0})
					do(model.FSOp{Name: "ReadAt", Fd: 0, N: 1 << 20})
					do(model.FSOp{Name: "Close", Fd: 0})
				}
			}
		},
		Build: func(m *mem.Machine) func(*mem.Life) fsDo {
			f := m.NewFS(fsDirs())
			return func(l *mem.Life) fsDo { return doFS(f.Open(l)) }
		},
		Open: func(dir string) (fsDo, error) {
			f, err := filesys.Open(dir, fsDirs())
			if err != nil {
				return nil, err
			}
			return doFS(f), nil
		},
	}
}

func TestFS(t *testing.T)       { together(t, fsSystem()) }
func TestFSKilled(t *testing.T) { crashtest.Kill(t, fsSystem(), kills(), 1) }

// TestFSInMemory: with a machine that loses nothing in a crash, like the end of
// a process.
func TestFSInMemory(t *testing.T) {
	for seed := range uint64(5) {
		m := mem.NewMachine(func(int) int { return 0 })
		f := m.NewFS(fsDirs())
		s := fsSystem()
		s.Open = func(string) (fsDo, error) { return doFS(f.Open(m.Boot(0))), nil }
		crashtest.Together(t, s, 100, seed)
	}
}

// drawFSOp draws an operation that the model has a step for.
func drawFSOp(t *rapid.T, s model.FSState) (o model.FSOp) {
	for {
		o = model.FSOp{
			Name: rapid.SampledFrom([]string{"Create", "Create", "Open", "Append", "Append", "ReadAt", "Size", "Close", "Link", "Unlink", "List", "Sync", "SyncDir"}).Draw(t, "name"),
			Dir:  rapid.SampledFrom(fsDirs()).Draw(t, "dir"), Entry: rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "entry"),
			Dir2: rapid.SampledFrom(fsDirs()).Draw(t, "dir2"), Entry2: rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "entry2"),
			Fd: rapid.IntRange(1, 4).Draw(t, "fd"), New: uint64(len(s.Inodes) + 1),
			Off: rapid.Uint64().Draw(t, "off"), N: rapid.Uint64().Draw(t, "n"),
		}
		if rapid.Bool().Draw(t, "near") {
			o.Off, o.N = o.Off%20, o.N%20
		}
		if o.Name == "Append" {
			o.Data = rapid.StringN(0, 10, -1).Draw(t, "data")
		}
		if _, _, ok := s.Step(o); ok {
			return o
		}
	}
}

// runFS runs operations one by one, on a file system and on the model.
func runFS(t *rapid.T, do fsDo, s model.FSState, n int) model.FSState {
	for range n {
		o := drawFSOp(t, s)
		after, want, _ := s.Step(o)
		if got := do(o); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Fatalf("%v: %v, the model says %v", o, got, want)
		}
		s = after
	}
	return s
}

// TestFSAlone: any operations one by one, and again after the end of a process.
func TestFSAlone(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			t.Fatal(err)
		}
		s := model.FS(fsDirs()...).Init
		for range 2 {
			f, err := filesys.Open(dir, fsDirs())
			if err != nil {
				t.Fatal(err)
			}
			s = runFS(t, doFS(f), s, rapid.IntRange(1, 40).Draw(t, "length"))
			if err := f.Shut(); err != nil {
				t.Fatal(err)
			}
			s.Fds = map[int]model.Fd{}
		}
	})
}

// TestMemoryFSCrash: fs_crash allows every state that a crash leaves in memory,
// and all kinds of states occur.
func TestMemoryFSCrash(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(2000) {
		r := env.Seeded(seed)
		m := mem.NewMachine(func(n int) int { return env.IntN(r, n) })
		f := m.NewFS(fsDirs())
		l := m.Boot(0)
		s := alone(r, doFS(f.Open(l)), model.FS(fsDirs()...).Init, 30)
		l.Crash()
		if err := checkFSCrash(s, doFS(f.Open(m.Boot(0))), seen); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	for _, kind := range []string{"a name is lost", "a name is back", "a name is another's", "bytes are lost", "bytes are anything", "all is there"} {
		if seen[kind] == 0 {
			t.Errorf("never: %s; seen %v", kind, seen)
		}
	}
}

// alone runs random operations, one by one.
func alone(r env.Random, do fsDo, s model.FSState, n int) model.FSState {
	names := []string{"Create", "Create", "Open", "Append", "Append", "Append", "Close", "Link", "Unlink", "Sync", "SyncDir"}
	for range n {
		o := model.FSOp{
			Name: names[env.IntN(r, len(names))], Dir: fsDirs()[env.IntN(r, 2)], Entry: fmt.Sprint(env.IntN(r, 3)),
			Dir2: fsDirs()[env.IntN(r, 2)], Entry2: fmt.Sprint(env.IntN(r, 3)),
			Fd: env.IntN(r, 4), New: uint64(len(s.Inodes) + 1), Data: strings.Repeat("d", env.IntN(r, 10)),
		}
		if after, _, ok := s.Step(o); ok {
			do(o)
			s = after
		}
	}
	return s
}

// checkFSCrash is fs_crash, of what can be seen: which inode a name stands for
// is not, so it looks for one that fits.
func checkFSCrash(s model.FSState, do fsDo, seen map[string]int) error {
	found := map[string]string{}
	for _, d := range fsDirs() {
		for _, name := range do(model.FSOp{Name: "List", Dir: d}).Names {
			do(model.FSOp{Name: "Open", Dir: d, Entry: name, Fd: 1})
			found[d+"/"+name] = do(model.FSOp{Name: "ReadAt", Fd: 1, N: 1 << 20}).Data
			do(model.FSOp{Name: "Close", Fd: 1})
		}
	}
	for _, d := range fsDirs() {
		for _, name := range slices.Sorted(maps.Keys(s.Dirs[d])) {
			e := s.Dirs[d][name]
			data, there := found[d+"/"+name]
			delete(found, d+"/"+name)
			i := slices.IndexFunc(e.Possible(), func(i uint64) bool {
				return i == 0 && !there || i != 0 && there && model.InodeCrash(s.Inodes[i], data)
			})
			if i < 0 {
				return fmt.Errorf("%s/%s is %v, %q: the model has %+v, of %+v", d, name, there, data, e, s.Inodes)
			}
			inode := s.Inodes[e.Possible()[i]]
			switch {
			case !there && e.Latest != 0:
				seen["a name is lost"]++
			case there && e.Latest == 0:
				seen["a name is back"]++
			case there && i > 0:
				seen["a name is another's"]++
			case there && len(data) < len(inode.Data):
				seen["bytes are lost"]++
			case there && data != inode.Data:
				seen["bytes are anything"]++
			case there:
				seen["all is there"]++
			}
		}
	}
	if len(found) > 0 {
		return fmt.Errorf("names that were never used: %q", found)
	}
	return nil
}

func TestFSMisuse(t *testing.T) {
	dir := t.TempDir()
	f, err := filesys.Open(dir, fsDirs())
	if err != nil {
		t.Fatal(err)
	}
	fd, ok := f.Create("a", "x")
	if !ok {
		t.Fatal("x is taken")
	}
	read, _ := f.Open("a", "x")
	mustPanic(t, "no directory", func() { f.List("c") })
	mustPanic(t, "name with a slash", func() { f.Create("a", "../b/y") })
	mustPanic(t, "no name", func() { f.Open("a", "") })
	mustPanic(t, "the directory", func() { f.Unlink("a", ".") })
	mustPanic(t, "unlink of nothing", func() { f.Unlink("a", "y") })
	mustPanic(t, "link of nothing", func() { f.Link("a", "y", "a", "z") })
	mustPanic(t, "read of what is for appending", func() { f.ReadAt(fd, 0, 1) })
	mustPanic(t, "append to what is for reading", func() { f.Append(read, nil) })
	f.Close(fd)
	mustPanic(t, "size of what is closed", func() { f.Size(fd) })
	mustPanic(t, "closed twice", func() { f.Close(fd) })
	if _, err := filesys.Open(dir, fsDirs()); err == nil {
		t.Error("open twice")
	}
	if err := f.Shut(); err != nil {
		t.Fatal(err)
	}
	for _, dirs := range [][]string{{"a", "a"}, {".."}, {"a/b"}, {""}} {
		if _, err := filesys.Open(dir, dirs); err == nil {
			t.Errorf("directories %q", dirs)
		}
	}
}
