// SPDX-License-Identifier: Apache-2.0

package osenv_test

import (
	"sync"
	"testing"

	"github.com/ashlar-dev/ashlar/env/osenv"
)

// TestTasksLoseNoWake hands over numbers through a list that the task empties:
// every one that was put before a Wake must be taken by a step after it.
func TestTasksLoseNoWake(t *testing.T) {
	tasks := osenv.NewTasks()
	defer tasks.Close()
	const n = 20000
	var mu sync.Mutex
	var list []int
	all := make(chan struct{})
	next := 0
	w := tasks.Task(func() bool {
		mu.Lock()
		defer mu.Unlock()
		for _, x := range list {
			if x != next {
				t.Errorf("got %d, want %d", x, next)
			}
			next++
		}
		list = list[:0]
		if next == n {
			close(all)
			next++
		}
		return false
	})
	for i := range n {
		mu.Lock()
		list = append(list, i)
		mu.Unlock()
		w.Wake()
	}
	<-all
}

func TestTasksMoreAndClose(t *testing.T) {
	tasks := osenv.NewTasks()
	done, calls := make(chan struct{}), 0
	w := tasks.Task(func() bool {
		calls++
		if calls == 3 {
			close(done)
		}
		return calls < 3
	})
	w.Wake()
	<-done
	tasks.Close()
	w.Wake() // after the end: nothing
	if calls != 3 {
		t.Fatalf("%d calls, want 3", calls)
	}
}
