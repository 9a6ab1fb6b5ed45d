// SPDX-License-Identifier: Apache-2.0

package group

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// randomRequest is a request that a server may get in the first two epochs: mostly a
// sensible one.
func randomRequest(rng *rand.Rand) *wor.Request {
	q := &wor.Request{Epoch: wor.Epoch(rng.IntN(2)), Protocol: wor.Protocol(rng.IntN(3))}
	q.Range.Segment = segmentOf(q.Protocol)
	if rng.IntN(20) == 0 {
		q.Range.Segment = wor.Segment(10 + rng.IntN(4))
	}
	q.Range.Lo = uint32(rng.IntN(6))
	q.Range.Hi = q.Range.Lo + 1 + uint32(rng.IntN(3))
	if rng.IntN(8) == 0 {
		q.Protocol = wor.Paxos
		q.Range = wor.One(wor.Addr{Segment: q.Range.Segment, Offset: wor.MetaOffset + uint32(rng.IntN(2))})
	}
	if rng.IntN(8) == 0 {
		q.Protocol = wor.Paxos
		q.Range = wor.One(wor.Addr{Segment: wor.ConfigSegment(wor.Partition(rng.IntN(2))), Offset: uint32(1 + rng.IntN(2))})
	}
	if rng.IntN(4) > 0 {
		q.Ballot = wor.Ballot{Round: uint64(1 + rng.IntN(4)), Nonce: uint64(1 + rng.IntN(2))}
	}
	// A token has one value.
	q.Value = fmt.Appendf(nil, "%v", q.Ballot)
	kinds := []wor.Kind{
		wor.KindCapture, wor.KindCapture, wor.KindCapture, wor.KindWrite, wor.KindWrite, wor.KindWrite, wor.KindWrite,
		wor.KindRead, wor.KindListen, wor.KindUnlisten, wor.KindStatus,
	}
	q.Kind = kinds[rng.IntN(len(kinds))]
	switch k := rng.IntN(60); {
	case k == 0:
		q.Kind = wor.KindTrim
	case k == 1:
		q.Kind = wor.KindSeal
	case k < 5:
		q.Kind = wor.KindFetch
	case k < 20:
		randomStage(rng, q)
	case k == 20:
		q.Kind = wor.KindActivate
		c := config(0, q.Epoch, uint64(1+rng.IntN(4)), []wor.ServerID{2, 1, 3}[rng.IntN(2):]...)
		c.Digest = digestOf(c.Tag)
		q.Value, _ = c.MarshalBinary()
	}
	return q
}

// stageOf is the two pieces of a stage; tags 1 and 2 have the same pieces.
func stageOf(tag uint64) [2][]byte {
	value := fmt.Sprintf("adopted %d", max(tag, 2))
	state := func(p wor.Protocol, off uint32) *State {
		return &State{p, wor.State{Addr: wor.Addr{Segment: segmentOf(p), Offset: off}, Written: true, Value: []byte(value)}}
	}
	a := AppendState(nil, state(wor.Paxos, 1))
	if tag == 3 {
		a = AppendState(nil, &State{wor.Paxos, wor.State{Addr: wor.Addr{Segment: segmentOf(wor.Paxos)}, Trimmed: true}})
	}
	return [2][]byte{AppendState(a, state(wor.Chain, 0)), AppendState(AppendState(nil, state(wor.Chain, 3)), state(wor.Fast, 2))}
}

func digestOf(tag uint64) uint64 {
	s := stageOf(tag)
	return xxhash.Sum64(append(slices.Clone(s[0]), s[1]...))
}

func randomStage(rng *rand.Rand, q *wor.Request) {
	q.Kind, q.Tag, q.Cursor = wor.KindStage, uint64(1+rng.IntN(4)), uint64(rng.IntN(2))
	q.Value = slices.Clone(stageOf(q.Tag)[q.Cursor][:])
	if rng.IntN(12) == 0 {
		q.Value = slices.Clone(stageOf(7)[q.Cursor])
	}
	if q.Cursor == 1 {
		q.Flags, q.Digest = wor.FlagLast, digestOf(q.Tag)
		if rng.IntN(6) == 0 {
			q.Digest++
		}
	}
}

// TestAGroupComesBackAsItWas restarts a Group from its log, from the records of Save, and
// from those and the end of the log, and compares all later answers.
func TestAGroupComesBackAsItWas(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(1500) {
		rng := rand.New(rand.NewPCG(seed, 5))
		gen := genesis(2, 1, 2, 3)
		self := wor.ServerID(1)
		if seed%3 == 0 {
			self = 4
			gen = genesis(2, 2, 3)
		}
		if seed%3 == 1 {
			gen = genesis(2, 1)
		}
		g := New(self, gen, 0)
		var records [][]byte
		ask := func(g *Group, q *wor.Request) *wor.Reply {
			own, r, log := *q, &wor.Reply{}, wor.Log{}
			own.Value = slices.Clone(q.Value)
			g.Handle(&own, r, &log)
			for i := range log.Len() {
				records = append(records, slices.Clone(log.Record(i)))
			}
			r.Runs, r.Value = slices.Clone(r.Runs), slices.Clone(r.Value)
			return r
		}
		for range 1 + rng.IntN(120) {
			q := randomRequest(rng)
			seen[fmt.Sprintf("%v %v", q.Kind, ask(g, q).Status)]++
		}
		logged := slices.Clone(records)
		others := map[string]*Group{"redone": New(self, gen, 0), "saved": New(self, gen, 0), "both": New(self, gen, 0)}
		redo := func(name string, record []byte) {
			if err := others[name].Redo(record); err != nil {
				t.Fatalf("seed %d: %s: %v", seed, name, err)
			}
		}
		for _, record := range logged {
			redo("redone", record)
		}
		g.Save(func(record []byte) bool { redo("saved", record); redo("both", record); return true })
		for _, record := range logged[rng.IntN(len(logged)+1):] {
			redo("both", record)
		}
		var questions []*wor.Request
		for range 60 {
			questions = append(questions, randomRequest(rng))
		}
		var want []*wor.Reply
		for _, q := range questions {
			want = append(want, ask(g, q))
		}
		for _, name := range []string{"redone", "saved", "both"} {
			o := others[name]
			for i, q := range questions {
				if got := ask(o, q); !reflect.DeepEqual(want[i], got) {
					t.Fatalf("seed %d: %s: %v of epoch %d, %v: %s", seed, name, q.Kind, q.Epoch, q.Range, cmp.Diff(want[i], got))
				}
			}
			if g.Digest() != o.Digest() || g.Status() != o.Status() || len(g.stages) != len(o.stages) || g.staged() != o.staged() {
				t.Fatalf("seed %d: %s: another digest, status or stages", seed, name)
			}
		}
	}
	for _, what := range []string{
		"capture ok", "write ok", "read ok", "trim ok", "seal ok", "fetch ok", "stage ok", "activate ok", "activate mute",
		"activate foreign", "write sealed", "write limit", "write stale", "stage stale", "stage busy", "stage conflict", "stage limit", "read mute",
		"capture mute", "read foreign", "read ahead", "fetch mute",
	} {
		if seen[what] < 5 {
			t.Errorf("%s: %d times", what, seen[what])
		}
	}
}

// FuzzHandle sends arbitrary requests to a server.
func FuzzHandle(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 0, 1, 2, 3})
	f.Add(make([]byte, 200))
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 1 << 20
		g := New(1, genesis(2, 1, 2, 3), 0)
		g.Limit(limit)
		take := func() uint64 {
			if len(b) == 0 {
				return 0
			}
			x := b[0]
			if b = b[1:]; x < 200 || len(b) < 8 {
				return uint64(x % 50)
			}
			n := uint64(0)
			for _, c := range b[:8] {
				n = n<<8 | uint64(c)
			}
			b = b[8:]
			return n
		}
		for range 40 {
			if len(b) == 0 {
				break
			}
			q := &wor.Request{
				Kind: wor.Kind(take()), Protocol: wor.Protocol(take()), Flags: uint8(take()), Partition: wor.Partition(take() % 2),
				Epoch: wor.Epoch(take()), Ballot: wor.Ballot{Round: take(), Nonce: take()}, Tag: take(), Cursor: take(), Digest: take(),
				Range: wor.Range{Segment: wor.Segment(take()), Lo: uint32(take()), Hi: uint32(take())},
			}
			if q.Range.Hi < q.Range.Lo && q.Range.Hi < 50 {
				q.Range.Hi += q.Range.Lo
			}
			if n := take(); n < uint64(len(b)) {
				q.Value, b = slices.Clone(b[:n]), b[n:]
			}
			var r wor.Reply
			var log wor.Log
			g.Handle(q, &r, &log)
			if r.Status == wor.StatusOK && q.Kind <= wor.KindRead && (r.Covered() < 1 || r.Covered() > q.Range.Len()) {
				t.Fatalf("%v of %v covers %d", q.Kind, q.Range, r.Covered())
			}
		}
		again := New(1, genesis(2, 1, 2, 3), 0)
		g.Save(func(record []byte) bool {
			if err := again.Redo(record); err != nil {
				t.Fatal(err)
			}
			return true
		})
		if g.Status() != again.Status() || g.Digest() != again.Digest() {
			t.Fatal("it comes back as another")
		}
		// One request may exceed the limit: a promise for a whole range.
		if g.Bytes() > 16*limit {
			t.Fatalf("%d bytes are held, the limit is %d", g.Bytes(), limit)
		}
	})
}

func FuzzRedo(f *testing.F) {
	w := newWorld(genesis(2, 1, 2, 3), 0, 1)
	rng := rand.New(rand.NewPCG(1, 6))
	for range 200 {
		w.ask(1, randomRequest(rng))
	}
	for _, record := range w.logs[1] {
		f.Add(record)
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		g := New(1, genesis(2, 1, 2, 3), 0)
		_ = g.Redo(record) // it must return, with any result
		_ = g.Digest()
	})
}

func FuzzPiece(f *testing.F) {
	for tag := range uint64(3) {
		s := stageOf(tag + 1)
		f.Add(s[0])
		f.Add(s[1])
	}
	f.Add(AppendState(nil, &State{wor.Fast, wor.State{Written: true, Accepted: wor.Ballot{Round: 1}}}))
	f.Fuzz(func(t *testing.T, piece []byte) {
		var again []byte
		for rest := piece; len(rest) > 0; {
			s, next, err := NextState(rest)
			if err != nil {
				return
			}
			if n := len(again); len(AppendState(again, &s)) != n+s.size() {
				t.Fatalf("%+v: the size is not %d", s, s.size())
			}
			again, rest = AppendState(again, &s), next
		}
		if string(again) != string(piece) {
			t.Fatalf("decoded from %x, encoded to %x", piece, again)
		}
	})
}
