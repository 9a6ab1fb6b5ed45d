// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"sync"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// MapMax bounds the number of resources in a Map.
const MapMax = 1 << 20

// Map is a resource with an index: x[i] is the resource that fill makes for i
// on first use.
type Map struct {
	fill func(key value.Value) (distsys.Resource, error)

	mu   sync.Mutex
	subs map[uint64][]entry // by hash of the key
	n    int
}

type entry struct {
	key value.Value
	res distsys.Resource
}

var _ distsys.Selector = (*Map)(nil)

// NewMap returns an empty map. An error of fill ends the run of the instance
// that used the index.
func NewMap(fill func(key value.Value) (distsys.Resource, error)) *Map {
	return &Map{fill: fill, subs: map[uint64][]entry{}}
}

// Select implements Selector.
func (m *Map) Select(idx []value.Value) (distsys.Resource, []value.Value, error) {
	if len(idx) == 0 {
		return nil, nil, fmt.Errorf("a map of resources needs an index")
	}
	key := idx[0]
	h := value.Hash(key)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.subs[h] {
		if value.Equal(e.key, key) {
			return e.res, idx[1:], nil
		}
	}
	if m.n >= MapMax {
		return nil, nil, fmt.Errorf("a map of resources has more than %d indices", MapMax)
	}
	r, err := m.fill(key)
	if err != nil {
		return nil, nil, fmt.Errorf("index %s: %w", key, err)
	}
	m.subs[h] = append(m.subs[h], entry{key, r})
	m.n++
	return r, idx[1:], nil
}

// Read is not called on a Selector.
func (m *Map) Read(*distsys.Tx, []value.Value) (value.Value, error) {
	return value.Value{}, errSelector
}

// Write is not called on a Selector.
func (m *Map) Write(*distsys.Tx, []value.Value, value.Value) error { return errSelector }

// PreCommit is not called on a Selector.
func (m *Map) PreCommit(*distsys.Tx) error { return errSelector }

// Commit is not called on a Selector.
func (m *Map) Commit(*distsys.Tx) {}

// Abort is not called on a Selector.
func (m *Map) Abort(*distsys.Tx) {}

var errSelector = fmt.Errorf("a map of resources has no value of its own")
