// SPDX-License-Identifier: Apache-2.0

package memo

import (
	"sync"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// resultsMax bounds the stored results of one function.
const resultsMax = 1 << 16

// Function stores the results of a function. It is safe for concurrent use.
type Function struct {
	mu      sync.Mutex
	results map[uint64][]value.Pair
	size    int
}

// NewFunction returns a Function without results.
func NewFunction() *Function { return &Function{results: make(map[uint64][]value.Pair)} }

// Get returns the stored result for x.
func (m *Function) Get(x value.Value) (value.Value, bool) {
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

// Put stores the result v for x, unless there are resultsMax results.
func (m *Function) Put(x, v value.Value) {
	h := value.Hash(x)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.size < resultsMax {
		m.results[h] = append(m.results[h], value.Pair{Key: x, Val: v})
		m.size++
	}
}
