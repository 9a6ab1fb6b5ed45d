// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/file"
	"github.com/ashlar-dev/ashlar/internal/cli/page"
	"github.com/ashlar-dev/ashlar/internal/cli/report"
)

// graphSchema identifies the format of the JSON that --dump writes;
// docs/lang/check-json.md describes it.
const graphSchema = "ashlar-graph/1"

// Limits of a graph to be drawn: beyond these, Graphviz takes minutes and the
// picture shows nothing useful.
const (
	graphDrawStatesMax = 500
	graphDrawStepsMax  = 3000
)

// graphPageStatesMax bounds the number of states of a graph that the page
// includes.
const graphPageStatesMax = 300

// graphHead is the beginning of a graph's JSON. States and steps follow one by
// one, so that the text of a large graph need not be in memory.
type graphHead struct {
	Schema string `json:"schema"`
	Spec   string `json:"spec"`
	Config string `json:"config,omitempty"`
	Module string `json:"module,omitempty"`
	// Complete reports that the graph contains every state with every step.
	Complete bool         `json:"complete"`
	Traces   []graphTrace `json:"traces"`
}

// graphTrace is the path of a violation's trace through the graph.
type graphTrace struct {
	Kind     string `json:"kind"`
	Property string `json:"property,omitempty"`
	States   []int  `json:"states"` // 0 for a state that is not in the graph
	// LoopTo is the state that follows the last one after a liveness violation.
	LoopTo int `json:"loopTo,omitempty"`
}

type graphState struct {
	Number    int          `json:"number"`
	Level     int          `json:"level"`
	Initial   bool         `json:"initial"`
	Expanded  bool         `json:"expanded"`
	Variables []graphValue `json:"variables"`
}

type graphValue struct {
	Name  string          `json:"name"`
	Value string          `json:"value"`
	JSON  json.RawMessage `json:"json,omitempty"`
}

type graphStep struct {
	From   int    `json:"from"`
	To     int    `json:"to"`
	Action string `json:"action"`
	Place  string `json:"place,omitempty"`
}

// graphDocument is the complete graph, for the page.
type graphDocument struct {
	graphHead
	States []graphState `json:"states"`
	Steps  []graphStep  `json:"steps"`
}

// stateGraph is a graph with the data needed to show it.
type stateGraph struct {
	graph   *check.StateGraph
	model   check.Model
	actions []check.Action
	head    graphHead
}

// searchedPart returns the part of the graph that the search covered: all of
// it, or the levels up to the one at which it ended.
func searchedPart(r *check.Result, o checkOptions) check.ExploreOptions {
	e := check.ExploreOptions{Workers: o.workers}
	switch last := lastVerdict(r); {
	case r.Queue == 0 && (last == check.OK || last == check.LivenessViolated || last == check.Incomplete || o.goOn && last != check.EvalFailed):
	case o.goOn || len(r.Trace) == 0:
		e.LevelsMax = max(1, r.Depth)
	case last == check.Deadlock:
		e.LevelsMax = len(r.Trace) + 1 // so that it is seen to have no steps
	default:
		e.LevelsMax = len(r.Trace)
	}
	return e
}

func lastVerdict(r *check.Result) check.Verdict {
	if n := len(r.Violations); n > 0 {
		return r.Violations[n-1].Verdict
	}
	return r.Verdict
}

// exploreGraph recomputes the states of a finished search. If there is no graph
// or it is too large, the error tells the user what to do instead.
func exploreGraph(ctx context.Context, s *subject, r *check.Result, o checkOptions, statesMax int) (*stateGraph, error) {
	e := searchedPart(r, o)
	e.StatesMax = statesMax
	tooLarge := func(what string) error {
		return fmt.Errorf("%s, more than can be drawn or read: make the constants smaller, or bound the states by a CONSTRAINT in the configuration", what)
	}
	switch {
	case r.Verdict == check.Interrupted:
		return nil, errors.New("the search was interrupted")
	case r.Verdict == check.AssumptionFalse:
		return nil, errors.New("an assumption is false, so nothing was explored")
	case e.LevelsMax == 0 && r.Distinct > int64(statesMax):
		return nil, tooLarge(fmt.Sprintf("there are %s states, and the limit is %s", console.Count(r.Distinct), console.Count(int64(statesMax))))
	}
	g, err := check.Explore(ctx, s.model, e)
	var limit *check.GraphLimitError
	switch {
	case errors.As(err, &limit):
		return nil, tooLarge(limit.Error())
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case e.LevelsMax == 0 && int64(g.States()) != r.Distinct:
		return nil, fmt.Errorf("the search found %d states, and a second one %d: the specification evaluates differently each time", r.Distinct, g.States())
	}
	out := &stateGraph{graph: g, model: s.model, actions: r.Info.Actions, head: graphHead{Schema: graphSchema,
		Spec: s.Spec, Config: s.Config, Module: r.Info.Name, Complete: true, Traces: []graphTrace{}}}
	for n := range g.States() {
		out.head.Complete = out.head.Complete && g.Expanded(n)
	}
	for _, v := range r.Violations {
		name, _ := report.Verdict(v.Verdict)
		t := graphTrace{Kind: name, Property: v.Property, States: g.Path(v.Trace)}
		for i := range t.States {
			t.States[i]++
		}
		if v.Verdict == check.LivenessViolated {
			t.LoopTo = t.States[v.Loop]
		}
		out.head.Traces = append(out.head.Traces, t)
	}
	return out, nil
}

func (g *stateGraph) state(n int) graphState {
	s := graphState{Number: n + 1, Level: g.graph.Level(n), Initial: n < g.graph.Initial(), Expanded: g.graph.Expanded(n), Variables: []graphValue{}}
	for _, b := range g.model.Show(g.graph.State(n)) {
		v := graphValue{Name: b.Name, Value: b.Value}
		if json.Valid([]byte(b.JSON)) {
			v.JSON = json.RawMessage(b.JSON)
		}
		s.Variables = append(s.Variables, v)
	}
	return s
}

// steps calls visit for every step, ordered by the number of its first state.
// Actions with the same name and place count as one.
func (g *stateGraph) steps(visit func(graphStep)) {
	for n := range g.graph.States() {
		seen := map[graphStep]bool{}
		g.graph.Next(n, func(action, to int) {
			s := graphStep{From: n + 1, To: to + 1, Action: g.actions[action].Name, Place: g.actions[action].Place}
			if !seen[s] {
				seen[s] = true
				visit(s)
			}
		})
	}
}

// document returns the whole graph for the page.
func (g *stateGraph) document() *graphDocument {
	d := &graphDocument{graphHead: g.head, Steps: []graphStep{}}
	for n := range g.graph.States() {
		d.States = append(d.States, g.state(n))
	}
	g.steps(func(s graphStep) { d.Steps = append(d.Steps, s) })
	return d
}

// graphForm is an output format of --dump, with its maximum number of states.
type graphForm struct {
	write     func(ctx context.Context, g *stateGraph, w io.Writer) error
	statesMax int
}

// graphFormOf selects the format by the file's extension. If the format needs a
// program that is not installed, it returns an error before the search starts.
func graphFormOf(name string) (graphForm, error) {
	plain := func(write func(*stateGraph, io.Writer) error) graphForm {
		return graphForm{func(_ context.Context, g *stateGraph, w io.Writer) error { return write(g, w) }, check.ExploreStatesMax}
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".dot", ".gv":
		return plain((*stateGraph).writeDot), nil
	case ".json":
		return plain((*stateGraph).writeJSON), nil
	case ".svg":
		if _, err := exec.LookPath("dot"); err != nil {
			return graphForm{}, exit.Failed(fmt.Errorf("--dump %s: %w; a name that ends in .dot writes the graph without drawing it", name, page.ErrNoGraphviz))
		}
		return graphForm{writeSVG, graphDrawStatesMax}, nil
	}
	return graphForm{}, exit.With(exit.Usage, fmt.Errorf("--dump %s: want a file whose name ends in .dot (for Graphviz), .svg or .json", name))
}

// writeGraphFile writes the graph to a file atomically.
func writeGraphFile(ctx context.Context, name string, g *stateGraph, form graphForm) error {
	f, err := file.Create(name, 0o644)
	if err != nil {
		return fmt.Errorf("write the graph: %w", err)
	}
	defer f.Cleanup()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := form.write(ctx, g, w); err != nil {
		return fmt.Errorf("write the graph: %w", err)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the graph: %w", err)
	}
	if err := f.Finish(); err != nil {
		return fmt.Errorf("write the graph: %w", err)
	}
	return nil
}

// writeJSON writes one state or step per line.
func (g *stateGraph) writeJSON(w io.Writer) error {
	head, err := json.Marshal(g.head)
	if err != nil {
		return err
	}
	p := &lines{w: w}
	p.print("%s,\n\"states\": [", head[:len(head)-1])
	sep := "\n"
	item := func(v any) {
		text, err := json.Marshal(v)
		if p.err == nil {
			p.err = err
		}
		p.print("%s%s", sep, text)
		sep = ",\n"
	}
	for n := range g.graph.States() {
		item(g.state(n))
	}
	p.print("\n],\n\"steps\": [")
	sep = "\n"
	g.steps(func(s graphStep) { item(s) })
	p.print("\n]}\n")
	return p.err
}

// lines prints until a write fails.
type lines struct {
	w   io.Writer
	err error
}

func (p *lines) print(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// Limits on the text of a drawn state.
const (
	dotVariablesMax = 12
	dotValueMax     = 60
)

// writeDot writes the graph for Graphviz. Initial states have a bold border,
// and states with missing steps a dashed one. The states and steps of traces
// are coloured, the last state of each trace more strongly.
func (g *stateGraph) writeDot(w io.Writer) error {
	p := &lines{w: w}
	colour, onTrace := g.colours()
	p.print("digraph %s {\n", quoteDot(g.head.Module))
	p.print("  // %d states, %d of them initial (bold)\n", g.graph.States(), g.graph.Initial())
	p.print("  node [shape=box, style=\"rounded\", fontname=\"monospace\", fontsize=10];\n")
	p.print("  edge [fontname=\"sans-serif\", fontsize=9, color=\"#8090a0\"];\n")
	for n := range g.graph.States() {
		s := g.state(n)
		style := "rounded"
		if s.Initial {
			style += ",bold"
		}
		if !s.Expanded {
			style += ",dashed"
		}
		fill := ""
		if c := colour[s.Number]; c != "" {
			style += ",filled"
			fill = fmt.Sprintf(", fillcolor=%q", c)
		}
		p.print("  %d [label=%s, style=%q%s];\n", s.Number, dotLabel(s), style, fill)
	}
	g.steps(func(s graphStep) {
		more := ""
		if onTrace[[2]int{s.From, s.To}] {
			more = `, color="#bf2b34", penwidth=2`
		}
		p.print("  %d -> %d [label=%s, tooltip=%s%s];\n", s.From, s.To, quoteDot(s.Action), quoteDot(strings.TrimSpace(s.Action+" "+s.Place)), more)
	})
	p.print("}\n")
	return p.err
}

// writeSVG runs Graphviz to draw the graph.
func writeSVG(ctx context.Context, g *stateGraph, w io.Writer) error {
	steps := 0
	g.steps(func(graphStep) { steps++ })
	if steps > graphDrawStepsMax {
		return fmt.Errorf("there are %s steps, and the limit for a drawing is %s: write .dot or .json instead", console.Count(int64(steps)), console.Count(graphDrawStepsMax))
	}
	var dot strings.Builder
	if err := g.writeDot(&dot); err != nil {
		return err
	}
	picture, err := page.Draw(ctx, dot.String())
	if err != nil {
		return err
	}
	_, err = w.Write(picture)
	return err
}

// colours returns the colours of the states on traces, and which steps are on a
// trace.
func (g *stateGraph) colours() (colour map[int]string, onTrace map[[2]int]bool) {
	colour, onTrace = map[int]string{}, map[[2]int]bool{}
	for _, t := range g.head.Traces {
		for i, n := range t.States {
			if colour[n] == "" {
				colour[n] = "#fde3c8"
			}
			if i > 0 {
				onTrace[[2]int{t.States[i-1], n}] = true
			}
		}
		if t.LoopTo > 0 {
			onTrace[[2]int{t.States[len(t.States)-1], t.LoopTo}] = true
		}
	}
	for _, t := range g.head.Traces {
		if n := len(t.States); n > 0 {
			colour[t.States[n-1]] = "#f4a8a8"
		}
	}
	return colour, onTrace
}

// dotLabel returns the number of a state and its variables, one per line.
func dotLabel(s graphState) string {
	var b strings.Builder
	fmt.Fprintf(&b, `%d\n`, s.Number)
	for i, v := range s.Variables {
		if i == dotVariablesMax {
			fmt.Fprintf(&b, `and %d more\l`, len(s.Variables)-i)
			break
		}
		value := []rune(v.Value)
		if len(value) > dotValueMax {
			value = append(value[:dotValueMax-1], '…')
		}
		fmt.Fprintf(&b, `%s\l`, escapeDot(v.Name+" = "+string(value)))
	}
	return `"` + b.String() + `"`
}

func quoteDot(s string) string { return `"` + escapeDot(s) + `"` }

func escapeDot(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(s)
}
