// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/cli/worm/access"
	"github.com/ashlar-dev/ashlar/internal/worm/node"
	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/resp"
	"github.com/ashlar-dev/ashlar/worm/tx"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// apps are the applications that a server hosts: sequencers of logs, and its part
// of the key-value store. They are clients of the cluster, which includes this
// server, and have their own Serial.
//
// The members of the newest configurations host applications. A server starts its
// applications when it becomes one of these members, with the members that it
// knows at that time, and ends them when it is no longer one.
type apps struct {
	world   env.Env
	server  *node.Server
	genesis *wor.Genesis
	dir     string
	log     *slog.Logger
	kvMax   int64

	serial    env.Serial
	transport *node.Transport
	space     *space.Space

	sequencer *log.Sequencer
	kv        *tx.KV
	desks     []*desk
	looks     int
	client    *tx.Client // of the front
	clients   []*tx.Client
	trouble   string
	probe     probe
	closed    bool
}

// membersEvery is the time between two checks whether the members have changed.
const membersEvery = 500 * time.Millisecond

func startApps(world env.Env, server *node.Server, genesis *wor.Genesis, dir string, kvMax int64, logger *slog.Logger) (*apps, error) {
	own := *genesis
	if access.Remember(&own, server.Configs()) {
		if err := access.Write(filepath.Join(dir, membersFile), &own); err != nil {
			return nil, err
		}
	}
	a := &apps{world: world, server: server, genesis: &own, dir: dir, kvMax: kvMax, log: logger}
	a.transport = node.NewTransport(node.TransportOptions{
		Env: a.world, Serial: &a.serial, Cluster: genesis.Cluster, From: a.world.Random.Uint64(),
	})
	var err error
	a.space, err = space.Open(space.Options{Env: a.world, Serial: &a.serial, Transport: a.transport, Genesis: a.genesis})
	if err != nil {
		a.transport.Close()
		return nil, err
	}
	a.sync(a.look)
	return a, nil
}

// sync runs f in the Serial and waits for it.
func (a *apps) sync(f func()) {
	done := make(chan struct{})
	a.serial.Do(func() {
		f()
		close(done)
	})
	<-done
}

// look starts the applications once this server is a member, and ends them once it
// no longer is.
func (a *apps) look() {
	if a.closed {
		return
	}
	a.world.Clock.After(membersEvery, a.serial.Waker(a.look))
	a.learn()
	members, self := a.newest()
	switch {
	case self == nil && a.kv != nil:
		a.log.Warn("this server is no longer a member of the cluster: it hosts nothing")
		a.end()
		return
	case self == nil || a.kv != nil:
		// The store keeps the set of servers with which it started: a server that
		// starts later queries the earlier ones and is queried by those that start
		// after it. Changing the set at run time would force a takeover of all
		// keys.
		return
	}
	if err := a.begin(members, *self); err != nil {
		a.trouble = err.Error()
		a.log.Error("the applications did not start", "err", err)
	}
}

// learn merges the later configurations that the server and the applications
// know, and writes them to the directory.
func (a *apps) learn() {
	configs := a.server.Configs()
	for p := range configs {
		a.space.Learned(configs[p])
		cfg, _ := a.space.Config(wor.Partition(p))
		configs[p] = *cfg
	}
	if a.looks++; a.looks%refreshLooks == 0 {
		a.space.Refresh()
	}
	if !access.Remember(a.genesis, configs) {
		return
	}
	if err := access.Write(filepath.Join(a.dir, membersFile), a.genesis); err != nil {
		a.trouble = err.Error()
		a.log.Error("the list of members was not saved", "err", err)
	}
	if members, _ := a.newest(); a.client != nil && len(members) > 0 {
		a.client.SetServers(members)
	}
}

// refreshLooks is the number of checks between two reads of the registers of
// later configurations. A server that is a member of no partition is not
// notified of them, so it must read.
const refreshLooks = 10

// newest returns the members of the newest configurations that this server knows,
// and which of them is this server.
func (a *apps) newest() (members []wor.Member, self *wor.Member) {
	for p := range a.genesis.Partitions {
		cfg, _ := a.space.Config(wor.Partition(p))
		members = worm.Union(members, cfg.Members)
	}
	id := a.server.ID()
	if i := slices.IndexFunc(members, func(m wor.Member) bool { return m.ID == id }); i >= 0 {
		self = &members[i]
	}
	return members, self
}

// begin starts the applications with these members.
func (a *apps) begin(members []wor.Member, self wor.Member) error {
	a.end()
	var err error
	a.sequencer, err = log.NewSequencer(log.SequencerOptions{
		Space: a.space, Clock: a.world.Clock, Random: a.random(), Serial: &a.serial, Member: self, Place: a.place,
	})
	if err != nil {
		return err
	}
	world := env.Env{Clock: a.world.Clock, Random: a.random(), Tracer: owners{a.log}}
	a.kv, err = tx.NewKV(tx.KVOptions{
		Engine: tx.Options{
			Env: world, Serial: &a.serial, Space: a.space, Messenger: a.transport, Self: self,
			Instance: worm.KVInstance, RMs: worm.KVPartitions, Partitions: len(a.genesis.Partitions),
		},
		Servers: members, BytesMax: a.kvMax / worm.KVPartitions,
	})
	if err != nil {
		return err
	}
	a.client = tx.NewClient(tx.ClientOptions{
		Env: world, Serial: &a.serial, Messenger: a.transport, Servers: members,
		Partitions: worm.KVPartitions, Nonce: world.Random.Uint64(),
	})
	a.clients = append(a.clients, a.client)
	a.offer(wor.ServiceSequencer, a.sequencer.Handle)
	a.offer(wor.ServiceKV, a.kv.HandleKV)
	a.offer(wor.ServiceTx, a.kv.HandleTx)
	a.trouble = ""
	a.log.Info("hosting logs and keys", "servers", len(members))
	return nil
}

// owners is the Tracer that logs which server owns which keys.
type owners struct{ log *slog.Logger }

// Trace implements env.Tracer.
func (o owners) Trace(e env.Event) {
	switch e := e.(type) {
	case tx.Abandoned:
		o.log.Warn("taking keys over: no server seems to own them", "partition", e.RM, "owner", e.Owner.Name, "silent", e.Silent.Round(time.Millisecond))
	case tx.Owned:
		o.log.Info("keys are here", "partition", e.RM)
	case tx.Disowned:
		o.log.Warn("keys are elsewhere: another server has taken them over", "partition", e.RM, "owner", e.Owner.Name)
	}
}

// end ends the applications. Requests of the front continue.
func (a *apps) end() {
	if a.sequencer != nil {
		a.sequencer.Close()
	}
	if a.kv != nil {
		a.kv.Stop()
	}
	for _, d := range a.desks {
		d.close()
	}
	a.sequencer, a.kv, a.desks = nil, nil, nil
}

// desk passes requests to a service. When it closes, all waiting callers get an
// empty answer, which makes them ask another server. The server's Drain waits
// for that.
type desk struct {
	handler wor.Handler
	waiting map[uint64]func([]byte)
	last    uint64
	closed  bool
}

func (a *apps) offer(n wor.Service, h wor.Handler) {
	d := &desk{handler: h, waiting: map[uint64]func([]byte){}}
	a.desks = append(a.desks, d)
	a.server.Register(n, &a.serial, d.handle)
}

func (d *desk) handle(payload []byte, answer func([]byte)) {
	if d.closed {
		answer(nil)
		return
	}
	d.last++
	n := d.last
	d.waiting[n] = answer
	d.handler(payload, func(b []byte) {
		if d.waiting[n] != nil {
			delete(d.waiting, n)
			answer(b)
		}
	})
}

func (d *desk) close() {
	d.closed = true
	for _, answer := range d.waiting {
		answer(nil)
	}
	d.waiting = nil
}

func (a *apps) random() env.Random { return env.Seeded(a.world.Random.Uint64()) }

// place distributes the segments of logs over the partitions.
func (a *apps) place(id log.ID, index uint32) (wor.Partition, wor.Protocol) {
	return wor.Partition((uint64(id) + uint64(index)) % uint64(len(a.genesis.Partitions))), wor.Paxos
}

// leaveWithin bounds the time for notifying the other servers that this one is
// ending. A server that is not notified in time finds out by itself.
const leaveWithin = time.Second

// close ends everything. Further calls have no effect.
func (a *apps) close() {
	over, told := false, make(chan struct{})
	a.sync(func() {
		if over = a.closed; over {
			return
		}
		a.closed = true
		if a.kv != nil {
			a.kv.Leave(func() { close(told) })
		} else {
			close(told)
		}
		a.end()
	})
	if over {
		return
	}
	select {
	case <-told:
	case <-time.After(leaveWithin):
	}
	a.sync(func() {
		for _, c := range a.clients {
			c.Close()
		}
		a.space.Close()
	})
	a.transport.Close()
}

// errNotHosting reports that the server is not a member of the cluster yet.
var errNotHosting = errors.New("this server is not a member of the cluster yet")

// countWithin bounds the time for counting the keys of the cluster.
const countWithin = 5 * time.Second

// Do implements resp.Store.
func (a *apps) Do(t *resp.Txn, done func(bool, []resp.Result, error)) {
	if a.client == nil || a.closed {
		done(false, nil, errNotHosting)
		return
	}
	q := &tx.Request{}
	for _, w := range t.Watches {
		q.Conds = append(q.Conds, tx.Cond{Kind: tx.CondVersion, Key: w.Key, Version: w.Version})
	}
	counts := 0
	for i := range t.Ops {
		if t.Ops[i].Kind == resp.Count {
			counts++
			continue
		}
		q.Ops = append(q.Ops, operation(&t.Ops[i]))
	}
	answered := func(r *tx.Result, err error) {
		if err != nil {
			done(false, nil, undone(err))
			return
		}
		if !r.Held || counts == 0 {
			done(r.Held, results(t, r.Ops, resp.Result{}), nil)
			return
		}
		a.client.Count(countWithin, func(c tx.Counted) {
			counted := resp.Result{Done: true, Number: c.Keys}
			if c.Err != nil {
				counted.Failure = resp.Unavailable
			}
			done(true, results(t, r.Ops, counted), nil)
		})
	}
	if len(q.Ops)+len(q.Conds) == 0 {
		answered(&tx.Result{Held: true}, nil)
		return
	}
	a.client.Do(q, 0, answered)
}

// results returns the result of each operation. Counting operations all get the
// result counted.
func results(t *resp.Txn, ops []tx.OpResult, counted resp.Result) []resp.Result {
	out := make([]resp.Result, 0, len(t.Ops))
	for i := range t.Ops {
		switch {
		case t.Ops[i].Kind == resp.Count:
			out = append(out, counted)
		case len(ops) > 0:
			out = append(out, result(&ops[0]))
			ops = ops[1:]
		}
	}
	return out
}

// undone returns the error that tells a Redis client why its transaction was not
// done, or may not have been.
func undone(err error) error {
	switch {
	case errors.Is(err, wor.ErrUnknown):
		return errors.New("the outcome is unknown: the command may have taken effect, or may still")
	case errors.Is(err, wor.ErrBusy), errors.Is(err, wor.ErrDeadline):
		return errors.New("not done: the cluster did not answer in time or has no room")
	}
	return err
}

// appsView describes the state of the applications.
type appsView struct {
	Hosting bool   `json:"hosting"`
	Trouble string `json:"trouble,omitempty"`
	// Partitions are the partitions of the keys that this server owns.
	// Reachable is how many of all partitions the last probe could reach.
	Partitions []int     `json:"partitions"`
	Reachable  int       `json:"reachable"`
	Keys       int       `json:"keys"`
	KeyBytes   int64     `json:"keyBytes"`
	Logs       []logView `json:"logs"`
	reachable  bool      // lately
}

// logView describes a log whose sequencer is this server.
type logView struct {
	ID   log.ID `json:"id"`
	Next string `json:"next"`
}

// logsShown bounds the number of logs whose sequencer the status looks up.
const logsShown = 1024

func (a *apps) view() appsView {
	v := appsView{Partitions: []int{}, Logs: []logView{}}
	v.Reachable, v.reachable = a.reach()
	a.sync(func() {
		v.Trouble = a.trouble
		if a.kv == nil {
			return
		}
		v.Hosting = true
		v.Keys, v.KeyBytes = a.kv.Size()
		for _, rm := range a.kv.Owned() {
			v.Partitions = append(v.Partitions, int(rm))
		}
		for id := log.ID(1); id <= logsShown; id++ {
			if next, serving := a.sequencer.Serving(id); serving {
				v.Logs = append(v.Logs, logView{id, next.String()})
			}
		}
	})
	return v
}

func operation(o *resp.Op) tx.Op {
	kinds := [...]tx.OpKind{resp.Get: tx.OpGet, resp.Set: tx.OpPut, resp.Delete: tx.OpDelete, resp.Incr: tx.OpIncr, resp.Append: tx.OpAppend}
	whens := [...]tx.When{resp.Always: tx.Always, resp.IfAbsent: tx.IfAbsent, resp.IfPresent: tx.IfPresent}
	return tx.Op{Kind: kinds[o.Kind], When: whens[o.When], Key: o.Key, Value: o.Value, Delta: o.Delta}
}

func result(r *tx.OpResult) resp.Result {
	failures := map[tx.OpError]resp.Failure{tx.OpNotInteger: resp.NotInteger, tx.OpOverflow: resp.Overflow, tx.OpTooLong: resp.TooLong}
	return resp.Result{
		Failure: failures[r.Err], Done: r.Done, Found: r.Found, Value: r.Value, Number: r.Number, Version: r.Version,
	}
}
