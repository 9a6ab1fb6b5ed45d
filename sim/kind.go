// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/env"
)

// Kind is a kind of fault.
type Kind uint8

// The kinds. The meaning of a rate depends on the kind: for a kind with
// opportunities it is the probability that the fault strikes at one, for a kind
// marked (time) the mean number of strikes per second of virtual time, for
// Drift the bound.
const (
	// Delay makes a transmission late, up to a hundred times the latency.
	Delay Kind = iota
	// Drop loses a transmission: a packet is lost, a stream sends again later.
	Drop
	// Duplicate makes a packet arrive twice.
	Duplicate
	// Reorder lets later packets overtake a packet.
	Reorder
	// Fragment splits what arrives on a stream, or joins it with what follows.
	Fragment
	// Reset breaks a connection at some byte.
	Reset
	// Refuse makes a dial fail, Blackhole leaves it unanswered.
	Refuse
	Blackhole
	// HalfOpen makes a crash end a connection without notice to the peer.
	HalfOpen
	// Clog holds everything sent from one node to another for a while (time).
	Clog
	// Partition separates the nodes into two groups (time), OneWay in one
	// direction only.
	Partition
	OneWay

	// Crash ends a node, which starts again later (time).
	Crash
	// CrashInDisk ends a node within a disk operation.
	CrashInDisk
	// PowerLoss makes a crash one of the whole machine: unsynced data is at
	// risk, and peers get no notice.
	PowerLoss
	// Pause suspends a node (time).
	Pause
	// Drift makes a node's clock fast or slow, by at most the rate.
	Drift
	// WallJump moves a node's calendar clock (time).
	WallJump

	// LoseWrite makes a loss of power keep only the operations before some
	// moment; the rate is the probability per crash.
	LoseWrite
	// ReorderWrite makes it keep any subset of the operations, later ones
	// without earlier ones.
	ReorderWrite
	// TearWrite makes it keep any subset of the sectors of an operation.
	TearWrite
	// BitRot flips a bit of a durable sector (time).
	BitRot
	// StaleSector makes a sync lose a sector that it should have written.
	StaleSector
	// MisdirectedSector makes a sync write a sector over another one.
	MisdirectedSector
	// ReadError makes a read fail.
	ReadError
	// SyncError makes a sync fail; what it should have written may or may not
	// be written, and counts as clean.
	SyncError
	// DiskFull makes a disk refuse to grow for a while (time).
	DiskFull
	// SlowDisk makes a disk slow for a while (time).
	SlowDisk

	kinds
)

// String is the name of the kind, as options and counters have it.
func (k Kind) String() string {
	switch k {
	case Delay:
		return "delay"
	case Drop:
		return "drop"
	case Duplicate:
		return "duplicate"
	case Reorder:
		return "reorder"
	case Fragment:
		return "fragment"
	case Reset:
		return "reset"
	case Refuse:
		return "refuse"
	case Blackhole:
		return "blackhole"
	case HalfOpen:
		return "half-open"
	case Clog:
		return "clog"
	case Partition:
		return "partition"
	case OneWay:
		return "one-way"
	case Crash:
		return "crash"
	case CrashInDisk:
		return "crash-in-disk"
	case PowerLoss:
		return "power-loss"
	case Pause:
		return "pause"
	case Drift:
		return "drift"
	case WallJump:
		return "wall-jump"
	case LoseWrite:
		return "lose-write"
	case ReorderWrite:
		return "reorder-write"
	case TearWrite:
		return "tear-write"
	case BitRot:
		return "bit-rot"
	case StaleSector:
		return "stale-sector"
	case MisdirectedSector:
		return "misdirected-sector"
	case ReadError:
		return "read-error"
	case SyncError:
		return "sync-error"
	case DiskFull:
		return "disk-full"
	case SlowDisk:
		return "slow-disk"
	}
	return "kind-" + strconv.Itoa(int(k))
}

// timed reports whether the kind's rate is a frequency.
func (k Kind) timed() bool {
	switch k {
	case Clog, Partition, OneWay, Crash, Pause, WallJump, BitRot, DiskFull, SlowDisk:
		return true
	}
	return false
}

// Kinds returns all kinds.
func Kinds() []Kind {
	out := make([]Kind, kinds)
	for i := range out {
		out[i] = Kind(i)
	}
	return out
}

// KindOf returns the kind of that name.
func KindOf(name string) (Kind, error) {
	for k := range kinds {
		if k.String() == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("there is no kind of fault %q", name)
}

// Faults are the rates of all kinds. The zero Faults has none.
type Faults struct{ rate [kinds]float64 }

// With returns the faults with the rate of one kind set.
func (f Faults) With(k Kind, rate float64) Faults {
	f.rate[k] = rate
	return f
}

// Without returns the faults without some kinds.
func (f Faults) Without(ks ...Kind) Faults {
	for _, k := range ks {
		f.rate[k] = 0
	}
	return f
}

// And returns the faults of both, at the higher rate.
func (f Faults) And(g Faults) Faults {
	for k := range f.rate {
		f.rate[k] = max(f.rate[k], g.rate[k])
	}
	return f
}

// Rate is the rate of a kind.
func (f Faults) Rate(k Kind) float64 { return f.rate[k] }

// On returns the kinds whose rate is not zero.
func (f Faults) On() []Kind {
	var out []Kind
	for k, r := range f.rate {
		if r > 0 {
			out = append(out, Kind(k))
		}
	}
	return out
}

func (f Faults) String() string {
	var parts []string
	for _, k := range f.On() {
		parts = append(parts, k.String()+"="+strconv.FormatFloat(f.rate[k], 'g', 3, 64))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ",")
}

// NetworkFaults are all faults of connections and packets.
func NetworkFaults() Faults {
	return Faults{}.With(Delay, 0.02).With(Drop, 0.01).With(Duplicate, 0.02).With(Reorder, 0.05).With(Fragment, 0.2).
		With(Reset, 0.003).With(Refuse, 0.05).With(Blackhole, 0.01).With(HalfOpen, 0.5).
		With(Clog, 0.3).With(Partition, 0.15).With(OneWay, 0.15)
}

// NodeFaults are all faults of nodes.
func NodeFaults() Faults {
	return Faults{}.With(Crash, 0.2).With(PowerLoss, 0.5).With(Pause, 0.3).With(Drift, 0.001).With(WallJump, 0.1)
}

// CrashFaults are what a disk may do to unsynced data.
func CrashFaults() Faults {
	return Faults{}.With(CrashInDisk, 0.002).With(PowerLoss, 0.5).With(LoseWrite, 0.8).With(ReorderWrite, 0.5).With(TearWrite, 0.5)
}

// DiskFaults are what a disk does against its contract, or rarely within it: it
// loses or damages synced data, fails, is full or slow.
func DiskFaults() Faults {
	return Faults{}.With(BitRot, 0.1).With(StaleSector, 0.001).With(MisdirectedSector, 0.001).With(ReadError, 0.002).
		With(SyncError, 0.002).With(DiskFull, 0.1).With(SlowDisk, 0.2)
}

// Swarm draws, for a seed, which kinds are on, each with probability one half,
// and at which rate, between a third and three times that of f. Runs with few
// kinds reach states that runs with all kinds never reach.
func (f Faults) Swarm(seed uint64) Faults {
	for k := range f.rate {
		if f.rate[k] == 0 {
			continue
		}
		r := stream(seed, "swarm/"+Kind(k).String())
		if chance(r, 0.5) {
			f.rate[k] = 0
			continue
		}
		factor := 1 + float64(2*unit(r)) // converted: not to be fused on some machines
		if chance(r, 0.5) {
			factor = 1 / factor
		}
		f.rate[k] *= factor
		if !Kind(k).timed() {
			f.rate[k] = min(f.rate[k], 1)
		}
	}
	return f
}

// stream is the source for one purpose: it depends only on the seed and the
// purpose.
func stream(seed uint64, purpose string) env.Random { return env.Seeded(seed).Split(purpose) }

// unit is a number in [0, 1).
func unit(r env.Random) float64 { return float64(r.Uint64()>>11) / (1 << 53) }

func chance(r env.Random, p float64) bool { return unit(r) < p }
