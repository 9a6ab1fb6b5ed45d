// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// member is a process with an Engine and one RM of its own, whose part of the transaction
// determines its vote.
type member struct {
	g      *group
	p      *ideal.Process
	e      *Engine
	rm     RM
	opened bool
}

// group is some nodes; the last one is a TM only.
type group struct {
	t     testing.TB
	w     *ideal.World
	v     Variant
	nodes []*member
	// voted has the intended vote of each RM, learned the outcomes that any process
	// learned.
	voted   map[ID]map[RM]bool
	learned map[ID]bool
	at      map[ID]env.Instant // the last time that an RM learned it
	count   map[ID]int
	failed  error
}

func (g *group) fail(format string, args ...any) {
	if g.failed == nil {
		g.failed = fmt.Errorf(format, args...)
	}
}

func (n *member) Prepare(rm RM, id ID, _ uint64, part []byte) ([]byte, []byte, bool) {
	if n.g.voted[id] == nil {
		n.g.voted[id] = map[RM]bool{}
	}
	if _, twice := n.g.voted[id][rm]; twice {
		n.g.fail("RM %d votes twice on %v", rm, id)
	}
	yes := len(part) == 0 || part[0] != 'n'
	n.g.voted[id][rm] = yes
	return []byte("brief"), []byte("redo"), yes
}

func (n *member) Finish(RM, ID, *Outcome) {}
func (n *member) Lost(RM)                 {}

func (n *member) Trace(e env.Event) {
	if e, ok := e.(Learned); ok {
		n.g.learn(e.ID, e.Commit, fmt.Sprint("RM ", e.RM))
		n.g.at[e.ID] = n.g.w.Now()
		n.g.count[e.ID]++
	}
}

// learn checks AC1, agreement, and that no outcome changes.
func (g *group) learn(id ID, commit bool, who string) {
	if was, ok := g.learned[id]; ok && was != commit {
		g.fail("AC1: %v learned commit=%v of %v, others %v", who, commit, id, was)
	}
	g.learned[id] = commit
}

func newGroup(t testing.TB, o ideal.Options, v Variant, rms int) *group {
	g := &group{t: t, w: ideal.New(o), v: v, voted: map[ID]map[RM]bool{}, learned: map[ID]bool{}, at: map[ID]env.Instant{}, count: map[ID]int{}}
	for i := range rms + 1 {
		n := &member{g: g, p: g.w.Start(fmt.Sprint("n", i)), rm: RM(i)}
		g.nodes = append(g.nodes, n)
	}
	for _, n := range g.nodes {
		g.boot(n, rms)
	}
	if !g.w.RunUntil(time.Minute, func() bool {
		for _, n := range g.nodes {
			for rm := range rms {
				if n.rm == RM(rm) && !n.opened || n.rm != RM(rm) && n.e.Granted(RM(rm)) == 0 {
					return false
				}
			}
		}
		return true
	}) {
		t.Fatal("the nodes do not begin")
	}
	g.w.Run(100 * time.Millisecond)
	return g
}

func (g *group) boot(n *member, rms int) {
	n.p.Env.Tracer = n
	var err error
	n.e, err = New(Options{
		Env: n.p.Env, Serial: n.p.Serial, Space: n.p.Space, Messenger: n.p.Messenger, Self: n.p.Member, Resource: n, Variant: g.v,
		Instance: 1, RMs: rms, Managers: []wor.Member{g.nodes[rms].p.Member}, SegmentSize: 512, ResolveAfter: 50 * time.Millisecond,
	})
	if err != nil {
		g.t.Fatal(err)
	}
	n.p.Serve(wor.ServiceTx, n.e.Handle)
	for rm := range rms {
		n.e.Suppose(RM(rm), g.nodes[rm].p.Member)
	}
	if int(n.rm) < rms {
		n.e.Acquire(n.rm, func(_ *Recovered, err error) {
			if err != nil {
				g.t.Fatal(err)
			}
			n.e.Open(n.rm, func() { n.opened = true })
		})
	}
	var fetch func()
	fetch = func() {
		for rm := range rms {
			n.e.Prefetch(RM(rm))
		}
		n.p.After(20*time.Millisecond, fetch)
	}
	fetch()
}

// TestDelays counts the message delays of each variant, from the beginning until
// the last RM knows the outcome: each message takes one unit.
func TestDelays(t *testing.T) {
	const unit = time.Millisecond
	for v := A8; v <= F2; v++ {
		for _, rms := range []int{2, 3, 5} {
			g := newGroup(t, ideal.Options{Fixed: unit}, v, rms)
			parts := make([]Part, rms)
			for i := range parts {
				parts[i].RM = RM(i)
			}
			begin := g.w.Now()
			var id ID
			if v == F2 {
				g.nodes[0].e.Reserve(parts, func(tx Tx, err error) {
					if id = tx.ID; err != nil {
						t.Fatal(err)
					}
					for i := range parts {
						g.nodes[i].e.Join(tx, i, nil)
					}
				})
			} else {
				g.nodes[0].e.Start(parts, func(tx Tx, o *Outcome, err error) {
					if id = tx.ID; err != nil || !o.Commit {
						t.Fatal(err)
					}
				})
			}
			g.w.RunUntil(time.Second, func() bool { return g.count[id] == rms })
			if got := int(g.at[id].Sub(begin) / unit); got != v.Delays() || !g.learned[id] {
				t.Errorf("%v with %d RMs: %d delays, want %d", v, rms, got, v.Delays())
			}
		}
	}
}

// TestAtomicCommit runs transactions with lost messages, half-written values, useless
// tokens and dead processes, and checks the promises of atomic commit.
func TestAtomicCommit(t *testing.T) {
	first, past := seeds(t, 240)
	commits, aborts := 0, 0
	for seed := first; seed < past; seed++ {
		v := A8 + Variant(seed%6)
		c, a, err := atomicCommit(t, v, seed)
		if err != nil {
			t.Fatalf("seed %d, %v (ASHLAR_TX_SEED=%d go test ./worm/tx -run %s): %v", seed, v, seed, t.Name(), err)
		}
		commits, aborts = commits+c, aborts+a
	}
	if past-first > 20 && (commits < 100 || aborts < 100) {
		t.Errorf("%d commits and %d aborts: too few to say anything", commits, aborts)
	}
	t.Logf("%d commits, %d aborts", commits, aborts)
}

func atomicCommit(t *testing.T, v Variant, seed uint64) (commits, aborts int, err error) {
	const rms, txns = 4, 12
	g := newGroup(t, adversity(seed), v, rms)
	r := g.w.Random()
	calm := seed%8 == 0 // no failures: AC3
	if calm {
		g = newGroup(t, ideal.Options{Seed: seed}, v, rms)
		r = g.w.Random()
	}
	type begun struct {
		tx Tx
		no bool
	}
	var all []*begun
	for i := range txns {
		n := g.nodes[i%rms]
		b := &begun{}
		var parts []Part
		for rm := range rms {
			vote := "y"
			if r.Uint64()%12 == 0 {
				vote, b.no = "n", true
			}
			if rm < 2 || r.Uint64()%2 == 0 {
				parts = append(parts, Part{RM(rm), []byte(vote)})
			} else if vote == "n" {
				b.no = slices.ContainsFunc(parts, func(p Part) bool { return string(p.Part) == "n" })
			}
		}
		n.p.After(time.Duration(env.IntN(r, int(40*time.Millisecond))), func() {
			if v == F2 {
				n.e.Reserve(parts, func(tx Tx, err error) {
					if err != nil {
						return
					}
					b.tx = tx
					all = append(all, b)
					for s := range parts {
						m := g.nodes[parts[s].RM]
						m.p.After(0, func() { m.e.Join(tx, s, parts[s].Part) })
					}
				})
				return
			}
			n.e.Start(parts, func(tx Tx, o *Outcome, err error) {
				if err == nil && !o.Unknown {
					b.tx = tx
					all = append(all, b)
					g.learn(tx.ID, o.Commit, "who began")
				}
			})
		})
	}
	dead := -1
	if !calm {
		g.w.Run(time.Duration(env.IntN(r, int(60*time.Millisecond))))
		dead = env.IntN(r, rms+1) // the TM too
		g.nodes[dead].p.Kill()
		if r.Uint64()%2 == 0 {
			g.w.NewEpoch()
		}
	}
	g.w.Run(300 * time.Millisecond)
	g.w.Heal()
	g.w.Run(20 * time.Second)
	// AC4: a client that is alive has no transaction left.
	for i, n := range g.nodes {
		if i != dead && len(n.e.txns) > 0 {
			return 0, 0, fmt.Errorf("AC4: %d transactions have no outcome at node %d", len(n.e.txns), i)
		}
	}
	ids := make([]ID, 0, len(g.learned))
	for id := range g.learned {
		ids = append(ids, id)
	}
	for _, id := range ids {
		if !g.learned[id] {
			aborts++
			continue
		}
		commits++
		for rm, yes := range g.voted[id] {
			if !yes {
				return 0, 0, fmt.Errorf("AC2: %v was committed, and RM %d voted no", id, rm)
			}
		}
	}
	for _, b := range all {
		if g.learned[b.tx.ID] && len(g.voted[b.tx.ID]) != len(b.tx.Slots) {
			return 0, 0, fmt.Errorf("AC2: %v was committed by %d votes of %d", b.tx.ID, len(g.voted[b.tx.ID]), len(b.tx.Slots))
		}
		if calm && g.learned[b.tx.ID] == b.no {
			return 0, 0, fmt.Errorf("AC3: commit=%v of %v, without failures, no=%v", g.learned[b.tx.ID], b.tx.ID, b.no)
		}
	}
	if calm && len(all) != txns {
		return 0, 0, fmt.Errorf("%d of %d transactions have ended", len(all), txns)
	}
	// The outcome is the conjunction of the registers' votes.
	for _, b := range all {
		and := true
		for _, s := range b.tx.Slots {
			reg := g.w.Register(s.Addr)
			and = and && reg.Phase == wor.Written && decodeVote([]byte(reg.Value)).Yes
		}
		if o, ok := g.learned[b.tx.ID]; ok && o != and {
			return 0, 0, fmt.Errorf("%v: outcome commit=%v, the registers say %v", b.tx.ID, o, and)
		}
	}
	return commits, aborts, g.failed
}

// TestOldSegmentIsClosed asks for a vote in a segment after its RM went on to the next
// one. The vote must be NO: a later YES would break the order in which a takeover redoes
// transactions.
func TestOldSegmentIsClosed(t *testing.T) {
	g := newGroup(t, ideal.Options{Seed: 3}, E3, 2)
	var x Tx
	g.nodes[1].e.Reserve([]Part{{0, nil}, {1, nil}}, func(tx Tx, err error) {
		if x = tx; err != nil {
			t.Fatal(err)
		}
	})
	c := g.nodes[0].e.chains[0]
	n := c.cur.n
	c.advance()
	if !g.w.RunUntil(time.Second, func() bool { return c.next != nil }) {
		t.Fatal("there is no next segment")
	}
	c.advance()
	if c.cur.n != n+1 {
		t.Fatalf("the RM votes in segment %d, want %d", c.cur.n, n+1)
	}
	if got := g.nodes[0].e.prepare(x, 0, nil, wor.Member{}); got != answerOK || len(g.voted[x.ID]) != 0 {
		t.Errorf("a request for an old segment is answered %d, and the RM was asked %d times", got, len(g.voted[x.ID]))
	}
	var o *Outcome
	g.nodes[1].e.begin(x, [][]byte{nil, nil}, func(got *Outcome) { o = got })
	if !g.w.RunUntil(time.Second, func() bool { return o != nil }) || o.Commit {
		t.Errorf("a transaction with a slot there: %+v, want an abort", o)
	}
}
