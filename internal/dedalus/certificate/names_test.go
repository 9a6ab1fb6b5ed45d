// SPDX-License-Identifier: Apache-2.0

package certificate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// TestNewNodes: a program must not mention a node that a step creates, wherever it mentions it.
// It may mention other nodes.
func TestNewNodes(t *testing.T) {
	all := append(sequence(t), partial(t, ledgers))
	constant := func(n string) *logic.Term {
		return &logic.Term{Kind: logic.Const, Type: logic.Type{Kind: logic.Node}, Value: logic.Value{Kind: logic.Node, Str: n}}
	}
	static := func(p *logic.Program, v logic.Value, typ logic.Type) {
		p.Relations = append(p.Relations, &logic.Relation{Name: "speaks", Kind: logic.Static, Columns: []logic.Column{{Name: "n", Type: typ}}, Facts: [][]logic.Value{{v}}})
	}
	ways := map[string]func(p *logic.Program, n string){
		"a fact": func(p *logic.Program, n string) {
			static(p, logic.Value{Kind: logic.Node, Str: n}, logic.Type{Kind: logic.Node})
		},
		"a set": func(p *logic.Program, n string) {
			static(p, logic.Value{Kind: logic.SetType, Set: []logic.Value{{Kind: logic.Node, Str: n}}}, logic.Type{Kind: logic.SetType, Elem: &logic.Type{Kind: logic.Node}})
		},
		"a function": func(p *logic.Program, n string) {
			p.Functions = append(p.Functions, &logic.Function{Name: "speaks", Result: logic.Type{Kind: logic.Node}, Body: constant(n)})
		},
	}
	for _, w := range all {
		if err := certificate.Check(w.before, w.after, w.claim); err != nil {
			t.Fatalf("%s: %v", w.step, err)
		}
		made := ""
		for _, c := range w.after.Components {
			before := w.before.Component(c.Name)
			if n := c.Instances * c.Partitions; before == nil || n > before.Instances*before.Partitions {
				made = fmt.Sprintf("%s/%d", c.Name, n-1)
			}
		}
		if made == "" {
			t.Fatalf("%s makes no nodes", w.step)
		}
		component, _, _ := strings.Cut(made, "/")
		for way, change := range ways {
			for node, wrong := range map[string]bool{made: true, component + "/999": false, component: false, component + "/00": false, "c": false} {
				before, after := w.before.Clone(), w.after.Clone()
				change(before, node)
				change(after, node)
				err := certificate.Check(before, after, w.claim)
				if wrong && (err == nil || !strings.Contains(err.Error(), fmt.Sprintf("mentions node %q", node))) || !wrong && err != nil {
					t.Errorf("%s, %s in %s: %v", w.step, node, way, err)
				}
			}
		}
		// In a rule, as the unchanged destination of a message.
		before, after := w.before.Clone(), w.after.Clone()
		for _, p := range []*logic.Program{before, after} {
			for _, c := range p.Components {
				for _, r := range c.Rules {
					if r.Dest != nil && r.Dest.Kind == logic.Const {
						r.Dest = constant(made)
					}
				}
			}
		}
		if before.String() != w.before.String() {
			if err := certificate.Check(before, after, w.claim); err == nil || !strings.Contains(err.Error(), "mentions node") {
				t.Errorf("%s, in a rule: %v", w.step, err)
			}
		}
	}
}

// TestNewComponents: a new component must not have the name of the component that an existing
// one is a piece of.
func TestNewComponents(t *testing.T) {
	for _, w := range sequence(t)[:3] {
		before, after := w.before.Clone(), w.after.Clone()
		for _, p := range []*logic.Program{before, after} {
			p.Components = append(p.Components, &logic.Component{Name: "piece", Of: w.claim.Name, Instances: 1, Partitions: 1})
		}
		if err := certificate.Check(before, after, w.claim); err == nil || !strings.Contains(err.Error(), "of the component that piece is a piece of") {
			t.Errorf("%s: %v", w.step, err)
		}
	}
}
