// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// TestSurePartsAreEvaluated puts an expression without a value into each part
// that the table of forms calls sure: neither evaluator may come to a value
// then. With the parts as they are, both do.
func TestSurePartsAreEvaluated(t *testing.T) {
	texts := []string{
		`a = 3 /\ b`, `a = 4 \/ b`, `IF b THEN 1 ELSE 2`, `CASE b -> 1 [] ~b -> 2 [] OTHER -> 3`,
		`LET z == 1 y(x) == x IN a`, `\A x \in s, y \in {1} : x > 0`, `\E x \in s : x > 1`, `CHOOSE x \in s : x > 1`,
		`{1, 2, a}`, `{x \in s : x > 1}`, `{x + y : x \in s, y \in {1}}`, `[x \in s, y \in {1} |-> x]`, `[s -> {1}]`, `q[2]`,
		`[u |-> 1, v |-> 2]`, `[u : {1}, v : {2}]`, `r.x`, `[q EXCEPT ![1] = @ + 1, ![2] = 5]`, `<<1, a>>`, `s \X {1} \X {2}`,
		`~b`, `b => b`, `b <=> b`, `a = 3`, `a # 3`, `a \in s`, `a \notin s`, `s \subseteq {1}`, `s \cup {1}`, `s \cap {1}`, `s \ {1}`,
		`SUBSET s`, `UNION {s}`, `DOMAIN q`,
		// What is not evaluated here must not be called sure.
		`a = 4 /\ b`, `b \/ ~b`, `~b => b`, `IF ~b THEN 1 ELSE 2`, `\A x \in {}, y \in s : b`, `\E x \in {} : b`, `{x \in {} : b}`,
		`{a : x \in {}, y \in s}`, `[x \in {}, y \in s |-> a]`,
	}
	var defs strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&defs, "E%d == %s\n", i, text)
	}
	e := exprSpec(t, defs.String())
	forms := map[reflect.Type]bool{}
	for i, text := range texts {
		name := fmt.Sprintf("E%d", i)
		d := e.spec.Names[name]
		whole := d.Body
		has := func(reference bool) bool {
			_, err := e.value(t, name, reference, exprState())
			return err == nil
		}
		for _, reference := range []bool{false, true} {
			if !has(reference) {
				t.Errorf("%s has no value (reference=%v)", text, reference)
			}
		}
		for p := range core.Parts(whole, core.EvaluationOrder) {
			if !p.Sure {
				continue
			}
			forms[reflect.TypeOf(whole)] = true
			d.Body = core.Rewrite(whole, func(x core.Expr) core.Expr {
				if x == p.Expr {
					return &core.Bad{}
				}
				return nil
			})
			for _, reference := range []bool{false, true} {
				if has(reference) {
					t.Errorf("%s has a value without %s (reference=%v)", text, core.Format(p.Expr, 0), reference)
				}
			}
		}
		d.Body = whole
	}
	if len(forms) < 20 {
		t.Errorf("only %d forms have sure parts", len(forms))
	}
}
