package wire

import (
	"crypto/hmac"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
)

// ErrDown is returned for a send on a link that is not up.
var ErrDown = errors.New("link is down")

// ErrIdle is why a link ends on which nothing was heard.
var ErrIdle = errors.New("nothing heard from the peer")

// link is one connection from the first byte to the last: handshake, frames,
// keep-alive. It is the Handler of the connection. Its methods expect the lock
// to be held, except for the Handler's, which take it.
//
//	dialler                     listener
//	hello                   ->
//	                        <-  hello, or reject
//	proof (where secret)    ->
//	                        <-  proof, or reject
type link struct {
	opt     *Options
	dialled bool
	number  uint64 // of an accepted one, in its server
	own     Hello
	peer    Hello
	up      bool // the handshake is over
	dead    bool // the owner has been told, or wants to hear no more
	conn    env.Conn
	dec     Decoder
	partial env.Instant // when the unfinished frame began, where there is one
	timer   env.Timer
	began   env.Instant
	heard   env.Instant
	said    env.Instant
	why     error // the error that we closed for
	out     []byte

	onUp    func()
	onFrame func(t Type, payload []byte) error
	onRoom  func()
	onPart  func() // the unfinished frame has grown
	onDown  func(err error)
}

func newLink(o *Options, service string, dialled bool) *link {
	return &link{opt: o, dialled: dialled, own: o.hello(service), dec: Decoder{Max: helloMax}}
}

// start begins to watch the time; called once the connection is there or is
// being made.
func (l *link) start() {
	l.began = l.opt.Env.Clock.Now()
	l.heard, l.said = l.began, l.began
	l.tickLater()
}

func (l *link) tickLater() {
	l.timer = l.opt.Env.Clock.After(l.opt.KeepAlive, env.WakeFunc(l.tick))
}

func (l *link) tick() {
	l.opt.Lock.Lock()
	defer l.opt.Lock.Unlock()
	if l.dead {
		return
	}
	now := l.opt.Env.Clock.Now()
	// A peer that is still shaking hands has as long as a silent one.
	if !l.up && now.Sub(l.began) >= l.opt.Idle {
		l.close(ErrIdle)
		return
	}
	if l.why != nil {
		l.conn.Close() // the peer has had time to read why it was refused
		return
	}
	if now.Sub(l.heard) >= l.opt.Idle {
		l.close(fmt.Errorf("%w for %v", ErrIdle, now.Sub(l.heard)))
		return
	}
	if l.dec.Partial() > 0 && now.Sub(l.partial) >= l.opt.FrameTime {
		l.close(Malformed("a frame is not finished after %v", now.Sub(l.partial)))
		return
	}
	if l.up && now.Sub(l.said) >= l.opt.KeepAlive/2 {
		start := len(l.out)
		l.out = Finish(Begin(l.out, typePing), start)
		l.flush()
	}
	l.tickLater()
}

// send sends a whole frame, or answers env.ErrFull or ErrDown.
func (l *link) send(frame []byte) error {
	if !l.up || l.dead {
		return ErrDown
	}
	return l.write(frame)
}

func (l *link) write(b []byte) error {
	err := l.conn.Write(b)
	if err == nil {
		l.said = l.opt.Env.Clock.Now()
	}
	return err
}

// flush sends out; a peer that does not take even the small frames of the
// link itself is given up.
func (l *link) flush() {
	err := l.write(l.out)
	l.out = l.out[:0]
	if err != nil && l.why == nil {
		l.why = err
		l.conn.Close()
	}
}

// close ends the connection; the owner is told by the Handler's last call.
func (l *link) close(why error) {
	if l.why == nil {
		l.why = why
	}
	l.conn.Close()
}

// drop ends the connection and tells the owner nothing more.
func (l *link) drop() {
	l.dead = true
	l.timer.Stop()
	l.conn.Close()
}

func (l *link) say(t Type, payload []byte) {
	start := len(l.out)
	l.out = Finish(append(Begin(l.out, t), payload...), start)
	l.flush()
}

// Opened implements Handler.
func (l *link) Opened(env.Conn) {
	l.opt.Lock.Lock()
	defer l.opt.Lock.Unlock()
	if !l.dead {
		l.heard = l.opt.Env.Clock.Now()
		l.say(typeHello, l.own.raw)
	}
}

// Data implements Handler.
func (l *link) Data(_ env.Conn, b []byte) {
	l.opt.Lock.Lock()
	defer l.opt.Lock.Unlock()
	if l.dead || l.why != nil {
		return
	}
	l.heard = l.opt.Env.Clock.Now()
	if l.dec.Partial() == 0 {
		l.partial = l.heard
	}
	err := l.dec.Feed(b, func(t Type, payload []byte) error {
		l.partial = l.heard
		return l.frame(t, payload)
	})
	if err == nil && l.onPart != nil && l.dec.Partial() > 0 {
		l.onPart()
	}
	if r := (*RejectError)(nil); errors.As(err, &r) && !r.Remote {
		// To close at once could lose what tells the peer why: it closes when
		// it has read that, or the next tick does.
		l.why = err
		return
	}
	if err != nil {
		l.close(err)
	}
}

// Drained implements Handler.
func (l *link) Drained(env.Conn) {
	l.opt.Lock.Lock()
	defer l.opt.Lock.Unlock()
	if l.up && !l.dead {
		l.onRoom()
	}
}

// Closed implements Handler.
func (l *link) Closed(_ env.Conn, err error) {
	l.opt.Lock.Lock()
	defer l.opt.Lock.Unlock()
	if l.dead {
		return
	}
	l.dead = true
	l.timer.Stop()
	if l.why != nil {
		err = l.why
	}
	l.onDown(err)
}

func (l *link) frame(t Type, payload []byte) error {
	switch {
	case t == typeReject:
		if len(payload) > rejectMax {
			payload = payload[:rejectMax]
		}
		return &RejectError{Reason: string(payload), Remote: true}
	case l.up && t == typePing:
		return nil
	case l.up && t >= Service:
		if l.why != nil {
			return l.why
		}
		return l.onFrame(t, payload)
	case !l.up && t == typeHello && l.peer.raw == nil:
		return l.hello(payload)
	case !l.up && t == typeProof && l.peer.raw != nil && l.own.proof:
		return l.proof(payload)
	}
	return Malformed("type %d is not expected here", t)
}

func (l *link) hello(payload []byte) error {
	peer, err := parseHello(payload)
	if err == nil {
		err = l.own.compare(peer)
	}
	if err != nil {
		return l.reject(err)
	}
	l.peer = peer
	if !l.dialled {
		l.say(typeHello, l.own.raw)
	} else if l.own.proof {
		l.say(typeProof, prove(l.opt.Secret, sideDialler, l.own, l.peer))
	}
	if !l.own.proof {
		l.established()
	}
	return l.why
}

func (l *link) proof(payload []byte) error {
	var want []byte
	if l.dialled {
		want = prove(l.opt.Secret, sideListener, l.own, l.peer)
	} else {
		want = prove(l.opt.Secret, sideDialler, l.peer, l.own)
	}
	if !hmac.Equal(payload, want) {
		return l.reject(&RejectError{Reason: "the peer does not know the secret"})
	}
	if !l.dialled {
		l.say(typeProof, prove(l.opt.Secret, sideListener, l.peer, l.own))
	}
	l.established()
	return l.why
}

func (l *link) established() {
	l.up = true
	l.dec.Max = l.opt.FrameMax
	l.onUp()
}

// reject tells the peer why, as far as it is told anything.
func (l *link) reject(err error) error {
	if r := (*RejectError)(nil); errors.As(err, &r) {
		l.say(typeReject, []byte(r.Reason))
	}
	return err
}
