// SPDX-License-Identifier: Apache-2.0

package program

import "github.com/ashlar-dev/ashlar/internal/tla/core"

// instantiate returns the body of d with args substituted for its parameters.
// It renames the names that the body binds, so that no name in args is
// captured.
func instantiate(d *core.Def, args []core.Expr) core.Expr {
	if len(d.Params) == 0 {
		return d.Body
	}
	return core.ApplyOperator(&core.Lambda{Params: d.Params, Body: d.Body}, args, core.At{Place: d.Span})
}

// Open returns the body of a definition with the arguments of the call
// substituted, or nil if it cannot be expanded.
func (p *Program) Open(e *core.Call) core.Expr {
	d, _ := p.Resolve(e.Def)
	if d == nil || d.Body == nil || d.Recursive || p.IsNative(d) {
		return nil
	}
	body := instantiate(d, e.Args)
	// An argument is copied to every use, which could otherwise make the
	// expression grow without limit.
	if left := openedMax; !countNodes(body, &left) {
		return nil
	}
	return body
}

// openedMax bounds the size of an expanded expression, not counting the
// definitions that it mentions.
const openedMax = 1 << 16

// countNodes subtracts the size of e from left and reports whether left was
// sufficient.
func countNodes(e core.Expr, left *int) bool {
	*left--
	for x := range core.Children(e, core.EvaluationOrder) {
		if *left < 0 || !countNodes(x, left) {
			return false
		}
	}
	return *left >= 0
}
