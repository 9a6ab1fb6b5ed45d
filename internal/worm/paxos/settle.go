// SPDX-License-Identifier: Apache-2.0

package paxos

import "github.com/ashlar-dev/ashlar/worm/wor"

// When a span is settled. Any two majorities of the n servers have a server in
// common. Everything is counted at one ballot: replies about another one say
// nothing about this.
//
//	capture  a majority promised: captured. What is accepted at the highest
//	         ballot among their answers must be adopted. A value that was or will
//	         ever be chosen below the ballot is among them, for the same reason
//	         as in Paxos. So many refused that no majority can promise: outbid.
//	write    a majority accepted: decided. So many refused that no majority can
//	         accept: conflict, or outbid.
//	read     a majority holds the same value at the same ballot: decided.
//	         A majority showed nothing: whatever was chosen before the question
//	         would have shown on one of them, so it was unwritten then.
//	         A majority answered and neither is so: the value of the highest
//	         ballot that was seen is written again at that ballot to those that
//	         lack it. It is what its writer asks for too, so it is as safe. So
//	         many refuse that it cannot be done: outbid.
//
// Protocol fast differs at ballot zero only, where many values may be written, by
// anybody, and a fast quorum of q = wor.FastQuorum(n) decides.
//
//	capture  Let m have promised, and value v be accepted at ballot zero by k of
//	         them, and nothing be accepted above. The others of the m will not
//	         accept at ballot zero any more; the n-m that did not answer may all
//	         have v. So v may be chosen only if k + (n-m) >= q. Two values for
//	         which that holds would need 2(q-n+m) <= m answers, but
//	         2q + m > 2n for every majority m. So there is at most one, and it is
//	         adopted. If there is none, nothing was or will ever be chosen at
//	         ballot zero, and the register is free: the client that captured it may
//	         write what it wants. A value that was seen there is not adopted: its writer knows
//	         nothing yet but that its outcome is unknown, and never will be told
//	         otherwise than by what is chosen later.
//	write    Another value was seen, or so many refused that no fast quorum can
//	         accept: conflict, or outbid.
//	read     A fast quorum holds the same value: decided. As long as no
//	         server was seen to hold another one, those that lack it are sent it.
//	         Otherwise, if no fast quorum is possible: outbid, which means that the
//	         caller must capture.
//
// A server that is gone, because the epoch ended there or it is no member, counts as
// one that refused, as long as a majority is left: it will not answer any more.
//
// A fast quorum may need servers that are down although a majority is up. So
// after patience Expires a write or read that only waits for these is outbid.

// settle settles a span if enough is known.
func (m *machine) settle(x *span) {
	if x.done {
		return
	}
	switch m.kind {
	case wor.KindCapture:
		m.settleCapture(x)
	case wor.KindWrite:
		m.settleWrite(x)
	default:
		m.settleRead(x)
	}
}

func (m *machine) settleAll() {
	for i := range m.spans {
		m.settle(&m.spans[i])
	}
}

func (m *machine) close(x *span, s wor.Status) {
	x.done, x.status = true, s
	m.left -= int(x.hi - x.lo)
}

func (m *machine) settleCapture(x *span) {
	q := wor.Majority(m.n)
	switch {
	case x.yes.count() >= q:
		if m.fast && x.written && x.accepted.IsZero() {
			x.recover(m.n)
		}
		m.close(x, wor.StatusOK)
	case m.cannot(x.yes, x.no, q):
		m.close(x, wor.StatusOutbid)
	}
}

// recover determines which value may have been chosen at ballot zero, if
// nothing is accepted above it.
func (x *span) recover(n int) {
	for _, v := range x.zero {
		if v.by.count()+n-x.yes.count() >= wor.FastQuorum(n) {
			x.value = v.value
			return
		}
	}
	x.written, x.value = false, nil
}

func (m *machine) settleWrite(x *span) {
	q, zero := wor.Majority(m.n), m.fast && m.first.Ballot.IsZero()
	if zero {
		q = wor.FastQuorum(m.n)
	}
	switch {
	case x.yes.count() >= q:
		m.close(x, wor.StatusOK)
	case x.conflict && (zero || m.cannot(x.yes, x.no, q)):
		m.close(x, wor.StatusConflict)
	case m.cannot(x.yes, x.no, q) || zero && m.impatient(x.yes|x.no):
		m.close(x, wor.StatusOutbid)
	}
}

// cannot reports whether no q servers can accept any more, because some refused
// and some are gone. If that depends only on those that are gone, so that no
// other operation would succeed here either, it returns false: the owner learns
// it from Moved.
func (m *machine) cannot(yes, no mask, q int) bool {
	return no.count() > m.n-q ||
		m.gone.count() <= m.n-wor.Majority(m.n) && (no|m.gone&^yes).count() > m.n-q
}

// impatient reports whether a majority has answered and the machine has waited
// long enough for the further servers that ballot zero needs.
func (m *machine) impatient(answered mask) bool {
	return m.expired >= patience && answered.count() >= wor.Majority(m.n)
}

func (m *machine) settleRead(x *span) {
	q := wor.Majority(m.n)
	switch {
	case m.fast && x.written && x.accepted.IsZero():
		m.settleZero(x)
	case x.yes.count() >= q:
		m.close(x, wor.StatusOK)
	case x.written && m.cannot(x.yes, x.no, q):
		m.close(x, wor.StatusOutbid)
	case x.written && x.seen.count() >= q:
		x.fixing = true
	}
	if !x.done && x.none.count() >= q {
		x.written, x.accepted, x.value = false, wor.Ballot{}, nil
		m.close(x, wor.StatusOK)
	}
}

// settleZero settles a read that saw nothing above ballot zero in protocol fast.
func (m *machine) settleZero(x *span) {
	q, best := wor.FastQuorum(m.n), mask(0)
	for _, v := range x.zero {
		if v.by.count() >= q {
			x.value = v.value
			m.close(x, wor.StatusOK)
			return
		}
		if v.by.count() > best.count() {
			best = v.by
		}
	}
	if x.seen.count() < wor.Majority(m.n) || x.none.count() >= wor.Majority(m.n) {
		return
	}
	if len(x.zero) == 1 {
		x.fixing = true
		if m.cannot(best, x.no, q) || m.impatient(x.seen) {
			m.close(x, wor.StatusOutbid)
		}
		return
	}
	x.fixing = false
	if m.cannot(best, x.no|x.seen&^best, q) || m.impatient(x.seen) {
		m.close(x, wor.StatusOutbid)
	}
}
