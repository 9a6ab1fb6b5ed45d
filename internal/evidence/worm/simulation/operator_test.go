// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"errors"
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// operator is a node that changes the members of partitions, and may die while it does.
type operator struct {
	*agent
	node *sim.Node
	stop bool
	busy bool
	// deaths is how often it may still die halfway.
	deaths int
	pause  time.Duration
}

func (c *cluster) operator(number, deaths int, pause time.Duration) *operator {
	o := &operator{deaths: deaths, pause: pause}
	o.node = c.w.Node(fmt.Sprint("op", number), func(l *sim.Life) error {
		a, err := c.agent(l, 100+number, nil)
		if err != nil {
			return err
		}
		o.agent, o.busy = a, false
		a.serial.Do(o.loop)
		return nil
	})
	return o
}

// members draws three of the hosts that may serve.
func (o *operator) members() []wor.Member {
	var list []wor.Member
	for _, h := range o.c.hosts {
		if !h.gone {
			list = append(list, h.member)
		}
	}
	for i := range list {
		j := i + env.IntN(o.random, len(list)-i)
		list[i], list[j] = list[j], list[i]
	}
	return list[:3]
}

func (o *operator) loop() {
	o.after(o.pause, func() {
		if o.stop || o.busy {
			return
		}
		o.busy = true
		p := wor.Partition(env.IntN(o.random, len(o.c.genesis.Partitions)))
		die := space.Phase(env.IntN(o.random, 8))
		o.Reconfigure(p, o.members(), 3*time.Second, func(at space.Progress) { o.died(at, die) }, func(cfg *wor.Config, err error) {
			o.busy = false
			if err == nil || errors.Is(err, wor.ErrWritten) {
				o.decided(cfg)
			}
			o.loop()
		})
	})
}

// decided: the operator received the answer that this is the configuration.
func (o *operator) decided(cfg *wor.Config) {
	text, _ := cfg.MarshalBinary()
	o.c.ghost.told("reconfigured", wor.Addr{Segment: wor.ConfigSegment(cfg.Partition), Offset: uint32(cfg.Epoch)}, string(text))
}

// died ends the operator when it has reached a phase.
func (o *operator) died(at space.Progress, die space.Phase) {
	if o.deaths == 0 || at.Phase != die {
		return
	}
	switch die {
	case space.PhaseStage:
		o.c.w.Mark("reconfigurer died after seal")
	case space.PhaseActivate:
		o.c.w.Mark("reconfigurer died after decide")
	case space.PhaseDecide:
		o.c.w.Mark("reconfigurer died before decide")
	default:
		return
	}
	o.deaths--
	o.node.Start(time.Duration(env.IntN(o.random, int(3*time.Second))))
	o.node.Crash(false)
}

// mend replaces servers that will not come back, until it has succeeded.
func (o *operator) mend(done func()) {
	for _, h := range o.c.hosts {
		if !h.gone {
			continue
		}
		p, member := o.has(h)
		if !member {
			continue
		}
		o.Reconfigure(p, o.members(), 10*time.Second, nil, func(*wor.Config, error) { o.mend(done) })
		return
	}
	done()
}

// has returns the partition in which the lost host is a member, as far as the ghost
// knows.
func (o *operator) has(h *host) (wor.Partition, bool) {
	for p := range o.c.genesis.Partitions {
		cfg := o.c.ghost.newest(wor.Partition(p))
		for _, m := range cfg.Members {
			if m.ID == h.member.ID {
				return cfg.Partition, true
			}
		}
	}
	return 0, false
}
