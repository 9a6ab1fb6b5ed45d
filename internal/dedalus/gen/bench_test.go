// SPDX-License-Identifier: Apache-2.0

package gen_test

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/examples/dedalus/compiled/voting"
	"github.com/ashlar-dev/ashlar/internal/dedalus/gen/internal/closure"
)

// graph is random edges, different ones, of n nodes.
func graph(n, m int) [][2]uint64 {
	r := env.Seeded(1)
	seen := map[[2]uint64]bool{}
	var edges [][2]uint64
	for len(edges) < m {
		e := [2]uint64{uint64(env.IntN(r, n)), uint64(env.IntN(r, n))}
		if !seen[e] {
			seen[e] = true
			edges = append(edges, e)
		}
	}
	return edges
}

// closed is the number of paths, by a program that does only that.
func closed(n int, edges [][2]uint64) int {
	out := make([][]uint32, n)
	for _, e := range edges {
		out[e[0]] = append(out[e[0]], uint32(e[1]))
	}
	table := make([]uint64, 1024)
	mask := uint64(len(table) - 1)
	var paths []uint64
	place := func(p uint64) uint64 {
		h := p * 0x9e3779b97f4a7c15
		return (h ^ h>>32) & mask
	}
	add := func(p uint64) {
		at := place(p)
		for ; table[at] != 0; at = (at + 1) & mask {
			if table[at] == p+1 {
				return
			}
		}
		table[at] = p + 1
		paths = append(paths, p)
		if len(paths)*4 < len(table)*3 {
			return
		}
		table = make([]uint64, 2*len(table))
		mask = uint64(len(table) - 1)
		for _, p := range paths {
			at := place(p)
			for ; table[at] != 0; at = (at + 1) & mask {
			}
			table[at] = p + 1
		}
	}
	for _, e := range edges {
		add(e[0]<<32 | e[1])
	}
	for i := 0; i < len(paths); i++ {
		a, b := paths[i]>>32, uint32(paths[i])
		for _, c := range out[b] {
			add(a<<32 | uint64(c))
		}
	}
	return len(paths)
}

// compiledPaths has edges arrive, as a relation, and returns the number that is
// sent.
func compiledPaths(tb testing.TB, edges [][2]uint64, relation string) int {
	p := closure.Program()
	c, err := p.Components[0].New(rt.Identity{Node: "node/0", Self: "node/0"}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	var buf []byte
	for _, e := range edges {
		row := rt.RowTo(buf[:0])
		row.U64(e[0])
		row.U64(e[1])
		buf = row.Bytes()
		if err := c.Deliver(number(p, relation), buf); err != nil {
			tb.Fatal(err)
		}
	}
	var out rt.Out
	c.Tick(&out)
	if len(out.Sent) != 1 {
		tb.Fatal("sent", out.Sent)
	}
	r := rt.Read(out.Sent[0].Row)
	return int(r.U64())
}

func number(p *rt.Program, relation string) int {
	for i, r := range p.Relations {
		if r.Name == relation {
			return i
		}
	}
	return -1
}

// cpu is the time that the process has had, which says more than the time that has
// passed where others run as well.
func cpu(tb testing.TB) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkClosure computes transitive closures by hand and compiled, of edges that
// arrive and of edges that are kept. The two take turns, each with a heap that has
// been swept, and ratio is the median of compiled to by hand: what else runs on the
// machine then slows both.
func BenchmarkClosure(b *testing.B) {
	for _, size := range []struct{ n, m int }{{1000, 3000}, {2000, 5000}} {
		edges := graph(size.n, size.m)
		want := closed(size.n, edges)
		for _, c := range []struct{ name, relation string }{{"arriving", "edge"}, {"kept", "link"}} {
			b.Run(fmt.Sprintf("n=%d/%s", size.n, c.name), func(b *testing.B) {
				var hand, compiled time.Duration
				var ratios []float64
				for range b.N {
					h := timed(b, want, func() int { return closed(size.n, edges) })
					c := timed(b, want, func() int { return compiledPaths(b, edges, c.relation) })
					hand, compiled, ratios = hand+h, compiled+c, append(ratios, float64(c)/float64(h))
				}
				slices.Sort(ratios)
				b.ReportMetric(float64(hand)/1e6/float64(b.N), "hand-cpu-ms")
				b.ReportMetric(float64(compiled)/1e6/float64(b.N), "cpu-ms")
				b.ReportMetric(ratios[len(ratios)/2], "ratio")
				b.ReportMetric(float64(want), "paths")
			})
		}
	}
}

// timed is the processor time of a run that must find so many paths.
func timed(b *testing.B, want int, run func() int) time.Duration {
	runtime.GC()
	before := cpu(b)
	got := run()
	spent := cpu(b) - before
	if got != want {
		b.Fatalf("%d paths, want %d", got, want)
	}
	return spent
}

// TestClosure: the three agree.
func TestClosure(t *testing.T) {
	edges := graph(100, 200)
	want := closed(100, edges)
	for _, relation := range []string{"edge", "link"} {
		if got := compiledPaths(t, edges, relation); got != want {
			t.Errorf("%s: %d paths, want %d", relation, got, want)
		}
	}
}

// vote drives a leader with three participants through commands, batch of them at a
// time: commands in, votes in, answers out.
type vote struct {
	leader         rt.Component
	in, rep, reply int
	out            rt.Out
	command        []byte
	votes          [3][]byte
	next, answered uint64
}

func newVote(tb testing.TB) *vote {
	p := voting.Program()
	c, err := p.Components[0].New(rt.Identity{Node: "leader/0", Self: "leader/0"}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return &vote{leader: c, in: number(p, "clientIn"), rep: number(p, "voteRep"), reply: number(p, "clientOut")}
}

func (v *vote) row(to []byte, from string, id uint64) []byte {
	row := rt.RowTo(to[:0])
	if from != "" {
		row.Text(from)
	}
	row.Text("client/7")
	row.U64(id)
	row.Text("sixteen bytes of")
	return row.Bytes()
}

func (v *vote) tick() {
	v.out.Reset()
	v.leader.Tick(&v.out)
	for _, m := range v.out.Sent {
		if m.Relation == v.reply {
			v.answered++
		}
	}
}

func (v *vote) batch(tb testing.TB, n int) {
	must := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	for i := range n {
		v.command = v.row(v.command, "", v.next+uint64(i))
		must(v.leader.Deliver(v.in, v.command))
	}
	v.tick()
	// The votes of each participant come together.
	for p := range v.votes {
		for i := range n {
			v.votes[p] = v.row(v.votes[p], [...]string{"participant/0", "participant/1", "participant/2"}[p], v.next+uint64(i))
			must(v.leader.Deliver(v.rep, v.votes[p]))
		}
		v.tick()
	}
	for v.leader.Pending() {
		v.tick()
	}
	v.next += uint64(n)
}

// BenchmarkVoting is the time of the leader for a command, without network.
func BenchmarkVoting(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("batch=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			v := newVote(b)
			before := cpu(b)
			for done := 0; done < b.N; done += n {
				v.batch(b, n)
			}
			b.ReportMetric(float64(cpu(b)-before)/float64(v.next), "cpu-ns/command")
			if v.answered != v.next {
				b.Fatalf("%d answers to %d commands", v.answered, v.next)
			}
		})
	}
}
