// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/sim/suite"
)

// server has a log and does something with it every now and then.
type server struct {
	*life
	l     *sim.Life
	begun bool // a checkpoint, whose state is not complete
}

const (
	markCheckpoint = env.Mark("a checkpoint counts")
	markStopped    = env.Mark("the log has stopped")
	markWaits      = env.Mark("the log has waited for room")
	markFull       = env.Mark("the disk was full")
)

// restart ends the program, not the machine, and starts it again.
func restart(l *sim.Life, err error) {
	if errors.Is(err, env.ErrNoSpace) {
		l.Env.Tracer.Trace(markFull)
	}
	l.Node().Start(20 * time.Millisecond)
	l.Exit(err.Error())
}

// theWorlds says whether an error is one that a disk may have.
func theWorlds(err error) bool {
	return errors.Is(err, syscall.EIO) || errors.Is(err, env.ErrNoSpace)
}

func (s *server) next() {
	wait := time.Duration(env.IntN(s.l.Env.Random, 4)) * time.Millisecond
	s.l.Env.Clock.After(wait, env.WakeFunc(func() {
		err := s.act()
		if errors.Is(err, errNoRoom) && s.log.Err() == nil {
			s.l.Env.Tracer.Trace(markWaits) // it goes on, and commits later
			err = nil
		}
		if err != nil {
			if !errors.Is(err, ErrStopped) || !theWorlds(err) {
				panic(err)
			}
			s.l.Env.Tracer.Trace(markStopped)
			restart(s.l, err)
		}
		s.next()
	}))
}

func (s *server) act() error {
	op := rune("aaaAmLcccckswe"[env.IntN(s.l.Env.Random, 14)])
	_, underWay := s.log.Saved()
	switch {
	case op == 'k' && underWay, (op == 's' || op == 'e') && !s.begun:
		return nil
	case op == 'k':
		s.begun = true
	case op == 'e':
		s.begun = false
	}
	before := s.log.top.super.checkpoint
	err := s.step(op)
	if s.log.top.super.checkpoint > before {
		s.l.Env.Tracer.Trace(markCheckpoint)
		if env.IntN(s.l.Env.Random, 4) == 0 {
			return s.close()
		}
	}
	return err
}

// close ends the program in order.
func (s *server) close() error {
	if err := s.log.Close(); err != nil {
		return errors.Join(ErrStopped, err)
	}
	restart(s.l, errors.New("done"))
	return nil
}

// TestSimulation: a server's log, on a disk that fails, is full, slow, and loses
// what was not synced, in a world that crashes the server with and without its
// machine. After a failed sync a disk takes for clean what it has not written.
func TestSimulation(t *testing.T) {
	faults := sim.CrashFaults().With(sim.Crash, 2).With(sim.CrashInDisk, 0.005).With(sim.PowerLoss, 0.5).
		With(sim.SyncError, 0.02).With(sim.DiskFull, 0.5).With(sim.ReadError, 0.002).With(sim.SlowDisk, 0.2)
	suite.Suite{
		Getenv: os.Getenv, Package: "./store/wal", Seeds: 200, Faults: faults, Short: testing.Short(),
		Options: sim.Options{DiskCapacity: 8 << 20},
		Require: []string{string(markCheckpoint), string(markStopped), string(markWaits)},
	}.Run(t, func(w *sim.World) error {
		m, made, lives := &model{}, false, uint64(0)
		w.Node("server", func(l *sim.Life) error {
			lives++
			err := Format(l.Env, dir, []byte("who"))
			switch {
			case made && !errors.Is(err, ErrExists) && !theWorlds(err):
				return errors.Join(errors.New("the log was made again"), err)
			case err != nil && !errors.Is(err, ErrExists):
				if !theWorlds(err) {
					return err
				}
				restart(l, err)
			}
			s, err := begin(l.Env.Disk, m, lives)
			if err != nil {
				if !theWorlds(err) {
					return err
				}
				restart(l, err)
			}
			made = true
			(&server{life: s, l: l}).next()
			return nil
		})
		return w.Run(3 * time.Second)
	})
}
