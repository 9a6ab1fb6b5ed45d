// SPDX-License-Identifier: Apache-2.0

package space

import (
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Options are the options of a Space. Env (Clock and Random), Serial, Transport
// and Genesis are required; for the others zero means the default.
type Options struct {
	Env env.Env
	// Serial is where all calls to the Space must come from, and where it
	// reports results. Transport belongs to it too.
	Serial    *env.Serial
	Transport wor.Transport
	Genesis   *wor.Genesis

	// Changed is called in the Serial whenever the Space has learned a later
	// configuration of a partition. It may be nil.
	Changed func(*wor.Config)

	// OpsMax bounds the running operations. Default: 4096.
	OpsMax int
	// BytesMax bounds the values passed to running operations, in bytes.
	// Default: 64 MiB.
	BytesMax int64
	// ResultMax bounds what one operation may read, in bytes. Default: 256 MiB.
	ResultMax int64
	// KnownMax bounds the cached decided values, in bytes. Default: 16 MiB;
	// negative: none.
	KnownMax int64
	// SegmentsMax bounds the segments whose metadata are cached. Default:
	// 65536.
	SegmentsMax int
	// UsedMax is the number of groups of UsedGroup registers for which the value that was
	// written with a token is kept. Beyond it, only the fact that a token was used is
	// kept, for as many runs of groups; when these overflow, older tokens are refused.
	// Default: 65536.
	UsedMax int

	// ResendMin and ResendMax bound how long an unanswered request waits before
	// it is repeated; within these bounds the wait follows the observed
	// latencies. Default: 10 ms and 2 s.
	ResendMin, ResendMax time.Duration
	// Patience is how long a partition may be sealed without a next
	// configuration before this client makes one, with the same members: it
	// assumes that the client that sealed it is dead. Default: 20 s; negative:
	// never.
	Patience time.Duration
	// ListenPoll is the longest time between two reads of a listener for
	// registers without notes. Default: 3 s.
	ListenPoll time.Duration
}

// UsedGroup is the number of neighbouring registers that count as one for
// Options.UsedMax.
const UsedGroup = 16

func (o Options) complete() (Options, error) {
	if o.Env.Clock == nil || o.Env.Random == nil || o.Serial == nil || o.Transport == nil || o.Genesis == nil {
		return o, errors.New("open space: Clock, Random, Serial, Transport and Genesis are needed")
	}
	if err := checkGenesis(o.Genesis); err != nil {
		return o, err
	}
	def(&o.OpsMax, 4096)
	def(&o.BytesMax, 64<<20)
	def(&o.ResultMax, 256<<20)
	def(&o.KnownMax, 16<<20)
	def(&o.SegmentsMax, 1<<16)
	def(&o.UsedMax, 1<<16)
	def(&o.ResendMin, 10*time.Millisecond)
	def(&o.ResendMax, 2*time.Second)
	def(&o.Patience, 20*time.Second)
	def(&o.ListenPoll, 3*time.Second)
	o.ResendMax = max(o.ResendMax, o.ResendMin)
	return o, nil
}

func def[T int | int64 | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}
