// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/ashlar-dev/ashlar/bench/process"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/worm/node"
	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// servers is how many servers of ours and of etcd's there are.
const servers = 3

// The partitions of our cluster: all three servers, and two of them.
const (
	partitionAll wor.Partition = iota
	partitionTwo
)

// serverJob is the job of one of our servers.
type serverJob struct {
	Dir     string // "": in memory
	Listen  string
	Profile string
}

// serverMain is a server of ours: registers, and the sequencer of logs.
func serverMain(p *process.Port) error {
	var job serverJob
	if ok, err := p.Take(&job); !ok || err != nil {
		return err
	}
	world, tasks := osenv.New(), osenv.NewTasks()
	defer tasks.Close()
	o := node.Options{Env: world, Tasks: tasks, Memory: job.Dir == "", Listen: env.Addr(job.Listen)}
	if job.Dir != "" {
		disk, err := osenv.OpenDisk(job.Dir)
		if err != nil {
			return err
		}
		defer disk.Close()
		o.Env.Disk, o.Dir = disk, "log"
		id, err := node.Format(o.Env, o.Dir, "")
		if err != nil {
			return err
		}
		if err := p.Say(id); err != nil {
			return err
		}
	} else {
		o.Key = node.NewKey(world.Random)
		if err := p.Say(o.Key.ID()); err != nil {
			return err
		}
	}
	network := osenv.NewNetwork(osenv.NetworkOptions{WriteBuffer: worm.WriteBuffer})
	defer network.Close()
	o.Env.Network = network
	o.Genesis = &wor.Genesis{}
	if ok, err := p.Take(o.Genesis); !ok || err != nil {
		return err
	}
	failed := make(chan error, 1)
	o.Fatal = func(err error) { failed <- err }
	server, err := node.OpenServer(o)
	if err != nil {
		return err
	}
	defer server.Close()
	end, err := hostSequencer(o.Env, server, o.Genesis)
	if err != nil {
		return err
	}
	defer end()
	var over error
	err = process.Profiled(job.Profile, func() {
		if err := p.Say("listening"); err != nil {
			over = err
			return
		}
		ended := make(chan error, 1)
		go func() {
			var none any
			_, err := p.Take(&none)
			ended <- err
		}()
		select {
		case over = <-failed:
		case over = <-ended:
		}
	})
	return errors.Join(err, over)
}

// hostSequencer has a server offer the sequencer, as ashlard does.
func hostSequencer(world env.Env, server *node.Server, g *wor.Genesis) (end func(), err error) {
	serial := &env.Serial{}
	transport := node.NewTransport(node.TransportOptions{Env: world, Serial: serial, Cluster: g.Cluster, From: world.Random.Uint64()})
	s, err := space.Open(space.Options{Env: world, Serial: serial, Transport: transport, Genesis: g})
	if err != nil {
		transport.Close()
		return nil, err
	}
	var seq *log.Sequencer
	in(serial, func() {
		self := g.Partitions[0].Members[g.Partitions[0].Index(server.ID())]
		seq, err = log.NewSequencer(log.SequencerOptions{
			Space: s, Clock: world.Clock, Random: env.Seeded(world.Random.Uint64()), Serial: serial, Member: self,
			Place: func(log.ID, uint32) (wor.Partition, wor.Protocol) { return partitionAll, wor.Paxos },
		})
		if err == nil {
			server.Register(wor.ServiceSequencer, serial, seq.Handle)
		}
	})
	if err != nil {
		transport.Close()
		return nil, err
	}
	return func() {
		in(serial, func() {
			seq.Close()
			s.Close()
		})
		transport.Close()
	}, nil
}

// in runs f in a Serial and waits for it.
func in(serial *env.Serial, f func()) {
	done := make(chan struct{})
	serial.Do(func() {
		f()
		close(done)
	})
	<-done
}

// ports finds n ports that are free on the loopback.
func ports(n int) ([]int, error) {
	var found []int
	var open []net.Listener
	defer func() {
		for _, l := range open {
			l.Close()
		}
	}()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		open = append(open, l)
		found = append(found, l.Addr().(*net.TCPAddr).Port)
	}
	return found, nil
}

// cluster is servers of an engine, and how clients find them.
type cluster struct {
	children []*process.Child
	where    where
}

// where is how clients find servers.
type where struct {
	Engine    string
	Genesis   *wor.Genesis
	Endpoints []string
}

func (c *cluster) end() {
	for _, x := range c.children {
		go x.End()
	}
	for _, x := range c.children {
		x.End()
	}
}

// answerWithin is how long a child may take to say something.
const answerWithin = 20 * time.Second

// startOurs starts our servers: in memory, or each in a directory below dir.
func startOurs(self func(string) *exec.Cmd, dir, profile string) (_ *cluster, err error) {
	c := &cluster{where: where{Engine: ashlar, Genesis: &wor.Genesis{Cluster: 0xbe7c}}}
	defer func() {
		if err != nil {
			c.end()
		}
	}()
	free, err := ports(servers)
	if err != nil {
		return nil, err
	}
	var members []wor.Member
	for i := range servers {
		x, err := process.Start(fmt.Sprint("our server ", i), self(roleServer), true)
		if err != nil {
			return nil, err
		}
		c.children = append(c.children, x)
		m := wor.Member{Name: fmt.Sprint("n", i), Addr: fmt.Sprint("127.0.0.1:", free[i])}
		job := serverJob{Listen: m.Addr}
		if profile != "" {
			job.Profile = filepath.Join(profile, fmt.Sprint("server", i, ".pprof"))
		}
		if dir != "" {
			job.Dir = filepath.Join(dir, m.Name)
		}
		if err := x.Tell(job); err != nil {
			return nil, err
		}
		if err := x.Hear(&m.ID, answerWithin); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	c.where.Genesis.Partitions = []wor.Config{
		{Partition: partitionAll, Members: members}, {Partition: partitionTwo, Members: members[:2]},
	}
	for _, x := range c.children {
		if err := x.Tell(c.where.Genesis); err != nil {
			return nil, err
		}
	}
	for _, x := range c.children {
		var said string
		if err := x.Hear(&said, answerWithin); err != nil {
			return nil, err
		}
	}
	return c, nil
}
