// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	serial "github.com/ashlar-dev/ashlar/internal/evidence/worm/history"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/sim/suite"
	"github.com/ashlar-dev/ashlar/worm/tx"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

const (
	storeParts = 3 // of the key-value store
	accounts   = 4
)

// stores is a transactional store on three servers, and its clients.
type stores struct {
	c        *cluster
	variant  tx.Variant
	protocol wor.Protocol
	size     uint32
	members  []wor.Member
	clients  []*teller
	stop     bool
	pending  int
	txns     []serial.Txn
	outcomes map[tx.ID]bool
	owners   map[tx.RM]string // the server that opened a partition last
}

// teller is a node that runs one transaction after another.
type teller struct {
	*agent
	x      *stores
	number int
	kv     *tx.Client
	busy   int
}

func (x *stores) offer(h *host, l *sim.Life) {
	i := slices.Index(x.c.hosts, h)
	if i >= 3 {
		return
	}
	a, err := x.c.agent(l, 200+i, nil)
	if err != nil {
		x.c.w.Fail("store", err)
		return
	}
	world := env.Env{Clock: l.Env.Clock, Random: l.Env.Random.Split("kv"), Tracer: l.Env.Tracer}
	kv, err := tx.NewKV(tx.KVOptions{
		Engine: tx.Options{
			Env: world, Serial: a.serial, Space: a.Space, Messenger: a.transport, Self: h.member, Variant: x.variant, Instance: 1,
			RMs: storeParts, Partitions: 2, Protocol: x.protocol, SegmentSize: x.size, ResolveAfter: 60 * time.Millisecond,
		},
		Servers: x.members, PingEvery: 60 * time.Millisecond, FailAfter: 400 * time.Millisecond,
	})
	if err != nil {
		x.c.w.Fail("store", err)
		return
	}
	h.server.Register(wor.ServiceTx, a.serial, kv.HandleTx)
	h.server.Register(wor.ServiceKV, a.serial, kv.HandleKV)
}

// observe compares the outcomes that processes learn (AC1), and sees takeovers.
func (x *stores) observe(l *sim.Life, e env.Event) {
	switch e := e.(type) {
	case tx.Learned:
		if was, known := x.outcomes[e.ID]; known && was != e.Commit {
			x.c.ghost.wrong("AC1", "%v was learned as commit=%v, and by RM %d as %v", e.ID, was, e.RM, e.Commit)
		}
		x.outcomes[e.ID] = e.Commit
	case tx.Owned:
		if was := x.owners[e.RM]; was != "" && was != l.Node().Name() {
			x.c.w.Mark("participant dead and taken over")
		}
		x.owners[e.RM] = l.Node().Name()
	}
}

func (x *stores) start(number int) {
	k := &teller{x: x, number: number}
	x.clients = append(x.clients, k)
	x.c.w.Node(fmt.Sprint("c", number), func(l *sim.Life) error {
		a, err := x.c.agent(l, number, nil)
		if err != nil {
			return err
		}
		k.agent = a
		x.pending -= k.busy
		k.busy = 0
		k.kv = tx.NewClient(tx.ClientOptions{
			Env: env.Env{Clock: l.Env.Clock, Random: l.Env.Random.Split("kv")}, Serial: a.serial, Messenger: a.transport,
			Servers: x.members, Partitions: storeParts, Nonce: a.Nonce(),
		})
		a.serial.Do(func() {
			k.work()
			k.work()
		})
		return nil
	})
}

func (k *teller) work() {
	k.after(20*time.Millisecond, func() {
		switch {
		case k.x.stop:
		case k.chance(1, 4):
			k.transfer(k.work)
		default:
			k.lists(k.keys(), k.work)
		}
	})
}

// do runs a transaction.
func (k *teller) do(q *tx.Request, done func(*tx.Result, error)) {
	k.busy++
	k.x.pending++
	k.kv.Do(q, 0, func(r *tx.Result, err error) {
		k.busy--
		k.x.pending--
		if err != nil && !errors.Is(err, wor.ErrUnknown) && !errors.Is(err, wor.ErrDeadline) && !errors.Is(err, wor.ErrBusy) {
			k.x.c.ghost.wrong("transactions", "%v", err)
		}
		if errors.Is(err, wor.ErrUnknown) {
			k.x.c.w.Mark("transaction of unknown outcome")
		}
		done(r, err)
	})
}

// keys draws the operations of a transaction on lists: "key" to read, "+key" to append.
func (k *teller) keys() []string {
	var list []string
	for range 1 + env.IntN(k.random, 3) {
		key := fmt.Sprint("list", env.IntN(k.random, 4))
		if k.chance(1, 2) {
			key = "+" + key
		}
		list = append(list, key)
	}
	return list
}

// lists appends to lists and reads lists in one transaction.
func (k *teller) lists(keys []string, next func()) {
	x := k.x
	q := &tx.Request{}
	at := len(x.txns)
	t := serial.Txn{Name: fmt.Sprint(k.number, ".", at), Begin: int64(x.c.w.Now()), Status: serial.Unknown}
	for j, key := range keys {
		if rest, is := strings.CutPrefix(key, "+"); is {
			v := fmt.Sprint(t.Name, ".", j)
			q.Ops = append(q.Ops, tx.Op{Kind: tx.OpAppend, Key: rest, Value: []byte(v + ",")})
			t.Ops = append(t.Ops, serial.Op{Key: rest, Append: v})
		} else {
			q.Ops = append(q.Ops, tx.Op{Kind: tx.OpGet, Key: key})
			t.Ops = append(t.Ops, serial.Op{Key: key})
		}
	}
	x.txns = append(x.txns, t)
	k.do(q, func(r *tx.Result, err error) {
		t := &x.txns[at]
		t.End = int64(x.c.w.Now())
		switch {
		case errors.Is(err, wor.ErrUnknown):
		case err != nil:
			t.Status = serial.Aborted
		default:
			t.Status = serial.Committed
			for i := range t.Ops {
				if t.Ops[i].Append == "" {
					t.Ops[i].List = strings.FieldsFunc(string(r.Ops[i].Value), func(c rune) bool { return c == ',' })
				}
			}
		}
		next()
	})
}

// transfer moves money between accounts, or sums it up.
func (k *teller) transfer(next func()) {
	if k.chance(1, 2) {
		k.count(next)
		return
	}
	name := func() string { return fmt.Sprint("account", env.IntN(k.random, accounts)) }
	n := int64(1 + env.IntN(k.random, 20))
	q := &tx.Request{Ops: []tx.Op{{Kind: tx.OpIncr, Key: name(), Delta: -n}, {Kind: tx.OpIncr, Key: name(), Delta: n}}}
	k.do(q, func(*tx.Result, error) { next() })
}

// count reads all accounts, whose sum never changes.
func (k *teller) count(next func()) {
	q := &tx.Request{}
	for i := range accounts {
		q.Ops = append(q.Ops, tx.Op{Kind: tx.OpGet, Key: fmt.Sprint("account", i)})
	}
	k.do(q, func(r *tx.Result, err error) {
		sum := int64(0)
		for i := 0; err == nil && i < accounts; i++ {
			if r.Ops[i].Found {
				v, _ := strconv.ParseInt(string(r.Ops[i].Value), 10, 64)
				sum += v
			}
		}
		if sum != 0 {
			k.x.c.ghost.wrong("atomic", "accounts that begin with nothing have %d together", sum)
		}
		next()
	})
}

func playStore(w *sim.World) error {
	d := draw{w.Random("plan")}
	c, err := newCluster(w, 5, 2)
	if err != nil {
		return err
	}
	x := &stores{
		c: c, variant: tx.Variant(1 + d.n(5)), protocol: []wor.Protocol{wor.Paxos, wor.Paxos, wor.Fast, wor.Chain}[d.n(4)],
		size: 16 << d.n(4), outcomes: map[tx.ID]bool{}, owners: map[tx.RM]string{},
	}
	w.Observe(x.observe)
	c.offer = x.offer
	for _, h := range c.hosts[:3] {
		x.members = append(x.members, h.member)
	}
	for i := range 2 + d.n(2) {
		x.start(i)
	}
	var ops []*operator
	if d.n(3) == 0 {
		ops = append(ops, c.operator(0, 1, 300*time.Millisecond+d.time(600*time.Millisecond)))
	}
	if d.n(2) == 0 {
		h := c.hosts[d.n(3)]
		w.After(turmoil/4+d.time(turmoil/2), func() { h.restart(d.n(2) == 0, time.Second) })
	}
	if d.n(5) == 0 {
		w.After(d.time(turmoil), c.blackout)
	}
	if err := w.Run(turmoil); err != nil {
		return err
	}
	x.stop = true
	if err := c.mend(ops); err != nil {
		return err
	}
	if err := c.await("transactions end", func() bool { return x.pending == 0 }); err != nil {
		return err
	}
	c.blackout()
	return x.last()
}

// last reads everything once more, with a new client, and checks the history.
func (x *stores) last() error {
	x.start(50)
	k, begun := x.clients[len(x.clients)-1], len(x.txns)
	read := func() bool {
		return len(x.txns) > begun && x.pending == 0 && x.txns[len(x.txns)-1].Status == serial.Committed
	}
	var again func()
	again = func() {
		if k.agent == nil {
			x.c.w.After(time.Millisecond, again)
		} else if !read() {
			k.serial.Do(func() {
				k.count(func() {})
				k.lists([]string{"list0", "list1", "list2", "list3"}, func() { x.c.w.After(0, again) })
			})
		}
	}
	x.c.w.After(time.Millisecond, again)
	if err := x.c.await("all is read", read); err != nil {
		return err
	}
	if found := serial.Check(x.txns); len(found) > 0 {
		return errors.New(serial.Describe(found, 4))
	}
	return nil
}

// TestStore runs a transactional store on servers that crash and restart.
func TestStore(t *testing.T) {
	suite.Suite{
		Getenv: os.Getenv, Package: "./internal/evidence/worm/simulation", Short: testing.Short(), Seeds: seeds(t, 300), Faults: faults(),
		Options: worldOptions(), Twice: 20,
		Require: []string{"participant dead and taken over", "members changed"},
	}.Run(t, playStore)
}
