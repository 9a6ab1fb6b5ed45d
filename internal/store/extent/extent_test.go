// SPDX-License-Identifier: Apache-2.0

package extent

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// model is the file as one letter per page.
type model struct {
	pages       []byte   // '.' free, 'r' retired, 'u' in use, '#' before the first page
	generations []uint64 // of retired pages
}

func (m *model) set(r Run, letter byte) {
	for p := r.Page; uint64(p) < r.End(); p++ {
		m.pages[p] = letter
	}
}

func (m *model) is(r Run, letter byte) bool {
	for p := r.Page; uint64(p) < r.End(); p++ {
		if m.pages[p] != letter {
			return false
		}
	}
	return true
}

// runs lists the longest runs of a letter.
func (m *model) runs(letter byte) []Run {
	var runs []Run
	for p, c := range m.pages {
		if c != letter {
			continue
		}
		if n := len(runs); n > 0 && runs[n-1].End() == uint64(p) {
			runs[n-1].Pages++
		} else {
			runs = append(runs, Run{uint32(p), 1})
		}
	}
	return runs
}

// fit is the definition of best fit.
func (m *model) fit(pages uint32) (Run, bool) {
	var best Run
	for _, r := range m.runs('.') {
		if r.Pages >= pages && (best.Pages == 0 || r.Pages < best.Pages) {
			best = r
		}
	}
	return Run{best.Page, pages}, best.Pages > 0
}

func (m *model) count(letter byte) (n uint64) {
	for _, c := range m.pages {
		if c == letter {
			n++
		}
	}
	return n
}

// machine drives an Allocator and its model side by side.
type machine struct {
	alloc *Allocator
	model model
	unit  uint32
}

// part draws a run of pages that all have the letter.
func (m *machine) part(t *rapid.T, letter byte) Run {
	runs := m.model.runs(letter)
	if len(runs) == 0 {
		t.Skip("no such page")
	}
	r := rapid.SampledFrom(runs).Draw(t, "run")
	lo := rapid.Uint32Range(0, r.Pages-1).Draw(t, "from")
	n := rapid.Uint32Range(1, min(r.Pages-lo, 40)).Draw(t, "pages")
	return Run{r.Page + lo, n}
}

func (m *machine) Alloc(t *rapid.T) {
	n := rapid.Uint32Range(1, 64).Draw(t, "pages")
	got, gotOK := m.alloc.Alloc(n)
	want, wantOK := m.model.fit(n)
	if gotOK != wantOK || gotOK && got != want {
		t.Fatalf("Alloc(%d) = %v, %v, want %v, %v", n, got, gotOK, want, wantOK)
	}
	if gotOK {
		m.model.set(got, 'u')
	}
}

func (m *machine) Free(t *rapid.T) {
	r := m.part(t, 'u')
	m.alloc.Free(r)
	m.model.set(r, '.')
}

func (m *machine) Retire(t *rapid.T) {
	r := m.part(t, 'u')
	g := rapid.Uint64Range(0, 5).Draw(t, "generation")
	m.alloc.Retire(r, g)
	m.model.set(r, 'r')
	for p := r.Page; uint64(p) < r.End(); p++ {
		m.model.generations[p] = g
	}
}

func (m *machine) Release(t *rapid.T) {
	g := rapid.Uint64Range(0, 5).Draw(t, "generation")
	released := model{pages: make([]byte, len(m.model.pages))}
	for p, c := range m.model.pages {
		if c == 'r' && m.model.generations[p] <= g {
			released.pages[p] = 'x'
			m.model.pages[p] = '.'
		}
	}
	if got, want := m.alloc.Release(g), released.runs('x'); !slices.Equal(got, want) {
		t.Fatalf("Release(%d) = %v, want %v", g, got, want)
	}
}

func (m *machine) SetUnit(t *rapid.T) {
	m.unit = rapid.Uint32Range(0, 40).Draw(t, "pages")
	m.alloc.SetUnit(m.unit)
}

func (m *machine) Reserve(t *rapid.T) {
	r := Run{rapid.Uint32Range(0, uint32(len(m.model.pages))+3).Draw(t, "page"), rapid.Uint32Range(0, 20).Draw(t, "pages")}
	want := r.Pages > 0 && r.End() <= uint64(len(m.model.pages)) && m.model.is(r, '.')
	err := m.alloc.Reserve(r)
	if (err == nil) != want {
		t.Fatalf("Reserve(%v) = %v, want success %v", r, err, want)
	}
	if want {
		m.model.set(r, 'u')
	}
}

func (m *machine) Grow(t *rapid.T) {
	if len(m.model.pages) > 4000 {
		t.Skip("large enough")
	}
	n := rapid.IntRange(0, 200).Draw(t, "more")
	m.model.pages = append(m.model.pages, strings.Repeat(".", n)...)
	m.model.generations = append(m.model.generations, make([]uint64, n)...)
	m.alloc.Grow(uint32(len(m.model.pages)))
}

// Check compares all that can be seen.
func (m *machine) Check(t *rapid.T) {
	if err := m.alloc.Validate(); err != nil {
		t.Fatal(err)
	}
	if got, want := m.alloc.FreePages(), m.model.count('.'); got != want {
		t.Fatalf("FreePages() = %d, want %d", got, want)
	}
	if got, want := m.alloc.RetiredPages(), m.model.count('r'); got != want {
		t.Fatalf("RetiredPages() = %d, want %d", got, want)
	}
	if got, want := m.alloc.End(), uint32(len(m.model.pages)); got != want {
		t.Fatalf("End() = %d, want %d", got, want)
	}
	var free []Run
	var long, retiredLong uint64
	seen := model{pages: make([]byte, len(m.model.pages))}
	for _, s := range m.alloc.All() {
		if s.Retired {
			seen.set(s.Run, 'r')
			if s.Generation != m.model.generations[s.Page] {
				t.Fatalf("%v are of generation %d, want %d", s.Run, s.Generation, m.model.generations[s.Page])
			}
			if s.Pages >= m.unit { // in the pieces in which they were given back
				retiredLong += uint64(s.Pages)
			}
		} else {
			free = append(free, s.Run)
		}
	}
	if want := m.model.runs('.'); !slices.Equal(free, want) {
		t.Fatalf("free: %v, want %v", free, want)
	}
	for _, r := range m.model.runs('.') {
		if r.Pages >= m.unit {
			long += uint64(r.Pages)
		}
	}
	if a, b := m.alloc.LongPages(), m.alloc.RetiredLongPages(); a != long || b != retiredLong {
		t.Fatalf("%d free and %d retired pages in runs of %d, want %d and %d", a, b, m.unit, long, retiredLong)
	}
	if got, want := seen.runs('r'), m.model.runs('r'); !slices.Equal(got, want) {
		t.Fatalf("retired: %v, want %v", got, want)
	}
}

func TestAgainstABitmap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Uint32Range(0, 9).Draw(t, "first")
		end := first + rapid.Uint32Range(0, 600).Draw(t, "size")
		m := &machine{alloc: New(first, end)}
		m.model.pages = []byte(strings.Repeat("#", int(first)) + strings.Repeat(".", int(end-first)))
		m.model.generations = make([]uint64, end)
		m.Check(t)
		t.Repeat(map[string]func(*rapid.T){
			"Alloc": m.Alloc, "AllocAgain": m.Alloc, "Free": m.Free, "Retire": m.Retire,
			"Release": m.Release, "Reserve": m.Reserve, "Grow": m.Grow, "SetUnit": m.SetUnit, "": m.Check,
		})
	})
}

func TestReserveSaysWhatIsWrong(t *testing.T) {
	a := New(10, 100)
	if err := a.Reserve(Run{20, 10}); err != nil {
		t.Fatal(err)
	}
	// The first and the last pages are within.
	for _, r := range []Run{{10, 1}, {98, 2}} {
		if err := a.Reserve(r); err != nil {
			t.Fatal(err)
		}
		a.Free(r)
	}
	for _, c := range []struct {
		run  Run
		want string
	}{
		{Run{20, 0}, "reserve pages 20 to 20: want at least one page, found none"},
		{Run{9, 2}, "reserve pages 9 to 11: want them within pages 10 to 100"},
		{Run{99, 2}, "reserve pages 99 to 101: want them within pages 10 to 100"},
		{Run{1<<32 - 1, 1<<32 - 1}, "reserve pages 4294967295 to 8589934590: want them within pages 10 to 100"},
		{Run{15, 6}, "reserve pages 15 to 21: want them free, found page 20 in use"},
		{Run{25, 1}, "reserve pages 25 to 26: want them free, found page 25 in use"},
		{Run{29, 4}, "reserve pages 29 to 33: want them free, found page 29 in use"},
	} {
		err := a.Reserve(c.run)
		if err == nil || err.Error() != c.want {
			t.Errorf("Reserve(%v) = %v, want %s", c.run, err, c.want)
		}
		if a.FreePages() != 80 {
			t.Errorf("Reserve(%v) changed the free pages to %d", c.run, a.FreePages())
		}
	}
}

// The runs of equal size are taken from the lowest address on, whatever the
// order in which they were freed.
func TestEqualRunsAreTakenFromBelow(t *testing.T) {
	a := New(0, 1000)
	for range 100 {
		a.Alloc(10)
	}
	for i := range uint32(50) {
		a.Free(Run{(i * 37 % 50) * 20, 10})
	}
	for i := range uint32(50) {
		if got, ok := a.Alloc(10); !ok || got != (Run{i * 20, 10}) {
			t.Fatalf("Alloc %d = %v, %v, want page %d", i, got, ok, i*20)
		}
	}
	if _, ok := a.Alloc(1); ok {
		t.Fatal("a full file gave a page")
	}
}

func TestLastPageOfAll(t *testing.T) {
	const top = 1<<32 - 1
	a := New(0, top)
	r, ok := a.Alloc(top)
	if !ok || r.End() != top {
		t.Fatalf("Alloc = %v, %v", r, ok)
	}
	a.Free(Run{top - 1, 1})
	a.Free(Run{0, top - 1})
	if err := a.Validate(); err != nil {
		t.Fatal(err)
	}
	if got := a.All(); len(got) != 1 || got[0].Run != (Run{0, top}) {
		t.Fatalf("All() = %v", got)
	}
}

func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
			t.Errorf("panic %q, want one with %q", got, want)
		}
	}()
	f()
}

func TestGivenBackTwice(t *testing.T) {
	a := New(5, 50)
	r, _ := a.Alloc(10)
	s, _ := a.Alloc(10)
	a.Free(r)
	mustPanic(t, "freed twice", func() { a.Free(Run{r.Page + 9, 3}) })
	mustPanic(t, "freed twice", func() { a.Free(Run{s.Page + 9, 2}) })
	mustPanic(t, "freed twice", func() { a.Retire(r, 1) })
	mustPanic(t, "not within", func() { a.Free(Run{4, 1}) })
	mustPanic(t, "not within", func() { a.Free(Run{49, 2}) })
	mustPanic(t, "not within", func() { a.Free(Run{20, 0}) })
	mustPanic(t, "zero pages", func() { a.Alloc(0) })
	mustPanic(t, "shrinks", func() { a.Grow(49) })
	a.Retire(s, 1)
	a.Retire(s, 2) // seen by Validate only, which is for tests and dumps
	if err := a.Validate(); err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("Validate() = %v, want an overlap", err)
	}
}

// TestValidateBites breaks an Allocator in each way that Validate looks for. It has
// two free runs, nodes 1 and 2; node 2 is the root of both trees.
func TestValidateBites(t *testing.T) {
	for _, c := range []struct {
		want string
		harm func(a *Allocator)
	}{
		{"an empty run at page 30", func(a *Allocator) { a.free.nodes[1].run.Pages = 0 }},
		{"pages 52 to 140 are not within pages 10 to 60", func(a *Allocator) { a.end = 60 }},
		{"pages 30 to 40 and pages 35 to 36 overlap", func(a *Allocator) { a.retired[0].run.Page = 35 }},
		{"adjacent free runs pages 22 to 30 and pages 30 to 40 were not joined", func(a *Allocator) { a.put(Run{22, 7}); a.free.nodes[3].run.Pages = 8 }},
		{"found 98 free and 1 retired pages, counted 99 and 1", func(a *Allocator) { a.freePages++ }},
		{"found 98 free and 1 retired pages, counted 98 and 2", func(a *Allocator) { a.retiredPages++ }},
		{"found 98 free and 1 retired pages in long runs, counted 99 and 1", func(a *Allocator) { a.free.long++ }},
		{"found 98 free and 1 retired pages in long runs, counted 98 and 2", func(a *Allocator) { a.retiredLong++ }},
		{"retired run 1 is not in the order of generations", func(a *Allocator) {
			a.retired = append(a.retired, retired{Run{12, 1}, 1})
			a.retiredPages++
		}},
		{"tree 0 has 1 nodes, want 2", func(a *Allocator) { a.free.roots[byPage] = 1 }},
		{"tree 1 has 1 nodes, want 2", func(a *Allocator) { a.free.nodes[1].left[bySize] = 0; a.free.nodes[2].left[bySize] = 0 }},
		{"tree 0 has pages 141 to 151 before pages 52 to 140", func(a *Allocator) { a.free.nodes[1].run.Page = 141 }},
		{"tree 0 has node 2 below node 1, which is the lower one", func(a *Allocator) {
			a.free.roots = [2]uint32{1, 1}
			a.free.nodes[1].right = [2]uint32{2, 2}
			a.free.nodes[2].left = [2]uint32{}
		}},
		{"tree 0 has node 1 below node 3, which is the lower one", func(a *Allocator) {
			a.Free(Run{45, 1}) // node 3, between the others
			a.free.nodes[2].left[byPage] = 3
			a.free.nodes[3].left[byPage] = 1
			a.free.nodes[1].right[byPage] = 0
		}},
		{"0 nodes are spare and 2 in use, of 3", func(a *Allocator) { a.free.nodes = append(a.free.nodes, node{}) }},
	} {
		a := New(10, 140)
		for _, r := range []Run{{10, 20}, {40, 12}} {
			if err := a.Reserve(r); err != nil {
				t.Fatal(err)
			}
		}
		a.Retire(Run{11, 1}, 2)
		if err := a.Validate(); err != nil {
			t.Fatal(err)
		}
		c.harm(a)
		if err := a.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Validate() = %v, want %s", err, c.want)
		}
	}
}

func TestPlaces(t *testing.T) {
	r := Run{1<<32 - 3, 2}
	if r.Addr() != (1<<32-3)*4096 || r.Bytes() != 8192 || r.End() != 1<<32-1 {
		t.Errorf("%v: byte %d, %d bytes", r, r.Addr(), r.Bytes())
	}
}

func TestLikes(t *testing.T) {
	var l Likes
	r := Run{7, 3}
	for i, want := range []bool{true, false, false} {
		if first, err := l.Like(r); first != want || err != nil {
			t.Errorf("Like %d = %v, %v", i, first, err)
		}
	}
	if _, err := l.Like(Run{7, 4}); err == nil || err.Error() != "shared run at page 7: want 3 pages, found 4" {
		t.Errorf("Like of another length = %v", err)
	}
	if first, err := l.Like(Run{8, 1}); !first || err != nil {
		t.Errorf("Like of another run = %v, %v", first, err)
	}
	if l.Count(7) != 3 || l.Count(8) != 1 || l.Count(9) != 0 || l.Len() != 2 {
		t.Errorf("counts %d %d %d of %d", l.Count(7), l.Count(8), l.Count(9), l.Len())
	}
	for i, want := range []bool{false, false, true} {
		if dead := l.Unlike(r); dead != want {
			t.Errorf("Unlike %d = %v, want %v", i, dead, want)
		}
	}
	mustPanic(t, "no such reference", func() { l.Unlike(r) })
	mustPanic(t, "no such reference", func() { l.Unlike(Run{8, 2}) })
}

// worn is an allocator with n free runs of one to eight pages.
func worn(n int) *Allocator {
	a := New(512, 512+uint32(n)*16)
	for a.free.count > 0 {
		a.Alloc(1)
	}
	for i := range uint32(n) {
		a.Free(Run{512 + i*16, 1 + i*7919%8})
	}
	return a
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	a := worn(1000)
	i := uint32(0)
	n := testing.AllocsPerRun(1000, func() {
		i++
		if r, ok := a.Alloc(1 + i%8); ok {
			a.Free(r)
		}
	})
	if n != 0 {
		t.Errorf("Alloc and Free allocate %v times", n)
	}
}

func BenchmarkAllocFree(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			a := worn(n)
			var held [64]Run
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				slot := &held[i%len(held)]
				if slot.Pages > 0 {
					a.Free(*slot)
				}
				*slot, _ = a.Alloc(1 + uint32(i)%8)
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		New(512, 1<<20)
	}
}

func BenchmarkReserve(b *testing.B) {
	const runs = 100_000
	b.ReportAllocs()
	for b.Loop() {
		a := New(512, 512+16*runs)
		for i := range uint32(runs) {
			if err := a.Reserve(Run{512 + (i*7919%runs)*16, 8}); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/runs, "ns/run")
}
