// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
)

// Defaults of Options.
const (
	QueueMaxDefault       = 32 << 20
	ClientQueueMaxDefault = 4 << 20
	WindowDefault         = 4 << 20
	ClientWindowDefault   = 256 << 10
	ClientsMaxDefault     = 1024
	ConnsMaxDefault       = 4096
	InputsMaxDefault      = 256 << 20
	OutputsMaxDefault     = 256 << 20
	PartialsMaxDefault    = 256 << 20
	TickMessagesDefault   = 16 << 10
	TickBytesDefault      = 1 << 20
	ResendEveryDefault    = 10 * time.Second
	AckAfterDefault       = 20 * time.Millisecond
	HelloWithinDefault    = 10 * time.Second
	FrameWithinDefault    = 30 * time.Second
	PingAfterDefault      = time.Second
	DeadAfterDefault      = 4 * time.Second
	ClientKeepDefault     = 30 * time.Second
	DrainWithinDefault    = 5 * time.Second
	BackoffMinDefault     = 20 * time.Millisecond
	BackoffMaxDefault     = 2 * time.Second
)

// PeersMax is how many instances a deployment has at most.
const PeersMax = 4096

// Options are the options of a Host. Env, Tasks, Program, Who, Listen and Peers
// are required, and Dir unless Memory or nothing is durable. Zero limits mean
// the defaults.
type Options struct {
	// Env is the world; without Dir, its Disk may be nil.
	Env env.Env
	// Tasks runs the step that ticks, which blocks on the disk.
	Tasks env.Tasks
	// Program is the compiled program, Component the index of the instance's
	// component in it, Who the instance's identity, and Static the argument of
	// rt.ComponentType.New.
	Program   *rt.Program
	Component int
	Who       rt.Identity
	Static    map[string][][]byte
	// Listen is where it listens, in the network's notation.
	Listen env.Addr
	// Peers are the addresses of all instances of the deployment, by node. The
	// instance itself may be among them.
	Peers map[string]env.Addr
	// Pieces are the nodes of the other pieces of the logical node Who.Self, where it
	// was divided, and Incarnation the number of its life, from package func
	// Incarnation; 0 where this piece carries nothing from tick to tick.
	Pieces      []string
	Incarnation uint64
	// Key, if not empty, is a secret shared by all instances.
	Key []byte
	// Dir is the directory of the log, which Format made. Memory stores nothing
	// on the disk: durable relations are lost with the process.
	Dir    string
	Memory bool

	// QueueMax bounds the bytes queued for an instance, ClientQueueMax those
	// queued for a client.
	QueueMax, ClientQueueMax int
	// Window and ClientWindow are how many bytes an instance and a client may have
	// sent that no tick has taken.
	Window, ClientWindow int
	// ClientsMax bounds the known clients, ConnsMax the identified connections
	// that others have made, and StrangersMax the others, as in link.Options.
	ClientsMax, ConnsMax, StrangersMax int
	// InputsMax bounds what all clients together have sent that no tick has taken,
	// OutputsMax what waits for all of them: beyond, each may have strangerQueueMax
	// waiting. PartialsMax bounds what has come of frames that are not whole yet, as
	// link.Options.PartialMax. All are in bytes.
	InputsMax, OutputsMax, PartialsMax int
	// TickMessages and TickBytes bound what arrives in a tick.
	TickMessages, TickBytes int
	// ResendEvery is how often everything that holds is sent again; below 0,
	// never.
	ResendEvery time.Duration
	// AckAfter is how long an acknowledgement may wait for others.
	AckAfter time.Duration
	// HelloWithin is how long a connection may take to identify itself.
	HelloWithin time.Duration
	// FrameWithin is how long a frame may take from its first byte to its last.
	FrameWithin time.Duration
	// A connection that was silent for PingAfter is pinged; after DeadAfter it
	// is ended.
	PingAfter, DeadAfter time.Duration
	// ClientKeep is how long a client that has left is remembered.
	ClientKeep time.Duration
	// DrainWithin bounds how long Drain waits for other nodes.
	DrainWithin time.Duration
	// BackoffMin and BackoffMax bound the wait before an instance is dialled again.
	BackoffMin, BackoffMax time.Duration
	// CheckpointBytes is how much the log grows at least before its state is
	// written anew, and LogSegment the size of its files. The defaults are
	// package wal's.
	CheckpointBytes int64
	LogSegment      int
	// Fatal is called once, from any goroutine, when the disk has failed, or
	// another piece has restarted (a *NewerError): the instance has ended all
	// connections and ticks no more. It may be nil.
	Fatal func(error)
}

func (o Options) complete() (Options, error) {
	switch {
	case o.Program == nil || o.Component < 0 || o.Component >= len(o.Program.Components):
		return o, errors.New("a component of a program is needed")
	case o.Env.Clock == nil || o.Env.Random == nil || o.Env.Network == nil || o.Tasks == nil:
		return o, errors.New("a world with a clock, randomness, a network and tasks is needed")
	case o.Who.Node == "" || o.Who.Self == "":
		return o, errors.New("who the instance is is needed")
	case len(o.Peers) > PeersMax:
		return o, fmt.Errorf("%d instances, limit is %d", len(o.Peers), PeersMax)
	case o.Program.Components[o.Component].Durable && o.Dir == "" && !o.Memory:
		return o, fmt.Errorf("%s keeps something on the disk, and there is no directory for it", o.Who.Node)
	case len(o.Program.Relations) > wire.RelationMax:
		return o, fmt.Errorf("%d relations, limit is %d", len(o.Program.Relations), wire.RelationMax)
	}
	for node := range o.Peers {
		if len(node) > wire.NodeMax || node == "" {
			return o, fmt.Errorf("an instance has a name of %d bytes, limit is %d", len(node), wire.NodeMax)
		}
	}
	if o.Env.Tracer == nil {
		o.Env.Tracer = env.NoTrace{}
	}
	for _, d := range []struct {
		to   *int
		from int
	}{
		{&o.QueueMax, QueueMaxDefault}, {&o.ClientQueueMax, ClientQueueMaxDefault}, {&o.Window, WindowDefault},
		{&o.ClientWindow, ClientWindowDefault}, {&o.ClientsMax, ClientsMaxDefault}, {&o.ConnsMax, ConnsMaxDefault},
		{&o.TickMessages, TickMessagesDefault}, {&o.TickBytes, TickBytesDefault},
		{&o.InputsMax, InputsMaxDefault}, {&o.OutputsMax, OutputsMaxDefault}, {&o.PartialsMax, PartialsMaxDefault},
	} {
		if *d.to == 0 {
			*d.to = d.from
		}
		if *d.to < 0 || *d.to > 1<<30 {
			return o, fmt.Errorf("a limit of %d; want 1 to %d", *d.to, 1<<30)
		}
	}
	for _, d := range []struct{ to, from *time.Duration }{
		{&o.ResendEvery, new(ResendEveryDefault)}, {&o.AckAfter, new(AckAfterDefault)}, {&o.HelloWithin, new(HelloWithinDefault)}, {&o.FrameWithin, new(FrameWithinDefault)},
		{&o.PingAfter, new(PingAfterDefault)}, {&o.DeadAfter, new(DeadAfterDefault)}, {&o.ClientKeep, new(ClientKeepDefault)},
		{&o.DrainWithin, new(DrainWithinDefault)}, {&o.BackoffMin, new(BackoffMinDefault)}, {&o.BackoffMax, new(BackoffMaxDefault)},
	} {
		if *d.to == 0 {
			*d.to = *d.from
		}
	}
	return o, nil
}

// instanceName reports whether a name is one of an instance, or could be.
func (o *Options) instanceName(name string) bool {
	if _, ok := o.Peers[name]; ok || name == o.Who.Node {
		return true
	}
	component, _, ok := strings.Cut(name, "/")
	for _, c := range o.Program.Components {
		if ok && (c.Name == component || c.Of == component) {
			return true
		}
	}
	return false
}
