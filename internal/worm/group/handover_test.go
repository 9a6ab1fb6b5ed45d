// SPDX-License-Identifier: Apache-2.0

package group

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/worm/chain"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// big are servers with some large values each, so that their states take several pieces.
func big(t *testing.T) *world {
	w := newWorld(genesis(2, 1, 2, 3), 1, 1, 2, 3, 4)
	for i := range 9 {
		p := wor.Protocol(i % 3)
		value := bytes.Repeat([]byte{byte('a' + i)}, wor.ValueMax-i)
		for s := wor.ServerID(1); s <= 3; s++ {
			if p == wor.Paxos && s == wor.ServerID(1+i%3) {
				continue
			}
			q := &wor.Request{
				Kind: wor.KindWrite, Protocol: p, Partition: 1, Value: bytes.Clone(value),
				Range: wor.One(wor.Addr{Segment: segmentOf(p), Offset: uint32(i)}),
			}
			if r := w.ask(s, q); r.Status != wor.StatusOK || r.Runs[0].Status != wor.StatusOK {
				t.Fatalf("write: %+v", r)
			}
		}
	}
	for s := wor.ServerID(1); s <= 3; s++ {
		w.ask(s, &wor.Request{Kind: wor.KindSeal, Partition: 1})
	}
	return w
}

// merged merges the states of sealed servers.
func merged(t *testing.T, w *world, servers ...wor.ServerID) ([][]byte, *Merger) {
	m := NewMerger(3, len(servers), nil)
	var pieces [][]byte
	for {
		for i, id := range servers {
			cursor, wants := m.Wants(i)
			if !wants {
				continue
			}
			w.restart(t, id) // cursors mean the same then
			r := w.ask(id, &wor.Request{Kind: wor.KindFetch, Partition: 1, Cursor: cursor})
			if r.Status != wor.StatusOK || len(r.Value) > PieceMax {
				t.Fatalf("fetch: %v, %d bytes", r.Status, len(r.Value))
			}
			again := *r
			if err := m.Put(i, cursor, r); err != nil {
				t.Fatal(err)
			}
			if err := m.Put(i, cursor, &again); err != nil {
				t.Fatal(err)
			}
		}
		piece, last, ok, err := m.Next()
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			if pieces = append(pieces, piece); len(piece) > PieceMax {
				t.Fatalf("a piece of %d bytes", len(piece))
			}
		}
		if last {
			return pieces, m
		}
	}
}

func TestLargeStatesGoOverInPieces(t *testing.T) {
	w := big(t)
	pieces, m := merged(t, w, 1, 3)
	if len(pieces) < 3 {
		t.Fatalf("%d pieces, want several", len(pieces))
	}
	if m.Conflicts() != 0 || m.Stages(3) != 3 {
		t.Errorf("%d conflicts, to be staged on %d", m.Conflicts(), m.Stages(3))
	}
	for i, piece := range pieces {
		q := &wor.Request{Kind: wor.KindStage, Partition: 1, Epoch: 1, Tag: 9, Cursor: uint64(i), Value: piece}
		if i == len(pieces)-1 {
			q.Flags, q.Digest = wor.FlagLast, m.Digest()
		}
		for _, id := range []wor.ServerID{1, 2, 4} {
			if r := w.ask(id, q); r.Status != wor.StatusOK || r.Cursor != uint64(i+1) {
				t.Fatalf("stage %d on %d: %v, cursor %d", i, id, r.Status, r.Cursor)
			}
			if i%2 == 0 {
				w.checkpoint(id)
			}
			w.restart(t, id)
		}
	}
	c := config(1, 1, 9, 1, 2, 4)
	c.Digest = m.Digest()
	value, _ := c.MarshalBinary()
	for _, id := range []wor.ServerID{1, 2, 4} {
		if r := w.ask(id, &wor.Request{Kind: wor.KindActivate, Partition: 1, Epoch: 1, Value: value}); r.Status != wor.StatusOK {
			t.Fatalf("activate: %v", r.Status)
		}
		if d := w.groups[id].Digest(); d != m.Digest() {
			t.Errorf("server %d has digest %x, want %x", id, d, m.Digest())
		}
		for i := range uint32(9) {
			p := wor.Protocol(i % 3)
			q := &wor.Request{
				Kind: wor.KindRead, Protocol: p, Partition: 1, Epoch: 1,
				Range: wor.One(wor.Addr{Segment: segmentOf(p), Offset: i}),
			}
			r := w.ask(id, q)
			if len(r.Runs) != 1 || !r.Runs[0].Written || !r.Runs[0].Accepted.IsZero() || len(r.Runs[0].Value) != wor.ValueMax-int(i) {
				t.Errorf("server %d, register %d: %v", id, i, r.Status)
			}
		}
	}
}

func TestADamagedStateIsNotMerged(t *testing.T) {
	w := big(t)
	r := w.ask(1, &wor.Request{Kind: wor.KindFetch, Partition: 1})
	for name, damage := range map[string]func(*wor.Reply){
		"cut":        func(r *wor.Reply) { r.Value = r.Value[:len(r.Value)-1] },
		"skipped":    func(r *wor.Reply) { r.Cursor = 2 },
		"empty":      func(r *wor.Reply) { r.Value = nil },
		"the last":   func(r *wor.Reply) { r.Cursor = 0 },
		"twice":      func(r *wor.Reply) { r.Value = append(r.Value, r.Value[:20+wor.ValueMax]...) },
		"other flag": func(r *wor.Reply) { r.Value[0] |= 0x80 },
	} {
		bad := *r
		bad.Value = bytes.Clone(r.Value)
		damage(&bad)
		m := NewMerger(3, 1, nil)
		err := m.Put(0, 0, &bad)
		for i := 0; i < 20 && err == nil; i++ {
			if _, wants := m.Wants(0); wants {
				err = m.Put(0, 1, w.ask(1, &wor.Request{Kind: wor.KindFetch, Partition: 1, Cursor: 1}))
				if _, still := m.Wants(0); still {
					break
				}
			}
			if err == nil {
				_, _, _, err = m.Next()
			}
		}
		if err == nil {
			t.Errorf("%s: not found", name)
		}
	}
}

func stageRequest(tag uint64, value []byte, last bool, digest uint64) *wor.Request {
	q := &wor.Request{Kind: wor.KindStage, Partition: 1, Epoch: 1, Tag: tag, Value: value}
	if last {
		q.Flags, q.Digest = wor.FlagLast, digest
	}
	return q
}

func TestStagesAreBounded(t *testing.T) {
	w := newWorld(genesis(2, 1, 2, 3), 1, 4)
	g := w.groups[4]
	pieces := stageOf(1)
	whole := append(bytes.Clone(pieces[0]), pieces[1]...)
	other := stageOf(4)
	// Incomplete stages make room for new ones; several equal complete stages count as
	// one.
	for tag := range uint64(3 * StagesMax) {
		if r := w.ask(4, stageRequest(100+tag, pieces[0], false, 0)); r.Status != wor.StatusOK {
			t.Fatalf("stage %d: %v", tag, r.Status)
		}
	}
	if n := len(g.stages); n != StagesMax {
		t.Errorf("%d stages", n)
	}
	for tag := range uint64(StagesMax) {
		if r := w.ask(4, stageRequest(1000+tag, whole, true, digestOf(1))); r.Status != wor.StatusOK {
			t.Fatalf("stage %d: %v", tag, r.Status)
		}
	}
	if want := int64(len(whole)) + pieceBytes; g.staged() != want {
		t.Errorf("%d bytes are staged, want %d", g.staged(), want)
	}
	// No complete stage makes room until it is old.
	for range StageAges + 1 {
		if r := w.ask(4, stageRequest(5, other[0], false, 0)); r.Status != wor.StatusBusy {
			t.Errorf("one more: %v", r.Status)
		}
		g.Age()
	}
	w.checkpoint(4)
	young := New(4, w.genesis, 1)
	for _, record := range w.logs[4] {
		if err := young.Redo(record); err != nil {
			t.Fatal(err)
		}
	}
	if r := w.ask(4, stageRequest(5, other[0], false, 0)); r.Status != wor.StatusOK || r.Cursor != 1 || g.find(1, 1000) != nil {
		t.Errorf("one more, when all are old: %v", r.Status)
	}
	w.groups[4], g = young, young // as if that had not happened
	w.checkpoint(4)
	w.restart(t, 4)
	if g = w.groups[4]; len(g.stages) != StagesMax || g.stages[0].tag != 1000 {
		t.Errorf("%d stages after a restart", len(g.stages))
	}
	// Drop the stage that is counted: an equal one is counted instead.
	g.dropStages(func(s *stage) bool { return s.tag == 1000 })
	if want := int64(len(whole)) + pieceBytes; g.staged() != want {
		t.Errorf("%d bytes are staged, want %d", g.staged(), want)
	}
	// The bytes are bounded too.
	g.Limit(g.staged() + 100)
	if r := w.ask(4, stageRequest(6, stageOf(4)[0], false, 0)); r.Status != wor.StatusBusy {
		t.Errorf("beyond MaxBytes: %v", r.Status)
	}
}

func TestWhatCannotBeAStateIsNotStaged(t *testing.T) {
	at := func(p wor.Protocol, seg wor.Segment, off uint32) *State {
		return &State{p, wor.State{Addr: wor.Addr{Segment: seg, Offset: off}, Written: true}}
	}
	tomb := func(p wor.Protocol, seg wor.Segment) *State {
		return &State{p, wor.State{Addr: wor.Addr{Segment: seg}, Trimmed: true}}
	}
	late := at(wor.Paxos, 11, 1)
	late.Accepted.Round = 1
	for name, states := range map[string][]*State{
		"order":               {at(wor.Paxos, 11, 2), at(wor.Paxos, 11, 1)},
		"twice":               {at(wor.Paxos, 11, 2), at(wor.Paxos, 11, 2)},
		"segments":            {at(wor.Paxos, 13, 2), at(wor.Paxos, 11, 3)},
		"protocols":           {at(wor.Paxos, 11, 1), at(wor.Fast, 11, 2)},
		"both servers":        {at(wor.Paxos, 11, 1), at(wor.Chain, 11, 2)},
		"ballot":              {late},
		"behind a tombstone":  {tomb(wor.Paxos, 11), at(wor.Paxos, 11, 2)},
		"chain tombstone":     {tomb(wor.Chain, 11), at(wor.Chain, 11, 2)},
		"fast tombstone":      {tomb(wor.Fast, 11)},
		"offset":              {at(wor.Paxos, 11, wor.SegmentMax)},
		"no range":            {at(wor.Paxos, 11, 1<<32-1)},
		"metadata away":       {at(wor.Paxos, 12, wor.MetaOffset)},
		"metadata by chain":   {at(wor.Chain, 11, wor.MetaOffset)},
		"the system's":        {at(wor.Paxos, wor.ConfigSegment(1), 1)},
		"tomb of the systems": {tomb(wor.Paxos, wor.ConfigSegment(1))},
	} {
		w := newWorld(genesis(2, 1, 2, 3), 1, 4)
		var piece []byte
		for i, s := range states {
			piece = AppendState(piece, s)
			r := w.ask(4, stageRequest(uint64(1+i), piece, false, 0))
			if i < len(states)-1 && r.Status != wor.StatusOK {
				t.Fatalf("%s: state %d: %v", name, i, r.Status)
			}
			if i == len(states)-1 && r.Status != wor.StatusLimit {
				t.Errorf("%s: %v", name, r.Status)
			}
		}
	}
	w := newWorld(genesis(2, 1, 2, 3), 1, 4)
	var piece []byte
	for _, s := range []*State{
		at(wor.Paxos, 11, 1), at(wor.Paxos, 11, wor.MetaOffset), tomb(wor.Chain, 13), at(wor.Paxos, 13, wor.TrimOffset),
		tomb(wor.Paxos, 15), tomb(wor.Chain, 15), at(wor.Fast, 17, wor.SegmentMax-1), at(wor.Chain, 18, 0),
	} {
		piece = AppendState(piece, s)
	}
	if r := w.ask(4, stageRequest(1, piece, false, 0)); r.Status != wor.StatusOK {
		t.Errorf("a sound piece: %v %s", r.Status, r.Value)
	}
}

// TestChooseKeepsWhatMayBeDecided tries all ways in which values may be accepted at
// ballot 0 on small sets of servers: the value that any quorum may have decided survives.
func TestChooseKeepsWhatMayBeDecided(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for s := Seals(n); s <= n; s++ {
			for a := 0; a <= s; a++ {
				for b := 0; a+b <= s; b++ {
					var states []wor.State
					for range a {
						states = append(states, wor.State{Written: true, Value: []byte("a")})
					}
					for range b {
						states = append(states, wor.State{Written: true, Value: []byte("b")})
					}
					value, ok, _ := Choose(wor.Fast, n, s, states)
					for v, votes := range map[string]int{"a": a, "b": b} {
						if may := votes > 0 && votes+n-s >= wor.FastQuorum(n); may && (!ok || string(value) != v) {
							t.Errorf("n=%d s=%d a=%d b=%d: %q may be decided, %q goes on (%v)", n, s, a, b, v, value, ok)
						} else if !may && ok && string(value) == v {
							t.Errorf("n=%d s=%d a=%d b=%d: %q cannot be decided, and goes on", n, s, a, b, v)
						}
					}
				}
			}
		}
	}
}

func TestChoose(t *testing.T) {
	at := func(round uint64, value string) wor.State {
		return wor.State{Written: true, Accepted: wor.Ballot{Round: round, Nonce: min(round, 1)}, Value: []byte(value)}
	}
	for i, c := range []struct {
		p        wor.Protocol
		states   []wor.State
		want     string
		ok       bool
		conflict bool
	}{
		{wor.Paxos, nil, "", false, false},
		{wor.Fast, nil, "", false, false},
		{wor.Chain, nil, "", false, false},
		{wor.Paxos, []wor.State{at(0, "x")}, "x", true, false},
		{wor.Paxos, []wor.State{at(2, "x"), at(3, "y"), at(1, "x")}, "y", true, false},
		{wor.Paxos, []wor.State{at(2, "x"), at(2, "y"), at(2, "y")}, "y", true, true},
		{wor.Paxos, []wor.State{at(2, "y"), at(2, "x")}, "x", true, true},
		{wor.Paxos, []wor.State{at(1, "")}, "", true, false},
		{wor.Fast, []wor.State{at(0, "x"), at(0, "x"), at(1, "y")}, "y", true, false},
		{wor.Fast, []wor.State{at(0, "x")}, "", false, false},
		{wor.Fast, []wor.State{at(0, "x"), at(0, "y")}, "", false, false},
		{wor.Chain, []wor.State{at(0, "x")}, "x", true, false},
		{wor.Chain, []wor.State{at(1, "x"), at(2, "x")}, "x", true, false},
		{wor.Chain, []wor.State{at(1, "x"), at(2, "y"), at(1, "x")}, "x", true, true},
	} {
		value, ok, conflict := Choose(c.p, 3, max(2, len(c.states)), c.states)
		if ok != c.ok || conflict != c.conflict || ok && string(value) != c.want {
			t.Errorf("case %d: %q %v %v, want %q %v %v", i, value, ok, conflict, c.want, c.ok, c.conflict)
		}
	}
}

// TestAWriteOfManyLargeValuesIsDoneInParts: the memory that one value takes when it is
// written to a range is bounded.
func TestAWriteOfManyLargeValuesIsDoneInParts(t *testing.T) {
	for _, p := range []wor.Protocol{wor.Paxos, wor.Chain, wor.Fast} {
		w := newWorld(genesis(2, 1), 1, 1)
		q := &wor.Request{
			Kind: wor.KindWrite, Protocol: p, Partition: 1, Value: make([]byte, wor.ValueMax/4),
			Range: wor.Range{Segment: 11, Hi: wor.RangeMax},
		}
		if n := w.ask(1, q).Covered(); n < 1 || n > 20 {
			t.Errorf("%v: %d registers", p, n)
		}
		q.Value = nil
		q.Range.Segment = 13
		if n := w.ask(1, q).Covered(); n != wor.RangeMax {
			t.Errorf("%v: %d registers of nothing", p, n)
		}
		q.Kind = wor.KindRead
		if r := w.ask(1, q); fmt.Sprint(r.Covered(), len(r.Runs), r.Runs[0].Written) != "65536 1 true" {
			t.Errorf("%v: %d runs, %v", p, len(r.Runs), r.Runs[0])
		}
	}
}

// TestAnOldTailDoesNotSayUnwritten: the last server of a chain was not sealed, and
// the next epoch has decided the register.
func TestAnOldTailDoesNotSayUnwritten(t *testing.T) {
	w := newWorld(genesis(2, 1, 2, 3), 1, 1, 2, 3, 4)
	for _, id := range []wor.ServerID{1, 2} {
		w.ask(id, &wor.Request{Kind: wor.KindSeal, Partition: 1})
	}
	pieces, m := merged(t, w, 1, 2)
	c := config(1, 1, 9, 1, 2, 4)
	c.Digest = m.Digest()
	value, _ := c.MarshalBinary()
	at := wor.One(wor.Addr{Segment: 11})
	for _, id := range []wor.ServerID{1, 2, 4} {
		w.ask(id, stageRequest(9, pieces[0], true, m.Digest()))
		w.ask(id, &wor.Request{Kind: wor.KindActivate, Partition: 1, Epoch: 1, Value: value})
		r := w.ask(id, &wor.Request{Kind: wor.KindWrite, Protocol: wor.Chain, Partition: 1, Epoch: 1, Range: at, Value: []byte("v")})
		if r.Status != wor.StatusOK || r.Runs[0].Status != wor.StatusOK {
			t.Fatalf("server %d: %v", id, r.Status)
		}
	}
	read := chain.Client{}.Read(3, at)
	var out wor.Outbox
	for read.Start(&out); len(out.To) > 0; {
		to, q, step := out.To[0], *out.Requests[0], read.Step()
		out.To, out.Requests = out.To[1:], out.Requests[1:]
		q.Partition = 1
		read.Deliver(to, step, w.ask(wor.ServerID(to+1), &q), &out)
	}
	if read.Done() || read.Moved() != wor.StatusStale {
		t.Errorf("an old reader is done: %v, %+v; moved: %v", read.Done(), read.Result(), read.Moved())
	}
}
