// SPDX-License-Identifier: Apache-2.0

package log

import (
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Options are the options of a Log. The caller must set Space, Messenger,
// Clock, Random, Serial and Servers.
type Options struct {
	Space     wor.Space
	Messenger wor.Messenger
	Clock     env.Clock
	Random    env.Random
	// Serial is the Serial of the Space.
	Serial *env.Serial
	// ID is the number of the log.
	ID ID
	// Servers are the servers that may be elected as sequencers. Each must have
	// a Sequencer registered as its wor.ServiceSequencer.
	Servers []wor.Member
	// Prefetch, if not 0, is the number of addresses to fetch ahead, so that an
	// append takes one round trip. It gives up real-time order: an append may
	// get a position below that of one that ended before it began. Readers wait
	// at prefetched addresses that are not used yet; the Log must replace those
	// that readers have filled.
	Prefetch uint32
	// Holes states when a hole is filled.
	Holes Holes
	// AppendsMax and BytesMax bound the pending appends; more are refused with
	// ErrBusy. Default: 4096, and 64 MiB of entries.
	AppendsMax int
	BytesMax   int64
	// Timeout bounds one operation of the space, which is then repeated. It
	// grows when operations take longer. Default: 2 s.
	Timeout time.Duration
	// Silence is how long a sequencer may take to answer before another is
	// elected. It grows when answers take longer. Default: 1 s.
	Silence time.Duration
}

// Holes states when an address that was handed out counts as a hole.
type Holes struct {
	// Wait is how long the holder of an address may take to write it after a
	// reader found it unwritten. It should be longer than an append takes.
	// Default: 50 ms.
	Wait time.Duration
	// Poll bounds how long a follower waits without any note before it checks
	// for a hole. Default: 1 s.
	Poll time.Duration
}

const (
	appendsMaxDefault = 4096
	bytesMaxDefault   = 64 << 20
	silenceDefault    = time.Second
	holeWaitDefault   = 50 * time.Millisecond
	holePollDefault   = time.Second
)

func (o Options) complete() (Options, error) {
	if o.Space == nil || o.Messenger == nil || o.Clock == nil || o.Random == nil || o.Serial == nil {
		return o, errors.New("log: a log needs a space, a messenger, a clock, randomness and a serial")
	}
	if len(o.Servers) == 0 {
		return o, errors.New("log: a log needs servers that can be its sequencer")
	}
	if o.ID > IDMax {
		return o, &wor.LimitError{Name: "log.IDMax", Limit: int64(IDMax), Got: int64(o.ID)}
	}
	if o.Prefetch > CountMax {
		return o, &wor.LimitError{Name: "log.CountMax", Limit: CountMax, Got: int64(o.Prefetch)}
	}
	setDefault(&o.AppendsMax, appendsMaxDefault)
	setDefault(&o.BytesMax, bytesMaxDefault)
	setDefault(&o.Timeout, timeoutDefault)
	setDefault(&o.Silence, silenceDefault)
	setDefault(&o.Holes.Wait, holeWaitDefault)
	setDefault(&o.Holes.Poll, holePollDefault)
	return o, nil
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// Log is a client's view of one log. It belongs to Options.Serial: the caller
// must make all calls from there. Calls return at once and report their result
// there, once, never from within the call. The parameter within bounds the time
// of a call; 0 means no bound.
type Log struct {
	base
	opt Options
	// nonce identifies this Log.
	nonce uint64
	serialNumber

	seat     seat
	appender appender
	trimmed  uint32 // segments below are trimmed
}

// serialNumber draws the ids of entries whose caller gave none.
type serialNumber struct{ drawn uint64 }

// Open makes a Log. The Log sends nothing before its first use.
func Open(o Options) (*Log, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	random := o.Random.Split("log")
	l := &Log{
		base: base{space: row.NewPatient(o.Space, o.Clock, o.Timeout), clock: o.Clock, random: random, serial: o.Serial, timeout: o.Timeout},
		opt:  o, nonce: random.Uint64() | 1,
	}
	l.seat = seat{l: l, top: -1, wait: backoff(), silence: row.NewPatience(o.Clock, o.Silence)}
	l.appender = appender{l: l, byID: map[EntryID]*appending{}, wait: backoff()}
	return l, nil
}

// SetServers replaces the servers among which the log elects sequencers. There
// must be at least one.
func (l *Log) SetServers(servers []wor.Member) { l.opt.Servers = servers }

// Close ends the Log. Pending appends are answered with ErrUnknown, or with
// ErrClosed if nothing of them was written; other pending calls get no answer.
func (l *Log) Close() {
	if l.closed {
		return
	}
	l.closed = true
	l.appender.close()
}

// seat is what a Log knows about the sequencer.
type seat struct {
	l *Log
	// top is the last segment known to be allocated, -1 for none.
	top    int64
	member wor.Member
	// sure: nothing suggests that member is not the sequencer.
	sure bool
	// strikes counts failures of the sequencer since its last success.
	strikes int
	// void: the sequencer answers, but its tokens are void.
	void bool
	// elections counts the elections since a sequencer's last success.
	elections int
	looking   bool
	waiters   []func()
	wait      env.Backoff
	silence   *row.Patience
}

const (
	// strikesOut is the number of strikes after which the Log elects another
	// sequencer. It doubles after each election that did not help, up to
	// patienceMax times, because a takeover needs time to finish. A busy answer
	// is one strike.
	strikesOut  = 16
	patienceMax = 4
	// strikesSilent is the number of strikes for a missing answer. It is less
	// than strikesOut because a single message may be lost.
	strikesSilent = strikesOut / 2
)

// limit returns the number of strikes after which the Log elects another
// sequencer. An answer that the server is not the sequencer counts as that many
// strikes.
func (s *seat) limit() int { return strikesOut << min(s.elections, patienceMax) }

// invoke sends a server a request to its Sequencer.
func (s *seat) invoke(to wor.Member, a ask, done func(b []byte, err error)) {
	within, ended := s.silence.Begin()
	s.l.opt.Messenger.Invoke(to, wor.ServiceSequencer, a.encode(), within, func(b []byte, err error) {
		ended(errors.Is(err, wor.ErrUnknown) || errors.Is(err, wor.ErrDeadline))
		done(b, err)
	})
}

// need calls f when the Log believes that it knows the sequencer.
func (s *seat) need(f func()) {
	if s.sure {
		f()
		return
	}
	s.waiters = append(s.waiters, f)
	s.look()
}

// suspect adds strikes and makes the next need look for a later segment first.
func (s *seat) suspect(strikes int) {
	s.strikes += strikes
	s.sure = false
}

// praise records a success of the sequencer, and the last segment that it
// reported.
func (s *seat) praise(top uint32) {
	s.strikes, s.elections = 0, 0
	s.wait.Reset()
	s.top = max(s.top, int64(top))
}

// look looks for the last segment; if there is none, or its sequencer does not
// work, it starts an election.
func (s *seat) look() {
	if s.looking {
		return
	}
	s.looking = true
	s.l.last(s.l.opt.ID, s.top, func(index int64, m *wor.Meta, err error) {
		s.looking = false
		switch {
		case s.l.closed:
		case err != nil:
			s.l.later(&s.wait, s.look)
		case index > s.top:
			s.moved(index, m)
		case s.top < 0 || s.strikes >= s.limit() || s.void:
			s.elect()
		default:
			s.found()
		}
	})
}

// moved records a new segment and its sequencer.
func (s *seat) moved(index int64, m *wor.Meta) {
	s.top, s.strikes, s.void = index, 0, false
	if m != nil {
		if e, ok := decodeEndpoint(m.Payload); ok {
			s.member = e.member
			s.found()
			return
		}
	}
	// A segment without a sequencer: elect one for the next segment.
	s.strikes = s.limit()
	s.look()
}

func (s *seat) found() {
	s.sure = true
	waiters := s.waiters
	s.waiters = nil
	for _, f := range waiters {
		f()
	}
}

// elect asks a server to become the sequencer. Success shows when the next
// segment is allocated.
func (s *seat) elect() {
	s.looking, s.void = true, false
	servers := s.l.opt.Servers
	i := env.IntN(s.l.random, len(servers))
	if s.top >= 0 && servers[i].ID == s.member.ID {
		i = (i + 1) % len(servers)
	}
	a := ask{verb: verbElect, log: s.l.opt.ID, index: s.top, client: s.l.nonce}
	s.invoke(servers[i], a, func([]byte, error) {
		if s.l.closed {
			return
		}
		// The election succeeds only when the server has allocated the segment.
		// If the old sequencer was elected again, it may answer now.
		s.elections++
		s.strikes = s.limit() - 1
		s.l.later(&s.wait, func() {
			s.looking = false
			s.look()
		})
	})
}
