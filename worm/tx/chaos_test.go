// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/evidence/worm/history"
	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// seeds returns how many seeds a test runs: ASHLAR_TX_SEEDS, or the given number.
func seeds(t testing.TB, n int) (first, past uint64) {
	if s := os.Getenv("ASHLAR_TX_SEED"); s != "" {
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v, v + 1
	}
	if s := os.Getenv("ASHLAR_TX_SEEDS"); s != "" {
		v, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		n = v
	}
	if testing.Short() {
		n = max(1, n/10)
	}
	return 0, uint64(n)
}

// adversity draws rates for a seed: each kind of fault occurs in some seeds only.
func adversity(seed uint64) ideal.Options {
	r := env.Seeded(seed).Split("adversity")
	rate := func(max float64) float64 {
		if r.Uint64()&1 == 0 {
			return 0
		}
		return max * float64(r.Uint64()%1000) / 1000
	}
	return ideal.Options{Seed: seed, Late: rate(.05), Lose: rate(.05), Double: rate(.2), Half: rate(.3)}
}

// nemesis kills and restarts servers until the end, never all at once, and makes
// tokens useless.
func (c *cluster) nemesis(until time.Duration) {
	r := c.w.Random()
	end := c.w.Now().Add(until)
	helper := c.w.Start("nemesis")
	var strike func()
	strike = func() {
		if c.w.Now() > end {
			for i := range c.servers {
				if c.servers[i].p.Dead() {
					c.restart(i)
				}
			}
			return
		}
		i := env.IntN(r, len(c.servers))
		switch r.Uint64() % 8 {
		case 0:
			c.w.NewEpoch()
		case 1, 2, 3:
			live := 0
			for _, s := range c.servers {
				if !s.p.Dead() {
					live++
				}
			}
			if live > 1 && !c.servers[i].p.Dead() {
				c.kill(i)
			}
		default:
			if c.servers[i].p.Dead() {
				c.restart(i)
			}
		}
		helper.After(time.Duration(env.IntN(r, int(300*time.Millisecond))), strike)
	}
	strike()
}

// workload makes clients send requests, one after another, for a while, and records what
// they see.
type workload struct {
	c       *cluster
	txns    []history.Txn
	regs    []porcupine.Operation
	sums    []int64
	under   int
	unknown int
}

const accounts, stake = 6, 100

func (w *workload) run(clients, each int) {
	for n := range clients {
		p, cl := w.c.client(fmt.Sprint("client", n))
		w.under++
		left := each
		var next func()
		next = func() {
			if left--; left < 0 {
				w.under--
				return
			}
			p.After(time.Duration(env.IntN(p.Env.Random, int(4*time.Millisecond))), func() { w.step(p, cl, n, each-left, next) })
		}
		next()
	}
}

func (w *workload) step(p *ideal.Process, cl *Client, n, i int, next func()) {
	r := p.Env.Random
	switch r.Uint64() % 3 {
	case 0:
		w.lists(p, cl, fmt.Sprint(n, ".", i), next)
	case 1:
		w.register(p, cl, n, fmt.Sprint(n, ".", i), next)
	default:
		w.transfer(p, cl, next)
	}
}

// lists appends to lists and reads lists, in one transaction.
func (w *workload) lists(p *ideal.Process, cl *Client, name string, next func()) {
	r := p.Env.Random
	var q Request
	x := history.Txn{Name: name, Begin: int64(w.c.w.Now()), Status: history.Unknown}
	for j := range 1 + r.Uint64()%4 {
		key := fmt.Sprint("list", r.Uint64()%4)
		if r.Uint64()%2 == 0 {
			v := fmt.Sprint(name, ".", j)
			q.Ops = append(q.Ops, add(key, v+","))
			x.Ops = append(x.Ops, history.Op{Key: key, Append: v})
		} else {
			q.Ops = append(q.Ops, get(key))
			x.Ops = append(x.Ops, history.Op{Key: key})
		}
	}
	at := len(w.txns)
	w.txns = append(w.txns, x)
	cl.Do(&q, 0, func(res *Result, err error) {
		x := &w.txns[at]
		x.End = int64(w.c.w.Now())
		switch {
		case err == nil:
			x.Status = history.Committed
			for i := range x.Ops {
				if x.Ops[i].Append == "" {
					x.Ops[i].List = strings.FieldsFunc(string(res.Ops[i].Value), func(r rune) bool { return r == ',' })
				}
			}
		case errors.Is(err, wor.ErrUnknown):
			w.unknown++
		default:
			x.Status = history.Aborted
		}
		next()
	})
}

// transfer moves money between two accounts if there is enough, or sums up all accounts.
func (w *workload) transfer(p *ideal.Process, cl *Client, next func()) {
	r := p.Env.Random
	account := func() string { return fmt.Sprint("account", r.Uint64()%accounts) }
	if r.Uint64()%3 == 0 {
		var q Request
		for i := range accounts {
			q.Ops = append(q.Ops, get(fmt.Sprint("account", i)))
		}
		cl.Do(&q, 0, func(res *Result, err error) {
			if err == nil {
				sum := int64(0)
				for _, o := range res.Ops {
					v, _ := strconv.ParseInt(string(o.Value), 10, 64)
					sum += v
				}
				w.sums = append(w.sums, sum)
			}
			next()
		})
		return
	}
	from, to, n := account(), account(), int64(1+r.Uint64()%20)
	cl.Do(&Request{Ops: []Op{incr(from, -n), incr(to, n)}}, 0, func(*Result, error) { next() })
}

// regOp is an operation on a register; its output has the same form.
type regOp struct {
	key, kind, value, old string
	done                  bool
}

// register reads, writes or compares and sets one key.
func (w *workload) register(p *ideal.Process, cl *Client, n int, name string, next func()) {
	r := p.Env.Random
	op := regOp{key: fmt.Sprint("reg", r.Uint64()%3), kind: "get", value: name}
	q := &Request{Ops: []Op{get(op.key)}}
	switch r.Uint64() % 4 {
	case 0:
		op.kind = "put"
		q.Ops = []Op{put(op.key, name)}
	case 1:
		op.kind, op.old = "cas", fmt.Sprint(n, ".", r.Uint64()%20)
		if len(w.regs) > 0 {
			op.old = w.regs[len(w.regs)-1].Input.(regOp).value
		}
		q = &Request{Conds: []Cond{{Kind: CondValue, Key: op.key, Value: []byte(op.old)}}, Ops: []Op{put(op.key, name)}}
	case 2:
		op.kind, op.value = "del", ""
		q.Ops = []Op{del(op.key)}
	}
	at := len(w.regs)
	w.regs = append(w.regs, porcupine.Operation{ClientId: n, Input: op, Call: int64(w.c.w.Now()), Return: math.MaxInt64, Output: regOp{kind: "unknown"}})
	cl.Do(q, 0, func(res *Result, err error) {
		if err == nil {
			out := regOp{done: res.Held}
			if res.Held {
				out.value = string(res.Ops[0].Value)
			}
			w.regs[at].Return, w.regs[at].Output = int64(w.c.w.Now()), out
		}
		next()
	})
}

var registerModel = porcupine.Model{
	Partition: func(h []porcupine.Operation) [][]porcupine.Operation {
		by := map[string][]porcupine.Operation{}
		for _, o := range h {
			by[o.Input.(regOp).key] = append(by[o.Input.(regOp).key], o)
		}
		var out [][]porcupine.Operation
		for _, l := range by {
			out = append(out, l)
		}
		return out
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(string), input.(regOp), output.(regOp)
		switch in.kind {
		case "get":
			return out.kind == "unknown" || out.value == s, s
		case "put", "del":
			return true, in.value
		}
		held := s == in.old && s != ""
		if held {
			return out.kind == "unknown" || out.done, in.value
		}
		return out.kind == "unknown" || !out.done, s
	},
}

// check checks the recorded operations.
func (w *workload) check() error {
	if found := history.Check(w.txns); len(found) > 0 {
		return errors.New(history.Describe(found, 4))
	}
	if !porcupine.CheckOperations(registerModel, w.regs) {
		return errors.New("registers are not linearizable")
	}
	for _, s := range w.sums {
		if s != accounts*stake {
			return fmt.Errorf("the accounts had %d together, want %d", s, accounts*stake)
		}
	}
	return nil
}

func (c *cluster) chaos(clients, each int) (*workload, error) {
	w := &workload{c: c}
	_, first := c.client("first")
	var q Request
	for i := range accounts {
		q.Ops = append(q.Ops, put(fmt.Sprint("account", i), fmt.Sprint(stake)))
	}
	started := false
	var err error
	first.Do(&q, time.Minute, func(_ *Result, e error) { started, err = true, e })
	if !c.w.RunUntil(2*time.Minute, func() bool { return started }) || err != nil {
		return nil, fmt.Errorf("the store did not begin: %v", err)
	}
	w.run(clients, each)
	c.nemesis(3 * time.Second)
	c.w.RunUntil(5*time.Second, func() bool { return w.under == 0 })
	c.w.Heal()
	if !c.w.RunUntil(time.Minute, func() bool { return w.under == 0 }) {
		return nil, fmt.Errorf("%d clients wait for ever", w.under)
	}
	// Afterwards everything works, and one read of everything is checked too.
	last, name := &workload{c: c}, "last"
	w.txns = append(w.txns, history.Txn{Name: name, Begin: int64(c.w.Now()), Status: history.Committed})
	q = Request{}
	x := &w.txns[len(w.txns)-1]
	for i := range 4 {
		q.Ops = append(q.Ops, get(fmt.Sprint("list", i)))
	}
	for i := range accounts {
		q.Ops = append(q.Ops, get(fmt.Sprint("account", i)))
	}
	_ = last
	res, err := c.do(first, &q)
	if err != nil {
		return nil, err
	}
	x.End = int64(c.w.Now())
	sum := int64(0)
	for i, o := range res.Ops {
		if i < 4 {
			x.Ops = append(x.Ops, history.Op{Key: q.Ops[i].Key, List: strings.FieldsFunc(string(o.Value), func(r rune) bool { return r == ',' })})
			continue
		}
		v, _ := strconv.ParseInt(string(o.Value), 10, 64)
		sum += v
	}
	w.sums = append(w.sums, sum)
	if c.failed != nil {
		return nil, c.failed
	}
	return w, w.check()
}

func TestChaos(t *testing.T) {
	first, past := seeds(t, 60)
	committed, unknown := 0, 0
	for seed := first; seed < past; seed++ {
		opt := small()
		opt.Engine.Variant = A8 + Variant(seed%5)
		c := newCluster(t, adversity(seed), 3, 4, opt)
		w, err := c.chaos(5, 60)
		if err != nil {
			t.Fatalf("seed %d, %v (ASHLAR_TX_SEED=%d go test ./worm/tx -run %s): %v", seed, opt.Engine.Variant, seed, t.Name(), err)
		}
		for _, x := range w.txns {
			if x.Status == history.Committed {
				committed++
			}
		}
		unknown += w.unknown
	}
	t.Logf("%d list transactions committed, %d unknown", committed, unknown)
}
