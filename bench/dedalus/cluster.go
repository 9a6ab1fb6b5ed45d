// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/bench/dedalus/drive"
	"github.com/ashlar-dev/ashlar/bench/process"
	"github.com/ashlar-dev/ashlar/internal/dedalus/deploy"
	"github.com/ashlar-dev/ashlar/internal/dedalus/loadgen"
)

// answerWithin is how long a child may take to say something, beyond the time that
// its phase takes.
const answerWithin = 30 * time.Second

// cluster is processes that make up a system, of ours or of a peer.
type cluster struct {
	nodes []*process.Child // by name
	// ask are clients that ask for the system's commands.
	ask *process.Child
	// groups are control groups of the nodes.
	groups []string
}

func (c *cluster) end() {
	if c.ask != nil {
		c.ask.End()
	}
	for _, x := range c.nodes {
		go x.End()
	}
	for _, x := range c.nodes {
		x.End()
	}
	for _, dir := range c.groups {
		_ = os.Remove(dir) // empty: its process has ended
	}
}

// addresses are n addresses on this machine that were free a moment ago.
func addresses(n int) ([]string, error) {
	var out []string
	var open []net.Listener
	defer func() {
		for _, l := range open {
			_ = l.Close()
		}
	}()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		open = append(open, l)
		out = append(out, l.Addr().String())
	}
	return out, nil
}

// start starts all processes of a program, and its clients.
func (p *program) start(c config, dir string) (_ *cluster, err error) {
	d := deploy.New(p.logic)
	free, err := addresses(len(d.Processes))
	if err != nil {
		return nil, err
	}
	at := map[string]string{}
	for i := range d.Processes {
		at[d.Processes[i].Node] = free[i]
	}
	all := &cluster{}
	defer func() {
		if err != nil {
			all.end()
		}
	}()
	for i := range d.Processes {
		x := &d.Processes[i]
		job := drive.NodeJob{Node: x.Node, Self: x.Self, Listen: at[x.Node], Peers: at, Pieces: d.Pieces(x),
			Component: slices.IndexFunc(d.Components, func(c deploy.Component) bool { return c.Name == x.Component })}
		if d.Component(x.Component).Carries && len(job.Pieces) > 0 {
			job.Incarnation = 1
		}
		job.Dir = filepath.Join(dir, strings.ReplaceAll(x.Node, "/", "-"))
		if err := os.MkdirAll(job.Dir, 0o755); err != nil {
			return nil, err
		}
		if c.Profile != "" {
			job.Profile = filepath.Join(c.Profile, strings.ReplaceAll(p.name()+" "+x.Node, "/", "-")+".pprof")
		}
		child, err := process.Start(x.Node, exec.Command(p.binary, drive.RoleNode), true)
		if err != nil {
			return nil, err
		}
		all.nodes = append(all.nodes, child)
		if c.Quota > 0 {
			dir, err := confine(child.PID(), c.Quota)
			if dir != "" {
				all.groups = append(all.groups, dir)
			}
			if err != nil {
				return nil, err
			}
		}
		if err := child.Tell(job); err != nil {
			return nil, err
		}
	}
	for _, x := range all.nodes {
		var said string
		if err := x.Hear(&said, answerWithin); err != nil {
			return nil, err
		}
	}
	if all.ask, err = process.Start("clients of "+p.name(), exec.Command(p.binary, drive.RoleClient), true); err != nil {
		return nil, err
	}
	return all, all.ask.Tell(p.clients(c, at))
}

// clients is the job of the program's clients.
func (p *program) clients(c config, at map[string]string) drive.ClientJob {
	job := drive.ClientJob{Name: "client", Nodes: at, Clients: c.Clients, Settle: p.load.Warm.Seconds(), Warm: c.Warm.Seconds(), Run: c.Run.Seconds()}
	job.Sends, job.Waits = loadgen.Commands(p.logic, p.load)
	return job
}

// sample is what one round says of a system.
type sample struct {
	loadgen.Outcome
	// CPU is what each node used in the time that counts, Client what the clients did.
	CPU    map[string]time.Duration
	Client time.Duration
}

// measure runs clients, and measures from when they say that commands count.
func (a *cluster) measure(c config) (*sample, error) {
	var said string
	if err := a.ask.Hear(&said, c.Warm+answerWithin); err != nil {
		return nil, err
	}
	before, client := a.used(), process.UsageOf(a.ask.PID())
	if err := a.ask.Hear(&said, c.Run+answerWithin); err != nil {
		return nil, err
	}
	after := a.used()
	s := &sample{CPU: map[string]time.Duration{}, Client: process.UsageOf(a.ask.PID()).Minus(client).CPU}
	for n, u := range after {
		s.CPU[n] = u.Minus(before[n]).CPU
	}
	if err := a.ask.Hear(&s.Outcome, drive.DrainWithin+answerWithin); err != nil {
		return nil, err
	}
	if s.Commands == 0 {
		return nil, errors.New("no command was answered in the time that counts")
	}
	return s, nil
}

func (a *cluster) used() map[string]process.Usage {
	out := map[string]process.Usage{}
	for _, x := range a.nodes {
		out[x.Name] = process.UsageOf(x.PID())
	}
	return out
}
