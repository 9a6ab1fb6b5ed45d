package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/dedalus/logic"
)

func newDedalusGraphCommand(t *term) *cobra.Command {
	var svg string
	cmd := &cobra.Command{
		Use:   "graph FILE.ded",
		Short: "Draw what depends on what",
		Long: `Graph writes a program's relations and what they depend on, a box for each
component, in the language of Graphviz. With --svg it has Graphviz draw that, which
must be installed.

Lines: thin within a tick, dashed to the next tick, thick for messages; red with a
dot where a relation depends on the absence of facts, and with a diamond where it
depends on an aggregate of them. Grey boxes are static relations, rounded ones come
from outside or go there.

Exit codes: 0 it worked; 150 errors in the program; 1 files, or Graphviz; 2 usage.`,
		Example: `  ashlar dedalus graph voting.ded > voting.dot
  ashlar dedalus graph voting.ded --svg voting.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := loadDedalus(t, args[0])
			if err != nil {
				return err
			}
			dot := dedalusDot(p)
			if svg == "" {
				_, err := t.out.Write([]byte(dot))
				return failed(err)
			}
			picture, err := drawDot(cmd.Context(), dot)
			if err != nil {
				return failed(err)
			}
			return failed(writeOutput(svg, picture, 0o644))
		},
	}
	cmd.Flags().StringVar(&svg, "svg", "", "draw it into `FILE`")
	return cmd
}

var errNoGraphviz = errors.New("drawing needs Graphviz (the program dot), which is not installed")

// drawDot has Graphviz make an SVG.
func drawDot(ctx context.Context, dot string) ([]byte, error) {
	path, err := exec.LookPath("dot")
	if err != nil {
		return nil, errNoGraphviz
	}
	var complaint strings.Builder
	cmd := exec.CommandContext(ctx, path, "-Tsvg")
	cmd.Stdin, cmd.Stderr = strings.NewReader(dot), &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("draw the graph: %w: %s", err, complaint.String())
	}
	return out, nil
}

// dotEdge is a line between two relations of a component, or from a relation that
// one sends to the one that another receives.
type dotEdge struct{ from, to, style string }

// dedalusDot is a program in the language of Graphviz.
func dedalusDot(p *logic.Program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  rankdir=LR\n  node [shape=box fontname=\"sans-serif\" fontsize=11]\n", p.Name)
	fmt.Fprintf(&b, "  edge [color=\"#555555\" arrowsize=0.7]\n")
	var edges []dotEdge
	for i, c := range p.Components {
		fmt.Fprintf(&b, "  subgraph cluster_%d {\n    label=%q style=rounded color=\"#999999\" fontname=\"sans-serif\"\n", i, fmt.Sprintf("%s × %d", c.Name, c.Instances*c.Partitions))
		drawn := map[*logic.Relation]bool{}
		node := func(r *logic.Relation) string {
			id := fmt.Sprintf("%s.%s", c.Name, r.Name)
			if !drawn[r] {
				drawn[r] = true
				fmt.Fprintf(&b, "    %q [label=%q%s]\n", id, r.Name, dotStyle(r))
			}
			return id
		}
		seen := map[dotEdge]bool{}
		for _, r := range c.Rules {
			head := node(r.Head.Relation)
			for _, l := range r.Body {
				if l.Atom == nil {
					continue
				}
				e := dotEdge{node(l.Atom.Relation), head, ruleStyle(r, l.Negated)}
				if !seen[e] {
					seen[e] = true
					edges = append(edges, e)
				}
			}
		}
		b.WriteString("  }\n")
	}
	for _, from := range p.Components {
		for _, r := range p.Out(from) {
			for _, to := range p.Components {
				for _, in := range p.Refs(to) {
					if in == r && to != from {
						edges = append(edges, dotEdge{from.Name + "." + r.Name, to.Name + "." + r.Name, "penwidth=2.5 color=\"#1f5fbf\""})
					}
				}
			}
		}
	}
	for _, e := range edges {
		fmt.Fprintf(&b, "  %q -> %q [%s]\n", e.from, e.to, e.style)
	}
	b.WriteString("}\n")
	return b.String()
}

func dotStyle(r *logic.Relation) string {
	switch r.Kind {
	case logic.Static:
		return " style=filled fillcolor=\"#eeeeee\""
	case logic.Input, logic.Output, logic.Timer:
		return " style=\"rounded,bold\""
	}
	if r.Durable {
		return " peripheries=2"
	}
	return ""
}

func ruleStyle(r *logic.Rule, negated bool) string {
	style := map[logic.RuleKind]string{logic.Sync: "style=solid", logic.Next: "style=dashed", logic.Async: "style=solid penwidth=2.5"}[r.Kind]
	switch {
	case negated:
		style += " color=\"#bf2f1f\" arrowhead=dot"
	case r.Head.Aggregates():
		style += " arrowhead=diamond"
	}
	return style
}
