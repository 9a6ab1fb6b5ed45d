// SPDX-License-Identifier: Apache-2.0

package space_test

import (
	"bytes"
	"container/heap"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// lab is servers and clients in memory, in one thread and virtual time, and a network
// between them that delays, loses and duplicates messages.
type lab struct {
	t      testing.TB
	now    env.Instant
	agenda events
	serial uint64
	random env.Random

	lose, double, late float64
	latency            time.Duration // at most
	fixed              time.Duration // each message takes exactly that

	genesis *wor.Genesis
	hosts   []*host
	clients []*client
	sent    map[wor.Kind]int
}

type event struct {
	at      env.Instant
	tie     uint64
	serial  uint64
	happen  func()
	stopped bool
}

func (e *event) Stop() bool {
	was := !e.stopped
	e.stopped = true
	return was
}

type events []*event

func (a events) Len() int { return len(a) }
func (a events) Less(i, j int) bool {
	if a[i].at != a[j].at {
		return a[i].at < a[j].at
	}
	if a[i].tie != a[j].tie {
		return a[i].tie < a[j].tie
	}
	return a[i].serial < a[j].serial
}
func (a events) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *events) Push(x any)   { *a = append(*a, x.(*event)) }
func (a *events) Pop() any {
	old := *a
	e := old[len(old)-1]
	*a = old[:len(old)-1]
	return e
}

// newLab makes partitions of that many servers each; the hosts of partition i are
// i*servers and the following ones.
func newLab(t testing.TB, seed uint64, partitions, servers int) *lab {
	l := &lab{t: t, random: env.Seeded(seed), latency: time.Millisecond, sent: map[wor.Kind]int{}}
	l.genesis = &wor.Genesis{Cluster: 7}
	for p := range partitions {
		cfg := wor.Config{Partition: wor.Partition(p)}
		for range servers {
			cfg.Members = append(cfg.Members, l.newHost().member)
		}
		l.genesis.Partitions = append(l.genesis.Partitions, cfg)
	}
	for _, h := range l.hosts {
		h.boot()
	}
	return l
}

func (l *lab) chance(p float64) bool {
	return p > 0 && float64(l.random.Uint64()>>11)/(1<<53) < p
}

func (l *lab) at(d time.Duration, f func()) *event {
	l.serial++
	e := &event{at: l.now.Add(max(d, 0)), serial: l.serial, happen: f}
	if l.fixed == 0 {
		e.tie = l.random.Uint64()
	}
	heap.Push(&l.agenda, e)
	return e
}

func (l *lab) delay() time.Duration {
	if l.fixed != 0 {
		return l.fixed
	}
	d := time.Duration(l.random.Uint64() % uint64(l.latency))
	if l.chance(l.late) {
		d *= time.Duration(1 + l.random.Uint64()%100)
	}
	return d
}

// run runs until reached returns true, and reports whether it did within d.
func (l *lab) run(d time.Duration, reached func() bool) bool {
	end := l.now.Add(d)
	for !reached() {
		if len(l.agenda) == 0 || l.agenda[0].at > end {
			l.now = end
			return reached()
		}
		e := heap.Pop(&l.agenda).(*event)
		if !e.stopped {
			l.now = max(l.now, e.at)
			e.stopped = true
			e.happen()
		}
	}
	return true
}

func (l *lab) sleep(d time.Duration) { l.run(d, func() bool { return false }) }

// must runs until reached.
func (l *lab) must(what string, reached func() bool) {
	l.t.Helper()
	if !l.run(time.Minute, reached) {
		for _, c := range l.clients {
			l.t.Log(c.Dump())
		}
		l.t.Fatalf("not reached: %s", what)
	}
}

type labClock struct{ l *lab }

func (c labClock) Now() env.Instant                             { return c.l.now }
func (c labClock) Wall() time.Time                              { return time.Unix(0, int64(c.l.now)) }
func (c labClock) After(d time.Duration, w env.Waker) env.Timer { return c.l.at(d, w.Wake) }

// client is one Space.
type client struct {
	*space.Space
	l      *lab
	number int
	serial *env.Serial
	random env.Random
	cut    map[wor.ServerID]bool // servers it cannot reach
}

func (l *lab) client(change ...func(*space.Options)) *client {
	c := &client{l: l, number: len(l.clients) + 1, serial: &env.Serial{}, cut: map[wor.ServerID]bool{}}
	c.random = l.random.Split(fmt.Sprint("client", c.number))
	o := space.Options{
		Env:    env.Env{Clock: labClock{l}, Random: c.random.Split("space")},
		Serial: c.serial, Transport: c, Genesis: l.genesis,
	}
	for _, f := range change {
		f(&o)
	}
	s, err := space.Open(o)
	if err != nil {
		l.t.Fatal(err)
	}
	c.Space = s
	l.clients = append(l.clients, c)
	return c
}

func (l *lab) host(id wor.ServerID) *host {
	for _, h := range l.hosts {
		if h.member.ID == id {
			return h
		}
	}
	return nil
}

// Call implements wor.Transport.
func (c *client) Call(to wor.Member, q *wor.Request, within time.Duration, answer func(*wor.Reply)) {
	l, h := c.l, c.l.host(to.ID)
	l.sent[q.Kind]++
	over := false
	settle := func(r *wor.Reply) {
		if !over {
			over = true
			c.serial.Do(func() { answer(r) })
		}
	}
	if within <= 0 {
		within = 10 * time.Second
	}
	l.at(within, func() { settle(nil) })
	if h == nil {
		return
	}
	copied := *q
	copied.Value = bytes.Clone(q.Value)
	arrive := func() {
		if h.down || c.cut[to.ID] {
			return
		}
		mine := copied
		mine.Value = bytes.Clone(copied.Value)
		r := h.handle(&mine)
		if !l.chance(l.lose) {
			l.at(l.delay(), func() {
				if !c.cut[to.ID] {
					settle(r)
				}
			})
		}
	}
	if !l.chance(l.lose) {
		l.at(l.delay(), arrive)
	}
	if l.chance(l.double) {
		l.at(l.delay(), arrive)
	}
}

// Invoke implements wor.Messenger.
func (c *client) Invoke(wor.Member, wor.Service, []byte, time.Duration, func([]byte, error)) {
	panic("a space asks no services")
}

// hearing is a registration of a listener at a host.
type hearing struct {
	c      *client
	h      *host
	q      wor.Request
	number uint64
	note   func(*wor.Note)
	answer func(*wor.Reply)
	gap    func()
	over   bool
}

// Listen implements wor.Transport. Notes arrive in order; if one is lost, or the host is
// down, there is a gap.
func (c *client) Listen(to wor.Member, q *wor.Request, note func(*wor.Note), answer func(*wor.Reply), gap func()) func() {
	l := c.l
	x := &hearing{c: c, h: l.host(to.ID), q: *q, note: note, answer: answer, gap: gap}
	l.at(l.delay(), x.register)
	return func() {
		x.over = true
		if x.h != nil {
			x.h.hearings = slices.DeleteFunc(x.h.hearings, func(y *hearing) bool { return y == x })
		}
	}
}

func (x *hearing) register() {
	l := x.c.l
	if x.over || x.h == nil {
		return
	}
	if x.h.down || x.c.cut[x.h.member.ID] || l.chance(l.lose) {
		l.at(20*time.Millisecond, x.register)
		return
	}
	q := x.q
	r := x.h.handle(&q)
	x.number = 0
	if r.Status == wor.StatusOK && !slices.Contains(x.h.hearings, x) {
		x.h.hearings = append(x.h.hearings, x)
	}
	l.at(l.delay(), func() { x.c.serial.Do(func() { x.answerIf(r) }) })
}

func (x *hearing) answerIf(r *wor.Reply) {
	if !x.over {
		x.answer(r)
	}
}

func (x *hearing) tell(n wor.Note) {
	l := x.c.l
	if x.over {
		return
	}
	if x.c.cut[x.h.member.ID] || l.chance(l.lose) {
		x.h.hearings = slices.DeleteFunc(x.h.hearings, func(y *hearing) bool { return y == x })
		x.c.serial.Do(x.gap)
		l.at(5*time.Millisecond, x.register)
		return
	}
	x.number++
	n.Number = x.number
	l.at(l.delay(), func() {
		x.c.serial.Do(func() {
			if !x.over {
				x.note(&n)
			}
		})
	})
}

// consent makes a host believe a configuration, as its operator may.
func (l *lab) consent(id wor.ServerID, cfg *wor.Config) {
	value, err := cfg.MarshalBinary()
	if err != nil {
		l.t.Fatal(err)
	}
	l.host(id).handle(&wor.Request{Kind: wor.KindActivate, Partition: cfg.Partition, Epoch: cfg.Epoch, Value: value})
}
