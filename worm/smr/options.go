// SPDX-License-Identifier: Apache-2.0

package smr

import (
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// StateMachine is the replicated state machine. The Replica calls it only on
// its Serial. Its state must depend on nothing but the commands: not on clocks,
// randomness, or the order of maps.
type StateMachine interface {
	// Apply applies a command and returns its result, which the Replica
	// retains. It must not change or retain the command.
	Apply(command []byte) (result []byte)
	// Snapshot returns a function that yields the current state piece by piece,
	// at most PieceMax bytes each, and nil at the end. Further commands are
	// applied between its calls; the pieces must not show their effects. The
	// Replica may stop calling it early.
	Snapshot() func() []byte
	// Restore returns a function that receives the pieces of a snapshot, in
	// order, and nil at the end: then the state is that of the snapshot,
	// whatever it was before. The Replica may stop early and begin again.
	Restore() func(piece []byte) error
}

// PieceMax is the longest piece of a snapshot, in bytes.
const PieceMax = 512 << 10

// Leadership determines which replica writes the next register.
type Leadership uint8

const (
	// StickyLeader: one replica has captured the whole segment, and writes in
	// one round trip. The others send it their commands, or take over when it
	// is silent.
	StickyLeader Leadership = iota
	// Turns: the replicas own the registers in rotation, and each writes its
	// own without a capture, in one round trip. A replica without commands
	// skips its turn; the others skip a silent replica after a while, and later
	// leave it out.
	Turns
	// Nobody: every replica captures and writes the next register; of those
	// that do so concurrently, one succeeds.
	Nobody
)

// Options are the options of a Replica. Space, Clock, Random, Serial and
// Machine are required.
type Options struct {
	Space wor.Space
	// Messenger carries commands to the leader; nil: a replica with a command
	// takes over.
	Messenger wor.Messenger
	Clock     env.Clock
	Random    env.Random
	// Serial is that of the Space.
	Serial  *env.Serial
	ID      ID
	Machine StateMachine
	// Member is the address at which other replicas reach this one.
	Member     wor.Member
	Leadership Leadership
	// Snapshots states when to write the state to the space and trim the
	// commands before it.
	Snapshots Snapshots
	// Size is the number of registers of a segment, at most SizeMax. Default:
	// 4096.
	Size uint32
	// Place returns the partition and the protocol for a segment. Default:
	// partition 0, Paxos. Turns requires protocol Paxos or Fast.
	Place func(s wor.Segment) (wor.Partition, wor.Protocol)
	// PipelineMax bounds the writes in flight. Default: 16.
	PipelineMax int
	// BatchMax bounds the bytes of one register's commands, beyond the first.
	// Commands that wait while PipelineMax writes are in flight are batched; no
	// command waits just to fill a batch. Default: 256 KiB.
	BatchMax int
	// CommandsMax and BytesMax bound the unanswered commands; more are refused
	// with ErrBusy. Default: 8192, and 64 MiB.
	CommandsMax int
	BytesMax    int64
	// Timeout bounds one operation of the space, which is then repeated.
	// Default: 2 s.
	Timeout time.Duration
	// Silence is how long a leader may take to answer before another replica
	// takes over. Default: 500 ms.
	Silence time.Duration
	// Turn is how long the others wait for the replica whose turn it is.
	// Default: 20 ms.
	Turn time.Duration
}

// Snapshots states when to write the state to the space, and trim.
type Snapshots struct {
	// Every is the number of segments between snapshots; 0 means never, and
	// then nothing is trimmed.
	Every uint32
	// Seen is the number of replicas that must have applied commands before
	// they are trimmed, in addition to their being in a snapshot.
	Seen int
}

func (o Options) complete() (Options, error) {
	if o.Space == nil || o.Clock == nil || o.Random == nil || o.Serial == nil || o.Machine == nil {
		return o, errors.New("smr: a replica needs a space, a clock, randomness, a serial and a state machine")
	}
	setDefault(&o.Size, 4096)
	setDefault(&o.PipelineMax, 16)
	setDefault(&o.BatchMax, 256<<10)
	setDefault(&o.CommandsMax, 8192)
	setDefault(&o.BytesMax, 64<<20)
	setDefault(&o.Timeout, 2*time.Second)
	setDefault(&o.Silence, 500*time.Millisecond)
	setDefault(&o.Turn, 20*time.Millisecond)
	if o.Place == nil {
		o.Place = func(wor.Segment) (wor.Partition, wor.Protocol) { return 0, wor.Paxos }
	}
	switch {
	case o.ID > IDMax:
		return o, &wor.LimitError{Name: "smr.IDMax", Limit: int64(IDMax), Got: int64(o.ID)}
	case o.Size < 2 || o.Size > SizeMax:
		return o, &wor.LimitError{Name: "smr.SizeMax", Limit: SizeMax, Got: int64(o.Size)}
	case o.BatchMax > CommandMax:
		return o, &wor.LimitError{Name: "smr.CommandMax", Limit: CommandMax, Got: int64(o.BatchMax)}
	case o.Leadership > Nobody:
		return o, &wor.LimitError{Name: "smr.Leadership", Limit: int64(Nobody), Got: int64(o.Leadership)}
	}
	return o, nil
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}
