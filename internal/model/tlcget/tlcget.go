// SPDX-License-Identifier: Apache-2.0

// Package tlcget has what a specification sees and changes of the run that
// evaluates it: the registers of TLCGet and TLCSet, the properties of the run that
// TLCGet knows by name, random numbers, output, files.
//
// In: Settings, which connect a run to its surroundings, and from the worker where
// it is (level, action, whether the initial predicate is evaluated). Out: a
// stdlib.Context, which the operators of the standard modules use.
//
// Promised: each worker has its own Run, so none waits for another; random numbers
// depend on the seed and on the number of the worker only; an evaluation that is
// repeated to explain an error (Mute) prints and writes nothing again. Refused: a
// name that the run does not have is an evaluation error, and so is
// TLCGet("all") while workers are evaluating.
package tlcget

import (
	"strconv"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// The records that TLCGet returns have the fields of TLC's records that have a
// meaning here.
const (
	// The revision is for specifications that require a recent TLC. Its date is that
	// of the TLC whose behaviour this package implements.
	revisionTag       = "ashlar"
	revisionDate      = "2026-04-29"
	revisionTimestamp = 1_777_420_800
	// notSet is the value of a setting that the mode does not have.
	notSet = -1
)

// Progress is the progress of the run, which a specification may read with
// TLCGet.
type Progress struct {
	Generated, Distinct, Queue int64
	Diameter                   int
	DurationSeconds            int64
	Walks                      int64 // in a simulation
}

// The modes of a Configuration.
const (
	Search   = "bfs"
	Simulate = "simulate"
)

// Configuration has the settings of the run that a specification may read.
type Configuration struct {
	Mode     string // "" is Search
	Workers  int
	Deadlock bool
	// Depth, Walks and Seed are settings of a simulation.
	Depth, Walks int64
	Seed         uint64
}

// property returns a property of the run by its name.
func (r *Run) property(name string) (value.Value, bool) {
	switch name {
	case "level":
		return value.Int(int32(r.Level)), true
	case "config":
		return r.shared.settings.Configuration.record(), true
	case "revision":
		return Record("count", value.Int(0), "date", value.String(revisionDate), "tag", value.String(revisionTag),
			"timestamp", value.Int(revisionTimestamp)), true
	case "action":
		return r.candidate()
	case "all":
		return r.all(), true
	case "spec":
		if r.shared.settings.Spec == nil {
			return value.Value{}, false
		}
		return r.shared.settings.Spec(), true
	}
	if r.shared.settings.Progress == nil {
		return value.Value{}, false
	}
	now := r.shared.settings.Progress()
	figures := []struct {
		name string
		n    int64
	}{
		{"diameter", int64(now.Diameter)}, {"distinct", now.Distinct}, {"duration", now.DurationSeconds},
		{"generated", now.Generated}, {"queue", now.Queue}, {"traces", now.Walks},
	}
	var fields []any
	for _, f := range figures {
		v := value.Int(int32(min(f.n, 1<<31-1)))
		if f.name == name {
			return v, true
		}
		if f.name != "traces" || r.shared.settings.Configuration.Mode == Simulate {
			fields = append(fields, f.name, v)
		}
	}
	if name == "stats" {
		return Record(fields...), true
	}
	return value.Value{}, false
}

// candidate returns the action that produced the candidate.
func (r *Run) candidate() (value.Value, bool) {
	if r.Action == 0 || r.shared.settings.Actions == nil {
		return value.Value{}, false
	}
	name, place := "Initial predicate", ""
	if i := r.Action - 2; i >= 0 {
		a := r.shared.settings.Actions()[i]
		name, place = a.Name, a.Place
	}
	return Record("location", value.String(place), "name", value.String(name)), true
}

// Record returns a record; the arguments are alternately names and values.
func Record(pairs ...any) value.Value {
	fields := make([]value.Field, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		fields = append(fields, value.Field{Name: pairs[i].(string), Val: pairs[i+1].(value.Value)})
	}
	return value.Record(fields)
}

func (c Configuration) record() value.Value {
	mode, depth, walks := c.Mode, int32(notSet), int32(notSet)
	if mode == "" {
		mode = Search
	}
	if mode == Simulate {
		depth, walks = int32(min(c.Depth, 1<<31-1)), int32(min(c.Walks, 1<<31-1))
	}
	return Record("deadlock", value.Bool(c.Deadlock), "depth", value.Int(depth), "mode", value.String(mode),
		"seed", value.String(strconv.FormatUint(c.Seed, 10)), "traces", value.Int(walks), "worker", value.Int(int32(c.Workers)))
}
