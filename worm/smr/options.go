package smr

import (
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// StateMachine is what is replicated. It is called on the Replica's Serial only,
// and must not depend on anything but the commands: no clock, no chance, no order
// of maps.
type StateMachine interface {
	// Apply applies a command and answers its result, which is kept. The command
	// must not be changed or kept.
	Apply(command []byte) (result []byte)
	// Snapshot answers a function that gives the state of this moment piece by
	// piece, at most PieceMax bytes each, and nil at the end. It is called while
	// further commands are applied, which must not show. It may be given up.
	Snapshot() func() []byte
	// Restore answers a function that is given the pieces of a snapshot, in
	// order, and nil at the end: then the state is that of the snapshot, whatever
	// it was. It may be given up and begun again.
	Restore() func(piece []byte) error
}

// PieceMax is the longest piece of a snapshot, in bytes.
const PieceMax = 512 << 10

// Leadership is who writes the next register.
type Leadership uint8

const (
	// StickyLeader: one replica has captured the whole segment, and writes in one
	// round trip. Others send it their commands, or take over when it is silent.
	StickyLeader Leadership = iota
	// Turns: the registers go round among the replicas, each of which writes its
	// own without capture, in one round trip. Who has nothing to say skips; who
	// is silent is skipped after a while, and then left out.
	Turns
	// Nobody: everybody captures and writes the next register; of those who do it
	// at the same time one succeeds.
	Nobody
)

// Options are a Replica's. Space, Clock, Random, Serial and Machine are needed.
type Options struct {
	Space wor.Space
	// Messenger carries commands to the leader; nil: who has a command takes
	// over.
	Messenger wor.Messenger
	Clock     env.Clock
	Random    env.Random
	// Serial is the Space's.
	Serial  *env.Serial
	ID      ID
	Machine StateMachine
	// Member is who the others reach this replica as.
	Member     wor.Member
	Leadership Leadership
	// Snapshots says when the state is written to the space and the commands
	// before it are trimmed.
	Snapshots Snapshots
	// Size is how many registers a segment has, at most SizeMax. Default: 4096.
	Size uint32
	// Place says where a segment is kept, and how. Default: partition 0, by
	// Paxos. Turns need protocol Paxos or Fast.
	Place func(s wor.Segment) (wor.Partition, wor.Protocol)
	// PipelineMax bounds the writes that are under way. Default: 16.
	PipelineMax int
	// BatchMax bounds the bytes of one register's commands, beyond the first.
	// What waits while PipelineMax writes are under way is batched; nothing ever
	// waits for a batch. Default: 256 KiB.
	BatchMax int
	// CommandsMax and BytesMax bound the commands that are not answered; more are
	// refused with ErrBusy. Default: 8192, and 64 MiB.
	CommandsMax int
	BytesMax    int64
	// Timeout bounds one operation of the space, which is then asked again.
	// Default: 2 s.
	Timeout time.Duration
	// Silence is how long a leader may take to answer before another takes over.
	// Default: 500 ms.
	Silence time.Duration
	// Turn is how long others wait for who has the turn. Default: 20 ms.
	Turn time.Duration
}

// Snapshots is when to write the state to the space, and trim.
type Snapshots struct {
	// Every is after how many segments; 0 is never, and then nothing is trimmed.
	Every uint32
	// Seen is how many replicas must have applied what is trimmed, besides its
	// being in a snapshot.
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
