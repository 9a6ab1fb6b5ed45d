// SPDX-License-Identifier: Apache-2.0

package space

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Replace replaces one server by another in all partitions that have it, one
// after the other. It checks before it acts: in each of these partitions, all
// other members must serve the newest epoch, and the new server must answer and
// must not be a member. Otherwise it changes nothing and returns an ErrRefused
// with the reason. When called again, Replace continues a replacement that
// ended halfway, or with ErrWritten because another client changed a partition
// meanwhile; if the replacement is complete, so that no partition has the dead
// server and some have the new one, it succeeds. Progress may be nil.
func (s *Space) Replace(dead wor.ServerID, with wor.Member, within time.Duration, progress func(Progress), done func(error)) {
	err := s.admit(0)
	if err == nil && (with.ID == 0 || with.ID == dead) {
		err = fmt.Errorf("%w: a server needs an identity of its own", ErrRefused)
	}
	if err != nil {
		s.later(func() { done(err) })
		return
	}
	r := &replace{dead: dead, with: with, watch: progress, done: done}
	r.begin(s, 0, within, r)
	r.survey = make([]survey, len(s.views))
	for p := range s.views {
		r.look(wor.Partition(p))
	}
}

// replace is a running Replace.
type replace struct {
	op
	dead  wor.ServerID
	with  wor.Member
	watch func(Progress)
	done  func(error)

	survey  []survey // by partition
	left    int      // missing answers
	doubts  []string
	todo    []wor.Partition
	pending []*inquiry
}

// survey is the check of one partition.
type survey struct {
	r     reader
	wait  env.Backoff
	alarm alarm
}

// replaceTries is how often a server is asked before it counts as down.
const replaceTries = 3

// look learns the newest configuration of a partition, then asks its members.
func (r *replace) look(p wor.Partition) {
	r.left++
	r.refresh(p)
}

func (r *replace) refresh(p wor.Partition) {
	s, v := r.s, &r.survey[p]
	cfg := s.views[p].cfg
	v.r.run(s, surveyor{r, p}, s.configPlace(p), configAddr(p, cfg.Epoch+1), 0)
}

// surveyor receives the answer about one partition.
type surveyor struct {
	r *replace
	p wor.Partition
}

func (x surveyor) read(_ *reader, value []byte, err error) {
	r, s, p := x.r, x.r.s, x.p
	cfg := new(wor.Config)
	switch {
	case errors.Is(err, wor.ErrUnwritten):
		r.ask(p)
		return
	case err == nil && cfg.UnmarshalBinary(value) == nil && cfg.Partition == p:
		s.adopt(cfg)
		r.refresh(p)
		return
	case errors.Is(err, errMoved):
		s.learn(p)
	}
	v := &r.survey[p]
	if v.wait.Min == 0 {
		v.wait = env.Backoff{Min: learnMin, Max: learnMax}
	}
	s.agenda.set(&v.alarm, s.clock.Now().Add(v.wait.Next(s.random)), ringFunc(func() {
		if r.live {
			r.refresh(p)
		}
	}))
}

// ask asks the members, and the new server.
func (r *replace) ask(p wor.Partition) {
	cfg := r.s.views[p].cfg
	if cfg.Index(r.dead) < 0 {
		r.answered()
		return
	}
	r.todo = append(r.todo, p)
	if cfg.Index(r.with.ID) >= 0 {
		r.doubt("partition %d has %v already", p, r.with.ID)
	}
	for _, m := range append(slices.Clone(cfg.Members), r.with) {
		if m.ID == r.dead {
			continue
		}
		r.left++
		q := wor.Request{Kind: wor.KindStatus, Partition: p, Epoch: cfg.Epoch}
		r.pending = append(r.pending, r.s.inquire(m, q, replaceTries, func(a *wor.Reply) bool {
			switch {
			case a.Epoch > cfg.Epoch:
				r.doubt("partition %d is changing its members", p)
			case m.ID == r.with.ID && a.Status != wor.StatusForeign:
				r.doubt("the new server is %v in partition %d, but it must not be a member yet", a.Status, p)
			case m.ID != r.with.ID && (a.Status != wor.StatusOK || a.Epoch != cfg.Epoch):
				r.doubt("server %v (%s) of partition %d is %v in epoch %d", m.ID, m.Name, p, a.Status, a.Epoch)
			}
			r.answered()
			return true
		}, func() {
			r.doubt("server %v (%s at %s) of partition %d does not answer", m.ID, m.Name, m.Addr, p)
			r.answered()
		}))
	}
	r.answered()
}

func (r *replace) doubt(format string, args ...any) {
	r.doubts = append(r.doubts, fmt.Sprintf(format, args...))
}

// answered begins the change when all have answered and nothing is wrong.
func (r *replace) answered() {
	if r.left--; r.left > 0 || !r.live {
		return
	}
	switch {
	case len(r.doubts) > 0:
		slices.Sort(r.doubts)
		r.answer(fmt.Errorf("%w: %s", ErrRefused, r.doubts[0]))
	case len(r.todo) == 0 && !r.isMember():
		r.answer(fmt.Errorf("%w: no partition has %v", ErrRefused, r.dead))
	default:
		slices.Sort(r.todo)
		r.next()
	}
}

// isMember reports whether the new server is a member already: then there is
// nothing left to do.
func (r *replace) isMember() bool {
	return slices.ContainsFunc(r.s.views, func(v *view) bool { return v.cfg.Index(r.with.ID) >= 0 })
}

// next changes one partition.
func (r *replace) next() {
	if len(r.todo) == 0 {
		r.answer(nil)
		return
	}
	s, p := r.s, r.todo[0]
	r.todo = r.todo[1:]
	cfg := s.views[p].cfg
	m := slices.Clone(cfg.Members)
	i := cfg.Index(r.dead)
	if i < 0 {
		r.next()
		return
	}
	m[i] = r.with
	var within time.Duration
	if r.until != 0 {
		within = max(r.until.Sub(s.clock.Now()), 1)
	}
	s.reconfigure(p, m, within, change{only: cfg}, r.watch, func(_ *wor.Config, err error) {
		switch {
		case !r.live:
		case err != nil:
			r.answer(fmt.Errorf("replace %v in partition %d: %w", r.dead, p, err))
		default:
			r.next()
		}
	})
}

func (r *replace) fail(err error) { r.answer(err) }

func (r *replace) answer(err error) {
	if !r.end() {
		return
	}
	for i := range r.survey {
		r.survey[i].r.stop()
		r.s.agenda.drop(&r.survey[i].alarm)
	}
	for _, i := range r.pending {
		i.stop()
	}
	r.done(err)
}
