package env

import "sync"

// Serial runs functions one at a time, in the order in which they came: what
// belongs to a Serial needs no lock of its own. There is no goroutine behind it:
// who comes first runs what comes meanwhile. The zero Serial is ready.
type Serial struct {
	mu      sync.Mutex
	queue   []func()
	running bool
}

// Do runs f, or has it run by whoever is running, in which case it returns at
// once. From within a function of the Serial, f runs after that has returned. It
// is safe for concurrent use; functions must not block.
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

// serialKeep is how many functions the queue keeps room for while it is empty.
const serialKeep = 1024

// Waker returns a Waker that has f run in the Serial.
func (s *Serial) Waker(f func()) Waker { return WakeFunc(func() { s.Do(f) }) }

// Tasks runs step machines that may block on the disk.
type Tasks interface {
	// Task makes step a step machine: each time its Waker is woken, step is
	// called soon after, once, and again as long as it answers true. Calls of
	// one step come one at a time.
	Task(step func() (more bool)) Waker
}
