// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ashlar-dev/ashlar/bench/process"
)

// clientJob is the job of a client process.
type clientJob struct {
	Where where
	Op    string
	// Variant is how our registers are kept, or which transactions.
	Variant string
	// Clients are numbered from First.
	First, Clients int
	// Phase is another number in each phase of a cluster: names begin with it.
	Phase          int
	Value          int
	Duration, Warm time.Duration
	Profile        string
}

// clientResult is what it measured.
type clientResult struct {
	Ops       int64
	Took      time.Duration
	Used      process.Usage
	Latencies *hdrhistogram.Snapshot // in units of latencyUnit
}

// Latencies are from 100 ns to a minute, within one part of a hundred.
const (
	latencyUnit = 100 * time.Nanosecond
	latencyMax  = int64(time.Minute / latencyUnit)
)

// opsMax bounds the operations of one client in one phase.
const opsMax = 4 << 20

// session is an engine as one client process uses it.
type session interface {
	// prepare makes what the operations of so many clients need.
	prepare(ctx context.Context) error
	// do does operation number seq of a client, and asserts the reply.
	do(ctx context.Context, client, seq int) error
	// verify reads back, with a connection of its own, what was done: by client,
	// how many operations.
	verify(ctx context.Context, done []int) error
	close()
}

// phaseWithin bounds one phase, preparation and verification included.
const phaseWithin = 3 * time.Minute

// clientMain is a client process.
func clientMain(p *process.Port) error {
	var job clientJob
	if ok, err := p.Take(&job); !ok || err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), phaseWithin)
	defer cancel()
	s, err := open(job)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.prepare(ctx); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	w := newWork(job, s)
	if err := w.run(ctx, job.Warm, false); err != nil {
		return err
	}
	if err := p.Say("ready"); err != nil {
		return err
	}
	var line string
	if ok, err := p.Take(&line); !ok || err != nil {
		return err
	}
	var result clientResult
	var ran error
	err = process.Profiled(job.Profile, func() {
		before, begun := ownCPU(), time.Now()
		ran = w.run(ctx, job.Duration, true)
		result = clientResult{Took: time.Since(begun), Used: process.Usage{CPU: ownCPU() - before}}
	})
	if err := errors.Join(err, ran); err != nil {
		return err
	}
	all := newHistogram()
	for _, h := range w.latencies {
		all.Merge(h)
	}
	result.Ops, result.Latencies = all.TotalCount(), all.Export()
	if err := p.Say(result); err != nil {
		return err
	}
	if err := s.verify(ctx, w.done); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if err := p.Say("verified"); err != nil {
		return err
	}
	_, err = p.Take(&line)
	return err
}

// open opens a session with an engine.
func open(job clientJob) (session, error) {
	switch job.Where.Engine {
	case ashlar:
		if job.Op == opTx {
			return openTx(job)
		}
		return openOurs(job)
	case etcd:
		return openEtcd(job)
	case redis:
		return openRedis(job)
	}
	return nil, fmt.Errorf("engine %q", job.Where.Engine)
}

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, latencyMax, 2) }

// ownCPU is what this process has used.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// work is what the clients of a process do: each one operation after the other.
type work struct {
	session   session
	done      []int // by client: operations
	latencies []*hdrhistogram.Histogram
}

func newWork(job clientJob, s session) *work {
	w := &work{session: s, done: make([]int, job.Clients)}
	for range job.Clients {
		w.latencies = append(w.latencies, newHistogram())
	}
	return w
}

// run has all clients work for so long, at least one operation each.
func (w *work) run(ctx context.Context, long time.Duration, record bool) error {
	var wait sync.WaitGroup
	var stop atomic.Bool
	timer := time.AfterFunc(long, func() { stop.Store(true) })
	defer timer.Stop()
	errs := make([]error, len(w.done))
	for client := range w.done {
		wait.Go(func() {
			h := w.latencies[client]
			for first := true; (first || !stop.Load()) && w.done[client] < opsMax; first = false {
				begun := time.Now()
				if err := w.session.do(ctx, client, w.done[client]); err != nil {
					errs[client] = fmt.Errorf("client %d, operation %d: %w", client, w.done[client], err)
					stop.Store(true)
					return
				}
				w.done[client]++
				if record {
					took := min(int64(time.Since(begun)/latencyUnit), latencyMax)
					errs[client] = h.RecordValue(max(took, 1))
				}
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}
