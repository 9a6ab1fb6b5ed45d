// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// Frequent mistakes of beginners, and the repairs that diagnostics suggest.

// wrongLevel reports that the configuration names d for a purpose that d's
// level does not permit.
func (b *builder) wrongLevel(n config.Name, d *core.Def, l, most core.Level, what string) {
	repair := ""
	switch {
	case most == core.StateLevel && l == core.ActionLevel && what == "an invariant":
		repair = "remove the primes; a condition on every step is a property: PROPERTY P, where P == [][" + n.Text + "]_vars"
	case most == core.StateLevel && l == core.ActionLevel:
		repair = "remove the primes"
	case l == core.TemporalLevel && what == "an invariant":
		repair = "PROPERTY " + n.Text
	case l == core.TemporalLevel && what == "a next-state relation":
		repair = "SPECIFICATION " + n.Text + ", without INIT and NEXT"
	}
	diag := source.Diagnostic{Code: WrongLevel, Span: n.Span, Repair: repair,
		Message: n.Text + " is " + levelNames[l] + "; " + what + " must not go beyond " + levelNames[most]}
	if d.Span.IsValid() {
		diag.Related = []source.Note{{Span: d.Span, Message: "defined here"}}
	}
	b.diags.Add(diag)
}

// primeless warns of a next-state relation that does not mention the next
// state, because a prime was probably forgotten.
func (b *builder) primeless(f *formula) {
	if len(b.p.Spec.Variables) > 0 && b.p.Facts(f.expr).Level == core.StateLevel {
		b.m.info.Warnings = append(b.m.info.Warnings,
			"the next-state relation "+f.name+" mentions no primed variable, so it determines no next state: write x' = ... for the next value of x")
	}
}
