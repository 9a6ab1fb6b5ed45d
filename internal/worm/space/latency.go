// SPDX-License-Identifier: Apache-2.0

package space

import (
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// latencies has the latencies of the last answers of a partition, and derives how long to
// wait before repeating a request.
type latencies struct {
	ring   [latencyKeep]time.Duration
	n      int
	median time.Duration
	high   time.Duration // of 32 answers, 31 were faster
}

const (
	latencyKeep  = 64
	latencyEvery = 16
	// latencyFirst is assumed before the first answers.
	latencyFirst = 50 * time.Millisecond
)

func (l *latencies) add(d time.Duration) {
	l.ring[l.n%latencyKeep] = d
	if l.n++; l.n%latencyEvery != 0 && l.n > 4 {
		return
	}
	sorted := l.ring
	some := sorted[:min(l.n, latencyKeep)]
	slices.Sort(some)
	l.median, l.high = some[len(some)/2], some[len(some)*31/32]
}

// typical is the usual latency of an answer.
func (l *latencies) typical() time.Duration {
	if l.n == 0 {
		return latencyFirst
	}
	return max(l.median, 10*time.Microsecond)
}

// resend is how long to wait for an answer, after that many attempts.
func (s *Space) resend(l *latencies, tries int) time.Duration {
	d := latencyFirst * 2
	if l.n > 0 {
		d = 2*l.high + l.high/2
	}
	d = min(max(d, s.o.ResendMin)<<min(tries, 10), s.o.ResendMax)
	if tries > 0 {
		d += s.jitter(d / 2)
	}
	return d
}

// jitter returns a random time from 0 to d.
func (s *Space) jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(env.IntN(s.random, int(d)))
}

// pause returns how long to leave a register to another client that captures it, the n-th
// time: it is random, so that one of two clients is first.
func (s *Space) pause(l *latencies, n int) time.Duration {
	d := min(2*l.typical()<<min(n, 7), s.o.ResendMax)
	return d/4 + s.jitter(d)
}
