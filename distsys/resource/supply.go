// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/counter"
	"github.com/ashlar-dev/ashlar/distsys/resource/detector"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/distsys/resource/mailbox"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/distsys/resource/timer"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// serve opens the node's services for other nodes, whether or not its own
// instances use them: mailboxes and monitors.
func (n *Node) serve(name string) error {
	s := n.conf.Resources[name]
	for _, site := range s.At {
		if site.Node != n.name {
			continue
		}
		switch s.Kind {
		case distsys.KindMailboxes:
			_, err := n.mailboxes(name)
			return err
		case distsys.KindDetector:
			return n.monitor(site)
		case distsys.KindCounter:
			_, err := n.counter(name)
			return err
		}
	}
	return nil
}

// resource returns the resource of that name in the configuration, for a process. It
// makes a new variable for each use, and a new timer unless the node has one.
func (n *Node) resource(name string, self value.Value) (distsys.Resource, error) {
	if r, ok := n.shared[name]; ok {
		return r, nil
	}
	s := n.conf.Resources[name]
	if s.Kind == distsys.KindCounter {
		c, err := n.counter(name)
		if err != nil {
			return nil, err
		}
		return c.Process(self)
	}
	var r distsys.Resource
	var err error
	switch s.Kind {
	case distsys.KindVariable:
		return n.simple(&s)
	case distsys.KindTimer:
		if r, err = n.simple(&s); err != nil || !s.OfNode {
			return r, err
		}
	case distsys.KindMailboxes:
		var m *mailbox.Mailboxes
		if m, err = n.mailboxes(name); err == nil {
			r = m.Network()
		}
	case distsys.KindLengths:
		var m *mailbox.Mailboxes
		if m, err = n.mailboxes(s.Of); err == nil {
			r = m.Lengths()
		}
	case distsys.KindDetector:
		r, err = n.detector(&s)
	case distsys.KindShared:
		if n.log != nil {
			r = n.lasting(name, s.Value.Value)
		} else {
			r, err = n.simple(&s)
		}
	case distsys.KindQueue:
		q := queue.New(queue.Limits{Messages: s.Capacity, Distinct: s.Distinct})
		n.queues[name] = q
		r = q.Both()
	case distsys.KindEach:
		like := *s.Like
		if like.Kind == distsys.KindTimer && !like.OfNode || like.Kind == distsys.KindVariable {
			return n.each(&like), nil
		}
		r = n.each(&like)
	default:
		r, err = n.simple(&s)
	}
	if err != nil {
		return nil, err
	}
	n.shared[name] = r
	return r, nil
}

// lasting makes a shared variable that survives crashes.
func (n *Node) lasting(name string, initial value.Value) distsys.Resource {
	if k := n.log.Recall(""); k != nil {
		for _, v := range k.Vars {
			if v.Name == name {
				initial = v.Value
			}
		}
	}
	return local.NewLasting(name, initial)
}

// simple makes a resource that depends only on its description.
func (n *Node) simple(s *distsys.Supply) (distsys.Resource, error) {
	switch s.Kind {
	case distsys.KindTimer:
		n.timers++
		random := n.opt.Env.Random.Split("timer").Split(strconv.Itoa(n.timers))
		return timer.New(n.opt.Env.Clock, random, timer.Options{After: time.Duration(s.After), Spread: time.Duration(s.Spread)})
	case distsys.KindVariable:
		return local.NewVariable(s.Value.Value), nil
	case distsys.KindShared:
		return local.NewShared(s.Value.Value), nil
	case distsys.KindConstant:
		return local.NewConstant(s.Value.Value), nil
	case distsys.KindDummy:
		return local.NewDummy(s.Value.Value), nil
	case distsys.KindQueue:
		return queue.New(queue.Limits{Messages: s.Capacity, Distinct: s.Distinct}).Both(), nil
	}
	return nil, fmt.Errorf("there is no resource of kind %q to make", s.Kind)
}

func (n *Node) each(like *distsys.Supply) distsys.Resource {
	return local.NewMap(func(value.Value) (distsys.Resource, error) { return n.simple(like) })
}

// mailboxes opens the mailboxes of that name on first use.
func (n *Node) mailboxes(name string) (*mailbox.Mailboxes, error) {
	if m := n.boxes[name]; m != nil {
		return m, nil
	}
	s := n.conf.Resources[name]
	o := mailbox.Options{
		Link:    n.link(),
		Relaxed: s.Mode == distsys.ModeRelaxed,
		Lossy:   s.Mode == distsys.ModeLossy,
		Queue:   queue.Limits{Messages: s.Capacity, Distinct: s.Distinct},
		Window:  s.Window,
	}
	for _, site := range s.At {
		forgets := n.conf.Survives(n.sys, site.Node)
		for _, i := range site.Indices {
			if site.Node == n.name {
				o.Local = append(o.Local, i.Value)
			} else {
				o.Remote = append(o.Remote, mailbox.Remote{Index: i.Value, Addr: env.Addr(site.Address), Forgets: forgets})
			}
		}
		if site.Node == n.name {
			o.Listen = listenAt(site)
			if err := n.mayListen(string(o.Listen)); err != nil {
				return nil, err
			}
		}
	}
	m, err := mailbox.Open(o)
	if err != nil {
		return nil, err
	}
	n.boxes[name] = m
	n.order = append(n.order, name)
	n.closes = append(n.closes, m.Close)
	return m, nil
}

// counter opens the node's replica of a counter on first use.
func (n *Node) counter(name string) (*counter.Replica, error) {
	if c := n.counters[name]; c != nil {
		return c, nil
	}
	s := n.conf.Resources[name]
	o := counter.Options{Link: n.link(), Interval: time.Duration(s.Interval)}
	for _, site := range s.At {
		var processes []value.Value
		for _, i := range site.Indices {
			processes = append(processes, i.Value)
		}
		if site.Node != n.name {
			o.Peers = append(o.Peers, counter.Peer{Addr: env.Addr(site.Address), Processes: processes})
			continue
		}
		o.Local, o.Listen = processes, listenAt(site)
		if err := n.mayListen(string(o.Listen)); err != nil {
			return nil, err
		}
	}
	if o.Listen == "" {
		return nil, fmt.Errorf("node %s has no replica of it", n.name)
	}
	c, err := counter.Open(o)
	if err != nil {
		return nil, err
	}
	n.counters[name] = c
	n.closes = append(n.closes, c.Close)
	return c, nil
}

func listenAt(s distsys.Site) env.Addr {
	if s.Listen != "" {
		return env.Addr(s.Listen)
	}
	return env.Addr(s.Address)
}

// monitor answers for the processes of a site on this node.
func (n *Node) monitor(s distsys.Site) error {
	here := map[string]bool{}
	for _, m := range n.conf.Nodes[n.name] {
		here[m.Self.Value.String()] = true
	}
	for _, i := range s.Indices {
		if !here[i.Value.String()] {
			return fmt.Errorf("node %s has no process %s to watch", n.name, i.Value)
		}
	}
	if err := n.mayListen(string(listenAt(s))); err != nil {
		return err
	}
	m, err := detector.NewMonitor(n.link(), listenAt(s))
	if err != nil {
		return err
	}
	n.closes = append(n.closes, m.Close)
	for _, i := range s.Indices {
		n.watch = append(n.watch, watched{m, i.Value})
	}
	return nil
}

func (n *Node) detector(s *distsys.Supply) (distsys.Resource, error) {
	o := detector.Options{Link: n.link(), Interval: time.Duration(s.Interval), Timeout: time.Duration(s.Timeout)}
	for _, site := range s.At {
		for _, i := range site.Indices {
			o.Processes = append(o.Processes, detector.Process{Index: i.Value, Addr: env.Addr(site.Address)})
		}
	}
	d, err := detector.Open(o)
	if err != nil {
		return nil, err
	}
	n.closes = append(n.closes, d.Close)
	return d, nil
}
