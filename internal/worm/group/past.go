// SPDX-License-Identifier: Apache-2.0

package group

import (
	"github.com/ashlar-dev/ashlar/internal/worm/paxos"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// A server believes that an epoch of partition 0 has begun when the register
// that the previous epoch's members store says so. So these members continue to
// answer for that register after they have begun the next epoch themselves, or
// are no longer members: otherwise the first of them to move on would leave the
// others without a majority to ask. What an epoch's acceptor has promised and
// accepted of that register is kept when the rest of the epoch's state is
// dropped.

// retain keeps the witness register of the held epoch, which is about to be
// dropped.
func (g *Group) retain() {
	if g.partition != 0 || g.held == nil {
		return
	}
	var r wor.Reply
	at, unlogged := wor.One(witness(g.held.number)), &wor.Log{} // the record of the next configuration covers these
	g.held.acceptor.Handle(&wor.Request{Kind: wor.KindRead, Range: at}, &r, unlogged)
	run := r.Runs[0]
	past := g.elder()
	if run.Promised.IsZero() {
		run.Promised = attended
	}
	if run.Written {
		past.Handle(&wor.Request{Kind: wor.KindWrite, Range: at, Ballot: run.Accepted, Value: run.Value}, &wor.Reply{}, unlogged)
	}
	if run.Accepted.Less(run.Promised) {
		past.Handle(&wor.Request{Kind: wor.KindCapture, Range: at, Ballot: run.Promised}, &wor.Reply{}, unlogged)
	}
}

// attended is the promise of a member that had made none: it is below all
// ballots that clients draw, and records that this server was a member.
var attended = wor.Ballot{Nonce: 1}

func (g *Group) elder() *paxos.Acceptor {
	if g.past == nil {
		g.past = &paxos.Acceptor{}
	}
	return g.past
}

// testify answers for the witness register of a finished epoch, and names the
// configuration known here. A server that was not a member then does not
// testify: a client that asks it is mistaken about the members, and would count
// an empty answer as a vote.
func (g *Group) testify(q *wor.Request, r *wor.Reply, log *wor.Log) {
	if why := g.senseless(q); why != "" {
		g.limit(r, why)
		return
	}
	own := *q
	if q.Kind == wor.KindListen {
		own.Kind = wor.KindRead
	}
	g.log.Reset()
	held := g.held != nil && g.held.number == q.Epoch // it waits for its stage
	if !held {
		g.elder().Handle(&wor.Request{Kind: wor.KindRead, Range: q.Range}, r, &g.log)
		if r.Runs[0].Promised.IsZero() {
			r.Runs = r.Runs[:0]
			g.refuse(r, wor.StatusStale)
			r.Epoch = g.known.Epoch
			return
		}
	}
	if held {
		g.held.acceptor.Handle(&own, r, &g.log)
	} else {
		g.elder().Handle(&own, r, &g.log)
	}
	r.Epoch, r.Value = g.known.Epoch, g.hint
	for i := range g.log.Len() {
		if held {
			g.scratch = appendInner(g.scratch[:0], q.Epoch, wor.Paxos, g.log.Record(i))
		} else {
			g.scratch = append(appendEpoch(g.scratch[:0], recordPast, q.Epoch), g.log.Record(i)...)
		}
		log.Append(g.scratch)
	}
}
