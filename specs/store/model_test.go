// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
)

type files struct{}

func (files) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

func modelOf(t *testing.T, spec, cfg string) check.Model {
	t.Helper()
	loaded, diags, err := load.Load(files{}, spec, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	text, err := os.ReadFile(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var wrong source.List
	c := config.Parse(source.NewFile(cfg, text), &wrong)
	if wrong.HasErrors() {
		t.Fatal(&wrong)
	}
	m, err := model.New(loaded.Spec, c, model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestTheRefinementIsChecked looks at each configuration that is said to hold:
// the checker must not have set aside what it was asked for.
func TestTheRefinementIsChecked(t *testing.T) {
	text, err := os.ReadFile("expect.txt")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		info := modelOf(t, f[0], f[1]).Info()
		if len(info.Unchecked) > 0 {
			t.Errorf("%s: not checked: %v", f[1], info.Unchecked)
		}
		if f[0] != "JournalCheckpoint.tla" {
			continue
		}
		checked++
		if !strings.Contains(strings.Join(info.Steps, " "), "Refinement") {
			t.Errorf("%s: steps are checked for %v, want Refinement", f[1], info.Steps)
		}
	}
	if checked == 0 {
		t.Error("no configuration of JournalCheckpoint is expected to hold")
	}
}

// TestEveryFlawIsListed compares the flaws that the modules know with those
// that a configuration has.
func TestEveryFlawIsListed(t *testing.T) {
	known := map[string]bool{"none": true}
	for _, module := range []string{"JournalCheckpoint.tla", "FailedSync.tla", "FullDisk.tla"} {
		text, err := os.ReadFile(module)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`Flaw [=#] "([^"]*)"`).FindAllStringSubmatch(string(text), -1) {
			known[found[1]] = true
		}
	}
	configured := map[string]bool{}
	paths, err := filepath.Glob("flaws/*.cfg")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(text), `Flaw = "`)
		name, _, _ := strings.Cut(after, `"`)
		configured[name] = true
		if !known[name] {
			t.Errorf("%s: no module has the flaw %q", path, name)
		}
	}
	for name := range known {
		if !configured[name] {
			t.Errorf("no configuration has the flaw %q", name)
		}
	}
}

// explore is a breadth-first search that knows nothing of TLA+: it counts the
// steps with the initial state, the states and the levels. A state that is not
// kept is a step and no more.
func explore[S comparable](first S, steps func(S, func(S)), kept func(S) bool) (generated, distinct, depth int) {
	seen := map[S]bool{first: true}
	generated = 1
	for level := []S{first}; len(level) > 0; depth++ {
		var next []S
		for _, s := range level {
			steps(s, func(to S) {
				generated++
				if kept(to) && !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			})
		}
		level = next
	}
	return generated, len(seen), depth
}

func compare(t *testing.T, spec, cfg string, generated, distinct, depth int) {
	t.Helper()
	r, err := check.Run(context.Background(), modelOf(t, spec, cfg), check.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != check.OK || r.Generated != int64(generated) || r.Distinct != int64(distinct) || r.Depth != depth {
		t.Errorf("%s: %v: %d generated, %d distinct, depth %d, want %d, %d, %d", cfg, r.Verdict, r.Generated, r.Distinct, r.Depth, generated, distinct, depth)
	}
}

// versionsMax is MaxVersions of map.cfg.
const versionsMax = 4

// aMap is a state of CrashSafeMap with two keys, one value and one sync.
type aMap struct {
	versions     [versionsMax + 1][2]int8
	n            int
	frozen, sync int
}

func (m aMap) from(first, last int) aMap {
	out := aMap{n: last - first + 1, frozen: m.frozen, sync: m.sync}
	copy(out.versions[:], m.versions[first-1:last])
	return out
}

func (m aMap) steps(to func(aMap)) {
	for key := range 2 {
		for value := range int8(2) {
			s := m
			s.versions[s.n] = s.versions[s.n-1]
			s.versions[s.n][key] = value
			s.n++
			to(s)
		}
	}
	switch m.sync {
	case 0:
		s := m
		s.sync = m.n
		to(s)
	case 1:
		s := m
		s.sync = 0
		to(s)
	}
	for n := m.frozen + 1; n <= m.n; n++ {
		s := m
		s.frozen = n
		to(s)
	}
	for n := 2; n <= m.frozen; n++ {
		s := m.from(n, m.n)
		s.frozen = m.frozen - n + 1
		if m.sync > 0 {
			s.sync = max(1, m.sync-n+1)
		}
		to(s)
	}
	lost := m.from(1, 1)
	lost.frozen, lost.sync = 1, 0
	to(lost)
	for n := 1; n <= m.frozen; n++ {
		s := m.from(1, n)
		s.frozen, s.sync = n, 0
		to(s)
	}
}

func TestCrashSafeMapCounts(t *testing.T) {
	generated, distinct, depth := explore(aMap{n: 1, frozen: 1}, aMap.steps, func(m aMap) bool { return m.n <= versionsMax })
	compare(t, "CrashSafeMap.tla", "map.cfg", generated, distinct, depth)
}

// call is what a program waits for under an id.
type call struct {
	kind  callKind
	data  int8
	reply bool
}

type callKind uint8

const (
	idle callKind = iota
	reading
	writing
	flushing
)

// garbage is Garbage of disk.cfg.
const garbage = 9

// aDisk is a state of AsyncDisk with one block of two sectors and two ids.
type aDisk struct {
	media [2]int8
	cache int8
	left  [2]bool
	calls [2]call
}

func (d aDisk) seen() int8 {
	switch {
	case d.left != [2]bool{}:
		return d.cache
	case d.media[0] != d.media[1]:
		return garbage
	}
	return d.media[0]
}

func (d aDisk) destage(sector int) aDisk {
	d.media[sector], d.left[sector] = d.cache, false
	if d.left == [2]bool{} {
		d.cache = 0
	}
	return d
}

func (d aDisk) steps(to func(aDisk)) {
	with := func(id int, c call) {
		s := d
		s.calls[id] = c
		to(s)
	}
	for id, c := range d.calls {
		switch {
		case c.kind == idle:
			with(id, call{kind: reading})
			with(id, call{kind: writing, data: 1})
			with(id, call{kind: writing, data: 2})
			with(id, call{kind: flushing})
		case c.reply:
			with(id, call{})
		case c.kind == reading:
			with(id, call{kind: reading, data: d.seen(), reply: true})
			with(id, call{kind: reading, data: garbage, reply: true})
		case c.kind == writing:
			s := d
			s.cache, s.left = c.data, [2]bool{true, true}
			s.calls[id] = call{kind: writing, reply: true}
			to(s)
		case c.kind == flushing:
			s := d
			for sector := range 2 {
				if s.left[sector] {
					s = s.destage(sector)
				}
			}
			s.calls[id] = call{kind: flushing, reply: true}
			to(s)
		}
	}
	for sector := range 2 {
		if d.left[sector] {
			to(d.destage(sector))
		}
	}
	to(aDisk{media: d.media})
	killed := d
	killed.calls = [2]call{}
	to(killed)
}

func TestAsyncDiskCounts(t *testing.T) {
	generated, distinct, depth := explore(aDisk{}, aDisk.steps, func(aDisk) bool { return true })
	compare(t, "AsyncDisk.tla", "disk.cfg", generated, distinct, depth)
}
