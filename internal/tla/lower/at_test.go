// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// TestAtMeansTheNearestExcept: all @ print alike, so this test checks which
// update each belongs to.
func TestAtMeansTheNearestExcept(t *testing.T) {
	var diags source.List
	p := program(scopeModule, &diags)
	if p == nil {
		t.Fatal(diags.Error())
	}
	f := &core.Local{Name: "f"}
	e, ok := p.AlgorithmScope().WithLocals(f).Expr(parsed(t, "[f EXCEPT ![1] = <<@, [@ EXCEPT ![2] = @], @>>]")).(*core.Except)
	if !ok {
		t.Fatal(diags.Error())
	}
	outer := e.Updates[0]
	parts := outer.Value.(*core.Tuple).Elems
	nested := parts[1].(*core.Except)
	inner := nested.Updates[0]
	local := func(x core.Expr) *core.Local { return x.(*core.LocalRef).Local }
	for _, c := range []struct {
		where     string
		got, want *core.Local
	}{
		{"before the inner EXCEPT", local(parts[0]), outer.At},
		{"what the inner EXCEPT changes", local(nested.Fn), outer.At},
		{"the value in the inner EXCEPT", local(inner.Value), inner.At},
		{"after the inner EXCEPT", local(parts[2]), outer.At},
	} {
		if c.got != c.want || c.got == nil {
			t.Errorf("%s: @ is %p, want %p", c.where, c.got, c.want)
		}
	}
	if outer.At == inner.At {
		t.Error("both EXCEPTs have one @")
	}
}
