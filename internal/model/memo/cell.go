// SPDX-License-Identifier: Apache-2.0

package memo

import (
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Cell is a value that is computed once, by the first goroutine that needs it;
// others wait. If the computation fails, the Cell stores the error and raises
// it for every goroutine that needs the value.
type Cell struct {
	done atomic.Bool
	val  value.Value

	mu    sync.Mutex
	err   error
	asker atomic.Pointer[tlcget.Run] // the run on whose behalf it is computed
}

// Get returns the value, and computes it if no goroutine has begun to. asker is
// the run of the worker that needs the value, or nil if that is not known; it
// serves to detect a value that needs itself, which would otherwise wait
// forever.
func (c *Cell) Get(asker *tlcget.Run, compute func() value.Value) value.Value {
	v, err := c.ask(asker, compute)
	if err != nil {
		panic(err)
	}
	return v
}

// Try is Get for a caller that can do without the value: if the computation fails, ok
// is false.
func (c *Cell) Try(asker *tlcget.Run, compute func() value.Value) (v value.Value, ok bool) {
	v, err := c.ask(asker, compute)
	return v, err == nil
}

func (c *Cell) ask(asker *tlcget.Run, compute func() value.Value) (value.Value, error) {
	if c.done.Load() {
		return c.val, nil
	}
	if asker != nil && c.asker.Load() == asker {
		return value.Value{}, &value.Error{Message: "a value is defined by itself: does a recursion not end?"}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done.Load() || c.err != nil {
		return c.val, c.err
	}
	c.asker.Store(asker)
	err := value.Catch(func() { c.val = compute() })
	c.asker.Store(nil)
	if err == nil {
		c.done.Store(true)
	} else if err != error(tlcget.ErrStopped) {
		c.err = err
	}
	return c.val, err
}

// Peek returns the value if it has been computed.
func (c *Cell) Peek() (v value.Value, ok bool) {
	if !c.done.Load() {
		return value.Value{}, false
	}
	return c.val, true
}
