// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/worm/node"
	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/tx"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// opTx is atomic commitment of two participants, by the variant of the job.
const opTx = "tx"

// participants is how many resource managers a transaction has; one process more
// is the transaction manager.
const participants = 2

// txSession is the participants of transactions, each with a server for its
// messages and a way to the registers of its own. They are in one process, so that
// one clock tells when all have learned the outcome; messages go over the loopback
// nevertheless.
type txSession struct {
	job     clientJob
	variant tx.Variant
	tasks   *osenv.Tasks
	network *osenv.Network
	all     []*participant
	learned chan tx.Learned
}

type participant struct {
	serial    env.Serial
	server    *node.Server
	transport *node.Transport
	space     *space.Space
	engine    *tx.Engine
}

// agree is a resource that always says yes.
type agree struct{}

func (agree) Prepare(tx.RM, tx.ID, uint64, []byte) (brief, redo []byte, yes bool) {
	return nil, nil, true
}
func (agree) Finish(tx.RM, tx.ID, *tx.Outcome) {}
func (agree) Lost(tx.RM)                       {}

// Trace implements env.Tracer: it passes on which participants have learned an outcome.
func (s *txSession) Trace(e env.Event) {
	if l, ok := e.(tx.Learned); ok {
		s.learned <- l
	}
}

func openTx(job clientJob) (session, error) {
	v, err := tx.ParseVariant(job.Variant)
	if err != nil {
		return nil, err
	}
	s := &txSession{job: job, variant: v, tasks: osenv.NewTasks(), learned: make(chan tx.Learned, 1024)}
	s.network = osenv.NewNetwork(osenv.NetworkOptions{WriteBuffer: worm.WriteBuffer})
	if err := s.open(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *txSession) open() error {
	world := osenv.New()
	world.Network, world.Tracer = s.network, s
	var members []wor.Member
	for i := range participants + 1 {
		p := &participant{}
		s.all = append(s.all, p)
		var err error
		if p.server, err = node.OpenServer(node.Options{Env: world, Tasks: s.tasks, Memory: true, Alone: true,
			Listen: "127.0.0.1:0", Genesis: s.job.Where.Genesis}); err != nil {
			return err
		}
		members = append(members, wor.Member{ID: p.server.ID(), Name: fmt.Sprint("p", i), Addr: string(p.server.Addr())})
		p.transport = node.NewTransport(node.TransportOptions{Env: world, Serial: &p.serial,
			Cluster: s.job.Where.Genesis.Cluster, From: world.Random.Uint64()})
		if p.space, err = space.Open(space.Options{Env: world, Serial: &p.serial, Transport: p.transport, Genesis: s.job.Where.Genesis}); err != nil {
			return err
		}
	}
	for i, p := range s.all {
		var err error
		in(&p.serial, func() {
			p.engine, err = tx.New(tx.Options{Env: world, Serial: &p.serial, Space: p.space, Messenger: p.transport,
				Self: members[i], Resource: agree{}, Variant: s.variant, Instance: uint16(1 + s.job.Phase), RMs: participants,
				Managers: members[participants:]})
			if err != nil {
				return
			}
			p.server.Register(wor.ServiceTx, &p.serial, p.engine.Handle)
			for rm := range participants {
				p.engine.Suppose(tx.RM(rm), members[rm])
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *txSession) close() {
	for _, p := range s.all {
		if p.space != nil {
			in(&p.serial, p.space.Close)
		}
		if p.transport != nil {
			p.transport.Close()
		}
		if p.server != nil {
			_ = p.server.Close()
		}
	}
	s.network.Close()
	s.tasks.Close()
}

func (s *txSession) prepare(ctx context.Context) error {
	for i, p := range s.all[:participants] {
		acquired := make(chan error, 1)
		p.serial.Do(func() {
			p.engine.Acquire(tx.RM(i), func(_ *tx.Recovered, err error) {
				if err != nil {
					acquired <- err
					return
				}
				p.engine.Open(tx.RM(i), func() { acquired <- nil })
			})
		})
		select {
		case err := <-acquired:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// attempt is what one attempt at a transaction came to.
type attempt struct {
	tx  tx.Tx
	out *tx.Outcome
	err error
}

// do does one transaction, until all participants know its outcome. Where an RM has
// gone on to its next segment and closed the register that it was to vote in, it is
// done again, and that counts as a part of it: Start does so by itself, and of F2 it
// is the part of who joins.
func (s *txSession) do(ctx context.Context, _, seq int) error {
	for range startsMax {
		a, err := s.attempt(ctx)
		switch {
		case err != nil:
			return err
		case a.out.Commit:
			return s.allLearned(ctx, a.tx.ID)
		case s.variant != tx.F2 || !slices.ContainsFunc(a.out.Briefs, func(b []byte) bool { return string(b) == tx.ReasonRolled }):
			return fmt.Errorf("transaction %d was aborted: %q", seq, a.out.Briefs)
		}
	}
	return fmt.Errorf("transaction %d met closed registers %d times", seq, startsMax)
}

// startsMax is how often a transaction of F2 is begun at most.
const startsMax = 8

func (s *txSession) attempt(ctx context.Context) (a attempt, err error) {
	parts := []tx.Part{{RM: 0}, {RM: 1}}
	first := s.all[0]
	done := make(chan attempt, 1)
	first.serial.Do(func() {
		if s.variant != tx.F2 {
			first.engine.Start(parts, func(t tx.Tx, o *tx.Outcome, err error) { done <- attempt{t, o, err} })
			return
		}
		first.engine.Reserve(parts, func(t tx.Tx, err error) {
			if err != nil {
				done <- attempt{err: err}
				return
			}
			first.engine.Watch(t, func(o *tx.Outcome) { done <- attempt{t, o, nil} })
			for i := range parts {
				s.all[i].serial.Do(func() { s.all[i].engine.Join(t, i, nil) })
			}
		})
	})
	select {
	case a = <-done:
		return a, a.err
	case <-ctx.Done():
		return a, errors.Join(ctx.Err(), errors.New("an outcome was not learned"))
	}
}

// allLearned waits until all participants have learned that it was committed. What
// they learn of attempts before it they have learned as an abort.
func (s *txSession) allLearned(ctx context.Context, id tx.ID) error {
	for n := 0; n < participants; {
		select {
		case l := <-s.learned:
			switch {
			case l.ID == id && l.Commit:
				n++
			case l.Commit || l.ID == id:
				return fmt.Errorf("%v of RM %d was learned as commit=%v while %v was to be committed", l.ID, l.RM, l.Commit, id)
			}
		case <-ctx.Done():
			return errors.Join(ctx.Err(), errors.New("an outcome was not learned"))
		}
	}
	return nil
}

// verify finds that no commit was learned twice.
func (s *txSession) verify(context.Context, []int) error {
	for {
		select {
		case l := <-s.learned:
			if l.Commit {
				return fmt.Errorf("%v was learned once more", l)
			}
		case <-time.After(10 * time.Millisecond):
			return nil
		}
	}
}
