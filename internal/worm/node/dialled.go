// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"slices"
	"sync"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// dialled is the env.Handler of a Transport's connection. The network may call it
// from any goroutine; it decodes there, and passes events to the Serial.
type dialled struct {
	p       *peer
	runF    func()
	scan    wire.Scanner
	greeted bool // the welcome has arrived; only the network's calls use it
	over    bool // further input is ignored; only the network's calls use it

	boxes []replyBox // made ahead; only the network's calls use it

	mu    sync.Mutex
	inbox []event
	bytes int  // the bytes of the events in the inbox
	ready bool // run is scheduled
	spare []event
}

// event is an event of a connection: a frame or, with frame 0, one of the other
// events.
type event struct {
	frame   wire.Type
	happens happening
	id      uint64
	token   uint64 // of a ping; of a reply the server's position
	code    wire.Code
	reply   *wor.Reply
	note    *wor.Note
	payload []byte
	welcome wire.Welcome
	err     error
}

type happening uint8

const (
	isOpened happening = iota
	isDrained
	isClosed
)

// InboxMax bounds the bytes from one server that wait for the Serial. Beyond
// it, the connection is ended. A bound is necessary because a server sends
// notes without being asked.
const InboxMax = 64 << 20

// inboxKeep is the capacity that an empty inbox retains, in events.
const inboxKeep = 1024

func (l *dialled) tell(e event) {
	l.mu.Lock()
	l.inbox = append(l.inbox, e)
	l.mu.Unlock()
	l.wake()
}

// wake schedules run, once for all that is in the inbox.
func (l *dialled) wake() {
	l.mu.Lock()
	first := !l.ready && len(l.inbox) > 0
	l.ready = l.ready || first
	l.mu.Unlock()
	if first {
		l.p.t.opt.Serial.Do(l.runF)
	}
}

// Opened implements env.Handler.
func (l *dialled) Opened(env.Conn) { l.tell(event{happens: isOpened}) }

// Drained implements env.Handler.
func (l *dialled) Drained(env.Conn) { l.tell(event{happens: isDrained}) }

// Closed implements env.Handler.
func (l *dialled) Closed(_ env.Conn, err error) { l.tell(event{happens: isClosed, err: err}) }

// Data implements env.Handler.
func (l *dialled) Data(_ env.Conn, b []byte) {
	if l.over {
		return
	}
	l.mu.Lock()
	l.bytes += len(b)
	waiting := l.bytes
	l.mu.Unlock()
	if waiting > InboxMax+len(b) {
		l.over = true
		l.tell(event{happens: isClosed, err: &wor.LimitError{Name: "InboxMax", Limit: InboxMax, Got: int64(waiting)}})
		return
	}
	l.scan.Feed(b)
	for {
		if !l.greeted {
			l.scan.Max = wire.HelloMax
		}
		f, ok, err := l.scan.Next()
		var e event
		if err == nil && ok {
			e, err = l.decode(f)
		}
		if err != nil {
			l.over = true
			l.tell(event{happens: isClosed, err: err})
			return
		}
		if !ok {
			break
		}
		l.mu.Lock()
		l.inbox = append(l.inbox, e)
		l.mu.Unlock()
	}
	l.wake()
}

// decode decodes a frame; the result shares none of the network's memory.
func (l *dialled) decode(f wire.Frame) (e event, err error) {
	e.frame = f.Type
	if !l.greeted && f.Type != wire.TypeWelcome {
		return e, fmt.Errorf("a %v frame instead of a welcome", f.Type)
	}
	switch f.Type {
	case wire.TypeWelcome:
		if l.greeted {
			return e, fmt.Errorf("a second welcome")
		}
		l.greeted = true
		l.scan.Max = 0
		err = wire.DecodeWelcome(f.Payload, &e.welcome)
	case wire.TypeReply:
		if len(l.boxes) == 0 {
			l.boxes = make([]replyBox, boxesMake)
		}
		box := &l.boxes[0]
		l.boxes = l.boxes[1:]
		box.reply.Runs = box.one[:0]
		e.reply = &box.reply
		e.id, e.token, err = wire.DecodeReply(f.Payload, e.reply)
		own(e.reply)
	case wire.TypeNote:
		e.note = &wor.Note{}
		e.id, err = wire.DecodeNote(f.Payload, e.note)
		e.note.Value = slices.Clone(e.note.Value)
	case wire.TypeAnswer:
		e.id, e.code, e.payload, err = wire.DecodeAnswer(f.Payload)
		e.payload = slices.Clone(e.payload)
	case wire.TypePing, wire.TypePong:
		e.token, err = wire.DecodePing(f.Payload)
	default:
		err = fmt.Errorf("a %v frame from a server", f.Type)
	}
	return e, err
}

// boxesMake is the number of boxes that are allocated together. They are freed
// when none of them is in use any more, which is soon.
const boxesMake = 16

// replyBox is a reply with room for its run, as most have one.
type replyBox struct {
	reply wor.Reply
	one   [1]wor.Run
}

// own copies the values of a reply into one piece of memory of its own.
func own(r *wor.Reply) {
	n := len(r.Value)
	for i := range r.Runs {
		n += len(r.Runs[i].Value)
	}
	if n == 0 {
		return
	}
	mem := make([]byte, 0, n)
	keep := func(b []byte) []byte {
		at := len(mem)
		mem = append(mem, b...)
		return mem[at:len(mem):len(mem)]
	}
	if len(r.Value) > 0 {
		r.Value = keep(r.Value)
	}
	for i := range r.Runs {
		if len(r.Runs[i].Value) > 0 {
			r.Runs[i].Value = keep(r.Runs[i].Value)
		}
	}
}

// run handles what is in the inbox, in the Serial.
func (l *dialled) run() {
	l.mu.Lock()
	batch := l.inbox
	l.inbox, l.spare = l.spare[:0], nil
	l.bytes = 0
	l.ready = false
	l.mu.Unlock()
	now := l.p.t.opt.Env.Clock.Now()
	for i := range batch {
		l.handle(&batch[i], now)
		batch[i] = event{}
	}
	if cap(batch) <= inboxKeep {
		l.mu.Lock()
		l.spare = batch[:0]
		l.mu.Unlock()
	}
}

func (l *dialled) handle(e *event, now env.Instant) {
	p := l.p
	if p.link != l {
		return // from a connection that was given up
	}
	if e.frame != 0 {
		p.heard = now
		p.take(e)
		return
	}
	switch e.happens {
	case isOpened:
		p.opened()
	case isDrained:
		p.full = false
		p.write()
	case isClosed:
		err := e.err
		if p.state == greeted {
			err = fmt.Errorf("%s: %w", wire.Unwelcomed, err)
		}
		p.fail(err)
	}
}
