// SPDX-License-Identifier: Apache-2.0

package env

import "sync"

// Serial runs functions one at a time, in the order of the calls to Do: state
// that belongs to a Serial needs no lock of its own. It has no goroutine: the
// caller whose function runs first also runs the functions that arrive
// meanwhile. The zero Serial is ready.
type Serial struct {
	mu      sync.Mutex
	queue   []func()
	running bool
}

// Do runs f, unless another caller is running a function: then that caller runs
// f afterwards, and Do returns at once. If a function of the Serial calls Do, f
// runs after that function has returned. Do is safe for concurrent use; f must
// not block.
func (s *Serial) Do(f func()) {
	s.mu.Lock()
	s.queue = append(s.queue, f)
	if s.running {
		s.mu.Unlock()
		return
	}
	s.running = true
	var batch []func()
	for len(s.queue) > 0 {
		batch, s.queue = s.queue, batch[:0]
		s.mu.Unlock()
		for i, f := range batch {
			batch[i] = nil
			f()
		}
		s.mu.Lock()
	}
	if cap(batch) <= serialKeep {
		s.queue = batch[:0]
	}
	s.running = false
	s.mu.Unlock()
}

// serialKeep is the capacity, in functions, that an empty queue retains.
const serialKeep = 1024

// Waker returns a Waker that runs f in the Serial.
func (s *Serial) Waker(f func()) Waker { return WakeFunc(func() { s.Do(f) }) }

// Tasks runs step machines that may block on the disk.
type Tasks interface {
	// Task makes step a step machine: each time its Waker is woken, step is
	// called soon after, once, and again as long as it returns true. Calls of
	// one step come one at a time.
	Task(step func() (more bool)) Waker
}
