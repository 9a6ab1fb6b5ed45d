// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// store is an engine that is open. It is for one goroutine.
type store interface {
	// apply makes the changes, as one batch; with sync it returns when they
	// and all before them are durable.
	apply(changes []change, sync bool) error
	// get answers nil for a key without a value.
	get(key []byte) ([]byte, error)
	// scan visits all keys in order. What it gives is valid for the visit.
	scan(visit func(key, value []byte)) error
	// verify is the engine's own check of all that it has.
	verify() error
	close() error
}

// engine is a store that takes part.
type engine struct {
	Name string
	// Version is filled in by the rig from the module's list.
	Module string
	// Setup states how it is set up, Promise what its documentation says about
	// a power failure.
	Setup, Promise string
	// Each reports that every batch is acknowledged as durable.
	Each bool
	// Absent states why the engine is not in this build; "" when it is.
	Absent string
	Open   func(dir string) (store, error)
}

// engines are all, in the order of reports.
func engines() []engine {
	list := append(oursEngines(), rocksdbEngine(), pebbleEngine(), bboltEngine())
	return append(list, badgerEngines()...)
}

// enginesNamed finds engines of a list; "all" are those of this build.
func enginesNamed(list []engine, names []string) ([]engine, error) {
	var found []engine
	for _, name := range names {
		n := len(found)
		var known []string
		for _, e := range list {
			known = append(known, e.Name)
			switch {
			case name == "all" && e.Absent == "":
				found = append(found, e)
			case name == e.Name && e.Absent != "":
				return nil, fmt.Errorf("engine %s is not in this build: %s", name, e.Absent)
			case name == e.Name:
				found = append(found, e)
			}
		}
		if len(found) == n {
			return nil, fmt.Errorf("no engine is called %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	return found, nil
}

// Sizes that are alike for all, so small that flushes and compactions happen
// all the time.
const (
	memtableBytes = 128 << 10
	tableBytes    = 64 << 10
	valueApart    = 2 << 10 // values from here on are kept apart, where an engine does
)
