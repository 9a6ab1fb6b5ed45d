// SPDX-License-Identifier: Apache-2.0

package paxos

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// naive is an acceptor as the rules say it, register by register.
type naive struct {
	cells map[wor.Addr]wor.State
	dead  map[wor.Segment]bool
}

func newNaive() *naive {
	return &naive{map[wor.Addr]wor.State{}, map[wor.Segment]bool{}}
}

// one handles a request about one register and says whether the state changed.
func (n *naive) one(q *wor.Request, a wor.Addr) (wor.Run, bool) {
	if n.dead[a.Segment] {
		return wor.Run{Count: 1, Status: wor.StatusTrimmed}, false
	}
	s := n.cells[a]
	s.Addr = a
	same := s.Written && s.Accepted == q.Ballot
	switch {
	case q.Kind == wor.KindRead, q.Kind == wor.KindCapture && s.Promised == q.Ballot:
		return wor.Run{Count: 1, Promised: s.Promised, Written: s.Written, Accepted: s.Accepted, Value: s.Value}, false
	case q.Kind == wor.KindCapture && s.Promised.Less(q.Ballot):
		s.Promised = q.Ballot
		n.cells[a] = s
		return wor.Run{Count: 1, Promised: s.Promised, Written: s.Written, Accepted: s.Accepted, Value: s.Value}, true
	case q.Kind == wor.KindWrite && same && bytes.Equal(s.Value, q.Value):
		return wor.Run{Count: 1, Promised: s.Promised, Written: true, Accepted: s.Accepted}, false
	case q.Kind == wor.KindWrite && same:
		return wor.Run{Count: 1, Status: wor.StatusConflict, Promised: s.Promised, Written: true, Accepted: s.Accepted, Value: s.Value}, false
	case q.Kind == wor.KindWrite && !q.Ballot.Less(s.Promised):
		s.Promised, s.Accepted, s.Written, s.Value = q.Ballot, q.Ballot, true, q.Value
		n.cells[a] = s
		return wor.Run{Count: 1, Promised: s.Promised, Written: true, Accepted: s.Accepted}, true
	}
	return wor.Run{Count: 1, Status: wor.StatusOutbid, Promised: s.Promised}, false
}

func (n *naive) handle(q *wor.Request) (wor.Reply, bool) {
	var r wor.Reply
	if q.Kind == wor.KindTrim {
		changed := !n.dead[q.Range.Segment]
		n.dead[q.Range.Segment] = true
		for a := range n.cells {
			if a.Segment == q.Range.Segment {
				delete(n.cells, a)
			}
		}
		r.Add(wor.Run{Count: 1})
		return r, changed
	}
	changed := false
	for i := q.Range.Lo; i < q.Range.Hi; i++ {
		run, did := n.one(q, wor.Addr{Segment: q.Range.Segment, Offset: i})
		r.Add(run)
		changed = changed || did
	}
	return r, changed
}

func (n *naive) states() []wor.State {
	var all []wor.State
	for _, s := range n.cells {
		all = append(all, s)
	}
	for s := range n.dead {
		all = append(all, wor.State{Addr: wor.Addr{Segment: s}, Trimmed: true})
	}
	slices.SortFunc(all, func(a, b wor.State) int { return a.Addr.Compare(b.Addr) })
	return all
}

func states(a *Acceptor, from wor.Addr) []wor.State {
	var all []wor.State
	a.States(from, func(s wor.State) bool {
		all = append(all, s)
		return true
	})
	return all
}

// equalBytes makes no difference between none and nil.
var equalBytes = cmpopts.EquateEmpty()

// differ is cmp.Diff of states, quick where there is none.
func differ(want, got []wor.State) string {
	if slices.EqualFunc(want, got, func(a, b wor.State) bool {
		return a.Addr == b.Addr && a.Trimmed == b.Trimmed && a.Promised == b.Promised &&
			a.Written == b.Written && a.Accepted == b.Accepted && bytes.Equal(a.Value, b.Value)
	}) {
		return ""
	}
	return cmp.Diff(want, got, equalBytes)
}

// The edges at which registers, pages and segments meet.
var offsets = []uint32{0, 1, 2, 254, 255, 256, 257, 511, 512, 600, 1<<24 - 1, wor.MetaOffset, wor.TrimOffset}

func drawRequest(t *rapid.T) *wor.Request {
	q := &wor.Request{Kind: rapid.SampledFrom([]wor.Kind{
		wor.KindCapture, wor.KindCapture, wor.KindWrite, wor.KindWrite, wor.KindWrite, wor.KindRead, wor.KindTrim,
	}).Draw(t, "kind")}
	if q.Kind == wor.KindTrim && rapid.IntRange(0, 3).Draw(t, "spare") > 0 {
		q.Kind = wor.KindWrite
	}
	q.Range.Segment = wor.Segment(rapid.IntRange(1, 4).Draw(t, "segment"))
	if q.Kind == wor.KindTrim {
		return q
	}
	lo := rapid.SampledFrom(offsets).Draw(t, "lo")
	q.Range.Lo, q.Range.Hi = lo, lo+uint32(rapid.SampledFrom([]int{1, 1, 2, 3, 256, 300}).Draw(t, "count"))
	if q.Range.Hi < lo || q.Range.Hi == 1<<32-1 {
		q.Range.Hi = lo + 1
	}
	q.Ballot = wor.Ballot{Round: uint64(rapid.IntRange(0, 4).Draw(t, "round"))}
	if q.Ballot.Round > 0 {
		q.Ballot.Nonce = uint64(rapid.IntRange(1, 2).Draw(t, "nonce"))
	} else if q.Kind == wor.KindCapture {
		q.Ballot.Nonce = 1
	}
	if q.Kind == wor.KindWrite {
		q.Value = []byte(rapid.SampledFrom([]string{"", "a", "b", "long enough to be seen in a sum"}).Draw(t, "value"))
	}
	return q
}

// TestAcceptorIsTheNaiveOne: a range is its registers one by one, what changes
// nothing logs nothing, and the log in whatever order it may be repeated, and a
// checkpoint, make the same state.
func TestAcceptorIsTheNaiveOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, n := &Acceptor{}, newNaive()
		var log wor.Log
		var r wor.Reply
		for range rapid.IntRange(1, 30).Draw(t, "requests") {
			q := drawRequest(t)
			before := log.Len()
			a.Handle(q, &r, &log)
			want, changed := n.handle(q)
			if d := cmp.Diff(want.Runs, r.Runs, equalBytes); d != "" || r.Status != wor.StatusOK {
				t.Fatalf("%v %v at %v %q: status %v, want- got+\n%s", q.Kind, q.Range, q.Ballot, q.Value, r.Status, d)
			}
			if changed != (log.Len() > before) {
				t.Fatalf("%v %v at %v: changed %v, %d records", q.Kind, q.Range, q.Ballot, changed, log.Len()-before)
			}
		}
		want := n.states()
		if d := differ(want, states(a, wor.Addr{})); d != "" {
			t.Fatalf("states, want- got+\n%s", d)
		}
		from := wor.Addr{Segment: wor.Segment(rapid.IntRange(0, 5).Draw(t, "from")), Offset: rapid.SampledFrom(offsets).Draw(t, "at")}
		rest := slices.DeleteFunc(slices.Clone(want), func(s wor.State) bool { return s.Addr.Compare(from) < 0 })
		if d := differ(rest, states(a, from)); d != "" {
			t.Fatalf("states from %v, want- got+\n%s", from, d)
		}
		checkBytes(t, a)

		var records [][]byte
		for i := range log.Len() {
			records = append(records, log.Record(i))
		}
		saved := save(a)
		cut := rapid.IntRange(0, len(records)).Draw(t, "cut")
		for name, replay := range map[string][][]byte{
			"records": records, "twice": append(slices.Clone(records), records...), "checkpoint": saved,
			"checkpoint and some": append(slices.Clone(saved), records[cut:]...),
			"in any order":        rapid.Permutation(records).Draw(t, "order"),
		} {
			b := redo(t, replay)
			if d := differ(want, states(b, wor.Addr{})); d != "" {
				t.Fatalf("%s: want- got+\n%s", name, d)
			}
			checkBytes(t, b)
			if again := save(b); !slices.EqualFunc(saved, again, bytes.Equal) {
				t.Fatalf("%s: saved again: %q, want %q", name, again, saved)
			}
		}
	})
}

func save(a *Acceptor) [][]byte {
	var all [][]byte
	a.Save(func(record []byte) bool {
		all = append(all, bytes.Clone(record))
		return true
	})
	return all
}

func redo(t interface{ Fatalf(string, ...any) }, records [][]byte) *Acceptor {
	a := &Acceptor{}
	for _, record := range records {
		if err := a.Redo(record); err != nil {
			t.Fatalf("redo %q: %v", record, err)
		}
	}
	return a
}

// checkBytes adds up anew what Bytes counted step by step.
func checkBytes(t interface{ Fatalf(string, ...any) }, a *Acceptor) {
	want := int64(0)
	for _, s := range a.segments {
		want += segmentBytes + int64(cap(s.pages))*8
		for _, p := range s.pages {
			held := int64(0)
			for i := range p.values {
				held += p.weight(i)
			}
			if held != p.held {
				t.Fatalf("page %d holds %d bytes of values, counted %d", p.number, held, p.held)
			}
			want += p.bytes()
		}
	}
	if a.size != want {
		t.Fatalf("segments take %d bytes, counted %d", want, a.size)
	}
}

// TestPageIsFull: a page in which every register has a ballot of its own has no
// number left for one more; the one of the register that is overwritten is.
func TestPageIsFull(t *testing.T) {
	a := &Acceptor{}
	var r wor.Reply
	var log wor.Log
	for round := range uint64(3) {
		for i := range uint32(pageSize) {
			at := (i * 37) % pageSize // both sides of the window
			q := wor.Request{Kind: wor.KindWrite, Range: one(at), Ballot: wor.Ballot{Round: round*1000 + uint64(at) + 1}, Value: []byte{byte(at)}}
			if a.Handle(&q, &r, &log); r.Runs[0].Status != wor.StatusOK {
				t.Fatalf("round %d, register %d: %v", round, at, r.Runs[0].Status)
			}
		}
	}
	for _, s := range states(a, wor.Addr{}) {
		if want := uint64(2000 + s.Addr.Offset + 1); s.Accepted.Round != want || s.Value[0] != byte(s.Addr.Offset) {
			t.Fatalf("%+v, want round %d", s, want)
		}
	}
}

// TestTombstonesAreASet compares the intervals with a plain set.
func TestTombstonesAreASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set tombstones
		plain := map[wor.Segment]bool{}
		top := wor.Segment(rapid.SampledFrom([]uint64{40, 1<<64 - 1}).Draw(t, "top"))
		for range rapid.IntRange(1, 40).Draw(t, "adds") {
			lo := top - wor.Segment(rapid.IntRange(0, 40).Draw(t, "lo"))
			hi := min(lo+wor.Segment(rapid.IntRange(0, 3).Draw(t, "more")), top)
			hi = max(lo, hi)
			fresh := false
			for s := lo; ; s++ {
				fresh = fresh || !plain[s]
				plain[s] = true
				if s == hi {
					break
				}
			}
			if set.add(lo, hi) != fresh {
				t.Fatalf("add [%d, %d] answers %v", lo, hi, !fresh)
			}
		}
		runs := 0
		for i := range wor.Segment(41) {
			if s := top - i; set.has(s) != plain[s] {
				t.Fatalf("%d: %v, want %v", s, set.has(s), plain[s])
			} else if plain[s] && (s == 1<<64-1 || !plain[s+1]) {
				runs++
			}
		}
		got := 0
		set.all(0, func(stretch) bool { got++; return true })
		if got != runs || set.count != runs {
			t.Fatalf("%d stretches, counted %d, want %d", got, set.count, runs)
		}
	})
}

// TestManyTombstones: a row of them costs nothing, and a million apart are still
// found.
func TestManyTombstones(t *testing.T) {
	a := &Acceptor{}
	var r wor.Reply
	var log wor.Log
	for s := range wor.Segment(1_000_000) {
		a.Handle(&wor.Request{Kind: wor.KindTrim, Range: wor.Range{Segment: s}}, &r, &log)
		log.Reset()
	}
	if a.Bytes() > 100 {
		t.Errorf("a million in a row take %d bytes", a.Bytes())
	}
	var set tombstones
	for i := range uint64(200_000) {
		set.add(wor.Segment(i*0x9e3779b97f4a7c15), wor.Segment(i*0x9e3779b97f4a7c15))
	}
	last, n := wor.Segment(0), 0
	set.all(0, func(x stretch) bool {
		if n > 0 && x.lo <= last {
			t.Fatalf("%d after %d", x.lo, last)
		}
		last = x.hi
		n++
		return true
	})
	if n != set.count || n < 199_000 {
		t.Errorf("%d stretches, counted %d", n, set.count)
	}
	for i := range uint64(200_000) {
		if !set.has(wor.Segment(i * 0x9e3779b97f4a7c15)) {
			t.Fatalf("the %dth is missing", i)
		}
	}
}

// TestReplyEndsEarly: what does not fit is not done.
func TestReplyEndsEarly(t *testing.T) {
	a := &Acceptor{}
	var r wor.Reply
	var log wor.Log
	for i := range uint32(10) {
		v := bytes.Repeat([]byte{byte(i)}, wor.ValueMax)
		a.Handle(&wor.Request{Kind: wor.KindWrite, Range: one(i), Value: v}, &r, &log)
	}
	log.Reset()
	all := wor.Range{Segment: 7, Lo: 0, Hi: 20}
	for _, kind := range []wor.Kind{wor.KindRead, wor.KindWrite, wor.KindCapture} {
		q := wor.Request{Kind: kind, Range: all, Value: []byte("x")}
		if kind == wor.KindCapture {
			q.Ballot.Round = 1
		}
		if a.Handle(&q, &r, &log); r.Covered() != wor.ReplyMax/wor.ValueMax {
			t.Errorf("%v: %d registers are covered", kind, r.Covered())
		}
	}
	for _, s := range states(a, wor.Addr{}) {
		if promised := s.Addr.Offset < 4; promised == s.Promised.IsZero() {
			t.Errorf("register %v is promised to %v", s.Addr, s.Promised)
		}
	}
	if log.Len() != 1 {
		t.Errorf("%d records", log.Len())
	}
}

func TestSenselessRequests(t *testing.T) {
	for _, q := range []wor.Request{
		{Kind: wor.KindSeal}, {Kind: wor.KindRead}, {Kind: wor.KindRead, Range: wor.Range{Lo: 5, Hi: 4}},
		{Kind: wor.KindCapture, Range: wor.Range{Lo: 0, Hi: 4}},
		{Kind: wor.KindRead, Range: wor.Range{Lo: 0, Hi: wor.RangeMax + 1}},
		{Kind: wor.KindWrite, Range: one(1), Value: make([]byte, wor.ValueMax+1)},
	} {
		a := &Acceptor{}
		var r wor.Reply
		var log wor.Log
		a.Handle(&q, &r, &log)
		if r.Status != wor.StatusLimit || len(r.Value) == 0 || len(r.Runs) > 0 || log.Len() > 0 || a.Bytes() > 0 {
			t.Errorf("%v %v: %v %q", q.Kind, q.Range, r.Status, r.Value)
		}
	}
}

func TestAdopt(t *testing.T) {
	a := &Acceptor{}
	var log wor.Log
	at := func(s wor.Segment, i uint32) wor.Addr { return wor.Addr{Segment: s, Offset: i} }
	b := wor.Ballot{Round: 9, Nonce: 9}
	for _, s := range []wor.State{
		{Addr: at(1, 0), Promised: b},
		{Addr: at(1, 5), Promised: b, Written: true, Accepted: b, Value: []byte("v")},
		{Addr: at(1, 5), Promised: b, Written: true, Accepted: b, Value: []byte("v")},
		{Addr: at(1, wor.TrimOffset), Written: true},
		{Addr: at(2, 0), Trimmed: true},
	} {
		if err := a.Adopt(s, &log); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
	want := []wor.State{
		{Addr: at(1, 5), Written: true, Value: []byte("v")},
		{Addr: at(1, wor.TrimOffset), Written: true, Value: []byte{}},
		{Addr: at(2, 0), Trimmed: true},
	}
	if d := differ(want, states(a, wor.Addr{})); d != "" || log.Len() != 3 {
		t.Errorf("%d records; want- got+\n%s", log.Len(), d)
	}
	for _, s := range []wor.State{
		{Addr: at(1, 5), Written: true, Accepted: b, Value: []byte("w")},
		{Addr: at(2, 5), Written: true, Value: []byte("w")},
		{Addr: at(1, 1<<32-1), Written: true, Value: []byte("w")},
	} {
		if err := a.Adopt(s, &log); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
	var records [][]byte
	for i := range log.Len() {
		records = append(records, log.Record(i))
	}
	if d := cmp.Diff(want, states(redo(t, records), wor.Addr{}), equalBytes); d != "" {
		t.Errorf("redone: want- got+\n%s", d)
	}
}

func TestRedoRefuses(t *testing.T) {
	b := wor.Ballot{Round: 1, Nonce: 2}
	good := acceptRecord(nil, 1, 2, 3, b, []byte("v"))
	for name, record := range map[string][]byte{
		"nothing":           {},
		"tag":               {9, 1, 2, 3},
		"short":             good[:8],
		"no registers":      promiseRecord(nil, 1, 2, 2, b),
		"too many":          promiseRecord(nil, 1, 2, 3+wor.RangeMax, b),
		"beyond the end":    promiseRecord(nil, 1, 1<<32-1, 1<<32, b),
		"promise of zero":   promiseRecord(nil, 1, 2, 3, wor.Ballot{}),
		"promise with more": append(promiseRecord(nil, 1, 2, 3, b), 1),
		"long value":        acceptRecord(nil, 1, 2, 3, b, make([]byte, wor.ValueMax+1)),
		"another value":     acceptRecord(nil, 1, 1, 3, b, []byte("w")),
		"tombstones":        {tagTombstone, 5, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1},
		"tombstone of 1":    {tagTombstone, 5},
	} {
		a := redo(t, [][]byte{good})
		before := states(a, wor.Addr{})
		if err := a.Redo(record); err == nil || !strings.Contains(err.Error(), "paxos: not a record") {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(before, states(a, wor.Addr{}), equalBytes); d != "" {
			t.Errorf("%s: the state changed:\n%s", name, d)
		}
	}
}

// TestBytesAreHonest compares Bytes with what the runtime allocated.
func TestBytesAreHonest(t *testing.T) {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for name, fill := range map[string]func(a *Acceptor, i int){
		"a leader": func(a *Acceptor, i int) {
			handle(a, wor.Request{Kind: wor.KindWrite, Range: one(uint32(i)), Ballot: wor.Ballot{Round: 1}, Value: make([]byte, 100)})
		},
		"ballots of their own": func(a *Acceptor, i int) {
			b := wor.Ballot{Round: uint64(i + 1)}
			handle(a, wor.Request{Kind: wor.KindCapture, Range: one(uint32(i)), Ballot: b})
			handle(a, wor.Request{Kind: wor.KindWrite, Range: one(uint32(i)), Ballot: b, Value: make([]byte, 16)})
		},
		"segments": func(a *Acceptor, i int) {
			handle(a, wor.Request{Kind: wor.KindWrite, Value: make([]byte, 40),
				Range: wor.One(wor.Addr{Segment: wor.Segment(i), Offset: wor.MetaOffset})})
		},
		"promises": func(a *Acceptor, i int) {
			handle(a, wor.Request{Kind: wor.KindCapture, Ballot: wor.Ballot{Round: 1},
				Range: wor.Range{Segment: 1, Lo: uint32(i) * 256, Hi: uint32(i)*256 + 256}})
		},
		"one value for many": func(a *Acceptor, i int) {
			handle(a, wor.Request{Kind: wor.KindWrite, Value: make([]byte, 5000),
				Range: wor.Range{Segment: wor.Segment(i / 100), Lo: uint32(i%100) * 16, Hi: uint32(i%100)*16 + 16}})
		},
	} {
		before := heap()
		a := &Acceptor{}
		for i := range 20_000 {
			fill(a, i)
		}
		took := heap() - before
		if said := a.Bytes(); said < took*8/10 || said > took*13/10 {
			t.Errorf("%s: Bytes is %d, the heap grew by %d", name, said, took)
		}
		t.Logf("%s: %d bytes, heap %d", name, a.Bytes(), took)
		runtime.KeepAlive(a)
	}
}

func handle(a *Acceptor, q wor.Request) {
	var r wor.Reply
	var log wor.Log
	a.Handle(&q, &r, &log)
	if r.Status != wor.StatusOK || len(r.Runs) != 1 || r.Runs[0].Status != wor.StatusOK {
		panic(fmt.Sprintf("%v %v: %v %+v", q.Kind, q.Range, r.Status, r.Runs))
	}
}

func FuzzRedo(f *testing.F) {
	b := wor.Ballot{Round: 1, Nonce: 2}
	f.Add(promiseRecord(nil, 1, 250, 600, b), acceptRecord(nil, 1, 2, 3, b, []byte("v")))
	f.Add(trimRecord(nil, stretch{0, 1<<64 - 1}), acceptRecord(nil, 1, 2, 3, b, []byte("v")))
	f.Add(acceptRecord(nil, 1, 2, 4, b, []byte("v")), acceptRecord(nil, 1, 3, 4, b, []byte("w")))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		a, c := &Acceptor{}, &Acceptor{}
		e1, e2 := a.Redo(first), a.Redo(second)
		e3, e4 := c.Redo(second), c.Redo(first)
		checkBytes(t, a)
		again := redo(t, save(a))
		if !slices.EqualFunc(save(a), save(again), bytes.Equal) {
			t.Fatal("a checkpoint makes another state")
		}
		if e1 == nil && e2 == nil && e3 == nil && e4 == nil && !slices.EqualFunc(save(a), save(c), bytes.Equal) {
			t.Fatal("the order of records matters")
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	a := &Acceptor{}
	var r wor.Reply
	var log wor.Log
	value := make([]byte, 16)
	ballot := wor.Ballot{Round: 1, Nonce: 1}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		q := wor.Request{Kind: wor.KindWrite, Ballot: ballot, Value: value,
			Range: wor.Range{Segment: wor.Segment(n >> 20), Lo: uint32(n & (1<<20 - 1)), Hi: uint32(n&(1<<20-1)) + 1}}
		a.Handle(&q, &r, &log)
		log.Reset()
		n++
	}
	b.ReportMetric(float64(a.Bytes())/float64(n), "B/register")
}
