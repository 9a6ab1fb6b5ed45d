package log

import (
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Options are a Log's. Space, Messenger, Clock, Random, Serial and Servers are
// needed.
type Options struct {
	Space     wor.Space
	Messenger wor.Messenger
	Clock     env.Clock
	Random    env.Random
	// Serial is the Space's.
	Serial *env.Serial
	// ID is the log's.
	ID ID
	// Servers are those that may be elected as sequencers: they have a Sequencer
	// as their wor.ServiceSequencer.
	Servers []wor.Member
	// Prefetch, when not 0, is how many addresses are fetched ahead, so that an
	// append takes one round trip. It gives up real-time order: an append may get
	// a position below that of one that ended before it began. Its holder keeps
	// readers waiting at what it has not used yet; and what they have filled it
	// must replace.
	Prefetch uint32
	// Holes says when a hole is filled.
	Holes Holes
	// AppendsMax and BytesMax bound the appends that are under way; more are
	// refused with ErrBusy. Default: 4096, and 64 MiB of entries.
	AppendsMax int
	BytesMax   int64
	// Timeout bounds one operation of the space, which is then asked again. It is
	// longer where operations take longer. Default: 2 s.
	Timeout time.Duration
	// Silence is how long a sequencer may take to answer before another is
	// elected. It is longer where answers take longer. Default: 1 s.
	Silence time.Duration
}

// Holes is when an address that was handed out is taken for a hole.
type Holes struct {
	// Wait is how long its holder has, from when a reader found it unwritten.
	// It should be longer than an append takes. Default: 50 ms.
	Wait time.Duration
	// Poll bounds how long a follower that hears nothing waits before it asks
	// whether there is a hole. Default: 1 s.
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

// Log is a client's view of one log. It belongs to Options.Serial: all calls are
// made from there, return at once, and answer there, once, never from within the
// call. Within bounds how long a call takes; 0 is no bound.
type Log struct {
	base
	opt Options
	// nonce is this Log's own number.
	nonce uint64
	serialNumber

	seat     seat
	appender appender
	trimmed  uint32 // segments below are trimmed
}

// serialNumber draws the ids of entries that come without.
type serialNumber struct{ drawn uint64 }

// Open makes a Log. It asks nobody before it is used.
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

// SetServers has the log elect sequencers among these servers from now on: some were
// replaced. There must be at least one.
func (l *Log) SetServers(servers []wor.Member) { l.opt.Servers = servers }

// Close ends it: appends under way are answered with ErrUnknown or, if they were
// not written anywhere, ErrClosed; other calls are not answered any more.
func (l *Log) Close() {
	if l.closed {
		return
	}
	l.closed = true
	l.appender.close()
}

// seat is what a Log knows of who the sequencer is.
type seat struct {
	l *Log
	// top is the last segment that is known to be allocated, -1 none.
	top    int64
	member wor.Member
	// sure: there is no reason to doubt that member is the sequencer.
	sure bool
	// strikes counts failures of the sequencer since it last did its work.
	strikes int
	// void: what it hands out is, though it answers.
	void bool
	// elections counts those since a sequencer last did its work.
	elections int
	looking   bool
	waiters   []func()
	wait      env.Backoff
	silence   *row.Patience
}

const (
	// strikesOut is how many strikes have another sequencer elected, and twice as
	// many after each election that did not help, up to patienceMax times: a
	// takeover must have time to end. To be busy is one strike.
	strikesOut  = 16
	patienceMax = 4
	// strikesSilent is for not answering: one message may be lost.
	strikesSilent = strikesOut / 2
)

// limit is how many strikes have another sequencer elected now. So many are given
// to who says that it is not the sequencer.
func (s *seat) limit() int { return strikesOut << min(s.elections, patienceMax) }

// invoke asks a server something about sequencers.
func (s *seat) invoke(to wor.Member, a ask, done func(b []byte, err error)) {
	within, ended := s.silence.Begin()
	s.l.opt.Messenger.Invoke(to, wor.ServiceSequencer, a.encode(), within, func(b []byte, err error) {
		ended(errors.Is(err, wor.ErrUnknown) || errors.Is(err, wor.ErrDeadline))
		done(b, err)
	})
}

// need calls f when there is a sequencer to ask, as far as is known.
func (s *seat) need(f func()) {
	if s.sure {
		f()
		return
	}
	s.waiters = append(s.waiters, f)
	s.look()
}

// suspect has the next need look for a later segment first.
func (s *seat) suspect(strikes int) {
	s.strikes += strikes
	s.sure = false
}

// praise notes that the sequencer did its work, and the last segment it told of.
func (s *seat) praise(top uint32) {
	s.strikes, s.elections = 0, 0
	s.wait.Reset()
	s.top = max(s.top, int64(top))
}

// look looks for the last segment, and has a sequencer elected if there is none
// or it does not work.
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

// moved takes note of a new segment, and who is its sequencer.
func (s *seat) moved(index int64, m *wor.Meta) {
	s.top, s.strikes, s.void = index, 0, false
	if m != nil {
		if e, ok := decodeEndpoint(m.Payload); ok {
			s.member = e.member
			s.found()
			return
		}
	}
	// A segment without a sequencer: the next one is to have one.
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

// elect asks a server to become the sequencer. Whether it does shows when the
// next segment is there.
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
		// The servers have to allocate before it shows; and if the old one was
		// elected again, it may answer now.
		s.elections++
		s.strikes = s.limit() - 1
		s.l.later(&s.wait, func() {
			s.looking = false
			s.look()
		})
	})
}
