// SPDX-License-Identifier: Apache-2.0

package log

import (
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// SequencerOptions are the options of a Sequencer. Space, Clock, Random, Serial
// and Member are required.
type SequencerOptions struct {
	Space  wor.Space
	Clock  env.Clock
	Random env.Random
	Serial *env.Serial
	// Member is the server at which clients reach the Sequencer. The Sequencer
	// writes it into the metadata of its segments.
	Member wor.Member
	// Place returns the partition and the protocol for a log's segment.
	// Default: partition 0, Paxos.
	Place func(id ID, index uint32) (wor.Partition, wor.Protocol)
	// Size is the maximum number of registers of a segment; it must be at most
	// SizeMax. The first segments have fewer, until the size of entries is
	// known. Default: 8192.
	Size uint32
	// SegmentBytes is about how many bytes the entries of a segment may take
	// before the Sequencer begins the next one, however many registers are
	// left. A smaller value frees space earlier, because Trim frees whole
	// segments only. Default: 4 MiB.
	SegmentBytes int64
	// LogsMax bounds the logs that the Sequencer may serve. Default: 1024.
	LogsMax int
	// Timeout bounds one operation of the space, which is then repeated. It
	// grows when operations take longer. Default: 2 s.
	Timeout time.Duration
}

const (
	sizeDefault    = 8192
	sizeFirst      = 256
	sizeMin        = 16
	bytesDefault   = 4 << 20
	logsMaxDefault = 1024
)

func (o SequencerOptions) complete() (SequencerOptions, error) {
	if o.Size == 0 {
		o.Size = sizeDefault
	}
	if o.Size < 2 || o.Size > SizeMax {
		return o, &wor.LimitError{Name: "log.SizeMax", Limit: SizeMax, Got: int64(o.Size)}
	}
	if o.SegmentBytes == 0 {
		o.SegmentBytes = bytesDefault
	}
	if o.LogsMax == 0 {
		o.LogsMax = logsMaxDefault
	}
	if o.Timeout == 0 {
		o.Timeout = timeoutDefault
	}
	if o.Place == nil {
		o.Place = func(ID, uint32) (wor.Partition, wor.Protocol) { return 0, wor.Paxos }
	}
	if o.Space == nil || o.Clock == nil || o.Random == nil || o.Serial == nil {
		return o, errors.New("log: a sequencer needs a space, a clock, randomness and a serial")
	}
	return o, nil
}

// Sequencer hands out the addresses of logs, on one server. It has no durable
// state: after a restart it begins a new segment. It belongs to Options.Serial.
type Sequencer struct {
	base
	opt   SequencerOptions
	life  uint64
	terms map[ID]*term
}

// NewSequencer makes a Sequencer that serves no log yet. The caller must
// register Handle as the wor.ServiceSequencer.
func NewSequencer(o SequencerOptions) (*Sequencer, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	random := o.Random.Split("sequencer")
	return &Sequencer{
		base: base{space: row.NewPatient(o.Space, o.Clock, o.Timeout), clock: o.Clock, random: random, serial: o.Serial, timeout: o.Timeout},
		opt:  o, life: random.Uint64(), terms: map[ID]*term{},
	}, nil
}

// Close ends the Sequencer. It answers no more requests, and other sequencers
// close its segments.
func (s *Sequencer) Close() { s.closed = true }

// Serving reports whether the Sequencer believes that it serves a log, and
// returns the log's next address.
func (s *Sequencer) Serving(id ID) (next Position, serving bool) {
	r := s.terms[id]
	if r == nil || !r.serving {
		return 0, false
	}
	return r.tail(), true
}

// Handle is the wor.Handler of wor.ServiceSequencer.
func (s *Sequencer) Handle(payload []byte, answer func([]byte)) {
	a, ok := decodeAsk(payload)
	if !ok || s.closed {
		return
	}
	answer(s.ask(a).encode())
}

func (s *Sequencer) ask(a ask) said {
	r := s.terms[a.log]
	if r != nil && r.serving && a.index > int64(r.top) {
		r.fall() // the asker knows of a later segment
		r = nil
	}
	switch {
	case r != nil:
		return r.ask(a)
	case a.verb != verbElect:
		return said{status: statusStranger}
	case len(s.terms) >= s.opt.LogsMax || a.index >= IndexMax:
		return said{status: statusBusy}
	}
	r = &term{s: s, id: a.log, size: min(sizeFirst, s.opt.Size), wait: env.Backoff{Min: 5 * time.Millisecond, Max: 200 * time.Millisecond}}
	r.wants(a)
	s.terms[a.log] = r
	r.takeOver(uint32(a.index + 1))
	return said{status: statusOK}
}

// TakeOver deposes the log's sequencer and makes this one the sequencer. It is
// for operators and tests: clients elect a sequencer when they need one.
func (s *Sequencer) TakeOver(id ID) {
	s.last(id, -1, func(index int64, _ *wor.Meta, err error) {
		if err == nil {
			s.ask(ask{verb: verbElect, log: id, index: index})
		}
	})
}
