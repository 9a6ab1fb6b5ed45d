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

// PeersMax is the maximum number of instances of a deployment.
const PeersMax = 4096

// Options are the options of a Host. Env, Tasks, Program, Who, Listen and Peers
// are required. Dir is required if the component has durable relations and
// Memory is not set. Zero limits mean the defaults.
type Options struct {
	// Env is the environment. Without Dir, its Disk may be nil.
	Env env.Env
	// Tasks runs the step that ticks, which blocks on disk writes.
	Tasks env.Tasks
	// Program is the compiled program, and Component the index of this
	// instance's component in it. Who is the instance's identity, and Static
	// the argument of rt.ComponentType.New.
	Program   *rt.Program
	Component int
	Who       rt.Identity
	Static    map[string][][]byte
	// Listen is the address to listen on, in the notation of Env.Network.
	Listen env.Addr
	// Peers maps the nodes of all instances of the deployment to their
	// addresses. It may include this instance.
	Peers map[string]env.Addr
	// Pieces lists the nodes of the other pieces if the logical node Who.Self was
	// divided. Incarnation is the result of the function Incarnation, or 0 if this
	// piece carries nothing from tick to tick.
	Pieces      []string
	Incarnation uint64
	// Key, if not empty, is a secret shared by all instances.
	Key []byte
	// Dir is the directory of the log, which Format has created. With Memory,
	// the instance stores nothing on the disk, and durable relations are lost
	// with the process.
	Dir    string
	Memory bool

	// QueueMax bounds the bytes queued for one instance, ClientQueueMax those
	// queued for one client.
	QueueMax, ClientQueueMax int
	// Window and ClientWindow bound the bytes that one instance and one client may
	// have sent and no tick has taken.
	Window, ClientWindow int
	// ClientsMax bounds the known clients. ConnsMax bounds the accepted
	// connections whose peer is identified, and StrangersMax the other accepted
	// connections, as in link.Options.
	ClientsMax, ConnsMax, StrangersMax int
	// InputsMax bounds the bytes that all clients together have sent and no tick has
	// taken. OutputsMax bounds the bytes queued for all clients together; beyond it,
	// at most strangerQueueMax are queued for each client. PartialsMax bounds the
	// bytes received of incomplete frames, as link.Options.PartialMax.
	InputsMax, OutputsMax, PartialsMax int
	// TickMessages and TickBytes bound the input of one tick.
	TickMessages, TickBytes int
	// ResendEvery is the interval at which the instance sends everything that
	// holds again. A negative value turns that off.
	ResendEvery time.Duration
	// AckAfter is how long an acknowledgement may be delayed, to cover more
	// batches.
	AckAfter time.Duration
	// HelloWithin is how long a connection may take to identify itself.
	HelloWithin time.Duration
	// FrameWithin is how long a frame may take from its first byte to its last.
	FrameWithin time.Duration
	// The host pings a connection that has been silent for PingAfter, and
	// closes it after DeadAfter.
	PingAfter, DeadAfter time.Duration
	// ClientKeep is how long the host remembers a client after it disconnects.
	ClientKeep time.Duration
	// DrainWithin bounds the duration of Drain.
	DrainWithin time.Duration
	// BackoffMin and BackoffMax bound the wait before the host dials an instance
	// again.
	BackoffMin, BackoffMax time.Duration
	// CheckpointBytes is the minimum growth of the log between two checkpoints,
	// and LogSegment the size of its files. Package wal has the defaults.
	CheckpointBytes int64
	LogSegment      int
	// Fatal is called once, from any goroutine, when the disk fails or another
	// piece restarts (a *NewerError). By then the instance has ended all
	// connections, and it ticks no more. Fatal may be nil.
	Fatal func(error)
}

func (o Options) complete() (Options, error) {
	switch {
	case o.Program == nil || o.Component < 0 || o.Component >= len(o.Program.Components):
		return o, errors.New("Options needs Program and the index of one of its components")
	case o.Env.Clock == nil || o.Env.Random == nil || o.Env.Network == nil || o.Tasks == nil:
		return o, errors.New("Options needs Env with a clock, randomness and a network, and Tasks")
	case o.Who.Node == "" || o.Who.Self == "":
		return o, errors.New("Options needs Who: the node and the machine of the instance")
	case len(o.Peers) > PeersMax:
		return o, fmt.Errorf("the deployment has %d other instances; the limit is %d", len(o.Peers), PeersMax)
	case o.Program.Components[o.Component].Durable && o.Dir == "" && !o.Memory:
		return o, fmt.Errorf("%s has durable relations, and Options names no directory for them", o.Who.Node)
	case len(o.Program.Relations) > wire.RelationMax:
		return o, fmt.Errorf("the program has %d relations; the limit is %d", len(o.Program.Relations), wire.RelationMax)
	}
	for node := range o.Peers {
		if len(node) > wire.NodeMax || node == "" {
			return o, fmt.Errorf("the name of an instance has %d bytes; want 1 to %d", len(node), wire.NodeMax)
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
			return o, fmt.Errorf("a limit in Options is %d; want 1 to %d", *d.to, 1<<30)
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

// instanceName reports whether name belongs to an instance, or is reserved for
// one.
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
