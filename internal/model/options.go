// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/direct"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/tla/stdlib"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Options choose how a model is evaluated. The zero Options are the default.
type Options struct {
	// Reference selects the tree-walking evaluator in place of the compiled one.
	Reference bool
	// Constants are values of constants without parameters that the
	// configuration does not give.
	Constants map[string]value.Value
	// Output receives what Print and PrintT print, one call per line, without
	// a line end. It may be called from several workers at once. Nil: discarded.
	Output func(line string)
	// Seed starts the sequence of RandomElement and its kin.
	Seed uint64
	// Now gives JavaTime. Nil: JavaTime is an evaluation error.
	Now func() int32
	// Files is what IOUtils, Json and CSV read and write; Environment is the
	// value of IOEnv. If they are nil, using them is an evaluation error.
	Files       stdlib.Files
	Environment func() map[string]string
	// Progress gives what TLCGet knows of the run. Nil: TLCGet of such a name
	// is an evaluation error.
	Progress func() tlcget.Progress
	// Configuration is the value of TLCGet("config").
	Configuration tlcget.Configuration
	// Exit is called, by any worker, when the specification ends the run with
	// TLCSet("exit", TRUE). Nil: the run continues.
	Exit func()

	// Profile counts how often expressions are evaluated: see Model.Profile.
	Profile bool
	// Reduce requests a partial-order reduction of the search of an algorithm, where it
	// is known to be sound. Model.Reduction reports what it achieved.
	Reduce bool
	// Traces is set for a model whose algorithm is executed step by step. The
	// next-state relation is the algorithm's then: if the configuration has another
	// one, New warns and does not use it.
	Traces bool
	// SafetyOnly reports that properties of behaviours will not be checked.
	SafetyOnly bool

	// direct is the algorithm with which NewDirect replaces a next-state
	// relation.
	direct *direct.Algorithm
	// permute names orbits by trying permutations even if sorting would suffice.
	// Tests compare the two.
	permute bool
	// pure evaluates native definitions by their TLA+ bodies, if they have one.
	// Tests compare the two.
	pure bool
}

// settings connects a run to its surroundings.
func (o Options) settings(m *Model) tlcget.Settings {
	return tlcget.Settings{
		Output: o.Output, Seed: o.Seed, Now: o.Now, Files: o.Files, Environment: o.Environment,
		Progress: o.Progress, Configuration: o.Configuration, Exit: o.Exit,
		Actions: func() []check.Action { return m.info.Actions }, Spec: m.parts,
	}
}

// program returns the options that bind the specification.
func (o Options) program() program.Options {
	return program.Options{Constants: o.Constants, Pure: o.pure}
}
