// SPDX-License-Identifier: Apache-2.0

package program

import "github.com/ashlar-dev/ashlar/internal/tla/core"

// instantiate returns the body of d with args for its parameters. Names that
// the body binds are renamed, so that nothing in args is captured.
func instantiate(d *core.Def, args []core.Expr) core.Expr {
	if len(d.Params) == 0 {
		return d.Body
	}
	return core.ApplyOperator(&core.Lambda{Params: d.Params, Body: d.Body}, args, core.At{Place: d.Span})
}

// Open is the body of a definition with the arguments of the call put in, or
// nil where it cannot be opened.
func (p *Program) Open(e *core.Call) core.Expr {
	d, _ := p.Resolve(e.Def)
	if d == nil || d.Body == nil || d.Recursive || p.IsNative(d) {
		return nil
	}
	body := instantiate(d, e.Args)
	// Arguments are copied to wherever they are used, which must not go on
	// without end.
	if left := openedMax; !countNodes(body, &left) {
		return nil
	}
	return body
}

// openedMax bounds the size of an expression that opening a definition makes,
// the definitions that it mentions not counted.
const openedMax = 1 << 16

// countNodes takes the size of e from left and says whether that was enough.
func countNodes(e core.Expr, left *int) bool {
	*left--
	for x := range core.Children(e, core.EvaluationOrder) {
		if *left < 0 || !countNodes(x, left) {
			return false
		}
	}
	return *left >= 0
}
