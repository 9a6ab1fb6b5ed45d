// SPDX-License-Identifier: Apache-2.0

// Package detector provides failure detectors: resources fd[i] that read TRUE
// while process i is suspected to have failed.
//
// A Monitor runs on each watched node and answers for the node's processes. A
// Detector queries the monitors every Interval. It suspects a process if it has
// heard nothing of it for Timeout, or if the monitor says that it has failed.
//
// Promised: completeness. A process whose node has ended or cannot be reached
// is suspected after Timeout plus Interval, and for as long as that lasts. Not
// promised: accuracy. A slow process may be suspected; it is trusted again with
// the next answer.
//
// Source: PGo (ASPLOS 2023), section 4.4.
package detector

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Defaults of Options.
const (
	IntervalDefault = 200 * time.Millisecond
	TimeoutDefault  = time.Second
)

const (
	service = "detector"
	keyMax  = 1 << 12
)

// The frames: ask names a process, the answers name it too.
const (
	frameAsk = link.Service + iota
	frameAlive
	frameFailed
)

func frame(kind link.Type, key string) []byte {
	return link.Seal(link.AppendString(link.Begin(nil, kind), key), 0)
}

func readKey(payload []byte) (string, error) {
	r := link.NewReader("detector", payload)
	k := r.String("process", keyMax)
	return k, r.End()
}

func key(v value.Value) string { return string(value.AppendWire(nil, v)) }

// Monitor answers for the processes of a node.
type Monitor struct {
	mu     sync.Mutex
	server *link.Server
	state  map[string]bool // processes here, and whether they live
}

// NewMonitor listens at addr. It sets the Lock of o.
func NewMonitor(o link.Options, addr env.Addr) (*Monitor, error) {
	m := &Monitor{state: map[string]bool{}}
	o.Lock, o.Service = &m.mu, service
	o.Env.Random = o.Env.Random.Split("monitor")
	o, err := o.Complete()
	if err != nil {
		return nil, err
	}
	if m.server, err = link.NewServer(&o, addr, (*answers)(m)); err != nil {
		return nil, err
	}
	return m, nil
}

// Addr is where the monitor listens.
func (m *Monitor) Addr() env.Addr { return m.server.Addr() }

// Set records whether a process of this node is alive. A process for which Set
// was never called counts as failed.
func (m *Monitor) Set(process value.Value, alive bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state[key(process)] = alive
}

// Close stops answering.
func (m *Monitor) Close() error {
	m.mu.Lock()
	m.server.Shut()
	m.mu.Unlock()
	return m.server.Close()
}

// answers is the Monitor as the owner of its server.
type answers Monitor

func (a *answers) Up(*link.Conn) {}

func (a *answers) Down(*link.Conn, error) {}

func (a *answers) Frame(p *link.Conn, kind link.Type, payload []byte) error {
	k, err := readKey(payload)
	if err != nil {
		return err
	}
	if kind != frameAsk {
		return link.Malformed("detector", "type %d is not expected by a monitor", kind)
	}
	reply := frameFailed
	if a.state[k] {
		reply = frameAlive
	}
	p.Send(frame(reply, k))
	return nil
}

// Options of a Detector.
type Options struct {
	// Link configures the links; Open sets its Lock.
	Link link.Options
	// Processes are the processes that are watched.
	Processes []Process
	// Interval is the time between queries. A process that has been silent for
	// Timeout is suspected.
	Interval, Timeout time.Duration
}

// Process gives the address of the monitor that answers for a process.
type Process struct {
	Index value.Value
	Addr  env.Addr
}

// Detector watches processes.
type Detector struct {
	opt Options

	mu     sync.Mutex
	closed bool
	subs   map[string]*suspicion
	links  []*asker
	timer  env.Timer
}

// asker queries one monitor.
type asker struct {
	d      *Detector
	addr   env.Addr
	client *link.Client
	up     bool
	subs   []*suspicion
}

// suspicion is fd[i].
type suspicion struct {
	d         *Detector
	index     value.Value
	key       string
	heard     env.Instant
	suspected bool
	watchers  []env.Waker
}

var (
	_ distsys.Selector = (*Detector)(nil)
	_ distsys.Watched  = (*suspicion)(nil)
)

// Open starts watching.
func Open(o Options) (*Detector, error) {
	if o.Interval == 0 {
		o.Interval = IntervalDefault
	}
	if o.Timeout == 0 {
		o.Timeout = max(TimeoutDefault, 2*o.Interval)
	}
	if o.Interval <= 0 || o.Timeout < o.Interval {
		return nil, fmt.Errorf("detector options: Interval %v, Timeout %v: want 0 < Interval <= Timeout", o.Interval, o.Timeout)
	}
	d := &Detector{subs: map[string]*suspicion{}}
	o.Link.Lock, o.Link.Service = &d.mu, service
	o.Link.Env.Random = o.Link.Env.Random.Split("detector")
	var err error
	if o.Link, err = o.Link.Complete(); err != nil {
		return nil, err
	}
	d.opt = o
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := value.Catch(func() { err = d.add() }); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	for _, l := range d.links {
		l.client = link.NewClient(&d.opt.Link, link.Target{Addr: l.addr}, l)
	}
	d.timer = o.Link.Env.Clock.After(o.Interval, env.WakeFunc(d.tick))
	return d, nil
}

func (d *Detector) add() error {
	now := d.opt.Link.Env.Clock.Now()
	for _, p := range d.opt.Processes {
		s := &suspicion{d: d, index: p.Index, key: key(p.Index), heard: now}
		if d.subs[s.key] != nil || len(s.key) > keyMax {
			return fmt.Errorf("process %s is given twice, or its name is too long", value.Brief(p.Index))
		}
		d.subs[s.key] = s
		i := slices.IndexFunc(d.links, func(l *asker) bool { return l.addr == p.Addr })
		if i < 0 {
			i = len(d.links)
			d.links = append(d.links, &asker{d: d, addr: p.Addr})
		}
		d.links[i].subs = append(d.links[i].subs, s)
	}
	return nil
}

// Close stops watching.
func (d *Detector) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.timer.Stop()
	for _, l := range d.links {
		l.client.Close()
	}
	return nil
}

func (d *Detector) tick() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	now := d.opt.Link.Env.Clock.Now()
	for _, l := range d.links {
		l.ask()
		for _, s := range l.subs {
			if now.Sub(s.heard) > d.opt.Timeout {
				s.set(true)
			}
		}
	}
	d.timer = d.opt.Link.Env.Clock.After(d.opt.Interval, env.WakeFunc(d.tick))
}

// ask queries all processes of a monitor. If a query does not fit into the
// connection's buffer, the next tick sends it again.
func (l *asker) ask() {
	for _, s := range l.subs {
		if !l.up || l.client.Send(frame(frameAsk, s.key)) != nil {
			return
		}
	}
}

func (l *asker) Up(*link.Hello) error {
	l.up = true
	if l.client != nil {
		l.ask()
	}
	return nil
}

func (l *asker) Down(error) { l.up = false }
func (l *asker) Room()      {}

func (l *asker) Frame(kind link.Type, payload []byte) error {
	k, err := readKey(payload)
	if err != nil {
		return err
	}
	s := l.d.subs[k]
	if s == nil || !slices.Contains(l.subs, s) {
		return link.Malformed("detector", "an answer that was not requested")
	}
	switch kind {
	case frameAlive:
		s.heard = l.d.opt.Link.Env.Clock.Now()
		s.set(false)
	case frameFailed:
		s.set(true)
	default:
		return link.Malformed("detector", "type %d is not expected by a detector", kind)
	}
	return nil
}

func (s *suspicion) set(suspected bool) {
	if s.suspected != suspected {
		s.suspected = suspected
		for _, w := range s.watchers {
			w.Wake()
		}
	}
}

// Select implements Selector.
func (d *Detector) Select(idx []value.Value) (distsys.Resource, []value.Value, error) {
	if len(idx) == 0 {
		return nil, nil, errSelector
	}
	if s := d.subs[key(idx[0])]; s != nil {
		return s, idx[1:], nil
	}
	var known []string
	for _, s := range d.subs {
		known = append(known, s.index.String())
	}
	sort.Strings(known)
	return nil, nil, fmt.Errorf("process %s is not watched; the watched processes are %s", value.Brief(idx[0]), strings.Join(known, ", "))
}

var (
	errSelector = errors.New("a failure detector needs an index")
	errReadOnly = errors.New("a failure detector can only be read")
	errIndexed  = errors.New("a failure detector takes one index")
)

// Read is not called on a Selector.
func (d *Detector) Read(*distsys.Tx, []value.Value) (value.Value, error) {
	return value.Value{}, errSelector
}

// Write is not called on a Selector.
func (d *Detector) Write(*distsys.Tx, []value.Value, value.Value) error { return errSelector }

// PreCommit is not called on a Selector.
func (d *Detector) PreCommit(*distsys.Tx) error { return errSelector }

// Commit is not called on a Selector.
func (d *Detector) Commit(*distsys.Tx) {}

// Abort is not called on a Selector.
func (d *Detector) Abort(*distsys.Tx) {}

func (s *suspicion) Read(_ *distsys.Tx, idx []value.Value) (value.Value, error) {
	if len(idx) > 0 {
		return value.Value{}, errIndexed
	}
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	return value.Bool(s.suspected), nil
}

func (s *suspicion) Write(*distsys.Tx, []value.Value, value.Value) error { return errReadOnly }
func (s *suspicion) PreCommit(*distsys.Tx) error                         { return nil }
func (s *suspicion) Commit(*distsys.Tx)                                  {}
func (s *suspicion) Abort(*distsys.Tx)                                   {}

func (s *suspicion) Watch(w env.Waker) {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	s.watchers = append(s.watchers, w)
}

func (s *suspicion) Unwatch(w env.Waker) {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if i := slices.Index(s.watchers, w); i >= 0 {
		s.watchers = slices.Delete(s.watchers, i, i+1)
	}
}
