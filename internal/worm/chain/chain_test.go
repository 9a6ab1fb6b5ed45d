// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestDialogues shows what clients and servers say to each other. A server answers
// requests in the order in which they arrive, unless the script holds one.
func TestDialogues(t *testing.T) {
	datadriven.Walk(t, "testdata/dialogues", func(t *testing.T, path string) {
		var s script
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
	})
}

type script struct {
	servers []*Replica
	held    map[int]wor.Status // what a server answers instead
	machine wor.Machine
	queue   []sent
	out     strings.Builder
}

type sent struct {
	to   int
	step uint32
	q    wor.Request
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	s.out.Reset()
	r := wor.Range{Segment: 7}
	var b wor.Ballot
	d.MaybeScanArgs(t, "lo", &r.Lo)
	r.Hi = r.Lo + 1
	d.MaybeScanArgs(t, "hi", &r.Hi)
	if d.HasArg("ballot") {
		d.ScanArgs(t, "ballot", &b.Round)
		b.Nonce = 0xc
	}
	n := len(s.servers)
	switch d.Cmd {
	case "servers":
		d.ScanArgs(t, "n", &n)
		s.servers, s.held = nil, map[int]wor.Status{}
		for i := range n {
			s.servers = append(s.servers, NewReplica(i == 0))
		}
		return "ok\n"
	case "hold":
		for _, a := range d.CmdArgs {
			var i int
			fmt.Sscan(a.Key, &i)
			s.held[i] = wor.StatusBusy
			if len(a.Vals) > 0 {
				s.held[i] = map[string]wor.Status{"sealed": wor.StatusSealed, "stale": wor.StatusStale}[a.Vals[0]]
			}
		}
		return "ok\n"
	case "free":
		clear(s.held)
		return "ok\n"
	case "expire":
		s.with(func(out *wor.Outbox) { s.machine.Expire(out) })
	case "capture":
		s.start(Client{}.Capture(n, r, b))
	case "write":
		s.start(Client{}.Write(n, r, b, []byte(strings.TrimSpace(d.Input))))
	case "read":
		s.start(Client{}.Read(n, r))
	case "trim":
		s.start(Client{}.Trim(n, r.Segment))
	default:
		d.Fatalf(t, "no such command")
	}
	return s.finish()
}

func (s *script) start(m wor.Machine) {
	s.machine, s.queue = m, nil
	s.with(m.Start)
}

func (s *script) with(f func(*wor.Outbox)) {
	var out wor.Outbox
	f(&out)
	for i, q := range out.Requests {
		s.queue = append(s.queue, sent{out.To[i], s.machine.Step(), *q})
	}
}

func (s *script) finish() string {
	for len(s.queue) > 0 {
		m := s.queue[0]
		s.queue = s.queue[1:]
		var r wor.Reply
		var log wor.Log
		if r.Status = s.held[m.to]; r.Status == wor.StatusOK {
			s.servers[m.to].Handle(&m.q, &r, &log)
		}
		fmt.Fprintf(&s.out, "%v to %d", m.q.Kind, m.to)
		if m.q.Kind != wor.KindTrim {
			fmt.Fprintf(&s.out, " %v", m.q.Range)
		}
		if m.q.Kind == wor.KindWrite {
			fmt.Fprintf(&s.out, " %v %q", m.q.Ballot, m.q.Value)
		}
		fmt.Fprintf(&s.out, ": %s\n", describe(&r))
		s.with(func(out *wor.Outbox) { s.machine.Deliver(m.to, m.step, &r, out) })
	}
	switch {
	case s.machine.Done():
		fmt.Fprintf(&s.out, "= %s\n", runs(s.machine.Result()))
	case s.machine.Moved() != wor.StatusOK:
		fmt.Fprintf(&s.out, "moved: %v\n", s.machine.Moved())
	default:
		s.out.WriteString("waiting\n")
	}
	return s.out.String()
}

func describe(r *wor.Reply) string {
	if r.Status != wor.StatusOK {
		return r.Status.String()
	}
	return runs(r.Runs)
}

func runs(rs []wor.Run) string {
	var parts []string
	for _, r := range rs {
		s := fmt.Sprintf("%dx %v", r.Count, r.Status)
		if !r.Promised.IsZero() {
			s += fmt.Sprintf(" promised %v", r.Promised)
		}
		if r.Written {
			s += fmt.Sprintf(" has %q at %v", r.Value, r.Accepted)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

func TestPromisesAreAsIfEachRegisterHadItsOwn(t *testing.T) {
	for seed := range uint64(300) {
		var s segment
		want := make([]uint64, 40)
		rnd := seed*2 + 1
		draw := func(n uint32) uint32 {
			rnd = rnd*6364136223846793005 + 1442695040888963407
			return uint32(rnd>>33) % n
		}
		for range 30 {
			lo := draw(40)
			hi := lo + 1 + draw(40-lo)
			round := uint64(1 + draw(5))
			s.promise(lo, hi, wor.Ballot{Round: round, Nonce: 1})
			for i := lo; i < hi; i++ {
				want[i] = max(want[i], round)
			}
			got := make([]uint64, 40)
			s.walk(0, 40, func(lo, hi uint32, p wor.Ballot, c *cell) bool {
				for i := lo; i < hi; i++ {
					got[i] = p.Round
				}
				return true
			})
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: got %v, want %v, spans %v", seed, got, want, s.spans)
			}
			for i := 1; i < len(s.spans); i++ {
				if a, b := s.spans[i-1], s.spans[i]; a.hi > b.lo || a.hi == b.lo && a.ballot == b.ballot || a.lo >= a.hi {
					t.Fatalf("seed %d: spans %v", seed, s.spans)
				}
			}
		}
	}
}
