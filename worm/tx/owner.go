package tx

import (
	"errors"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// start finds out who owns the partitions. Those that nobody ever owned begin at
// their server, and those that an earlier life of this process owned it takes
// over.
func (k *KV) start() {
	for rm := range k.shards {
		p := RM(rm)
		k.seen[rm] = k.now()
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

// tick asks the other servers what they own, and takes over what nobody seems to.
func (k *KV) tick() {
	if k.stopped {
		return
	}
	self := k.opt.Engine.Self.ID
	for _, to := range k.opt.Servers {
		if to.ID == self {
			continue
		}
		k.engine.Ask(to, func(rms []RM, ok bool) {
			for _, rm := range rms {
				if owner, _ := k.engine.Route(rm); owner.ID == to.ID {
					k.seen[rm] = k.now()
				}
			}
		})
	}
	for rm := range k.shards {
		if k.shards[rm] == nil && !k.acquiring[rm] && k.now().Sub(k.seen[rm]) > k.patience(rm) {
			k.acquire(RM(rm))
		} else if k.shards[rm] == nil {
			k.engine.Prefetch(RM(rm))
		}
	}
	k.engine.Tick()
	k.sweep()
	k.engine.after(k.engine.jitter(k.opt.PingEvery), k.tick)
}

// patience is how long a partition may be without an owner before this server
// takes it: the servers take turns, so that one of them is enough.
func (k *KV) patience(rm int) time.Duration {
	n := len(k.opt.Servers)
	me := slices.IndexFunc(k.opt.Servers, func(m wor.Member) bool { return m.ID == k.opt.Engine.Self.ID })
	turn := (me - rm%n + n) % n
	return k.opt.FailAfter + time.Duration(turn)*k.opt.FailAfter/2
}

// acquire takes a partition over: the registers say what its state is.
func (k *KV) acquire(rm RM) {
	if k.stopped || k.acquiring[rm] || k.shards[rm] != nil {
		return
	}
	k.acquiring[rm] = true
	k.engine.Acquire(rm, func(r *Recovered, err error) {
		if err != nil {
			k.acquiring[rm] = false
			k.seen[rm] = k.now()
			return
		}
		k.recover(rm, r)
	})
}

// recover loads the state and does again what was committed since.
func (k *KV) recover(rm RM, r *Recovered) {
	s := &shard{kv: k, rm: rm, state: newState(), locks: locks{map[string]*lock{}}, prepared: map[ID]*prepared{}}
	fail := func() {
		k.acquiring[rm] = false
		k.seen[rm] = k.now()
	}
	s.load(r.State, func(err error) {
		if err != nil {
			fail()
			return
		}
		for i, v := range r.Votes {
			var x redo
			if !x.decode(v.Redo) {
				continue // it was never prepared by a KV
			}
			s.state.apply(&x, v.Order, allHeld(r.Briefs[i]), v.Brief)
		}
		k.engine.Open(rm, func() {
			k.acquiring[rm] = false
			s.open = true
			k.shards[rm] = s
			k.trace(Owned{rm})
		})
		// Another process may have taken it meanwhile, so that it never opens.
		k.engine.after(4*k.opt.FailAfter, func() {
			if !s.open {
				fail()
			}
		})
	})
}

// Owned is an event for the Tracer: a partition is open here.
type Owned struct{ RM RM }

// EventName is the event's name.
func (Owned) EventName() string { return "Owned" }

func (k *KV) trace(e env.Event) { k.engine.trace(e) }
