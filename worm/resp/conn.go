// SPDX-License-Identifier: Apache-2.0

package resp

import (
	"fmt"
	"slices"
	"strings"
)

// Conn is one connection. It belongs to one goroutine or one env.Serial; the
// Store must call its callbacks there too.
type Conn struct {
	store Store
	lim   Limits
	parse parser
	proto int
	// queue has the commands whose replies have not been moved to out yet, in
	// order. The first begun of them have been begun; the others wait.
	queue []*job
	begun int
	out   []byte
	wake  func()
	// busy has the keys of running commands: the number of readers of a key, or
	// -1 while a command writes it.
	busy map[string]int
	// barrier: a command is running, and no later command may begin before it
	// ends.
	barrier bool

	// waiting is the number of bytes of the commands in the queue. replied is the
	// number of bytes of finished replies in the queue, which wait for earlier
	// replies. flying is the number of commands that the Store is running. reply
	// estimates the length of one reply.
	waiting, replied, flying, reply int

	multi   bool
	dirty   bool
	queued  []*plan
	ops     int
	bytes   int // of the queued commands
	watches []Watch
	// unwatched: a WATCH has failed, so the next EXEC must fail.
	unwatched bool
	bad       error // nothing more is read
	quitting  bool
	gone      bool
	pumping   bool
}

// job is a command that the connection has received.
type job struct {
	args  [][]byte
	size  int // of args
	done  bool
	reply []byte
	keys  map[string]bool // true: written
	// alone: no later command may begin before this one ends.
	alone bool
}

// New makes a Conn. The Conn calls wake after an answer of the Store if there is
// output to Take or room for more input. It never calls wake from within Feed.
func New(store Store, lim Limits, wake func()) *Conn {
	lim = lim.complete()
	return &Conn{store: store, lim: lim, parse: parser{lim: lim, bulk: -1}, proto: 2, wake: wake, busy: map[string]int{}}
}

// Feed processes received bytes; it does not retain b. The caller must not call
// Feed while Full returns true.
func (c *Conn) Feed(b []byte) {
	if c.Closing() || c.gone {
		return
	}
	c.parse.feed(b)
	c.pump()
}

// Full reports whether a limit is reached. The caller must then read nothing
// more from the connection until the Conn calls wake.
func (c *Conn) Full() bool {
	return len(c.queue) >= c.lim.Pipeline || len(c.out) >= c.lim.Output || c.waiting >= c.lim.Waiting ||
		len(c.parse.buf)-c.parse.at > c.lim.Command+c.lim.Inline
}

// Load returns about how many bytes of memory the connection uses for received
// commands, complete or not, and for replies.
func (c *Conn) Load() int {
	return c.parse.held() + c.waiting + c.bytes + c.replied + len(c.out)
}

// Unfinished reports whether the input ends with an incomplete command, and
// returns the number of complete commands before it.
func (c *Conn) Unfinished() (before uint64, unfinished bool) {
	return c.parse.complete, c.parse.held() > 0
}

// Take returns the bytes to send. The caller owns them.
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

// Closing reports whether the caller should close the connection once all replies
// are sent: the client has sent QUIT, or invalid input.
func (c *Conn) Closing() bool { return c.bad != nil || c.quitting }

// Closed reports whether no more output will follow: the caller may close the
// connection after a last Take.
func (c *Conn) Closed() bool { return c.Closing() && len(c.queue) == 0 }

// Close records that the connection has ended. Running commands continue.
func (c *Conn) Close() { c.gone = true }

// pump parses and begins as many commands as the limits permit, and collects
// replies.
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

// jobBytes is about the memory of a command besides its arguments.
const jobBytes = 256

// firstFlying bounds the commands that the Store may run before the first reply
// shows how long replies are.
const firstFlying = 16

// room reports whether the output has room for one more reply of the usual length. One
// command at a time may always run.
func (c *Conn) room() bool {
	return c.flying == 0 || len(c.out)+c.replied+(c.flying+1)*c.reply < c.lim.Output && (c.reply > 0 || c.flying < firstFlying)
}

// start begins queued commands in order, as far as the limits and running
// commands permit. It reports whether it began any.
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
		for _, j := range c.queue[c.begun:] { // commands after QUIT are not run
			c.waiting -= j.size
		}
		c.queue = c.queue[:c.begun]
	}
	return some
}

// collect moves finished replies to out, in the order of their commands.
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

// finish ends a command that the Store has answered.
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

// say answers a command without the Store.
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

// begin begins a command. It returns false if the command must wait for running
// ones.
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

// run passes a transaction to the Store, unless a running command uses one of
// its keys: then it returns false.
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
			w.error("ERR the store returned an invalid result")
		default:
			tell(&w, held, r)
		}
		c.finish(j, &w)
	})
	return true
}

// counts reports whether the transaction counts keys. Other commands of the
// connection may change that number, so the transaction must run alone.
func (t *Txn) counts() bool {
	return slices.ContainsFunc(t.Ops, func(o Op) bool { return o.Kind == Count })
}

// acquire marks the keys of a transaction as busy. It returns false if a
// running command conflicts with it.
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

// exec runs the queued commands of a MULTI.
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

// watch reads the versions of keys. Later commands wait until it ends, so that
// an EXEC knows the versions.
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
	// Until the WATCH has succeeded, an EXEC that relies on it must fail.
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

// hello answers HELLO, which may change the version of the protocol.
func (c *Conn) hello(j *job) bool {
	proto := c.proto
	if len(j.args) > 1 {
		switch string(j.args[1]) {
		case "2":
			proto = 2
		case "3":
			proto = 3
		default:
			return c.refuse(j, "NOPROTO unsupported protocol version: want 2 or 3")
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
