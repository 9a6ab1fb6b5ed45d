// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ashlar-dev/ashlar"
	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// How long the check may go on when the processes have ended, to say what it has
// found: after a signal, and otherwise.
const (
	verdictTime    = 250 * time.Millisecond
	verdictTimeMax = 30 * time.Second
)

// statusEvery is the time between two reports of what the processes do.
const statusEvery = time.Second

// checked is the outcome of the check of the traces.
type checked struct {
	r   *ashlar.Replayed
	err error
}

// follow checks the traces until the processes have ended or are to stop.
func (s *system) follow(ctx context.Context) (*ashlar.Replayed, error) {
	check, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var ended atomic.Bool
	progress := make(chan ashlar.Progress, 1)
	verdict := make(chan checked, 1)
	go func() { // ends when ended is set, at the latest when check is cancelled
		r, err := ashlar.Replay(check, s.spec, os.DirFS(s.traces), ashlar.ReplayOptions{Options: s.o.library.Options(s.o.config),
			Follow: &ashlar.Follow{Ended: ended.Load, Progress: func(p ashlar.Progress) {
				select {
				case progress <- p:
				default: // the one before was not shown yet
				}
			}}})
		verdict <- checked{r, err}
	}()
	early := s.watch(ctx, progress, verdict)
	s.ran = time.Since(s.began)
	s.t.End.Serve(0) // not for ever: nobody may read the output
	stopped := s.stop()
	ended.Store(true)
	last := time.AfterFunc(verdictTimeMax, cancel)
	defer last.Stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(verdictTime, cancel) })()
	if early == nil {
		c := <-verdict
		early = &c
	}
	if early.err == nil && stopped != nil {
		if early.r.Verdict == ashlar.Accepted {
			return nil, stopped
		}
		s.say("%v", stopped)
	}
	return early.r, early.err
}

// watch shows what the processes do until they are to stop. It returns the verdict if
// that is why.
func (s *system) watch(ctx context.Context, progress <-chan ashlar.Progress, verdict <-chan checked) *checked {
	var over <-chan time.Time
	if s.o.span > 0 {
		timer := time.NewTimer(s.o.span)
		defer timer.Stop()
		over = timer.C
	}
	one := make(chan *process)
	gone := make(chan struct{})
	defer close(gone)
	for _, p := range s.processes {
		go func() { // ends with the process, or with watch
			select {
			case <-p.ended:
				select {
				case one <- p:
				case <-gone:
				}
			case <-gone:
			}
		}()
	}
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	var now, before ashlar.Progress
	for running := len(s.processes); running > 0; {
		select {
		case c := <-verdict:
			return &c
		case p := <-one:
			if running--; p.failed() != nil {
				return nil
			}
		case <-over:
			return nil
		case <-ctx.Done():
			return nil
		case now = <-progress:
		case <-tick.C:
			s.status(now, before)
			before = now
		}
	}
	return nil
}

// status reports what the processes do.
func (s *system) status(now, before ashlar.Progress) {
	if s.o.json {
		return
	}
	if len(now.Missing) > 0 {
		fmt.Fprintf(s.t.Err, "waiting for the traces of %s\n", strings.Join(now.Missing, ", "))
	}
	if len(now.Processes) == 0 {
		return
	}
	was := map[string]int{}
	for _, p := range before.Processes {
		was[p.Name] = p.Sections
	}
	fmt.Fprintf(s.t.Err, "%.0fs: %d sections checked%s\n", time.Since(s.began).Seconds(), now.Sections, s.mailboxes(now))
	for _, p := range now.Processes {
		line := fmt.Sprintf("  %s: %d sections a second, at %s", p.Name, int(float64(p.Sections-was[p.Name])/statusEvery.Seconds()), p.Label)
		if p.Waits != "" {
			line += fmt.Sprintf(", waits at %s: %s: %s", p.Place, p.Waits, p.Reason)
		}
		fmt.Fprintln(s.t.Err, line)
	}
	for _, b := range now.Blocked {
		fmt.Fprintf(s.t.Err, "  nothing explains yet what %s did in %s:%d: %s\n", b.Process, b.File, b.Line, b.Reason)
	}
}

// mailboxes describes the mailboxes with messages in the state of the specification.
func (s *system) mailboxes(p ashlar.Progress) string {
	var out []string
	for _, b := range p.State {
		if s.conf.Resources[b.Name].Kind != distsys.KindMailboxes {
			continue
		}
		v, err := value.Parse(b.Value)
		if err != nil || v.Kind() != value.KindTuple && v.Kind() != value.KindFn {
			continue
		}
		for _, i := range v.Domain().Elems() {
			if box := v.Apply(i); box.Kind() == value.KindTuple && box.Len() > 0 {
				out = append(out, fmt.Sprintf("%s[%s] has %d", b.Name, i, box.Len()))
			}
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "; messages: " + strings.Join(out, ", ")
}
