// Package locks shows package sync and goroutines.
package locks

import "sync"

type store struct {
	mu    sync.Mutex
	rw    *sync.RWMutex
	cond  *sync.Cond
	wg    sync.WaitGroup
	value uint64
}

func open() *store {
	s := &store{rw: new(sync.RWMutex), value: 1}
	s.cond = sync.NewCond(&s.mu)
	return s
}

func (s *store) get() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.value == 0 {
		return 5
	}
	return s.value
}

func (s *store) waitFor(x uint64) {
	s.mu.Lock()
	for s.value != x {
		s.cond.Wait()
	}
	s.mu.Unlock()
}

func (s *store) both() (uint64, bool) {
	s.rw.RLock()
	defer s.rw.RUnlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value, true
}

func (s *store) add(n uint64) {
	s.mu.Lock()
	s.value += n
	s.cond.Broadcast()
	s.mu.Unlock()
	s.wg.Done()
}

func (s *store) threads(n uint64) {
	for i := uint64(0); i < n; i++ {
		s.wg.Add(1)
		go s.add(i)
		go func() {
			if i > 5 {
				return
			}
			s.cond.Signal()
		}()
		go func(x uint64) {
			x++
			s.add(x)
		}(i + s.value)
	}
	s.wg.Wait()
}
