// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"
)

// settings are what every engine is given. What an engine makes of them it
// says in setup.
type settings struct {
	Memory   int64 // bytes for everything: engine, page cache, and this program
	CPUs     int
	Clients  int
	SyncEach bool // every write is durable when it returns
	Compress bool // values compress: each engine as it does by default
	Blind    bool // the phase reads nothing: writes may be held back until sync
}

// Shares of the memory: at 512 MiB a block cache of 256 MiB and three
// memtables of 32 MiB, which leaves 160 MiB for indexes, page cache and the
// process. An engine with one bound for all gets all but an eighth.
func (s settings) cache() int64    { return s.Memory / 2 }
func (s settings) memtable() int64 { return s.Memory / 16 }
func (s settings) all() int64      { return s.Memory - s.Memory/8 }

const (
	memtables = 3
	bloomBits = 10
)

// errAbsent is what get answers for a key that is not there.
var errAbsent = errors.New("no such key")

// store is an open engine, safe for concurrent use.
type store interface {
	put(key, value []byte) error
	// get appends the value to dst, which holds nothing but it then.
	get(key, dst []byte) ([]byte, error)
	// scan calls visit with records from the first key at or above from on,
	// until there are no more or visit says that it has enough. A nil from is
	// below every key. What visit is given is valid until it returns.
	scan(from []byte, want int, visit func(key, value []byte) bool) error
	// sync makes everything that was put durable.
	sync() error
	// settle returns when the work in the background has come to rest, or
	// when stop says so.
	settle(stop func() bool) error
	close() error
}

// merger is a store that merges without reading. Operands are those of
// applyOperand.
type merger interface {
	merge(key, operand []byte) error
}

// engine is a peer, or ours.
type engine struct {
	Name string
	// Peer reports that targets are measured against it; LogFree that it keeps no
	// log, so that it is measured against others without one only.
	Peer, LogFree bool
	// Ours reports that it is the store of this repository.
	Ours bool
	// Absent states why the engine is not in this build; "" when it is.
	Absent string
	// Setup lists how it is set up and why, for the report.
	Setup func(s settings) []string
	Open  func(dir string, s settings) (store, error)
}

// engines are all, in the order of reports.
func engines() []engine {
	list := ours()
	list = append(list, rocksdbEngines()...)
	return append(list, pebbleEngine("pebble", false), pebbleEngine("pebble-nolog", true), badgerEngine(), bboltEngine())
}

// enginesNamed finds engines by name; "all" is every one of this build.
func enginesNamed(names []string) ([]engine, error) {
	var found []engine
	for _, name := range names {
		if name == "all" {
			for _, e := range engines() {
				if e.Absent == "" {
					found = append(found, e)
				}
			}
			continue
		}
		e, err := engineNamed(name)
		if err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	return found, nil
}

func engineNamed(name string) (engine, error) {
	var names []string
	for _, e := range engines() {
		if e.Name == name {
			if e.Absent != "" {
				return engine{}, fmt.Errorf("engine %s is not in this build: %s", name, e.Absent)
			}
			return e, nil
		}
		names = append(names, e.Name)
	}
	return engine{}, fmt.Errorf("no engine is called %q; there are %s", name, strings.Join(names, ", "))
}

// compression is the line of setup that says what an engine does about it.
func (s settings) compression(byDefault string) string {
	if s.Compress {
		return "compression: " + byDefault + ", its default"
	}
	return "no compression: values do not compress"
}

func mib(n int64) string { return fmt.Sprintf("%g MiB", float64(n)/(1<<20)) }
