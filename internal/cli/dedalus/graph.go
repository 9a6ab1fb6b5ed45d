// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/file"
	"github.com/ashlar-dev/ashlar/internal/cli/page"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

func newGraphCommand(t *console.Terminal) *cobra.Command {
	var svg string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "graph FILE.ded",
		Short: "Draw the dependencies between relations",
		Long: `Graph writes a program's relations and their dependencies, with a box for each
component, in the language of Graphviz. With --svg it draws the graph with Graphviz,
which must be installed. With --json it writes the same as a document
(ashlar-dedalus-graph-1): components with their relations, and edges. Each edge has a
time (sync, next, async, or sent, which leads from a relation in the component that
sends it to the same relation in a component that receives it), and says whether it is
a negation or an aggregate.

Lines: thin within a tick, dashed to the next tick, thick for messages; red with a
dot if a relation depends on the absence of facts, and with a diamond if it depends
on an aggregate of them. Grey boxes are static relations; rounded boxes are inputs and
outputs.

Exit codes: 0 success; 150 errors in the program; 1 files, or Graphviz; 2 usage.`,
		Example: `  ashlar dedalus graph voting.ded > voting.dot
  ashlar dedalus graph voting.ded --svg voting.svg
  ashlar dedalus graph voting.ded --json | jq '.edges[] | select(.when == "sent")'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON && svg != "" {
				return exit.With(exit.Usage, errors.New("--json and --svg exclude each other"))
			}
			p, err := load(t, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return t.JSON(graphOf(p))
			}
			dot := graphOf(p).dot()
			if svg == "" {
				_, err := t.Out.Write([]byte(dot))
				return failed(err)
			}
			picture, err := page.Draw(cmd.Context(), dot)
			if err != nil {
				return failed(err)
			}
			return failed(file.Write(svg, picture, 0o644))
		},
	}
	cmd.Flags().StringVar(&svg, "svg", "", "draw it into `FILE`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the graph as JSON")
	return cmd
}

// graph is the JSON result of graph and the input of its drawing.
type graph struct {
	Schema     string           `json:"schema"`
	Program    string           `json:"program"`
	Components []graphComponent `json:"components"`
	Edges      []graphEdge      `json:"edges"`
}

type graphComponent struct {
	Name      string          `json:"name"`
	Instances int             `json:"instances"`
	Relations []graphRelation `json:"relations"`
}

// graphRelation is a relation in a component, in the order in which rules name them.
type graphRelation struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Durable bool   `json:"durable"`
}

// graphEdge leads from a relation to one that depends on it, or from a relation
// that a component sends to the same relation in another component. Its ends
// are component and relation.
type graphEdge struct {
	From       string `json:"from"`
	To         string `json:"to"`
	When       string `json:"when"`
	Negated    bool   `json:"negated"`
	Aggregates bool   `json:"aggregates"`
}

// graphSent is the When of messages in transit.
const graphSent = "sent"

func graphEnd(c *logic.Component, r *logic.Relation) string { return c.Name + "." + r.Name }

// graphOf is the graph of a program.
func graphOf(p *logic.Program) *graph {
	g := &graph{Schema: "ashlar-dedalus-graph-1", Program: p.Name, Components: []graphComponent{}, Edges: []graphEdge{}}
	for _, c := range p.Components {
		g.component(c)
	}
	for _, from := range p.Components {
		for _, r := range p.Out(from) {
			for _, to := range p.Components {
				if to != from && slices.Contains(p.Refs(to), r) {
					g.Edges = append(g.Edges, graphEdge{From: graphEnd(from, r), To: graphEnd(to, r), When: graphSent})
				}
			}
		}
	}
	return g
}

func (g *graph) component(c *logic.Component) {
	out := graphComponent{Name: c.Name, Instances: c.Instances * c.Partitions, Relations: []graphRelation{}}
	there := map[*logic.Relation]bool{}
	end := func(r *logic.Relation) string {
		if !there[r] {
			there[r] = true
			out.Relations = append(out.Relations, graphRelation{r.Name, graphKind(r), r.Durable})
		}
		return graphEnd(c, r)
	}
	seen := map[graphEdge]bool{}
	for _, r := range c.Rules {
		head := end(r.Head.Relation)
		for _, l := range r.Body {
			if l.Atom == nil {
				continue
			}
			e := graphEdge{From: end(l.Atom.Relation), To: head, When: graphWhen(r.Kind), Negated: l.Negated, Aggregates: r.Head.Aggregates()}
			if !seen[e] {
				seen[e] = true
				g.Edges = append(g.Edges, e)
			}
		}
	}
	g.Components = append(g.Components, out)
}

// graphKind returns how a relation is declared; "derived" means that rules
// compute it.
func graphKind(r *logic.Relation) string {
	switch r.Kind {
	case logic.Static:
		return "static"
	case logic.Input:
		return "input"
	case logic.Output:
		return "output"
	case logic.Timer:
		return "timer"
	}
	return "derived"
}

func graphWhen(k logic.RuleKind) string {
	return map[logic.RuleKind]string{logic.Sync: "sync", logic.Next: "next", logic.Async: "async"}[k]
}

// dot is the graph in the language of Graphviz.
func (g *graph) dot() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  rankdir=LR\n  node [shape=box fontname=\"sans-serif\" fontsize=11]\n", g.Program)
	fmt.Fprintf(&b, "  edge [color=\"#555555\" arrowsize=0.7]\n")
	for i, c := range g.Components {
		fmt.Fprintf(&b, "  subgraph cluster_%d {\n    label=%q style=rounded color=\"#999999\" fontname=\"sans-serif\"\n", i, fmt.Sprintf("%s × %d", c.Name, c.Instances))
		for _, r := range c.Relations {
			fmt.Fprintf(&b, "    %q [label=%q%s]\n", c.Name+"."+r.Name, r.Name, r.style())
		}
		b.WriteString("  }\n")
	}
	drawn := map[string]bool{}
	for _, e := range g.Edges {
		// Edges that look the same when drawn become one line.
		if line := fmt.Sprintf("  %q -> %q [%s]\n", e.From, e.To, e.style()); !drawn[line] {
			drawn[line] = true
			b.WriteString(line)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

func (r graphRelation) style() string {
	switch r.Kind {
	case "static":
		return " style=filled fillcolor=\"#eeeeee\""
	case "input", "output", "timer":
		return " style=\"rounded,bold\""
	}
	if r.Durable {
		return " peripheries=2"
	}
	return ""
}

func (e graphEdge) style() string {
	if e.When == graphSent {
		return "penwidth=2.5 color=\"#1f5fbf\""
	}
	style := map[string]string{"sync": "style=solid", "next": "style=dashed", "async": "style=solid penwidth=2.5"}[e.When]
	switch {
	case e.Negated:
		style += " color=\"#bf2f1f\" arrowhead=dot"
	case e.Aggregates:
		style += " arrowhead=diamond"
	}
	return style
}
