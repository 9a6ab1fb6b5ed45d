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
// in the key-value store. They are clients of the cluster, this server included,
// and belong to a Serial of their own.
//
// The members of the newest configurations host them: a server begins
// when it is one of them, with those that it knows then, and ends when it is none
// any more.
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

// membersEvery is how often it is looked whether the members have changed.
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

// look begins the applications when this server has become a member, and ends them
// when it is none.
func (a *apps) look() {
	if a.closed {
		return
	}
	a.world.Clock.After(membersEvery, a.serial.Waker(a.look))
	a.learn()
	members, self := a.newest()
	switch {
	case self == nil && a.kv != nil:
		a.log.Warn("this server is no member of the cluster any more: it hosts nothing")
		a.end()
		return
	case self == nil || a.kv != nil:
		// The store's servers are those of when it began: a later server asks them
		// and is asked by those that begin after it. A change while it runs would
		// be a takeover of everything.
		return
	}
	if err := a.begin(members, *self); err != nil {
		a.trouble = err.Error()
		a.log.Error("the applications were not begun", "err", err)
	}
}

// learn brings together what the server and the applications know of later
// configurations, and keeps it in the directory.
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
		a.log.Error("the members were not written down", "err", err)
	}
	if members, _ := a.newest(); a.client != nil && len(members) > 0 {
		a.client.SetServers(members)
	}
}

// refreshLooks is the number of checks between two reads of the registers of
// later configurations: a server that is a member of no partition gets no
// notice of them.
const refreshLooks = 10

// newest are the members of the newest configurations that this server knows, and
// which of them it is.
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

// begin begins the applications for these members.
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

// end ends the applications; the front's requests go on.
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

// desk is where a service is asked. When it closes, all waiting callers get an
// empty answer, on which they ask elsewhere. The server's Drain waits for that.
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

// place spreads the segments of logs over the partitions.
func (a *apps) place(id log.ID, index uint32) (wor.Partition, wor.Protocol) {
	return wor.Partition((uint64(id) + uint64(index)) % uint64(len(a.genesis.Partitions))), wor.Paxos
}

// leaveWithin is how long the other servers have to hear that this one ends. If they
// do not, they find out.
const leaveWithin = time.Second

// close ends everything. It may be called again.
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

// errNotHosting: the server is no member of the cluster yet.
var errNotHosting = errors.New("this server is no member of the cluster yet")

// countWithin is how long the keys of the cluster are counted at most.
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

// results has the result of each operation; counted is that of those that count.
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

// undone says to a client of Redis why a transaction was not done, or may not have
// been.
func undone(err error) error {
	switch {
	case errors.Is(err, wor.ErrUnknown):
		return errors.New("the outcome is unknown: it may have been done, or may still be")
	case errors.Is(err, wor.ErrBusy), errors.Is(err, wor.ErrDeadline):
		return errors.New("not done: the cluster did not answer in time or has no room")
	}
	return err
}

// appsView states how it stands with the applications.
type appsView struct {
	Hosting bool   `json:"hosting"`
	Trouble string `json:"trouble,omitempty"`
	// Partitions are those of the keys that are here, Reachable is how many of
	// all could be reached when that was looked at last.
	Partitions []int     `json:"partitions"`
	Reachable  int       `json:"reachable"`
	Keys       int       `json:"keys"`
	KeyBytes   int64     `json:"keyBytes"`
	Logs       []logView `json:"logs"`
	reachable  bool      // lately
}

// logView is a log of which this server is the sequencer.
type logView struct {
	ID   log.ID `json:"id"`
	Next string `json:"next"`
}

// logsShown bounds the logs whose sequencer is looked for.
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
