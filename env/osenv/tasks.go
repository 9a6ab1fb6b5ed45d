// SPDX-License-Identifier: Apache-2.0

package osenv

import (
	"sync"

	"github.com/ashlar-dev/ashlar/env"
)

// Tasks runs step machines, each in its own goroutine, until Close.
type Tasks struct {
	stop chan struct{}
	once sync.Once
	wg   sync.WaitGroup
}

var _ env.Tasks = (*Tasks)(nil)

// NewTasks returns a Tasks without any tasks.
func NewTasks() *Tasks { return &Tasks{stop: make(chan struct{})} }

// Task implements env.Tasks. It must not be called after Close.
func (t *Tasks) Task(step func() (more bool)) env.Waker {
	kick := make(chan struct{}, 1)
	signal := env.NewSignal(func() {
		select {
		case kick <- struct{}{}:
		default:
		}
	})
	t.wg.Go(func() {
		for {
			select {
			case <-t.stop:
				return
			case <-kick:
			}
			for more := signal.Take(); more; {
				select {
				case <-t.stop:
					return
				default:
				}
				again := step()
				more = signal.Take() || again
			}
		}
	})
	return signal
}

// Close ends all tasks and returns when no step is running.
func (t *Tasks) Close() {
	t.once.Do(func() { close(t.stop) })
	t.wg.Wait()
}
