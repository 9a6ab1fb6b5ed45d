// SPDX-License-Identifier: Apache-2.0

package resp

import (
	"fmt"
	"slices"
	"strings"
)

// Conn is one connection. It belongs to one goroutine or env.Serial, from which
// the Store answers as well.
type Conn struct {
	store Store
	lim   Limits
	parse parser
	proto int
	// queue has the commands whose replies have not been taken over into out, in
	// order: first those that were begun, the rest waits.
	queue []*job
	begun int
	out   []byte
	wake  func()
	// busy has the keys of commands under way: how many read it, or -1 for one
	// that writes.
	busy map[string]int
	// barrier: a command is under way that what follows waits for.
	barrier bool

	// waiting is the bytes of the commands in the queue, replied those of replies
	// that wait there for the ones before them, flying how many commands the
	// Store has, reply about how long its replies are.
	waiting, replied, flying, reply int

	multi   bool
	dirty   bool
	queued  []*plan
	ops     int
	bytes   int // of what is queued
	watches []Watch
	// unwatched: a WATCH has failed.
	unwatched bool
	bad       error // nothing more is read
	quitting  bool
	gone      bool
	pumping   bool
}

// job is a command.
type job struct {
	args  [][]byte
	size  int // of args
	done  bool
	reply []byte
	keys  map[string]bool // true: written
	// alone: what follows waits for it.
	alone bool
}

// New makes a Conn. Wake is called when there is something to Take, or more to be
// fed, because the Store has answered; never from within Feed.
func New(store Store, lim Limits, wake func()) *Conn {
	lim = lim.complete()
	return &Conn{store: store, lim: lim, parse: parser{lim: lim, bulk: -1}, proto: 2, wake: wake, busy: map[string]int{}}
}

// Feed takes bytes that have arrived, and copies what it needs. It is not to be
// called while Full.
func (c *Conn) Feed(b []byte) {
	if c.Closing() || c.gone {
		return
	}
	c.parse.feed(b)
	c.pump()
}

// Full reports whether enough is waiting: no more should be read until Wake.
func (c *Conn) Full() bool {
	return len(c.queue) >= c.lim.Pipeline || len(c.out) >= c.lim.Output || c.waiting >= c.lim.Waiting ||
		len(c.parse.buf)-c.parse.at > c.lim.Command+c.lim.Inline
}

// Load is about how many bytes of memory it takes: commands that have come, in
// part or whole, and replies.
func (c *Conn) Load() int {
	return c.parse.held() + c.waiting + c.bytes + c.replied + len(c.out)
}

// Unfinished says that a command has come in part, and how many were complete
// before it.
func (c *Conn) Unfinished() (before uint64, unfinished bool) {
	return c.parse.complete, c.parse.held() > 0
}

// Take returns the bytes to be sent, which are the caller's.
func (c *Conn) Take() []byte {
	b := c.out
	c.out = nil
	if len(b) > 0 {
		c.pump()
		b = append(b, c.out...)
		c.out = nil
	}
	return b
}

// Closing reports whether the connection is to be closed when all replies are sent:
// the client has said QUIT, or what it sent made no sense.
func (c *Conn) Closing() bool { return c.bad != nil || c.quitting }

// Closed reports whether nothing follows: it may be closed after a last Take.
func (c *Conn) Closed() bool { return c.Closing() && len(c.queue) == 0 }

// Close says that the connection is gone. What is under way goes on.
func (c *Conn) Close() { c.gone = true }

// pump parses and begins as much as may be, and collects replies.
func (c *Conn) pump() {
	if c.pumping {
		return
	}
	c.pumping = true
	for again := true; again; {
		again = false
		for len(c.queue) < c.lim.Pipeline && c.waiting < c.lim.Waiting && !c.Closing() {
			args, err := c.parse.next()
			if err != nil {
				c.bad = err
				j := &job{done: true}
				w := writer{proto: c.proto}
				w.error("ERR " + err.Error())
				c.replies(j, &w)
				c.queue = append(c.queue, j)
				break
			}
			if args == nil {
				break
			}
			j := &job{args: args, size: jobBytes}
			for _, a := range args {
				j.size += len(a) + argBytes
			}
			c.waiting += j.size
			c.queue = append(c.queue, j)
			again = c.start() || again
		}
		again = c.start() || again
		again = c.collect() || again
	}
	c.pumping = false
}

// jobBytes is about what a command takes besides its arguments.
const jobBytes = 256

// firstFlying is how many commands are given to the Store before it is known how
// long replies are.
const firstFlying = 16

// room reports whether one more reply of the Store has room, if it is like those before.
// One at a time always has.
func (c *Conn) room() bool {
	return c.flying == 0 || len(c.out)+c.replied+(c.flying+1)*c.reply < c.lim.Output && (c.reply > 0 || c.flying < firstFlying)
}

// start begins the commands whose turn it is.
func (c *Conn) start() bool {
	some := false
	for c.begun < len(c.queue) && !c.barrier && !c.quitting && len(c.out)+c.replied < c.lim.Output && c.room() {
		j := c.queue[c.begun]
		if !j.done && !c.begin(j) {
			break
		}
		c.begun++
		some = true
	}
	if c.quitting && c.begun < len(c.queue) {
		for _, j := range c.queue[c.begun:] { // what comes after QUIT is not done
			c.waiting -= j.size
		}
		c.queue = c.queue[:c.begun]
	}
	return some
}

// collect takes over the replies that are there, in order.
func (c *Conn) collect() bool {
	n := 0
	for n < c.begun && c.queue[n].done {
		j := c.queue[n]
		c.out = append(c.out, j.reply...)
		c.replied -= len(j.reply)
		c.waiting -= j.size
		c.queue[n] = nil
		n++
	}
	c.queue = c.queue[n:]
	c.begun -= n
	return n > 0
}

// finish ends a command that was answered by the Store.
func (c *Conn) finish(j *job, w *writer) {
	if j.done {
		return
	}
	c.replies(j, w)
	c.flying--
	c.reply = max(len(w.b), c.reply-c.reply/8, 1)
	c.release(j)
	if j.alone {
		c.barrier = false
	}
	if c.gone || c.pumping {
		return
	}
	c.pump()
	c.wake()
}

// say ends a command at once.
func (c *Conn) say(j *job, tell func(w *writer)) bool {
	w := writer{proto: c.proto}
	tell(&w)
	c.replies(j, &w)
	return true
}

func (c *Conn) replies(j *job, w *writer) {
	j.done, j.reply = true, w.b
	c.replied += len(w.b)
}

func (c *Conn) refuse(j *job, text string) bool {
	c.dirty = c.dirty || c.multi
	return c.say(j, func(w *writer) { w.error(text) })
}

// begin begins a command, or answers false when it must wait for others.
func (c *Conn) begin(j *job) bool {
	name := strings.ToUpper(string(j.args[0]))
	args := j.args
	arity := func(min, max int) bool { return len(args) >= min && (max < 0 || len(args) <= max) }
	switch name {
	case "QUIT":
		c.quitting = true
		return c.say(j, (*writer).ok)
	case "HELLO":
		return c.hello(j)
	case "RESET":
		c.discard()
		c.proto = 2
		return c.say(j, func(w *writer) { w.simple("RESET") })
	case "MULTI":
		if c.multi {
			return c.refuse(j, "ERR MULTI calls can not be nested")
		}
		if !arity(1, 1) {
			return c.refuse(j, wrongArgs(name))
		}
		c.multi = true
		return c.say(j, (*writer).ok)
	case "DISCARD":
		if !c.multi {
			return c.refuse(j, "ERR DISCARD without MULTI")
		}
		c.discard()
		return c.say(j, (*writer).ok)
	case "EXEC":
		return c.exec(j)
	case "WATCH":
		return c.watch(j)
	case "UNWATCH":
		if !c.multi {
			c.watches, c.unwatched = nil, false
		}
		return c.say(j, (*writer).ok)
	}
	row, ok := commands(name)
	if !ok {
		return c.refuse(j, fmt.Sprintf("ERR unknown command '%s'", printable(args[0])))
	}
	if !arity(row.min, row.max) {
		return c.refuse(j, wrongArgs(name))
	}
	p, text := row.make(c, args)
	if text != "" {
		return c.refuse(j, text)
	}
	if c.multi {
		if len(c.queued) >= c.lim.Queue || c.ops+len(p.ops) > c.lim.Args {
			return c.refuse(j, fmt.Sprintf("ERR MULTI is limited to %d commands and %d keys", c.lim.Queue, c.lim.Args))
		}
		if c.bytes+j.size > c.lim.Command {
			return c.refuse(j, fmt.Sprintf("ERR MULTI is limited to %d bytes", c.lim.Command))
		}
		c.queued = append(c.queued, p)
		c.ops += len(p.ops)
		c.bytes += j.size
		return c.say(j, func(w *writer) { w.simple("QUEUED") })
	}
	if len(p.ops) == 0 {
		return c.say(j, func(w *writer) { p.tell(w, nil) })
	}
	return c.run(j, &Txn{Ops: p.ops}, func(w *writer, _ bool, r []Result) { p.tell(w, r) })
}

// run gives a transaction to the Store, if none of its keys is in the way.
func (c *Conn) run(j *job, t *Txn, tell func(w *writer, held bool, r []Result)) bool {
	if !c.acquire(j, t) {
		return false
	}
	if t.counts() {
		j.alone, c.barrier = true, true
	}
	n := len(t.Ops)
	c.flying++
	c.store.Do(t, func(held bool, r []Result, err error) {
		w := writer{proto: c.proto}
		switch {
		case err != nil:
			w.error("ERR " + err.Error())
		case held && len(r) != n:
			w.error("ERR the store has answered nonsense")
		default:
			tell(&w, held, r)
		}
		c.finish(j, &w)
	})
	return true
}

// counts reports whether it counts keys, which what comes before and behind it on the
// connection may change.
func (t *Txn) counts() bool {
	return slices.ContainsFunc(t.Ops, func(o Op) bool { return o.Kind == Count })
}

// acquire marks the keys of a transaction as busy.
func (c *Conn) acquire(j *job, t *Txn) bool {
	if t.counts() && len(c.busy) > 0 {
		return false
	}
	keys := map[string]bool{}
	for i := range t.Watches {
		keys[t.Watches[i].Key] = false
	}
	for i := range t.Ops {
		o := &t.Ops[i]
		if o.Kind == Count {
			continue
		}
		keys[o.Key] = keys[o.Key] || o.Kind != Get
	}
	for k, written := range keys {
		if n := c.busy[k]; n < 0 || written && n > 0 {
			return false
		}
	}
	for k, written := range keys {
		if written {
			c.busy[k] = -1
		} else {
			c.busy[k]++
		}
	}
	j.keys = keys
	return true
}

func (c *Conn) release(j *job) {
	for k, written := range j.keys {
		if c.busy[k]--; written || c.busy[k] == 0 {
			delete(c.busy, k)
		}
	}
	j.keys = nil
}

func (c *Conn) discard() {
	c.multi, c.dirty, c.queued, c.ops, c.bytes, c.watches, c.unwatched = false, false, nil, 0, 0, nil, false
}

// exec runs what a MULTI has queued.
func (c *Conn) exec(j *job) bool {
	switch {
	case !c.multi:
		return c.refuse(j, "ERR EXEC without MULTI")
	case c.dirty || c.unwatched:
		c.discard()
		return c.say(j, func(w *writer) { w.error("EXECABORT Transaction discarded because of previous errors.") })
	}
	queued, t := c.queued, &Txn{Watches: c.watches}
	for _, p := range queued {
		t.Ops = append(t.Ops, p.ops...)
	}
	tell := func(w *writer, held bool, r []Result) {
		if !held {
			w.nullArray()
			return
		}
		w.array(len(queued))
		for _, p := range queued {
			p.tell(w, r[:len(p.ops)])
			r = r[len(p.ops):]
		}
	}
	if len(t.Ops)+len(t.Watches) == 0 {
		c.discard()
		return c.say(j, func(w *writer) { tell(w, true, nil) })
	}
	if !c.run(j, t, tell) {
		return false
	}
	c.discard()
	return true
}

// watch reads the versions of keys. What follows waits for it.
func (c *Conn) watch(j *job) bool {
	keys := j.args[1:]
	switch {
	case c.multi:
		return c.say(j, func(w *writer) { w.error("ERR WATCH inside MULTI is not allowed") })
	case len(keys) == 0:
		return c.refuse(j, wrongArgs("watch"))
	case len(c.watches)+len(keys) > c.lim.Watched:
		return c.refuse(j, fmt.Sprintf("ERR at most %d keys can be watched", c.lim.Watched))
	}
	t := &Txn{}
	for _, k := range keys {
		t.Ops = append(t.Ops, Op{Kind: Get, Key: string(k)})
	}
	j.alone = true
	// Until it has succeeded, a transaction that relies on it must fail.
	told := c.unwatched
	c.unwatched = true
	begun := c.run(j, t, func(w *writer, _ bool, r []Result) {
		c.unwatched = told
		for i, k := range keys {
			c.watches = append(c.watches, Watch{string(k), r[i].Version})
		}
		w.ok()
	})
	if !begun {
		c.unwatched = told
	}
	c.barrier = begun && !j.done
	return begun
}

// hello changes the protocol.
func (c *Conn) hello(j *job) bool {
	proto := c.proto
	if len(j.args) > 1 {
		switch string(j.args[1]) {
		case "2":
			proto = 2
		case "3":
			proto = 3
		default:
			return c.refuse(j, "NOPROTO unsupported protocol version, it is 2 or 3")
		}
	}
	for i := 2; i < len(j.args); i++ {
		if !strings.EqualFold(string(j.args[i]), "SETNAME") || i+1 == len(j.args) {
			return c.refuse(j, "ERR HELLO option '"+printable(j.args[i])+"' is not supported")
		}
		i++
	}
	c.proto = proto
	return c.say(j, func(w *writer) {
		w.pairs(6)
		w.text("server")
		w.text("ashlard")
		w.text("version")
		w.text(version)
		w.text("proto")
		w.int(int64(proto))
		w.text("mode")
		w.text("standalone")
		w.text("role")
		w.text("master")
		w.text("modules")
		w.array(0)
	})
}
