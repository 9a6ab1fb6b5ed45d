package model

import "github.com/ashlar-dev/ashlar/internal/tla/core"

// instantiate returns the body of d with args for its parameters. Names that
// the body binds are renamed, so that nothing in args is captured.
func instantiate(d *core.Def, args []core.Expr) core.Expr {
	if len(d.Params) == 0 {
		return d.Body
	}
	return core.ApplyOperator(&core.Lambda{Params: d.Params, Body: d.Body}, args, core.At{Place: d.Span})
}
