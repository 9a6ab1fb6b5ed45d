// SPDX-License-Identifier: Apache-2.0

package space

import (
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// op is a running operation of the application: its time limit, and its place
// among the running operations. An operation embeds it as a field, and must end
// it exactly once.
type op struct {
	s          *Space
	alarm      alarm
	until      env.Instant // 0: no bound
	bytes      int64
	self       failer
	prev, next *op
	live       bool
}

// failer ends an operation with an error that is no server's answer:
// ErrDeadline or ErrClosed.
type failer interface{ fail(err error) }

// admit returns an error if there is no room for one more operation with that
// many bytes.
func (s *Space) admit(bytes int64) error {
	switch {
	case s.closed:
		return wor.ErrClosed
	case s.ops >= s.o.OpsMax:
		return fmt.Errorf("%w: %w", wor.ErrBusy, &wor.LimitError{Name: "Options.OpsMax", Limit: int64(s.o.OpsMax), Got: int64(s.ops) + 1})
	case s.bytes+bytes > s.o.BytesMax && s.ops > 0:
		return fmt.Errorf("%w: %w", wor.ErrBusy, &wor.LimitError{Name: "Options.BytesMax", Limit: s.o.BytesMax, Got: s.bytes + bytes})
	}
	return nil
}

// begin enters an admitted operation.
func (o *op) begin(s *Space, bytes int64, within time.Duration, self failer) {
	o.s, o.bytes, o.self, o.live = s, bytes, self, true
	s.ops++
	s.bytes += bytes
	o.next = s.first
	if o.next != nil {
		o.next.prev = o
	}
	s.first = o
	if within > 0 {
		o.until = s.clock.Now().Add(within)
		s.agenda.set(&o.alarm, o.until, o)
	}
}

// end removes the operation; it reports whether it was running.
func (o *op) end() bool {
	if !o.live {
		return false
	}
	s := o.s
	o.live = false
	s.agenda.drop(&o.alarm)
	s.ops--
	s.bytes -= o.bytes
	if o.prev != nil {
		o.prev.next = o.next
	} else {
		s.first = o.next
	}
	if o.next != nil {
		o.next.prev = o.prev
	}
	o.prev, o.next = nil, nil
	return true
}

func (o *op) ring(*alarm) { o.self.fail(wor.ErrDeadline) }
