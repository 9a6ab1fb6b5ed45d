// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// Logs of processes that still run are checked as they grow. A section that is not
// written yet was not needed by any that is: each is written before it takes effect. So
// a log without news counts as read up to a moment ago, and if no section leads on, the
// search waits for a while before it tries another order.

// Live describes how logs grow. Its functions are called by one goroutine.
type Live struct {
	// Now returns the calendar's nanoseconds, as the processes have them.
	Now func() int64
	// Wait returns after a moment, or at once when ctx ends.
	Wait func(ctx context.Context)
	// Ended reports whether the processes have ended, so that logs are complete.
	Ended func() bool
	// Progress is called now and then, if it is set.
	Progress func(Progress)
}

// report calls Progress, if it is set and some time has passed since the last call.
func (l *Live) report(last *int64, p func() Progress) {
	if now := l.Now(); l.Progress != nil && now-*last >= int64(progressEvery) {
		*last = now
		l.Progress(p())
	}
}

const (
	// slack is how long a line may take to be seen.
	slack = 200 * time.Millisecond
	// patience is how long a search waits for a section that explains another.
	patience = 2 * time.Second
	// progressEvery is the time between two calls of Progress.
	progressEvery = 250 * time.Millisecond
)

// errNotYet is the error of a log that may still grow.
var errNotYet = errors.New("no further events yet")

// tail reads a file that grows.
type tail struct {
	file fs.File
	live *Live
}

func (t *tail) Read(p []byte) (int, error) {
	ended := t.live.Ended()
	n, err := t.file.Read(p)
	if n == 0 && err == io.EOF && !ended {
		return 0, errNotYet
	}
	return n, err
}

// Progress is the known state of running processes.
type Progress struct {
	Sections  int // explained
	Processes []ProcessProgress
	State     []check.Binding
	// Blocked are sections that nothing explains yet.
	Blocked []Blocked
	// Missing are the instances without a log, for which Follow waits before it
	// begins. Nothing else is set then.
	Missing []string
}

// ProcessProgress is the progress of a process in the specification's state.
type ProcessProgress struct {
	Name     string
	Sections int
	Label    string
	// Waits is what keeps the process from continuing; nil if nothing does.
	Waits *Obstacle
}

func (l *Live) now() int64 {
	if l == nil {
		return 0
	}
	return l.Now()
}

// wait waits for news.
func (l *Live) wait(ctx context.Context) error {
	l.Wait(ctx)
	return ctx.Err()
}

// progress reports how far the search is, if it is time to.
func (s *depthFirst) progress(n *node) {
	if n.state == nil {
		return
	}
	s.stream.live.report(&s.told, func() Progress {
		p := Progress{Sections: n.done, State: s.spec.Show(n.state), Blocked: n.blocked}
		for i, x := range s.stream.processes {
			label, waits := s.spec.Waits(n.state, x.actor)
			p.Processes = append(p.Processes, ProcessProgress{Name: x.name, Sections: n.at[i], Label: label, Waits: waits})
		}
		return p
	})
}

// Follow checks logs that grow in a directory, as Check does. It begins when each
// instance has one, or when the processes have ended. Options.Hidden reports that there
// are also processes that never have one. A directory that cannot be read, or that has
// logs of another system, is an error at once.
func Follow(ctx context.Context, spec Spec, dir fs.FS, system string, o Options) (*Report, error) {
	live := o.Live
	var logs []*Log
	var told int64
	for {
		ended := live.Ended()
		var err error
		if logs, err = openDir(dir, system, live); err != nil && (ended || err != errNoTrace) {
			return nil, err
		}
		absent := missing(spec, logs)
		if ended || len(absent) == 0 {
			o.Hidden = o.Hidden || len(absent) > 0
			break
		}
		live.report(&told, func() Progress { return Progress{Missing: absent} })
		if err := live.wait(ctx); err != nil {
			return &Report{Verdict: Undecided, GaveUp: "it was interrupted", Untraced: absent}, nil
		}
	}
	r, err := Check(ctx, spec, logs, o)
	if err != nil || r.Verdict == Undecided {
		return r, err
	}
	// A process that restarted has one more file, and a rejection is exact only if no
	// log grows: so the current content of the files is checked once more.
	now, err := OpenDir(dir, system)
	if err != nil || r.Verdict != Rejected && len(now) == len(logs) && !r.again {
		return r, err
	}
	o.Live = nil
	again, err := Check(ctx, spec, now, o)
	var early *errNoLife // while processes run, its log may be younger than the list
	if ended := live.Ended(); ended || err == nil && again.Verdict == Rejected || err != nil && !errors.As(err, &early) {
		return again, err
	}
	o.Live = live
	return Follow(ctx, spec, dir, system, o)
}
