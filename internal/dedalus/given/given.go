// SPDX-License-Identifier: Apache-2.0

// Package given is what tests of the Dedalus rooms are given: programs from text,
// and messages from outside for them.
package given

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/lower"
	"github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// Program reads a program. The test ends if it is none.
func Program(t testing.TB, text string) *logic.Program {
	t.Helper()
	p, errs := Read(text)
	if p == nil {
		t.Fatal(errs)
	}
	return p
}

// Read reads a program. It is nil if it is none; errs is what to show the user.
func Read(text string) (p *logic.Program, errs string) {
	var diags source.List
	f := syntax.Parse(source.NewFile("p.ded", []byte(text)), &diags)
	if !diags.HasErrors() {
		p = lower.Lower(f, &diags)
	}
	var b strings.Builder
	diags.Print(&b)
	return p, b.String()
}

// Inputs are n messages to each input of a program, at the first instance of the
// component that reads it.
func Inputs(p *logic.Program, n uint64) []interp.Message {
	var out []interp.Message
	for _, c := range p.Components {
		for _, r := range p.In(c) {
			if r.Kind != logic.Input {
				continue
			}
			for i := range n {
				var row []logic.Value
				for _, col := range r.Columns {
					v := logic.Value{Kind: col.Type.Kind, Num: i}
					switch v.Kind {
					case logic.Node:
						v = logic.Value{Kind: logic.Node, Str: "client"}
					case logic.Bytes:
						v = logic.Value{Kind: logic.Bytes, Str: fmt.Sprint("v", i)}
					}
					row = append(row, v)
				}
				out = append(out, interp.Message{To: logic.NodeName(c.Name, 0), Fact: interp.Fact{Relation: r, Row: row}})
			}
		}
	}
	return out
}
