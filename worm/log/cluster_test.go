// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// cluster is servers that may be sequencers and clients that append, read and follow,
// with crashes; and the history of what they did.
type cluster struct {
	t      testing.TB
	seed   uint64
	w      *ideal.World
	random env.Random
	size   uint32
	// prefetch is the clients' Options.Prefetch.
	prefetch uint32
	servers  []*ideal.Process
	thrones  []*log.Sequencer // of the servers
	members  []wor.Member
	clients  []*client
	// quiet: clients begin no more operations.
	quiet   bool
	counter uint64

	appends []*appended
	tails   []*tailed
	reads   []*readed
	follows []*followed
	seen    map[string]int
}

type appended struct {
	client    int
	id        log.EntryID
	call, ret env.Instant
	at        log.Position
	err       error
	ended     bool
}

type tailed struct {
	client    int
	call, ret env.Instant
	at        log.Position
}

type readed struct {
	client    int
	call, ret env.Instant
	at        log.Position
	value     string
	err       error
}

type followed struct{ entries []log.Entry }

func (f *followed) String() string {
	var b strings.Builder
	for _, e := range f.entries {
		fmt.Fprintf(&b, " %v:%d", e.Position, e.ID.Lo)
	}
	return b.String()
}

const never = env.Instant(math.MaxInt64)

type client struct {
	c       *cluster
	number  int
	p       *ideal.Process
	l       *log.Log
	pending map[log.EntryID]bool
	order   []log.EntryID
}

func newCluster(t testing.TB, o ideal.Options, servers, clients int, size, prefetch uint32) *cluster {
	w := ideal.New(o)
	c := &cluster{
		t: t, seed: o.Seed, w: w, random: env.Seeded(o.Seed).Split("cluster"), size: size, prefetch: prefetch,
		seen: map[string]int{},
	}
	for i := range servers {
		p := w.Start(fmt.Sprint("server", i))
		c.servers = append(c.servers, p)
		c.members = append(c.members, p.Member)
		c.thrones = append(c.thrones, serve(t, p, size))
	}
	for i := range clients {
		k := &client{c: c, number: i, pending: map[log.EntryID]bool{}}
		c.clients = append(c.clients, k)
		k.start(fmt.Sprint("client", i))
	}
	return c
}

func (c *cluster) roll(n int) int { return env.IntN(c.random, n) }

// start begins a life of the client, which appends again what the last life left
// unfinished.
func (k *client) start(name string) {
	k.p = k.c.w.Start(name)
	k.l = open(k.c.t, k.p, k.c.members, func(o *log.Options) {
		o.Timeout, o.Silence = 200*time.Millisecond, 100*time.Millisecond
		o.Prefetch = k.c.prefetch
	})
	f := &followed{}
	k.c.follows = append(k.c.follows, f)
	k.p.Serial.Do(func() {
		k.l.Follow(log.FollowOptions{}, func(e log.Entry) { f.entries = append(f.entries, e) })
		for _, id := range k.order {
			k.append(id)
		}
		k.next()
	})
}

// next does one operation, and schedules another.
func (k *client) next() {
	c := k.c
	if !c.quiet {
		switch c.roll(10) {
		case 0, 1:
			k.tail()
		case 2, 3:
			k.read()
		default:
			for range 1 + c.roll(3) {
				c.counter++
				k.append(log.EntryID{Hi: 1, Lo: c.counter})
			}
		}
	}
	k.p.After(time.Duration(c.roll(20_000))*time.Microsecond, k.next)
}

func (k *client) append(id log.EntryID) {
	c := k.c
	a := &appended{client: k.number, id: id, call: c.w.Now(), ret: never}
	c.appends = append(c.appends, a)
	if !k.pending[id] {
		k.pending[id] = true
		k.order = append(k.order, id)
	}
	within := time.Duration(0)
	if c.roll(4) == 0 {
		within = time.Duration(1+c.roll(50)) * time.Millisecond
	}
	k.l.Append(log.Entry{ID: id, Data: data(id)}, within, func(at log.Position, err error) {
		if a.ended {
			c.t.Fatal("an append is answered twice")
		}
		a.at, a.err, a.ended, a.ret = at, err, true, c.w.Now()
		c.seen["append "+kind(err)]++
		switch {
		case err == nil:
			delete(k.pending, id)
			k.order = slices.DeleteFunc(k.order, func(o log.EntryID) bool { return o == id })
		case errors.Is(err, wor.ErrUnknown) || errors.Is(err, wor.ErrDeadline):
			k.append(id)
		default:
			c.t.Errorf("append: %v", err)
		}
	})
}

func data(id log.EntryID) []byte { return fmt.Appendf(nil, "entry %d", id.Lo) }

func kind(err error) string {
	for _, e := range []error{wor.ErrUnknown, wor.ErrDeadline, wor.ErrUnwritten, wor.ErrTrimmed, wor.ErrBusy, wor.ErrClosed} {
		if errors.Is(err, e) {
			return e.Error()
		}
	}
	return fmt.Sprint(err)
}

func (k *client) tail() {
	o := &tailed{client: k.number, call: k.c.w.Now(), ret: never}
	k.l.Tail(0, func(at log.Position, err error) {
		if err != nil {
			k.c.t.Errorf("tail: %v", err)
			return
		}
		o.ret, o.at = k.c.w.Now(), at
		k.c.tails = append(k.c.tails, o)
	})
}

func (k *client) read() {
	c := k.c
	if len(c.appends) == 0 {
		return
	}
	at := log.At(0, 1)
	for range 20 {
		if a := c.appends[c.roll(len(c.appends))]; a.ended && a.err == nil {
			at = log.At(a.at.Index(), 1+uint32(c.roll(int(c.size)-1)))
			break
		}
	}
	o := &readed{client: k.number, call: c.w.Now(), ret: never, at: at}
	record := func(e log.Entry, err error) {
		o.ret, o.value, o.err = c.w.Now(), text(e), err
		c.seen["read "+kind(err)]++
		c.reads = append(c.reads, o)
	}
	if c.roll(3) == 0 {
		k.l.Fill(at, 0, record)
		return
	}
	k.l.Read(at, 0, record)
}

func text(e log.Entry) string { return fmt.Sprint(e.Kind, e.ID, string(e.Data)) }

// disturb makes a server or client crash and start again, as another life; or makes one
// or two servers depose the sequencer, which does not notice.
func (c *cluster) disturb() {
	i := c.roll(len(c.servers))
	switch c.roll(4) {
	case 0:
		c.servers[i].Kill()
		c.servers[i] = c.w.Start(c.servers[i].Member.Name)
		c.thrones[i] = serve(c.t, c.servers[i], c.size)
	case 1:
		k := c.clients[c.roll(len(c.clients))]
		k.p.Kill()
		k.start(k.p.Member.Name)
	default:
		for range 1 + c.roll(2) {
			c.servers[i].Serial.Do(func() { c.thrones[i].TakeOver(7) })
			i = (i + 1) % len(c.servers)
		}
	}
	if c.roll(4) == 0 {
		c.w.NewEpoch()
	}
}

// finish ends the faults and waits until every operation has ended and everything is
// followed.
func (c *cluster) finish() *followed {
	c.t.Helper()
	c.quiet = true
	c.w.Heal()
	idle := func() bool {
		for _, k := range c.clients {
			if len(k.pending) > 0 {
				return false
			}
		}
		return true
	}
	if !c.w.RunUntil(2*time.Minute, idle) {
		for _, k := range c.clients {
			c.t.Logf("client %d has not ended %d appends", k.number, len(k.order))
		}
		c.t.Fatalf("seed %d: appends do not end", c.seed)
	}
	all, done := &followed{}, false
	k := c.clients[0]
	k.p.Serial.Do(func() {
		k.l.Tail(0, func(tail log.Position, err error) {
			f := k.l.Follow(log.FollowOptions{}, func(e log.Entry) { all.entries = append(all.entries, e) })
			f.Reached(tail, func() { done = true })
		})
	})
	if !c.w.RunUntil(2*time.Minute, func() bool { return done }) {
		c.t.Fatalf("seed %d: a follower does not get to the tail", c.seed)
	}
	c.w.Run(5 * time.Second)
	return all
}

// check returns an error if the history is wrong; all is the log.
func (c *cluster) check(all *followed) error {
	at := map[log.Position]log.Entry{}
	ids := map[log.EntryID]bool{}
	for i, e := range all.entries {
		if ids[e.ID] || i > 0 && e.Position <= all.entries[i-1].Position || string(e.Data) != string(data(e.ID)) {
			return fmt.Errorf("entry %v %v is passed on twice, out of order, or altered", e.Position, e.ID)
		}
		ids[e.ID], at[e.Position] = true, e
	}
	taken := map[log.Position]log.EntryID{}
	begun := map[log.EntryID]bool{}
	for _, a := range c.appends {
		begun[a.id] = true
		if a.err != nil || !a.ended {
			continue
		}
		if other, ok := taken[a.at]; ok && other != a.id {
			return fmt.Errorf("position %v was given to two", a.at)
		}
		taken[a.at] = a.id
		if !ids[a.id] {
			return fmt.Errorf("entry %v at %v was acknowledged and is lost", a.id, a.at)
		}
		want := wor.Register{Phase: wor.Written, Value: string(c.w.Register(a.at.Addr(7)).Value)}
		if got := c.w.Register(a.at.Addr(7)); got != want || got.Value[17:] != string(data(a.id)) {
			return fmt.Errorf("position %v holds %q, not the entry %v that was acknowledged", a.at, got.Value, a.id)
		}
	}
	for id := range ids {
		if !begun[id] {
			return fmt.Errorf("entry %v was never appended", id)
		}
	}
	for _, f := range c.follows {
		for i, e := range f.entries {
			if i >= len(all.entries) || all.entries[i].Position != e.Position || all.entries[i].ID != e.ID {
				return fmt.Errorf("one follower got %v, another %v", f, all)
			}
		}
	}
	if c.prefetch == 0 {
		// Otherwise real-time order is not promised.
		if err := c.checkOrder(); err != nil {
			return err
		}
	}
	return c.checkReads()
}

// checkOrder checks appends and tails against a counter: an append takes a position that
// is not below the counter and moves the counter past it; a tail reads the counter. The
// only order that can explain them is that of the positions, a tail before the append at
// the same one. So they are linearizable if no operation began after the end of one that
// comes later in that order.
func (c *cluster) checkOrder() error {
	type op struct {
		what      string
		rank      uint64
		call, ret env.Instant
	}
	var h []op
	for _, a := range c.appends {
		if a.ended && a.err == nil && !c.again(a) {
			h = append(h, op{"append", 2*uint64(a.at) + 1, a.call, a.ret})
		}
	}
	for _, o := range c.tails {
		h = append(h, op{"tail", 2 * uint64(o.at), o.call, o.ret})
	}
	slices.SortFunc(h, func(a, b op) int { return cmp.Compare(a.rank, b.rank) })
	latest := op{call: -1}
	for _, o := range h {
		if o.ret < latest.call && o.rank != latest.rank {
			return fmt.Errorf("%s at %v ended before %s at %v began", o.what, log.Position(o.rank/2), latest.what, log.Position(latest.rank/2))
		}
		if o.call > latest.call {
			latest = o
		}
	}
	return nil
}

// again reports that an append repeats an earlier one of the same id, so that its entry
// may be there before it began.
func (c *cluster) again(a *appended) bool {
	for _, b := range c.appends {
		if b == a {
			return false
		}
		if b.id == a.id {
			return true
		}
	}
	return false
}

// checkReads checks the reads of each position against a write-once register: once a
// client knows a value, all reads that begin later return that value.
func (c *cluster) checkReads() error {
	type known struct {
		value string
		since env.Instant
	}
	values := map[log.Position]known{}
	learn := func(at log.Position, value string, when env.Instant) error {
		k, ok := values[at]
		if ok && k.value != value {
			return fmt.Errorf("position %v holds %q and %q", at, k.value, value)
		}
		if !ok || when < k.since {
			values[at] = known{value, when}
		}
		return nil
	}
	for _, a := range c.appends {
		if a.ended && a.err == nil {
			if err := learn(a.at, text(log.Entry{Kind: log.Data, ID: a.id, Data: data(a.id)}), a.ret); err != nil {
				return err
			}
		}
	}
	for _, o := range c.reads {
		if o.err == nil {
			if err := learn(o.at, o.value, o.ret); err != nil {
				return err
			}
		}
	}
	for _, o := range c.reads {
		if k, ok := values[o.at]; ok && o.err != nil && k.since < o.call {
			return fmt.Errorf("a read of %v answers %v though %q was known", o.at, o.err, k.value)
		}
	}
	return nil
}
