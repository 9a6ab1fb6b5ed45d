// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Errors of Client.Do.
var (
	// ErrFull: the partition has reached its memory limit (KVOptions.BytesMax).
	ErrFull = errors.New("partition is full")
	// ErrRefused is wrapped by the error of an invalid request.
	ErrRefused = errors.New("request was refused")
)

// ClientOptions are the options of a Client. All of them are required.
type ClientOptions struct {
	Env env.Env // Clock and Random
	// Serial is the Serial of the Messenger.
	Serial     *env.Serial
	Messenger  wor.Messenger
	Servers    []wor.Member
	Partitions int
	// Nonce is the client's identity: 64 random bits, drawn anew whenever it
	// starts.
	Nonce uint64
}

// Client sends requests to the servers of a key-value store. It belongs to the
// env.Serial of its Messenger.
type Client struct {
	opt    ClientOptions
	random env.Random
	routes []route
	// patience bounds one attempt at one server.
	patience *row.Patience
	// seq is the number of the last request. low is the lowest number of a
	// request without an answer.
	seq, low uint64
	open     map[uint64]bool
	closed   bool
}

// NewClient returns a Client.
func NewClient(o ClientOptions) *Client {
	c := &Client{opt: o, random: o.Env.Random.Split("client"), routes: make([]route, o.Partitions), low: 1, open: map[uint64]bool{},
		patience: row.NewPatience(o.Env.Clock, tryWithin)}
	for rm := range c.routes {
		c.routes[rm].member = o.Servers[rm%len(o.Servers)]
	}
	return c
}

// SetServers replaces the servers that the client asks. There must be at least
// one.
func (c *Client) SetServers(servers []wor.Member) {
	c.opt.Servers = servers
	for rm := range c.routes {
		r := &c.routes[rm]
		if !slices.ContainsFunc(servers, func(m wor.Member) bool { return m.ID == r.member.ID }) {
			r.member, r.known = servers[rm%len(servers)], false
		}
	}
}

// Close ends the client: pending requests fail with wor.ErrClosed.
func (c *Client) Close() { c.closed = true }

// asking is a pending request.
type asking struct {
	c     *Client
	q     *Request
	done  func(*Result, error)
	until env.Instant
	home  RM
	wait  env.Backoff
	tries int
	asked wor.Member // last
	sent  bool
	over  bool
}

// tryWithin bounds one attempt at one server, initially.
const tryWithin = 2 * time.Second

// Do runs a transaction and passes its result to done; from then on every
// client sees its effect. Do repeats the request under the same identity until
// it knows the result, so that the transaction takes effect once. After within
// (0 means 10 s) it gives up. The error is then wor.ErrUnknown for a request
// that writes, unless it was never sent, and wor.ErrDeadline for one that
// reads. The Client owns the request and sets its Client, Seq, Low and Within.
// It never calls done from within Do.
func (c *Client) Do(q *Request, within time.Duration, done func(*Result, error)) {
	q.Client = c.opt.Nonce
	if !q.ReadOnly() {
		if c.seq+1-c.low >= WindowMax {
			c.later(func() { done(nil, wor.ErrBusy) })
			return
		}
		c.seq++
		q.Seq, q.Low = c.seq, c.low
		c.open[q.Seq] = true
	}
	if within <= 0 {
		within = 2 * withinDefault
	}
	a := &asking{
		c: c, q: q, done: done, until: c.opt.Env.Clock.Now().Add(within),
		wait: env.Backoff{Min: 2 * time.Millisecond, Max: 250 * time.Millisecond},
	}
	if err := q.Check(); err != nil {
		c.later(func() { a.end(nil, err) })
		return
	}
	a.home = q.split(len(c.routes))[0].rm
	a.send()
}

func (c *Client) later(f func()) { c.opt.Env.Clock.After(0, c.opt.Serial.Waker(f)) }

func (a *asking) end(r *Result, err error) {
	if a.over {
		return
	}
	a.over = true
	c := a.c
	if a.q.Seq != 0 {
		delete(c.open, a.q.Seq)
		for c.low <= c.seq && !c.open[c.low] {
			c.low++
		}
	}
	a.done(r, err)
}

// giveUp ends a request whose outcome is not known.
func (a *asking) giveUp(cause error) {
	switch {
	case a.q.Seq != 0 && a.sent:
		a.end(nil, &wor.UnknownError{Cause: cause})
	default:
		a.end(nil, cause)
	}
}

func (a *asking) send() {
	c := a.c
	if c.closed {
		a.giveUp(wor.ErrClosed)
		return
	}
	left := a.until.Sub(c.opt.Env.Clock.Now())
	if left <= 0 {
		c.later(func() { a.giveUp(wor.ErrDeadline) })
		return
	}
	within, ended := c.patience.Begin()
	left = min(left, within)
	a.q.Within = uint64(max(1, left.Milliseconds()))
	a.sent = true
	a.tries++
	a.asked = c.routes[a.home].member
	c.opt.Messenger.Invoke(c.routes[a.home].member, wor.ServiceKV, a.q.encode(), left+10*time.Millisecond, func(b []byte, err error) {
		late := errors.Is(err, wor.ErrUnknown) || errors.Is(err, wor.ErrDeadline) || len(b) == 1 && b[0] == answerLate
		if left == within || !late { // a short last attempt proves nothing
			ended(late)
		}
		a.answered(b, err)
	})
}

// again repeats the request after a wait.
func (a *asking) again() {
	a.c.opt.Env.Clock.After(a.wait.Next(a.c.random), a.c.opt.Serial.Waker(a.send))
}

func (a *asking) answered(b []byte, err error) {
	if err != nil || len(b) == 0 {
		a.silent()
		return
	}
	d := &decoder{b: b}
	switch code := d.u8(); code {
	case answerOK:
		r := &Result{Held: d.bool(), Ops: decodeResults(d)}
		if !d.done() || r.Held && len(r.Ops) != len(a.q.Ops) {
			a.end(nil, fmt.Errorf("%w: invalid answer", ErrRefused))
			return
		}
		a.end(r, nil)
	case answerNotOwner:
		if a.c.redirected(a.home, d) {
			a.again()
			return
		}
		a.elsewhere()
	case answerRefused:
		a.end(nil, fmt.Errorf("%w: %s", ErrRefused, d.b))
	case answerStale:
		a.end(nil, &wor.UnknownError{Cause: ErrRefused})
	case answerFull:
		a.refused(ErrFull)
	case answerLimit:
		a.refused(&wor.LimitError{Name: "tx.VoteMax, tx.BriefMax or tx.SlotsMax", Limit: VoteMax, Got: VoteMax + 1})
	default: // late, busy
		a.again()
	}
}

// refused handles an answer that the request was not performed. An earlier
// attempt may still be running.
func (a *asking) refused(err error) {
	if a.tries > 1 {
		a.giveUp(err)
		return
	}
	a.end(nil, err)
}

// silent moves on to the next server in turn. All servers but one may be down,
// and each costs a whole attempt, so all requests that found the same server
// silent move on to the same next one.
func (a *asking) silent() {
	a.c.silent(a.home, a.asked)
	a.again()
}

// silent records that the server asked for a partition does not answer.
func (c *Client) silent(rm RM, asked wor.Member) {
	r, all := &c.routes[rm], c.opt.Servers
	if r.member.ID == asked.ID {
		i := slices.IndexFunc(all, func(m wor.Member) bool { return m.ID == asked.ID })
		r.member, r.known = all[(i+1)%len(all)], false
	}
}

// redirected stores the route that follows answerNotOwner, and reports whether
// it was new.
func (c *Client) redirected(rm RM, d *decoder) bool {
	var r route
	r.decode(d)
	old := &c.routes[rm]
	if !d.done() || r.member.ID == 0 || old.known && r.last < old.last || old.known && r.last == old.last && r.member.ID == old.member.ID {
		return false
	}
	*old = r
	return true
}

// elsewhere asks another server now and then: a server that answers without
// knowing the partition's owner will learn it.
func (a *asking) elsewhere() {
	r := &a.c.routes[a.home]
	if a.tries%4 == 0 {
		r.member = a.c.opt.Servers[env.IntN(a.c.random, len(a.c.opt.Servers))]
		r.known = false
	}
	a.again()
}
