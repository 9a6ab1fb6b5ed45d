// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Defaults of Options.
const (
	ConnsMaxDefault          = 4096
	ConnInflightMaxDefault   = 32 << 20
	ServerInflightMaxDefault = 256 << 20
	ListensMaxDefault        = 1024
	NotesMaxDefault          = 4 << 20
	InvokesMaxDefault        = 4096
	MaxBytesDefault          = 4 << 30
	HelloWithinDefault       = 10 * time.Second
	FrameWithinDefault       = 20 * time.Second
	TellEveryDefault         = time.Second
	WitnessWaitDefault       = time.Second
	DrainWithinDefault       = 5 * time.Second
)

// Options are the options of a Server. Env, Tasks, Genesis, and Listen are
// required, and Dir unless Memory.
type Options struct {
	// Env is the world; with Memory, Disk may be nil.
	Env env.Env
	// Tasks runs the step that commits, which blocks on the disk.
	Tasks env.Tasks
	// Dir is the directory of the log, which Format made.
	Dir string
	// Memory keeps nothing on a disk: what the server has acknowledged is lost
	// with it. Key then proves its identity; without Key, one is drawn. A
	// server that restarts in memory is one that lost its disk: its peers find
	// it behind what they have seen, and it is mute.
	Memory bool
	Key    Key
	// Listen is where it listens, in the network's notation.
	Listen env.Addr
	// Genesis is that of the cluster.
	Genesis *wor.Genesis
	// Alone makes the server answer without asking its peers whether its disk
	// is up to date. That is dangerous after an old disk was restored.
	Alone bool

	// ConnsMax bounds the connections, and HostConnsMax those of one host, or of
	// one IPv6 network of 64 bits; its default is three quarters of ConnsMax. A further connection replaces one
	// that was idle for HelloWithin; if there is none it is closed at once.
	ConnsMax, HostConnsMax int
	// ConnInflightMax and ServerInflightMax bound the waiting bytes, on one
	// connection and on all: answers that are not durable or not taken by the
	// network, requests not yet processed, records that are not durable. Beyond
	// that, requests are answered StatusBusy.
	ConnInflightMax, ServerInflightMax int
	// PartialMax bounds the bytes of all incomplete frames; beyond it,
	// connections are ended. Default: a quarter of ServerInflightMax.
	PartialMax int
	// ListensMax bounds the subscriptions of a connection, NotesMax the bytes
	// of notes that wait on it: beyond that, a subscription is ended, and its
	// client is notified.
	ListensMax, NotesMax int
	// InvokesMax bounds the running invocations of services of a connection.
	InvokesMax int
	// MaxBytes bounds the memory of the state, as group.Group.Limit does, for
	// all partitions together.
	MaxBytes int64
	// CheckpointBytes is how much the log grows at least before the state is
	// written anew, and LogSegment the size of its files. The defaults are
	// package wal's.
	CheckpointBytes int64
	LogSegment      int
	// HelloWithin is how long a connection may take to identify itself.
	HelloWithin time.Duration
	// FrameWithin is how long a frame may take from its first byte to its last.
	FrameWithin time.Duration
	// TellEvery is how often the server reports its position to its peers.
	TellEvery time.Duration
	// WitnessWait is how long a server that a bare majority of its partition's
	// members, itself included, knows to be alive waits for one more, from the
	// moment at which it had that majority (see witness.go).
	WitnessWait time.Duration
	// DrainWithin bounds how long Drain waits for clients.
	DrainWithin time.Duration
	// Warn receives what an operator must act on, as it happens. It may be nil.
	Warn func(text string)
	// Fatal is called once, from any goroutine, when the disk has failed: the
	// server has ended all connections and answers no more requests. It may be
	// nil.
	Fatal func(error)
}

func (o Options) complete() (Options, error) {
	switch {
	case o.Env.Clock == nil || o.Env.Network == nil || o.Env.Random == nil:
		return o, errors.New("a server needs a clock, a network and randomness")
	case o.Tasks == nil:
		return o, errors.New("a server needs tasks")
	case !o.Memory && (o.Env.Disk == nil || o.Dir == ""):
		return o, errors.New("a server needs a disk and a directory, unless Options.Memory is set")
	case o.Memory && o.Dir != "":
		return o, errors.New("a server in memory must not have a directory")
	case !o.Memory && o.Key.private != nil:
		return o, errors.New("Options.Key is for servers in memory: the disk has the key of any other server")
	case o.Genesis == nil || len(o.Genesis.Partitions) == 0:
		return o, errors.New("a server needs a genesis with at least one partition")
	}
	if o.Env.Tracer == nil {
		o.Env.Tracer = env.NoTrace{}
	}
	o.ConnsMax = cmp.Or(max(o.ConnsMax, 0), ConnsMaxDefault)
	o.ConnInflightMax = cmp.Or(max(o.ConnInflightMax, 0), ConnInflightMaxDefault)
	o.ServerInflightMax = cmp.Or(max(o.ServerInflightMax, 0), ServerInflightMaxDefault)
	o.HostConnsMax = cmp.Or(max(o.HostConnsMax, 0), o.ConnsMax-o.ConnsMax/4)
	o.PartialMax = cmp.Or(max(o.PartialMax, 0), o.ServerInflightMax/4)
	o.FrameWithin = cmp.Or(max(o.FrameWithin, 0), FrameWithinDefault)
	o.ListensMax = cmp.Or(max(o.ListensMax, 0), ListensMaxDefault)
	o.NotesMax = cmp.Or(max(o.NotesMax, 0), NotesMaxDefault)
	o.InvokesMax = cmp.Or(max(o.InvokesMax, 0), InvokesMaxDefault)
	o.MaxBytes = cmp.Or(max(o.MaxBytes, 0), MaxBytesDefault)
	o.HelloWithin = cmp.Or(max(o.HelloWithin, 0), HelloWithinDefault)
	o.TellEvery = cmp.Or(max(o.TellEvery, 0), TellEveryDefault)
	o.WitnessWait = cmp.Or(max(o.WitnessWait, 0), WitnessWaitDefault)
	o.DrainWithin = cmp.Or(max(o.DrainWithin, 0), DrainWithinDefault)
	return o, nil
}
