// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"bytes"
	"container/heap"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/group"
	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// world is three servers with disks, clients, and a network between them that loses,
// duplicates and delays messages, in one thread and virtual time. Servers crash and then
// lose everything that is not durable, and the replies that waited for it.
type world struct {
	now     env.Instant
	agenda  agenda
	serial  uint64
	random  env.Random
	genesis *wor.Genesis
	hosts   []*host
	lose    float64
	record  *Recorder
	running int
	failed  error
	// lie changes the behaviour of a server, for tests of refusals.
	lie func(h *host, q *wor.Request, r *wor.Reply)
}

type happening struct {
	at     env.Instant
	serial uint64
	f      func()
}

func (h *happening) Stop() bool {
	was := h.f != nil
	h.f = nil
	return was
}

type agenda []*happening

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	if a[i].at != a[j].at {
		return a[i].at < a[j].at
	}
	return a[i].serial < a[j].serial
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(*happening)) }
func (a *agenda) Pop() any {
	old := *a
	x := old[len(old)-1]
	*a = old[:len(old)-1]
	return x
}

func newWorld(seed uint64) *world {
	w := &world{random: env.Seeded(seed), genesis: &wor.Genesis{Cluster: 7}, lose: .05}
	cfg := wor.Config{}
	for i := range servers {
		id := wor.ServerID(i + 1)
		cfg.Members = append(cfg.Members, wor.Member{ID: id, Name: id.String(), Addr: id.String()})
	}
	w.genesis.Partitions = []wor.Config{cfg}
	for i := range servers {
		h := &host{w: w, place: i + 1}
		h.boot()
		w.hosts = append(w.hosts, h)
	}
	return w
}

func (w *world) chance(p float64) bool { return float64(w.random.Uint64()>>11)/(1<<53) < p }

func (w *world) upTo(d time.Duration) time.Duration {
	return time.Duration(w.random.Uint64() % uint64(d))
}

func (w *world) at(d time.Duration, f func()) *happening {
	w.serial++
	h := &happening{at: w.now.Add(d), serial: w.serial, f: f}
	heap.Push(&w.agenda, h)
	return h
}

// run runs until reached, and reports whether that was within d.
func (w *world) run(d time.Duration, reached func() bool) bool {
	for end := w.now.Add(d); !reached(); {
		if len(w.agenda) == 0 || w.agenda[0].at > end {
			return false
		}
		h := heap.Pop(&w.agenda).(*happening)
		if f := h.f; f != nil {
			w.now, h.f = h.at, nil
			f()
		}
	}
	return true
}

func (w *world) Now() env.Instant                             { return w.now }
func (w *world) Wall() time.Time                              { return time.Unix(0, int64(w.now)) }
func (w *world) After(d time.Duration, k env.Waker) env.Timer { return w.at(max(d, 0), k.Wake) }

// host is a server: a group's replies, on a disk.
type host struct {
	w     *world
	place int // from 1
	g     *group.Group
	disk  [][]byte // durable records
	fresh [][]byte // records that are not durable yet
	held  []func() // to call when all of fresh is durable
	sync  bool     // running
	life  int
	down  bool
}

func (h *host) boot() {
	h.life++
	h.down, h.sync, h.fresh, h.held = false, false, nil, nil
	h.g = group.New(wor.ServerID(h.place), h.w.genesis, 0)
	for _, r := range h.disk {
		if err := h.g.Redo(r); err != nil {
			h.w.failed = err
		}
	}
}

func (h *host) crash() {
	h.life++
	h.down = true
	h.w.at(h.w.upTo(30*time.Millisecond), h.boot)
}

// handle answers a request when the answer is durable.
func (h *host) handle(client int, q *wor.Request, answer func(*wor.Reply)) {
	if h.down {
		return
	}
	asked := *q
	asked.Value = bytes.Clone(q.Value)
	var r wor.Reply
	var log wor.Log
	h.g.Handle(q, &r, &log)
	c := copyReply(&r)
	if h.w.lie != nil {
		h.w.lie(h, &asked, c)
	}
	for i := range log.Len() {
		h.fresh = append(h.fresh, bytes.Clone(log.Record(i)))
	}
	h.held = append(h.held, func() {
		if h.w.record != nil {
			h.w.record.Answered(h.place, client, &asked, c)
		}
		answer(copyReply(c))
	})
	h.commit()
}

func (h *host) commit() {
	if h.sync || len(h.held) == 0 {
		return
	}
	h.sync = true
	life, n, k := h.life, len(h.fresh), len(h.held)
	h.w.at(h.w.upTo(2*time.Millisecond), func() {
		if h.life != life {
			return
		}
		h.sync = false
		h.disk = append(h.disk, h.fresh[:n]...)
		held := h.held[:k]
		h.fresh, h.held = h.fresh[n:], h.held[k:]
		for _, f := range held {
			f()
		}
		h.commit()
	})
}

func copyReply(r *wor.Reply) *wor.Reply {
	c := *r
	c.Value = bytes.Clone(r.Value)
	c.Runs = nil
	for _, run := range r.Runs {
		run.Value = bytes.Clone(run.Value)
		c.Runs = append(c.Runs, run)
	}
	return &c
}

// client is one Space, and its transport.
type client struct {
	*space.Space
	w      *world
	number int
	serial env.Serial
	random env.Random
}

func (w *world) client(number int) *client {
	c := &client{w: w, number: number, random: w.random.Split(fmt.Sprint(number))}
	s, err := space.Open(space.Options{
		Env: env.Env{Clock: w, Random: c.random.Split("space")}, Serial: &c.serial, Transport: c, Genesis: w.genesis,
		ResendMax: 40 * time.Millisecond,
	})
	if err != nil {
		w.failed = err
	}
	c.Space = s
	return c
}

// Call implements wor.Transport.
func (c *client) Call(to wor.Member, q *wor.Request, within time.Duration, answer func(*wor.Reply)) {
	w, h := c.w, c.w.hosts[to.ID-1]
	over := false
	settle := func(r *wor.Reply) {
		if !over {
			over = true
			c.serial.Do(func() { answer(r) })
		}
	}
	if w.record != nil {
		w.record.Asked(q)
	}
	sent := *q
	sent.Value = bytes.Clone(q.Value)
	w.at(max(within, time.Second), func() { settle(nil) })
	for range 2 {
		if !w.chance(w.lose) {
			w.at(w.latency(), func() {
				mine := sent
				mine.Value = bytes.Clone(sent.Value)
				h.handle(c.number, &mine, func(r *wor.Reply) {
					if !w.chance(w.lose) {
						w.at(w.latency(), func() { settle(r) })
					}
				})
			})
		}
		if !w.chance(.1) { // a few are duplicated
			break
		}
	}
}

func (w *world) latency() time.Duration {
	if w.chance(.03) {
		return w.upTo(100 * time.Millisecond)
	}
	return w.upTo(2 * time.Millisecond)
}

// Invoke implements wor.Messenger.
func (c *client) Invoke(_ wor.Member, _ wor.Service, _ []byte, _ time.Duration, done func([]byte, error)) {
	c.w.failed = errors.New("a space asks no services")
}

// Listen implements wor.Transport.
func (c *client) Listen(wor.Member, *wor.Request, func(*wor.Note), func(*wor.Reply), func()) func() {
	c.w.failed = errors.New("nobody listens here")
	return func() {}
}

// What clients do: so many operations on so many registers of one segment.
const (
	theSegment wor.Segment = 5
	size                   = 3
	steps                  = 10
	clients                = 3
	bound                  = 60 * time.Millisecond
)

// play runs clients on the registers of a segment, until all have ended.
func play(seed uint64, p wor.Protocol, lie func(*host, *wor.Request, *wor.Reply)) (*world, error) {
	w := newWorld(seed)
	w.lie = lie
	boss := w.client(0)
	allocated := false
	boss.Alloc(theSegment, wor.Meta{Owner: 1, Size: size, Protocol: p}, 0, func(_ wor.Meta, err error) {
		allocated = true
		w.failed = errors.Join(w.failed, err)
	})
	if !w.run(time.Minute, func() bool { return allocated }) {
		return nil, errors.New("nothing was allocated")
	}
	var addrs []wor.Addr
	for off := range uint32(size) {
		addrs = append(addrs, wor.Addr{Segment: theSegment, Offset: off})
	}
	w.record = NewRecorder(p, addrs...)
	for i := range clients {
		k := &worker{client: w.client(i + 1), protocol: p}
		w.running++
		k.serial.Do(k.next)
	}
	var strike func()
	strike = func() {
		if w.running == 0 {
			return
		}
		if h := w.hosts[w.upTo(servers)]; !h.down {
			h.crash()
		}
		w.at(w.upTo(60*time.Millisecond), strike)
	}
	if seed%2 == 0 {
		w.at(0, strike)
	}
	if !w.run(5*time.Minute, func() bool { return w.running == 0 || w.failed != nil }) {
		return nil, fmt.Errorf("%d clients did not end", w.running)
	}
	return w, w.failed
}

// worker is a client that does one operation after another.
type worker struct {
	*client
	protocol wor.Protocol
	token    *wor.Token
	n        int
}

func (k *worker) next() {
	if k.n++; k.n > steps {
		k.w.running--
		return
	}
	rec := k.w.record
	a := wor.Addr{Segment: theSegment, Offset: uint32(k.random.Uint64() % size)}
	value := fmt.Sprint(k.number, ".", k.n)
	within := time.Duration(0)
	if k.random.Uint64()%2 == 0 {
		within = 1 + time.Duration(k.random.Uint64()%uint64(bound))
	}
	told := func(a wor.Addr, v string) func(error) {
		return func(err error) {
			if err == nil || !errors.Is(err, wor.ErrDeadline) {
				rec.Told(a, v, err)
			}
			k.next()
		}
	}
	switch r := k.random.Uint64() % 20; {
	case r < 5:
		k.Propose(a, []byte(value), within, told(a, value))
	case r < 10:
		read := rec.Begin(k.number, a)
		k.Read(a, within, func(v []byte, err error) {
			rec.End(read, string(v), err)
			k.next()
		})
	case r < 13:
		all := wor.Range{Segment: theSegment, Lo: a.Offset, Hi: size}
		k.Capture(all, within, func(t *wor.Token, _ error) {
			k.token = t
			k.next()
		})
	case r < 18 && k.token != nil:
		a.Offset = k.token.Range.Lo + uint32(k.random.Uint64())%uint32(k.token.Range.Len())
		v, free := k.token.Find(a.Offset)
		if free {
			v = fmt.Append(nil, k.number, "@", a.Offset, ".", k.token.Ballot.Round)
		}
		k.Write(k.token, a.Offset, v, within, told(a, string(v)))
	case r == 18 && k.protocol == wor.Paxos && k.n > steps/2:
		k.Trim(theSegment, within, func(error) { k.next() })
	case r == 19 && k.protocol == wor.Paxos:
		// Each client has one register that only it writes this way, with one value.
		a.Offset = uint32(k.number - 1)
		v := fmt.Sprint(k.number, ".unsafe")
		k.WriteUnsafe(a, []byte(v), within, told(a, v))
	default:
		k.next()
	}
}

// files are those of the file system.
type files struct{}

func (files) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }
