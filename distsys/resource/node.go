// SPDX-License-Identifier: Apache-2.0

// Package resource makes nodes of running systems: from a compiled system and
// a configuration, the instances that one node runs and the resources behind
// their parameters.
//
// In: a distsys.System (generated code), a distsys.Config, the name of a node,
// an env.Env. Out: a Node to be run and closed. The resources themselves are in
// the packages below: local, queue, mailbox, timer, detector.
//
// A node whose instances survive crashes keeps their durable variables, and the
// shared ones, in a journal; see package durable.
//
// Refused: listening beyond the loopback interface while peers are not
// authenticated, unless the configuration trusts the network; relaxed
// mailboxes where the compiler found them not to be sound.
package resource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"sort"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/durable"
	"github.com/ashlar-dev/ashlar/distsys/resource/counter"
	"github.com/ashlar-dev/ashlar/distsys/resource/detector"
	"github.com/ashlar-dev/ashlar/distsys/resource/mailbox"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// LingerDefault is how long a node that has finished waits for
// acknowledgements; lingerStopped is the limit for a node that was stopped.
const (
	LingerDefault = 10 * time.Second
	lingerStopped = time.Second
)

// Options of a Node. Env is required.
type Options struct {
	Env env.Env
	// Secret is the key with which the nodes of the system authenticate each
	// other.
	Secret []byte
	// Authenticated reports that Env.Network authenticates peers by itself.
	Authenticated bool
	// Trace is the directory for trace files; nil: none are written.
	Trace env.Disk
	// TraceAborted makes the traces include aborted sections.
	TraceAborted bool
	// Print receives what the specification prints.
	Print io.Writer
	// Data is the directory on Env.Disk for the journal of a node that survives
	// crashes. Tasks runs the writer, which blocks on that disk. A node that
	// does not survive crashes needs neither.
	Data  string
	Tasks env.Tasks
	// Linger bounds the wait for acknowledgements at the end.
	Linger time.Duration
}

// Node is the part of a system that one process of the operating system runs.
type Node struct {
	name   string
	sys    *distsys.System
	log    *durable.Log // nil where nothing survives a crash
	opt    Options
	conf   *distsys.Config
	procs  []distsys.Process
	shared map[string]distsys.Resource // by name, those that the node has one of
	queues map[string]*queue.Queue
	boxes  map[string]*mailbox.Mailboxes
	order  []string // names of boxes, sorted
	// counters are the replicas by the names of the resources.
	counters map[string]*counter.Replica
	watch    []watched
	timers   int // how many were made
	closes   []func() error
}

// watched is a process for which a monitor answers.
type watched struct {
	monitor *detector.Monitor
	self    value.Value
}

// Format makes the journal of a node that survives crashes, in Options.Data.
// Call it once, before the first Open; if there is a journal already, it returns
// wal.ErrExists.
func Format(sys *distsys.System, c *distsys.Config, node string, o Options) error {
	if err := c.Check(sys); err != nil {
		return err
	}
	if !c.Survives(sys, node) {
		return fmt.Errorf("node %q has nothing that survives a crash, and needs no journal", node)
	}
	if o.Data == "" {
		return noJournal(node)
	}
	return durable.Format(journal(c, node, o))
}

func noJournal(node string) error {
	return fmt.Errorf("node %q survives crashes: it needs a directory for its journal", node)
}

func journal(c *distsys.Config, node string, o Options) durable.Options {
	return durable.Options{Env: o.Env, Tasks: o.Tasks, Dir: o.Data, System: c.System, Node: node}
}

// openJournal opens the node's journal if the node needs one.
func (n *Node) openJournal() (err error) {
	switch survives := n.conf.Survives(n.sys, n.name); {
	case survives && (n.opt.Data == "" || n.opt.Tasks == nil):
		return noJournal(n.name)
	case !survives && n.opt.Data != "":
		return fmt.Errorf("node %q has nothing that survives a crash and needs no directory, but got %s", n.name, n.opt.Data)
	case !survives:
		return nil
	}
	if n.log, err = durable.Open(journal(n.conf, n.name, n.opt)); err != nil {
		return err
	}
	n.closes = append(n.closes, n.log.Close)
	return nil
}

// Open makes the resources and instances of a node. From then on, mailboxes
// listen and connect.
func Open(sys *distsys.System, c *distsys.Config, node string, o Options) (n *Node, err error) {
	if err := c.Check(sys); err != nil {
		return nil, err
	}
	members, ok := c.Nodes[node]
	if !ok {
		return nil, fmt.Errorf("there is no node %q; there are %s", node, strings.Join(c.NodeNames(), ", "))
	}
	if o.Linger == 0 {
		o.Linger = LingerDefault
	}
	n = &Node{name: node, sys: sys, opt: o, conf: c, shared: map[string]distsys.Resource{},
		queues: map[string]*queue.Queue{}, boxes: map[string]*mailbox.Mailboxes{}, counters: map[string]*counter.Replica{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Close())
			n = nil
		}
	}()
	if err := n.openJournal(); err != nil {
		return n, err
	}
	for _, name := range names(c.Resources) {
		if err := n.serve(name); err != nil {
			return n, fmt.Errorf("resource %s: %w", name, err)
		}
	}
	for i, m := range members {
		if err := n.spawn(sys, m); err != nil {
			return n, fmt.Errorf("node %s, process %d: %w", node, i+1, err)
		}
	}
	return n, nil
}

func names[V any](m map[string]V) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// spawn makes an instance.
func (n *Node) spawn(sys *distsys.System, m distsys.Member) error {
	t, err := sys.Template(m.Archetype)
	if err != nil {
		return err
	}
	s := distsys.Spawn{Self: m.Self.Value, Values: map[string]value.Value{}, Refs: map[string]distsys.Resource{},
		Options: distsys.Options{Env: n.opt.Env, Print: n.opt.Print, TraceAborted: n.opt.TraceAborted}}
	if n.log != nil {
		s.Options.Journal = n.log
	}
	s.Options.Env.Random = n.opt.Env.Random.Split(m.Archetype)
	for name, v := range m.Values {
		s.Values[name] = v.Value
	}
	for _, param := range names(m.Refs) {
		r, err := n.resource(m.Refs[param], m.Self.Value)
		if err != nil {
			return fmt.Errorf("resource %s: %w", m.Refs[param], err)
		}
		s.Refs[param] = r
	}
	if n.opt.Trace != nil {
		trace, err := distsys.OpenTrace(n.opt.Trace, n.opt.Env.Clock, sys.Name, m.Archetype, m.Self.Value, s.Options.Journal)
		if err != nil {
			return err
		}
		s.Options.Recorder = trace
		n.closes = append(n.closes, trace.Close)
	}
	p, err := t.Spawn(s)
	if err != nil {
		return err
	}
	n.procs = append(n.procs, p)
	n.closes = append(n.closes, p.Close)
	return nil
}

// Processes returns the node's instances, in the order of the configuration.
func (n *Node) Processes() []distsys.Process { return n.procs }

// Life is the number of this life of a node that survives crashes, from 1, and 0
// for other nodes. A later life has a greater number.
func (n *Node) Life() uint64 {
	if n.log == nil {
		return 0
	}
	return n.log.Life()
}

// Queue returns the queue of a resource of kind "queue", or nil if there is
// none. The program around the node exchanges messages with the node through
// it.
func (n *Node) Queue(name string) *queue.Queue { return n.queues[name] }

// Mailboxes returns the mailboxes of a resource of kind "mailboxes", or nil if
// the node does not use them.
func (n *Node) Mailboxes(name string) *mailbox.Mailboxes { return n.boxes[name] }

// Run runs the instances until all are done, one fails, or ctx ends. Then it
// waits, for a limited time, until the receivers have acknowledged all messages
// sent.
func (n *Node) Run(ctx context.Context) error {
	for _, w := range n.watch {
		w.monitor.Set(w.self, true)
	}
	err := distsys.Run(ctx, n.procs...)
	wait := n.opt.Linger
	if err != nil {
		wait = min(wait, lingerStopped)
		if ctx.Err() == nil {
			for _, w := range n.watch {
				w.monitor.Set(w.self, false)
			}
		}
	}
	lingering, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	timer := n.opt.Env.Clock.After(wait, env.WakeFunc(cancel))
	defer timer.Stop()
	for _, name := range names(n.counters) {
		n.counters[name].Linger(lingering)
	}
	for _, name := range n.order {
		if lerr := n.boxes[name].Linger(lingering); lerr != nil && err == nil {
			err = fmt.Errorf("resource %s: %w", name, lerr)
		}
	}
	return err
}

// Close stops the instances, ends all connections, and closes the trace files.
func (n *Node) Close() error {
	var errs []error
	for i := len(n.closes) - 1; i >= 0; i-- {
		errs = append(errs, n.closes[i]())
	}
	n.closes = nil
	return errors.Join(errs...)
}

// link returns the options of a link.
func (n *Node) link() link.Options {
	return link.Options{Env: n.opt.Env, System: n.conf.System, Node: n.name, Key: n.opt.Secret}
}

// mayListen refuses addresses that strangers can reach if nothing authenticates
// peers.
func (n *Node) mayListen(addr string) error {
	if n.conf.TrustNetwork || n.opt.Authenticated || len(n.opt.Secret) > 0 {
		return nil
	}
	host := addr[:max(strings.LastIndexByte(addr, ':'), 0)]
	host = strings.Trim(host, "[]")
	if host == "" || host == "localhost" {
		return nil
	}
	if a, err := netip.ParseAddr(host); err == nil && a.IsLoopback() {
		return nil
	}
	return fmt.Errorf("any host can connect to %s: set a secret or TLS, or \"trustNetwork\": true", addr)
}
