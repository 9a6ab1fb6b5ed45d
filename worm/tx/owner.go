// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// start finds the owners of the partitions. A partition that never had an owner
// begins at its default server. If an earlier life of this process owned a
// partition, this one takes it over.
func (k *KV) start() {
	for rm := range k.shards {
		p := RM(rm)
		k.watch.alive(p)
		k.engine.Suppose(p, k.opt.Servers[rm%len(k.opt.Servers)])
		k.engine.Find(p, func(owner wor.Member, err error) {
			self := k.opt.Engine.Self.ID
			if owner.ID == self || errors.Is(err, wor.ErrUnallocated) && k.opt.Servers[rm%len(k.opt.Servers)].ID == self {
				k.acquire(p)
			}
		})
	}
	k.tick()
}

// tick asks the other servers which partitions they own, and takes over those
// without an owner.
func (k *KV) tick() {
	if k.stopped {
		return
	}
	k.watch.ask()
	k.take()
	k.engine.Tick()
	k.sweep()
	k.engine.after(k.engine.jitter(k.opt.PingEvery), k.tick)
}

// take takes over the partitions that this server must take now.
func (k *KV) take() {
	for i := range k.shards {
		rm := RM(i)
		switch {
		case k.shards[i] != nil || k.acquiring[i]:
		case k.watch.abandoned(rm) && k.engine.Taking(2*k.opt.FailAfter) < takeoversMax:
			owner, _ := k.engine.Route(rm)
			k.trace(Abandoned{rm, owner, k.now().Sub(k.watch.heard[rm])})
			k.acquire(rm)
		default:
			k.engine.Prefetch(rm)
		}
	}
}

// left handles the notice that a server has left.
func (k *KV) left(id wor.ServerID) {
	if !k.stopped && id != k.opt.Engine.Self.ID {
		k.watch.leave(id)
		k.take()
	}
}

// acquire takes a partition over. The partition's state is in registers.
func (k *KV) acquire(rm RM) {
	if k.stopped || k.acquiring[rm] || k.shards[rm] != nil {
		return
	}
	k.acquiring[rm] = true
	k.engine.acquire(rm, true, func(r *Recovered, err error) {
		switch {
		case errors.Is(err, ErrTaken):
			k.acquiring[rm] = false
			k.watch.lost(rm)
		case err != nil:
			k.forgo(rm)
		default:
			k.recover(rm, r)
		}
	})
}

// forgo ends a failed takeover.
func (k *KV) forgo(rm RM) {
	k.acquiring[rm] = false
	k.watch.alive(rm)
	k.engine.Forgo(rm)
}

// recover loads the state of a partition and redoes the transactions committed
// since.
func (k *KV) recover(rm RM, r *Recovered) {
	s := &shard{kv: k, rm: rm, state: newState(), locks: locks{map[string]*lock{}}, prepared: map[ID]*prepared{}}
	s.load(r.State, func(err error) {
		if err != nil {
			k.forgo(rm)
			return
		}
		for i, v := range r.Votes {
			var x redo
			if !x.decode(v.Redo) {
				continue // it was never prepared by a KV
			}
			s.state.apply(&x, v.Order, allHeld(r.Briefs[i]), v.Brief)
		}
		// Another process may take the partition meanwhile. Then the partition
		// never opens here, and the Engine calls Lost.
		if !k.engine.Open(rm, func() {
			k.acquiring[rm] = false
			s.open = true
			k.shards[rm] = s
			k.trace(Owned{rm})
		}) {
			k.acquiring[rm] = false
			k.watch.lost(rm)
		}
	})
}

// Events for the Tracer about the ownership of a partition.
type (
	// Owned: the partition is open here.
	Owned struct{ RM RM }
	// Abandoned: this server is about to take the partition over, because the
	// partition has had no known owner for too long. Owner is the last known
	// owner.
	Abandoned struct {
		RM     RM
		Owner  wor.Member
		Silent time.Duration
	}
	// Disowned: the partition was open here, and another server has taken it
	// over.
	Disowned struct {
		RM    RM
		Owner wor.Member
	}
)

// EventName is the event's name.
func (Owned) EventName() string { return "Owned" }

// EventName is the event's name.
func (Abandoned) EventName() string { return "Abandoned" }

// EventName is the event's name.
func (Disowned) EventName() string { return "Disowned" }

func (k *KV) trace(e env.Event) { k.engine.trace(e) }
