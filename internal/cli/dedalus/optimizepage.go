// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"context"
	_ "embed" // the page
	"errors"
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/cli/page"
	"github.com/ashlar-dev/ashlar/internal/dedalus/cost"
)

//go:embed optimize.html
var optimizePageText string

// writeOptimizePage writes a self-contained page about an optimization, with its
// data and pictures.
func writeOptimizePage(ctx context.Context, name string, d *optimizeDocument) error {
	data, err := page.Data(d)
	if err != nil {
		return err
	}
	before, err := drawFlows(ctx, d.Before)
	if err != nil {
		return err
	}
	after, err := drawFlows(ctx, d.After)
	if err != nil {
		return err
	}
	return page.Write(name, optimizePageText, map[string]page.HTML{
		"Title": page.Text(d.Result.Original.Name), "Before": before, "After": after, "Data": data,
	})
}

// drawFlows draws the components and the messages between them. Without Graphviz, the
// page says so instead.
func drawFlows(ctx context.Context, e *cost.Estimate) (page.HTML, error) {
	svg, err := page.Draw(ctx, flowsDot(e))
	if errors.Is(err, page.ErrNoGraphviz) {
		return "<p class=\"dim\">" + page.Text(err.Error()) + "</p>", nil
	}
	if err != nil {
		return "", err
	}
	_, picture, ok := strings.Cut(string(svg), "<svg")
	if !ok {
		return "", errors.New("draw the graph: Graphviz made no picture")
	}
	return page.HTML("<svg" + picture), nil
}

// flowsDot returns an estimate in the language of Graphviz: a box for each component,
// redder the busier it is, and a line for the messages that a command causes between
// two components.
func flowsDot(e *cost.Estimate) string {
	var b strings.Builder
	b.WriteString("digraph flows {\n  rankdir=LR\n  node [shape=box style=\"rounded,filled\" fontname=\"sans-serif\" fontsize=11]\n")
	b.WriteString("  edge [color=\"#555555\" fontname=\"sans-serif\" fontsize=9 arrowsize=0.7]\n")
	fmt.Fprintf(&b, "  %q [shape=ellipse fillcolor=\"#ffffff\"]\n", cost.Clients)
	busiest := 0.0
	for _, c := range e.Components {
		if !c.Outside {
			busiest = max(busiest, c.Busiest.Total())
		}
	}
	for _, c := range e.Components {
		share := 0.0
		if busiest > 0 && !c.Outside {
			share = c.Busiest.Total() / busiest
		}
		fmt.Fprintf(&b, "  %q [label=\"%s\\n%d × %d machines\\n%.2f us\" fillcolor=\"0.02 %.3f 1.0\"]\n", c.Name, c.Name, c.Instances, c.Partitions, c.Busiest.Total(), 0.6*share)
	}
	for _, f := range e.Flows {
		fmt.Fprintf(&b, "  %q -> %q [label=\"%s × %.3g\" penwidth=%.2f]\n", f.From, f.To, f.Relation, f.Messages, 0.7+min(3, f.Messages/2))
	}
	b.WriteString("}\n")
	return b.String()
}
