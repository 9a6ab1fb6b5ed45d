package model

import (
	"sync"

	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// literal is a value that stands in a tree: an argument that was computed
// outside it.
type literal struct {
	core.At
	val value.Value
}

// Foreign says that core does not know the form.
func (*literal) Foreign() {}

// memo remembers the results of a function. It is safe for concurrent use.
type memo struct {
	mu      sync.Mutex
	results map[uint64][]value.Pair
	size    int
}

func newMemo() *memo { return &memo{results: make(map[uint64][]value.Pair)} }

func (m *memo) get(x value.Value) (value.Value, bool) {
	h := value.Hash(x)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.results[h] {
		if p.Key.Kind() == x.Kind() && value.Equal(p.Key, x) {
			return p.Val, true
		}
	}
	return value.Value{}, false
}

// put remembers that x gives v, unless too much is remembered already.
func (m *memo) put(x, v value.Value) {
	h := value.Hash(x)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.size < MemoMax {
		m.results[h] = append(m.results[h], value.Pair{Key: x, Val: v})
		m.size++
	}
}
