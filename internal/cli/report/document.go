// SPDX-License-Identifier: Apache-2.0

// Package report builds the report of a run of check or simulate: one document, and
// the text, the JSON and the page that show it.
//
// In: the result of a search, and the source of its model. Out: a Document, whose
// fields docs/lang/check-json.md describes. Promised: the three forms agree. The
// package reads no flags and prints nothing by itself.
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// Schema identifies the format of the JSON that check writes;
// docs/lang/check-json.md describes it. Its number changes when the meaning
// changes.
const Schema = "ashlar-check/1"

// Document is the complete report of a run of check. The text, the JSON and the
// page are three forms of it.
type Document struct {
	Schema   string `json:"schema"`
	Spec     string `json:"spec"`
	Config   string `json:"config,omitempty"`
	Module   string `json:"module,omitempty"`
	Crashes  *int32 `json:"crashes,omitempty"` // as --crashes has it
	Verdict  string `json:"verdict"`
	Headline string `json:"headline"`
	ExitCode int    `json:"exitCode"`
	// Complete reports that the run checked everything that the model requests.
	Complete bool   `json:"complete"`
	Reason   string `json:"reason,omitempty"`

	Invariants  []string        `json:"invariants"`
	Steps       []string        `json:"stepProperties"`
	Deadlock    bool            `json:"deadlockChecked"`
	Unchecked   []asked         `json:"unchecked"`
	Warnings    []string        `json:"warnings"`
	Diagnostics []source.Report `json:"diagnostics"`

	Statistics statistics `json:"statistics"`
	Init       covered    `json:"init"`
	Actions    []covered  `json:"actions"`

	// Profile is what --profile has counted.
	Profile *Profile `json:"profile,omitempty"`

	// Walks describes the random walks of a simulation; it is nil for a search.
	Walks *Walks `json:"walks,omitempty"`

	// Checkpoint is the directory that the search can be resumed from.
	Checkpoint string `json:"checkpoint,omitempty"`

	Violation *Violation `json:"violation,omitempty"`
	// Violations lists all violations if the search continued after the first.
	// Violation, Trace and Loop describe the first.
	Violations []found `json:"violations,omitempty"`
	Trace      []Step  `json:"trace"`
	// Loop describes how the trace continues after a liveness violation.
	Loop *Loop `json:"loop,omitempty"`

	// Graph is the state graph in the form that --dump writes as JSON. It is
	// present if the graph is small and the page shows it.
	Graph any `json:"graph,omitempty"`
}

// found is one of several violations.
type found struct {
	Violation
	Headline string `json:"headline"`
	Trace    []Step `json:"trace"`
	Loop     *Loop  `json:"loop,omitempty"`
}

type asked struct {
	Property string `json:"property"`
	Reason   string `json:"reason"`
}

type statistics struct {
	Generated int64   `json:"generated"`
	Distinct  int64   `json:"distinct"`
	Queue     int64   `json:"queue"`
	Depth     int     `json:"depth"`
	Levels    []int64 `json:"levels"`
	Bytes     int64   `json:"bytes"`
	// DiskBytes is the disk space used at the end. StateBytes is the space of
	// fingerprints and lineage per distinct state, in memory and on disk.
	DiskBytes  int64   `json:"diskBytes,omitempty"`
	StateBytes float64 `json:"bytesPerState,omitempty"`
	Workers    int     `json:"workers"`
	Seconds    float64 `json:"seconds"`
	PerSecond  float64 `json:"generatedPerSecond"`
	Collision  float64 `json:"collisionProbability"`
	// LiveStates and LiveSteps are the size of the graph on which properties of
	// behaviours were decided. LiveLooks is the number of periodic checks during
	// the search.
	LiveStates int64 `json:"liveStates,omitempty"`
	LiveSteps  int64 `json:"liveSteps,omitempty"`
	LiveLooks  int   `json:"liveLooks,omitempty"`
	// Reduction describes the effect of --por.
	Reduction *Reduction `json:"reduction,omitempty"`
	// Deepening holds the additional results of a depth-first search.
	Deepening *Deepening `json:"deepening,omitempty"`
	// Native describes the work of compiled code, if it was requested or used.
	Native any `json:"native,omitempty"`
}

// covered is the contribution of an action. Actions with the same name and
// place count as one.
type covered struct {
	Name      string `json:"name"`
	Place     string `json:"place,omitempty"`
	Generated int64  `json:"generated"`
	Distinct  int64  `json:"distinct"`
}

// Violation is one violation that was found, with its trace.
type Violation struct {
	Kind string `json:"kind"`
	// Property is the violated property, Text its definition, and Place the
	// place of the definition.
	Property string `json:"property,omitempty"`
	Text     string `json:"text,omitempty"`
	Place    string `json:"place,omitempty"`
	// Message and Places describe an evaluation error.
	Message     string   `json:"message,omitempty"`
	Places      []string `json:"places,omitempty"`
	Lines       []string `json:"lines,omitempty"` // the text at Places
	Assumptions []string `json:"assumptions,omitempty"`
	// OfStep reports that Property is a property of steps.
	OfStep bool
}

// Step is a step of a trace and the state that it leads to.
type Step struct {
	Number int    `json:"number"`
	Action string `json:"action"`
	// Process is the process whose pc the step changes, if there is exactly
	// one.
	Process   string     `json:"process,omitempty"`
	Place     string     `json:"place,omitempty"`
	Variables []variable `json:"variables"`
	Changes   []change   `json:"changes"`
}

// Loop describes what follows the last state of a trace that violates a
// property of behaviours: the trace returns to the state To, or stutters
// forever.
type Loop struct {
	To       int    `json:"to"`
	Stutters bool   `json:"stutters"`
	Action   string `json:"action,omitempty"`
	Place    string `json:"place,omitempty"`
}

type variable struct {
	Name  string          `json:"name"`
	Value string          `json:"value"`
	JSON  json.RawMessage `json:"json,omitempty"`
	// Changed reports that the value differs from the step before.
	Changed bool `json:"changed"`
}

// Verdict maps every verdict to its name in JSON and its exit code.
func Verdict(v check.Verdict) (name string, code int) {
	switch v {
	case check.OK:
		return "ok", exit.OK
	case check.AssumptionFalse:
		return "assumption", exit.Assumption
	case check.Deadlock:
		return "deadlock", exit.Deadlock
	case check.InvariantViolated:
		return "invariant", exit.Safety
	case check.StepViolated:
		return "step", exit.Liveness // a PROPERTY is, as in TLC
	case check.EvalFailed:
		return "evaluation", exit.Eval
	case check.LivenessViolated:
		return "liveness", exit.Liveness
	case check.Interrupted:
		return "interrupted", exit.Interrupted
	}
	return "incomplete", exit.NotChecked
}

// Source describes the origin of a model, as far as a document shows it.
type Source struct {
	// Spec and Config are the files; Config is empty where there is none.
	Spec, Config string
	// Crashes is the value of --crashes, or nil if the configuration decides.
	Crashes *int32
	// Define returns the text and the place of a definition, or nothing.
	Define func(name string) (text, place string)
	// Line returns the line of text at a place; it is nil if no text is known.
	Line func(place string) string
	// Diags are the warnings of the specification and the configuration.
	Diags source.List
}

// Run describes how a search ran, in addition to its result.
type Run struct {
	Workers  int
	Deadlock bool // deadlock is an error
	All      bool // the search went on after violations
	Elapsed  time.Duration
}

// Concluded adds the result of a postcondition that is false, or that has no value
// because of err.
func (d *Document) Concluded(s *Source, name string, err error) {
	d.Verdict, d.ExitCode = "postcondition", exit.Assumption
	if err != nil {
		d.Verdict, d.ExitCode = Verdict(check.EvalFailed)
	}
	d.Violation = &Violation{Kind: d.Verdict, Property: name}
	var e *check.EvalError
	if errors.As(err, &e) {
		d.Violation.complain(s, e)
	} else if err != nil {
		d.Violation.Message = err.Error()
	}
	if s.Define != nil {
		d.Violation.Text, d.Violation.Place = s.Define(name)
	}
	d.Complete, d.Reason = false, ""
	d.Headline = d.headline()
}

// Describe builds the document of a finished search.
func Describe(s *Source, r *check.Result, o Run) *Document {
	d := newDocument(s.Spec, s.Config)
	d.Crashes = s.Crashes
	d.Module = r.Info.Name
	d.Verdict, d.ExitCode = Verdict(r.Verdict)
	d.Complete, d.Reason = r.Complete, r.Reason
	d.Invariants = append(d.Invariants, r.Info.Invariants...)
	d.Steps = append(d.Steps, r.Info.Steps...)
	d.Deadlock = r.Info.Deadlock && o.Deadlock
	d.Warnings = append(d.Warnings, r.Warnings...)
	for _, u := range r.Info.Unchecked {
		d.Unchecked = append(d.Unchecked, asked{u.Property, u.Reason})
	}
	d.Statistics = statistics{
		Generated: r.Generated, Distinct: r.Distinct, Queue: r.Queue, Depth: r.Depth,
		Levels: append([]int64{}, r.Levels...), Bytes: r.Bytes, DiskBytes: r.DiskBytes, StateBytes: math.Round(r.StateBytes*10) / 10, Workers: o.Workers, Seconds: o.Elapsed.Round(time.Microsecond).Seconds(),
		PerSecond: float64(r.Generated-r.Before) / max(o.Elapsed.Seconds(), 1e-6), Collision: r.Collision,
		LiveStates: r.Live.States, LiveSteps: r.Live.Steps, LiveLooks: r.Live.Checks,
	}
	d.cover(r)
	d.accuse(s, r)
	d.tell(r)
	d.goRound(r)
	if o.All {
		d.accuseAll(s, r)
	}
	d.Diagnostics = append(d.Diagnostics, s.Diags.Reports()...)
	d.Headline = d.headline()
	return d
}

func newDocument(spec, config string) *Document {
	return &Document{Schema: Schema, Spec: spec, Config: config, Invariants: []string{}, Steps: []string{},
		Unchecked: []asked{}, Warnings: []string{}, Diagnostics: []source.Report{}, Actions: []covered{}, Trace: []Step{},
		Statistics: statistics{Levels: []int64{}}, Init: covered{Name: Initial}}
}

// Initial stands for the initial predicate among the actions.
const Initial = "Initial state"

func (d *Document) cover(r *check.Result) {
	d.Init.Generated, d.Init.Distinct = r.Init.Generated, r.Init.Distinct
	at := map[check.Action]int{}
	for i, a := range r.Info.Actions {
		k, ok := at[a]
		if !ok {
			k = len(d.Actions)
			at[a] = k
			d.Actions = append(d.Actions, covered{Name: a.Name, Place: a.Place})
		}
		if i < len(r.Actions) {
			d.Actions[k].Generated += r.Actions[i].Generated
			d.Actions[k].Distinct += r.Actions[i].Distinct
		}
	}
}

// accuse describes the violation.
func (d *Document) accuse(s *Source, r *check.Result) {
	switch r.Verdict {
	case check.AssumptionFalse, check.Deadlock, check.InvariantViolated, check.StepViolated, check.LivenessViolated, check.EvalFailed:
	default:
		return
	}
	d.Violation = &Violation{Kind: d.Verdict, Property: r.Property, Assumptions: r.Broken, OfStep: slices.Contains(r.Info.Steps, r.Property)}
	if r.Property != "" && s.Define != nil {
		d.Violation.Text, d.Violation.Place = s.Define(r.Property)
	}
	if r.Err != nil {
		d.Violation.complain(s, r.Err)
	}
}

// accuseAll describes the violations after the first.
func (d *Document) accuseAll(s *Source, r *check.Result) {
	for _, v := range r.Violations {
		one, result := &Document{Trace: []Step{}}, *r
		result.Violation = v
		one.Verdict, _ = Verdict(v.Verdict)
		one.accuse(s, &result)
		one.tell(&result)
		one.goRound(&result)
		d.Violations = append(d.Violations, found{Violation: *one.Violation, Headline: one.headline(), Trace: one.Trace, Loop: one.Loop})
	}
}

// complain adds an evaluation error and quotes the text at its places.
func (v *Violation) complain(s *Source, e *check.EvalError) {
	v.Message, v.Places = e.Message, e.Places
	if s.Line == nil {
		return
	}
	for _, place := range e.Places {
		v.Lines = append(v.Lines, s.Line(place))
	}
}

// tell converts the trace to steps with the changes that they make.
func (d *Document) tell(r *check.Result) {
	// Match variables by name, because with an ALIAS a state may have other
	// names than the previous one.
	before := map[string]check.Binding{}
	for i, s := range r.Trace {
		step := Step{Number: i + 1, Action: Initial, Changes: []change{}}
		if s.Action >= 0 {
			step.Action, step.Place = r.Info.Actions[s.Action].Name, r.Info.Actions[s.Action].Place
		}
		now := make(map[string]check.Binding, len(s.Values))
		for _, b := range s.Values {
			v := variable{Name: b.Name, Value: b.Value}
			if json.Valid([]byte(b.JSON)) {
				v.JSON = json.RawMessage(b.JSON)
			}
			switch was, ok := before[b.Name]; {
			case ok && was.Value != b.Value:
				v.Changed = true
				step.Changes = append(step.Changes, changesOf(was, b)...)
			case !ok && i > 0:
				v.Changed = true
				step.Changes = append(step.Changes, change{Path: b.Name, Now: b.Value})
			}
			now[b.Name] = b
			delete(before, b.Name)
			step.Variables = append(step.Variables, v)
		}
		if i > 0 {
			for _, b := range r.Trace[i-1].Values {
				if _, gone := before[b.Name]; gone {
					step.Changes = append(step.Changes, change{Path: b.Name, Was: b.Value})
				}
			}
		}
		step.Process = processOf(step.Changes)
		d.Trace = append(d.Trace, step)
		before = now
	}
}

// goRound describes how the trace continues forever after a liveness violation.
func (d *Document) goRound(r *check.Result) {
	if r.Verdict != check.LivenessViolated {
		return
	}
	d.Loop = &Loop{To: r.Loop + 1, Stutters: r.Loop == len(r.Trace)-1}
	if r.LoopAction >= 0 {
		d.Loop.Action, d.Loop.Place = r.Info.Actions[r.LoopAction].Name, r.Info.Actions[r.LoopAction].Place
	}
}

// processOf returns the process whose value in pc changes, if there is exactly
// one.
func processOf(changes []change) string {
	process := ""
	for _, c := range changes {
		name, ok := strings.CutPrefix(c.Path, "pc.") // processes that are strings
		if ok {
			name = quote(name)
		} else if name, ok = strings.CutPrefix(c.Path, "pc["); !ok || !strings.HasSuffix(name, "]") {
			continue
		}
		if process != "" {
			return ""
		}
		process = strings.TrimSuffix(name, "]")
	}
	return process
}

// changesOf compares the values part by part if it can parse both, and
// otherwise as a whole.
func changesOf(was, now check.Binding) []change {
	a, errA := parseTree(was.JSON)
	b, errB := parseTree(now.JSON)
	if errA == nil && errB == nil {
		if c := differences(now.Name, a, b); len(c) > 0 {
			return c
		}
	}
	return []change{{Path: now.Name, Was: was.Value, Now: now.Value}}
}

// headline is the verdict in one sentence.
func (d *Document) headline() string {
	switch d.Verdict {
	case "ok":
		if d.Walks != nil {
			return fmt.Sprintf("No violation in %s random walks.", console.Count(d.Walks.Number))
		}
		if len(d.Unchecked) > 0 {
			return "No safety violation. Not everything that the configuration requests was checked."
		}
		if d.Statistics.Generated == 0 {
			return "The assumptions hold. There is no behaviour to explore."
		}
		return "No violation. Every reachable state was visited."
	case "assumption":
		return "An assumption is false."
	case "postcondition":
		return "Postcondition " + d.Violation.Property + " is false."
	case "deadlock":
		return "Deadlock: a reachable state has no successor."
	case "invariant":
		return "Invariant " + d.Violation.Property + " is violated."
	case "step":
		if len(d.Trace) == 1 {
			return "Property " + d.Violation.Property + " is violated by an initial state."
		}
		return "Property " + d.Violation.Property + " is violated by a step."
	case "liveness":
		if d.Loop.Stutters {
			return "Property " + d.Violation.Property + " is violated by a behaviour that stops."
		}
		return "Property " + d.Violation.Property + " is violated by a behaviour that repeats forever."
	case "evaluation":
		what := "The specification"
		if d.Violation.Property != "" {
			what = d.Violation.Property
		}
		return what + " cannot be evaluated: " + d.Violation.Message
	case "interrupted":
		if d.Walks != nil {
			return fmt.Sprintf("Interrupted. No violation in %s random walks.", console.Count(d.Walks.Number))
		}
		return "Interrupted. No violation so far, and not every state was visited."
	case "error":
		return "The specification or its configuration has errors."
	}
	if len(d.Unchecked) > 0 && d.Statistics.Queue == 0 {
		return "No safety violation, but not everything that was requested was checked."
	}
	return "No violation so far: " + d.Reason + "."
}

// Refused builds the document of a specification with errors.
func Refused(spec, config string, diags *source.List, code int) *Document {
	d := newDocument(spec, config)
	d.Verdict, d.ExitCode, d.Reason = "error", code, "nothing was checked"
	d.Diagnostics = append(d.Diagnostics, diags.Reports()...)
	d.Headline = d.headline()
	return d
}

// idle lists the actions that produced no state, except for those that exist
// only in a translation.
func (d *Document) idle() []string {
	var names []string
	for _, a := range d.Actions {
		if a.Generated == 0 && a.Place != "" {
			names = append(names, a.Name)
		}
	}
	return names
}

// excerpt shortens a definition to a few lines.
func excerpt(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, " \t\r\n"), "\n")
	if len(all) > lines {
		all = append(all[:lines:lines], "...")
	}
	return strings.Join(all, "\n")
}

// SplitPlace splits a place "file:line:column" into its parts. The parts are empty
// if it is not a place.
func SplitPlace(place string) (file, line, column string) {
	rest, column, ok := cutLast(place)
	if file, line, ok2 := cutLast(rest); ok && ok2 {
		return file, line, column
	}
	return "", "", ""
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndex(s, ":")
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}
