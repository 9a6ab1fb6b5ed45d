// SPDX-License-Identifier: Apache-2.0

package link

import (
	"crypto/hmac"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/env"
)

// ErrDown is returned by a send before the handshake is over or after the
// connection has ended.
var ErrDown = errors.New("link is down")

// ErrIdle ends a connection that has been silent for too long.
var ErrIdle = errors.New("nothing received from the peer")

// Session is one side of a connection, from its first byte to its last:
//
//	dialler                     listener
//	hello                   ->
//	                        <-  welcome, or refusal
//	proof (with a key)      ->
//	                        <-  refusal, where the proof is wrong
//
// Without a key, the listener takes the dialler for known with its hello, and
// the dialler the listener with its welcome. With a key, the welcome has the
// listener's proof in it, and the dialler's proof follows.
//
// Feed, Next and Welcome belong to the connection's env.Handler; the other
// methods may be called from any goroutine.
type Session struct {
	opt     *Options
	conn    env.Conn
	dialled bool
	to      string // the node that was dialled; empty: any
	host    string
	network string
	peer    Hello
	stage   stage
	hello   []byte // payloads, until the handshake is over
	welcome []byte
	scan    Scanner
	whole   bool // a frame has ended since Feed
	weighed bool // Door.Weigh has counted an unfinished frame

	began env.Instant
	heard atomic.Int64
	begun atomic.Int64 // when the unfinished frame began; 0: there is none
	part  atomic.Int64 // how many bytes of it there are
	up    atomic.Bool
	why   atomic.Pointer[error] // why this side has ended it

	// These fields belong to the Door; its lock guards them.
	place   int
	number  uint64
	known   bool
	entered bool
	counted int
}

type stage uint8

const (
	waiting  stage = iota // for a hello, or a welcome
	greeted               // the hello has come; Welcome is to be called
	proving               // for a proof
	finished              // the handshake is over
)

// dial returns the session of an outgoing connection. If to is empty, any node
// may answer. The body is the service's.
func (o *Options) dial(to string, body []byte) *Session {
	h := o.hello(to, body)
	s := o.session()
	s.dialled, s.to = true, to
	s.hello = appendHello(nil, &h, o.dice.nonce())
	return s
}

// Accept returns the session of an incoming connection.
func (o *Options) Accept(conn env.Conn) *Session {
	s := o.session()
	s.conn = conn
	s.host, s.network = Host(conn.Remote())
	return s
}

func (o *Options) session() *Session {
	s := &Session{opt: o, began: o.Env.Clock.Now()}
	s.heard.Store(int64(s.began))
	return s
}

// Host returns an address without its port, and the network of the host. The
// network of an IPv6 address is its first 64 bits, since all addresses that
// share them may belong to one machine. The network of any other address is the
// host itself. Shared limits are divided first among networks and then among
// the hosts of each.
func Host(a env.Addr) (host, network string) {
	host = string(a)
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		host = host[:i]
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil || ip.Unmap().Is4() {
		return host, host
	}
	around, _ := ip.WithZone("").Prefix(64) // an IPv6 address has 64 bits
	return host, around.String()
}

// opened begins the handshake on an outgoing connection.
func (s *Session) opened(conn env.Conn) {
	s.conn = conn
	s.heard.Store(int64(s.opt.Env.Clock.Now()))
	s.say(TypeHello, s.hello)
}

// Peer returns the other side's description of itself, once Next has returned
// its hello or welcome. It is authenticated when the session is up.
func (s *Session) Peer() *Hello { return &s.peer }

// Up reports that the handshake is over.
func (s *Session) Up() bool { return s.up.Load() }

// Over reports that this side has ended the connection.
func (s *Session) Over() bool { return s.why.Load() != nil }

// Reason returns why the connection has ended: this side's reason for ending
// it, or else the error of the network.
func (s *Session) Reason(network error) error {
	if why := s.why.Load(); why != nil {
		return *why
	}
	return network
}

// Feed passes received bytes to the session. The caller must not change them
// until Next has reported that there are no more frames.
func (s *Session) Feed(b []byte) {
	s.heard.Store(int64(s.opt.Env.Clock.Now()))
	s.whole = false
	if !s.Over() {
		s.scan.Feed(b)
	}
}

// Next returns the next frame that the caller must handle: a frame of the
// service or a step of the handshake. The dialler gets TypeWelcome when the
// session is up. The listener gets TypeHello, which the caller must answer with
// Welcome or End, and TypeProof once a dialler with a key has proved that it
// knows it. The payload is valid until the next call. If Next returns an error,
// the caller must End the session with it; no further frames follow.
func (s *Session) Next() (f Frame, ok bool, err error) {
	for !s.Over() {
		f, ok, err = s.scan.Next()
		if err != nil {
			return Frame{}, false, err
		}
		if !ok {
			s.unfinished()
			return Frame{}, false, nil
		}
		s.whole = true
		if f.Type >= Service && s.stage == finished {
			return f, true, nil
		}
		report, err := s.take(f)
		if err != nil {
			return Frame{}, false, err
		}
		if report {
			return f, true, nil
		}
	}
	s.scan = Scanner{}
	s.unfinished()
	return Frame{}, false, nil
}

// unfinished records the length of the unfinished frame, and since when it is
// unfinished.
func (s *Session) unfinished() {
	n := s.scan.Partial()
	s.part.Store(int64(n))
	switch {
	case n == 0:
		s.begun.Store(0)
	case s.whole || s.begun.Load() == 0:
		s.begun.Store(max(s.heard.Load(), 1))
	}
}

// take handles the frames that belong to this package.
func (s *Session) take(f Frame) (report bool, err error) {
	switch {
	case f.Type == TypeRefusal:
		r, err := decodeRefusal(f.Payload)
		if err != nil {
			return false, err
		}
		return false, r
	case f.Type == TypePing && s.stage == finished && !s.dialled:
		if len(f.Payload) > 0 {
			return false, Malformed("ping", "%d bytes", len(f.Payload))
		}
		s.signal(TypePong)
		return false, nil
	case f.Type == TypePong && s.stage == finished && s.dialled:
		if len(f.Payload) > 0 {
			return false, Malformed("pong", "%d bytes", len(f.Payload))
		}
		return false, nil
	case f.Type == TypeHello && s.stage == waiting && !s.dialled:
		return true, s.greet(f.Payload)
	case f.Type == TypeProof && s.stage == proving:
		return true, s.proved(f.Payload)
	case f.Type == TypeWelcome && s.stage == waiting && s.dialled:
		return true, s.welcomed(f.Payload)
	}
	return false, Malformed("", "a %v frame is not expected here", f.Type)
}

// greet checks that the two sides match.
func (s *Session) greet(payload []byte) error {
	h, err := decodeHello(payload)
	if err != nil {
		return err
	}
	o := s.opt
	refuse := func(c Code, format string, args ...any) error {
		return &Refusal{Code: c, Text: fmt.Sprintf(format, args...)}
	}
	switch {
	case h.service != o.Service:
		return refuse(RefusalSystem, "service %q, want %q", h.service, o.Service)
	case h.system != o.System:
		return refuse(RefusalSystem, "system %q, want %q", h.system, o.System)
	case h.To != "" && h.To != o.Node:
		return refuse(RefusalNode, "this hello is for node %q; this is node %q", h.To, o.Node)
	case h.Keyed && len(o.Key) == 0:
		return refuse(RefusalKey, "the peer requires a key, and none is set here")
	case !h.Keyed && len(o.Key) > 0 && !o.Guests:
		return refuse(RefusalKey, "a key is set here, and the peer has none")
	}
	s.peer, s.stage = h, greeted
	s.hello = append([]byte(nil), payload...)
	return nil
}

// Welcome answers a hello. The body is the service's. If the other side has no
// key to prove, the session is up; otherwise it is up after the other side's
// proof.
func (s *Session) Welcome(body []byte) {
	if s.stage != greeted || s.Over() {
		return
	}
	h := s.opt.hello("", body)
	s.welcome = appendWelcome(nil, &h, s.opt.dice.nonce())
	s.stage = proving
	if s.peer.Keyed {
		copy(s.welcome[proofAt:], prove(s.opt.Key, listener, s.hello, s.welcome))
	}
	s.say(TypeWelcome, s.welcome)
	if !s.peer.Keyed {
		s.established()
	}
}

// proved checks the proof of the side that has dialled.
func (s *Session) proved(payload []byte) error {
	if !hmac.Equal(payload, prove(s.opt.Key, dialler, s.hello, s.welcome)) {
		return &Refusal{Code: RefusalKey, Text: "the peer does not know the key"}
	}
	s.established()
	return nil
}

// welcomed checks the answer to a hello and sends the proof that this side
// knows the key.
func (s *Session) welcomed(payload []byte) error {
	h, proof, err := decodeWelcome(payload)
	if err != nil {
		return err
	}
	if s.to != "" && h.Node != s.to {
		return &Refusal{Code: RefusalNode, Text: fmt.Sprintf("the hello is for node %q, but node %q answered", s.to, h.Node)}
	}
	if h.Keyed = len(s.opt.Key) > 0; h.Keyed {
		if !hmac.Equal(proof, prove(s.opt.Key, listener, s.hello, payload)) {
			return &Refusal{Code: RefusalKey, Text: "the peer does not know the key"}
		}
		s.say(TypeProof, prove(s.opt.Key, dialler, s.hello, payload))
	}
	s.peer = h
	s.established()
	return nil
}

func (s *Session) established() {
	s.stage, s.hello, s.welcome = finished, nil, nil
	s.scan.Max = s.opt.FrameMax
	s.up.Store(true)
}

// Send queues a whole frame of the service. It returns ErrDown or an error of
// env.Conn.Write, such as env.ErrFull.
func (s *Session) Send(frame []byte) error {
	if !s.Up() || s.Over() {
		return ErrDown
	}
	return s.conn.Write(frame)
}

// Ping asks the other side for a reply, to learn whether it is alive.
func (s *Session) Ping() {
	if s.Up() && !s.Over() {
		s.signal(TypePing)
	}
}

// signal sends a frame without payload. If the connection's buffer is full, the
// frame is not needed: the other side has other frames to read first.
func (s *Session) signal(t Type) {
	if err := s.conn.Write(Seal(Begin(make([]byte, 0, Overhead), t), 0)); err != nil && !errors.Is(err, env.ErrFull) {
		s.Drop(err)
	}
}

// say sends a frame of the handshake.
func (s *Session) say(t Type, payload []byte) {
	b := Begin(make([]byte, 0, Overhead+len(payload)), t)
	if err := s.conn.Write(Seal(append(b, payload...), 0)); err != nil {
		s.Drop(err)
	}
}

// Late returns why the connection must be closed at this time: its handshake or
// a frame takes too long, or the other side has been silent. It returns nil if
// there is no reason.
func (s *Session) Late(now env.Instant) error {
	o := s.opt
	silent := now.Sub(env.Instant(s.heard.Load()))
	begun := s.begun.Load()
	switch {
	case s.Over():
		return nil
	case !s.Up() && now.Sub(s.began) >= o.HelloWithin:
		return fmt.Errorf("the handshake did not finish within %v", now.Sub(s.began))
	case s.Up() && silent >= o.DeadAfter:
		return fmt.Errorf("%w for %v", ErrIdle, silent)
	case begun != 0 && now.Sub(env.Instant(begun)) >= o.FrameWithin:
		return Malformed("", "it did not arrive completely within %v", now.Sub(env.Instant(begun)))
	}
	return nil
}

// End ends the connection because of an error. A listener first sends the
// reason to the other side, unless the other side ended the connection itself.
// A second call does nothing.
func (s *Session) End(err error) {
	if !s.why.CompareAndSwap(nil, &err) {
		return
	}
	r := &Refusal{}
	if !errors.As(err, &r) {
		r = &Refusal{Code: RefusalMessage, Text: err.Error()}
	}
	if s.dialled || r.Remote {
		s.close()
		return
	}
	// The refusal may be lost with the connection, which does no harm. The wait
	// gives the other side time to read it.
	if s.conn.Write(Seal(appendRefusal(Begin(nil, TypeRefusal), r), 0)) != nil {
		s.conn.Close()
		return
	}
	s.opt.Env.Clock.After(s.opt.refusalWithin(), env.WakeFunc(s.conn.Close))
}

// Drop ends the connection at once, without notice to the other side. It also
// closes a connection that End still keeps open.
func (s *Session) Drop(err error) {
	s.why.CompareAndSwap(nil, &err)
	s.close()
}

func (s *Session) close() {
	if s.conn != nil {
		s.conn.Close()
	}
}
