// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"errors"
	"slices"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// send sends a message; a message to this process itself is handled directly.
func (e *Engine) send(to wor.Member, b []byte, done func(*decoder, error)) {
	answered := func(b []byte, err error) {
		if done != nil {
			done(&decoder{b: b}, err)
		}
	}
	if to.ID == e.opt.Self.ID {
		e.after(0, func() {
			once := false
			e.Handle(b, func(a []byte) {
				if !once {
					once = true
					answered(a, nil)
				}
			})
		})
		return
	}
	e.opt.Messenger.Invoke(to, wor.ServiceTx, b, 0, answered)
}

// invoke sends a request that is answered soon or never.
func (e *Engine) invoke(to wor.Member, b []byte, done func([]byte, error)) {
	within, ended := e.patience.Begin()
	e.opt.Messenger.Invoke(to, wor.ServiceTx, b, 4*within, func(b []byte, err error) {
		ended(errors.Is(err, wor.ErrUnknown) || errors.Is(err, wor.ErrDeadline))
		done(b, err)
	})
}

// Handle is the wor.Handler of wor.ServiceTx.
func (e *Engine) Handle(b []byte, answer func([]byte)) {
	d := &decoder{b: b}
	reply := func(code uint8) { answer([]byte{code}) }
	if len(b) == 0 || len(b) > MessageMax {
		reply(answerBad)
		return
	}
	ok := true
	switch d.u8() {
	case msgBegin:
		m := beginMessage{}
		if ok = m.decode(d) && e.policy.manager && e.known(m.tx); ok {
			if len(e.txns) >= TxnsMax {
				reply(answerBusy)
				return
			}
			reply(answerOK)
			e.manage(&m)
		}
	case msgPrepare:
		m := prepareMessage{}
		if ok = m.decode(d) && e.known(m.tx); ok {
			if code := e.prepare(m.tx, m.slot, m.part, m.from); code == answerNotOwner {
				answer(e.notOwner(m.tx.Slots[m.slot].RM))
			} else {
				reply(code)
			}
		}
	case msgVoted:
		m := votedMessage{}
		if ok = m.decode(d); ok {
			reply(answerOK)
			if x := e.txns[m.tx.ID]; x != nil && m.slot < len(x.tx.Slots) {
				e.learn(x, m.slot, &Vote{ID: m.tx.ID, Yes: m.yes, Slots: m.tx.Slots, Brief: m.brief})
			}
		}
	case msgOutcome:
		m := outcomeMessage{}
		if ok = m.decode(d); ok {
			reply(answerOK)
			if x := e.txns[m.tx.ID]; x != nil && slices.Equal(x.tx.Slots, m.tx.Slots) {
				e.finish(x, &m.outcome)
			}
		}
	case msgGrant:
		ok = e.handleGrant(d, answer)
	case msgStatus:
		answer(e.status())
	case msgRoll:
		rm, n := RM(d.u32()), d.uint()
		if ok = d.done(); ok {
			reply(answerOK)
			if c := e.chains[rm]; c != nil && c.open {
				c.rollPast(n)
			}
		}
	default:
		if other, is := e.opt.Resource.(Messages); is && b[0] >= msgOther {
			other.Message(b[0], b[1:], answer)
			return
		}
		ok = false
	}
	if !ok {
		reply(answerBad)
	}
}

// Messages is a Resource with message kinds of its own, from 32 on.
type Messages interface {
	Message(kind uint8, b []byte, answer func([]byte))
}

// known checks a Tx from outside: its RMs exist, its votes are in segments of
// these RMs, and no different Tx of the same name is known.
func (e *Engine) known(t Tx) bool {
	if x := e.txns[t.ID]; x != nil && !slices.Equal(x.tx.Slots, t.Slots) {
		return false
	}
	for _, s := range t.Slots {
		if int(s.RM) >= e.opt.RMs || e.voteSegment(s.RM, segmentNumber(s.Addr.Segment)) != s.Addr.Segment ||
			s.Addr.Offset >= e.opt.SegmentSize {
			return false
		}
	}
	return true
}

// manage does the TM's part: it asks all RMs and notifies all waiting
// processes. The TM decides nothing, and a process that gets no answer from it
// proceeds without it.
func (e *Engine) manage(m *beginMessage) {
	x := e.txn(m.tx)
	if x.manager || x.done {
		return
	}
	x.manager = true
	x.tell = append(x.tell, m.from)
	for i, to := range m.owners {
		if !slices.Contains(x.tell, to) {
			x.tell = append(x.tell, to)
		}
		e.askAt(x, i, to, m.parts[i])
	}
	if e.policy.learn != byReport {
		e.follow(x)
	}
}
