// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// How long a node stays down after a fault or stays paused; how far a calendar
// clock jumps.
const (
	downMin  = 10 * time.Millisecond
	downMax  = 3 * time.Second
	pauseMin = time.Millisecond
	pauseMax = 2 * time.Second
	jumpMax  = 30 * time.Second
)

// Boot starts a node: it sets up listeners, timers and tasks on the life's Env
// and returns. The World calls it again, with a new Life, each time the node
// starts; it finds what the node's disk kept. An error is a Failure; a program
// that ends by itself calls Exit.
type Boot func(l *Life) error

// Node is a machine: it has a name, which is its network address, a disk, and
// most of the time a Life.
type Node struct {
	w    *World
	id   int
	name string
	boot Boot
	disk *Disk

	life    *Life // nil: down
	lives   int
	dark    bool // the machine is down, not only its program
	ports   int
	listens map[env.Addr]*listener
	bound   map[env.Addr]*port
	to      []*link // by the other's id
	orphans []*end  // the ends of other nodes whose peers here vanished without notice

	ppm  int64         // the clock's drift
	jump time.Duration // of the calendar clock
	slow env.Instant   // until when the disk is slow
	full env.Instant   // until when the disk is full
	rots bool          // the disk may damage what is synced

	metered bool // Hardware makes its work take time
	usage   Usage
	nic     env.Instant // until when its network interface is sending
}

// Node adds a node and starts it at once.
func (w *World) Node(name string, boot Boot) *Node {
	invariant.Check(w.named[name] == nil, "two nodes %q", name)
	n := &Node{w: w, id: len(w.nodes), name: name, boot: boot, disk: NewDisk(),
		listens: map[env.Addr]*listener{}, bound: map[env.Addr]*port{}, rots: w.opt.Corruptible == nil}
	for _, c := range w.opt.Corruptible {
		n.rots = n.rots || c == name
	}
	n.disk.capacity = w.opt.DiskCapacity
	n.metered = w.meters(name)
	if bound := w.opt.Faults.rate[Drift]; bound > 0 {
		limit := int64(bound * 1e6)
		r := stream(w.opt.Seed, "drift/"+name)
		n.ppm = int64(env.IntN(r, int(2*limit+1))) - limit
		if n.ppm != 0 {
			w.strike(Drift, n, uint64(n.ppm), 0)
		}
	}
	w.nodes = append(w.nodes, n)
	w.named[name] = n
	w.at(w.now, nil, &starter{n})
	return n
}

// Name is the node's name, and the host in its network addresses.
func (n *Node) Name() string { return n.name }

// Disk is the node's disk, for tests to inspect or prepare.
func (n *Node) Disk() *Disk { return n.disk }

// Life is the current life, nil while the node is down.
func (n *Node) Life() *Life { return n.life }

// Start starts a node that is down, d from now.
func (n *Node) Start(d time.Duration) { n.w.at(n.w.now.Add(max(d, 0)), nil, &starter{n}) }

// Crash ends the node's life; with power, it ends the whole machine, which
// loses what its disk has not synced. Called from within the node's code, it
// does not return.
func (n *Node) Crash(power bool) {
	if n.life != nil && n.life == n.w.running {
		n.life.die(power, "crash")
	}
	if n.life != nil {
		n.life.end(power, "crash")
	}
}

// Pause suspends the node for d.
func (n *Node) Pause(d time.Duration) {
	if l := n.life; l != nil {
		l.busy = l.now().Add(d)
	}
}

// starter starts a node.
type starter struct{ n *Node }

func (s *starter) idle() bool { return s.n.life != nil }

func (s *starter) happen() {
	n := s.n
	n.lives++
	n.dark = false
	l := &Life{node: n}
	l.Env = env.Env{
		Clock:   (*clock)(l),
		Random:  stream(n.w.opt.Seed, fmt.Sprintf("node/%s/%d", n.name, n.lives)),
		Network: (*network)(l),
		Packets: (*packets)(l),
		Disk:    (*volume)(l),
		Tracer:  (*tracer)(l),
	}
	n.life, n.w.running = l, l
	n.w.note(evStart, n, uint64(n.lives), 0, "")
	n.wakeOrphans()
	l.resume()
	if err := n.boot(l); err != nil {
		n.w.Fail("boot", fmt.Errorf("node %s, life %d: %w", n.name, n.lives, err))
	}
}

// Life is one run of a node's program: everything that a crash takes away.
type Life struct {
	Env   env.Env
	node  *Node
	dead  bool        // nothing that it does has an effect
	over  bool        // its resources are taken away
	busy  env.Instant // until when nothing else is done
	ends  []*end      // of connections, in the order in which they were made
	locks []*volumeLock
}

// Node is the node of this life.
func (l *Life) Node() *Node { return l.node }

// Number is the number of this life of the node, from 1.
func (l *Life) Number() int { return l.node.lives }

// Dead reports whether the life is over.
func (l *Life) Dead() bool { return l.dead }

// death unwinds the code of a life that ends while it is executed.
type death struct {
	life  *Life
	power bool
	why   string
}

// Exit ends the program from within. It does not return.
func (l *Life) Exit(why string) { l.die(false, why) }

// die unwinds the running code. What that code does on the way out has no
// effect.
func (l *Life) die(power bool, why string) {
	l.dead = true
	panic(death{l, power, why})
}

// now is the time as the life sees it.
func (l *Life) now() env.Instant { return max(l.node.w.now, l.busy) }

// spend keeps the life busy for d.
func (l *Life) spend(d time.Duration) { l.busy = l.now().Add(d) }

// end takes away everything volatile. It calls no code of the node.
func (l *Life) end(power bool, why string) {
	if l.over {
		return
	}
	n, w := l.node, l.node.w
	l.dead, l.over = true, true
	n.life, n.dark = nil, power
	w.note(evEnd, n, uint64(n.lives), b2u(power), why)
	clear(n.listens)
	clear(n.bound)
	for _, e := range l.ends {
		e.orphan(power)
	}
	l.ends = nil
	l.unlock()
	if power {
		w.losePower(n)
	}
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Task makes step a step machine of the node: each time its Waker is woken,
// step is called soon after, once, and again as long as it returns true. Other
// events may happen between two calls.
func (l *Life) Task(step func() (more bool)) env.Waker { return &task{life: l, step: step} }

type task struct {
	life   *Life
	step   func() bool
	queued bool
}

// Wake implements Waker.
func (t *task) Wake() {
	if t.queued || t.life.dead {
		return
	}
	t.queued = true
	w := t.life.node.w
	w.at(t.life.now().Add(between(w.sched, 0, w.opt.StepMax)), t.life, t)
}

func (t *task) idle() bool { return t.life.dead }

func (t *task) happen() {
	t.queued = false
	t.life.node.w.note(evTask, t.life.node, 0, 0, "")
	t.life.resume()
	more := t.step()
	t.life.suspend()
	if more {
		t.Wake()
	}
}

// clock is a life's Clock.
type clock Life

var _ env.Clock = (*clock)(nil)

// local is the time that the node's clock shows at t.
func (n *Node) local(t env.Instant) env.Instant {
	p := env.Instant(n.ppm)
	return t + t/1_000_000*p + t%1_000_000*p/1_000_000
}

func (c *clock) Now() env.Instant { return c.node.local((*Life)(c).now()) }

// epoch is the calendar time of instant 0: the first second of 2030.
const epoch = 1_893_456_000

func (c *clock) Wall() time.Time {
	return time.Unix(epoch, int64(c.Now())).Add(c.node.jump).UTC()
}

// longest bounds a wait, so that the time does not overflow.
const longest = time.Duration(1) << 55

func (c *clock) After(d time.Duration, k env.Waker) env.Timer {
	l := (*Life)(c)
	t := &timer{life: l, waker: k, over: l.dead}
	if t.over {
		return t
	}
	d = min(max(d, 0), longest)
	now, n := l.now(), l.node
	at := now.Add(d)
	if n.ppm != 0 {
		want := n.local(now).Add(d)
		at = now.Add(d - d/1_000_000*time.Duration(n.ppm))
		if short := want - n.local(at); short > 0 {
			at += short + short/1000
		}
		for n.local(at) < want {
			at++
		}
	}
	n.w.at(at, l, t)
	return t
}

type timer struct {
	life  *Life
	waker env.Waker
	over  bool
}

// Stop implements Timer.
func (t *timer) Stop() bool {
	was := !t.over
	t.over = true
	return was
}

func (t *timer) idle() bool { return t.over }

func (t *timer) happen() {
	t.over = true
	t.life.node.w.note(evTimer, t.life.node, 0, 0, "")
	t.life.resume()
	t.waker.Wake()
}

// tracer is a life's Tracer.
type tracer Life

// Trace implements Tracer.
func (t *tracer) Trace(e env.Event) {
	l := (*Life)(t)
	if l.dead {
		return
	}
	w := l.node.w
	name := e.EventName()
	w.marks[name]++
	w.note(evTrace, l.node, 0, 0, name)
	for _, f := range w.observers {
		f(l, e)
	}
}
