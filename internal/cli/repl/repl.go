// SPDX-License-Identifier: Apache-2.0

// Package repl implements the command repl, an interactive session that evaluates
// expressions of TLA+.
//
// In: lines, a specification and a trace. Out: values and states. An expression without
// a value ends the session only if the input is not a terminal.
package repl

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/library"
	"github.com/ashlar-dev/ashlar/internal/cli/report"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/specification"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
	"github.com/ashlar-dev/ashlar/tla/value"
)

const help = `Repl evaluates expressions of TLA+, one on each line: constant expressions, or
predicates and expressions in a state of a specification. Without FILE, expressions may
use the standard modules; with it, everything that the specification defines, and the
constants of its configuration. A line may also be a definition, F(x) == e,
RECURSIVE F(_) F(x) == e or M == INSTANCE N, for later lines; a later definition of the
same name replaces it.

States come from a result that ashlar check --json wrote (--trace), or from walking
through the specification: :init lists the initial states, :next lists the successors of
the current state, and :go N moves to a listed state. A primed variable has its value
in the next state of the trace.

  :init      initial states        :next     successors, with the action
  :go N      go to listed state N  :trace    the steps of the trace
  :at N      step N of the trace   :state    the current state
  :defs      your definitions
  :help      this                  :quit     leave

At a terminal, Ctrl-C ends the evaluation of a line, not the session.

Exit codes: 0 every expression had a value; 75 one had none, in --eval or if the input
is not a terminal; 150 one is not TLA+; 1, 2, 151 as in ashlar check.`

// shownMax is the maximum number of states in a list.
const shownMax = 50

type options struct {
	config, trace string
	state         int
	eval          []string
	library       library.Dirs
}

// New makes the command repl.
func New(t *console.Terminal) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "repl [FILE.tla]",
		Short: "Evaluate expressions, in states of a specification or of a trace",
		Long:  help,
		Example: `  ashlar repl -e 'SUBSET {1, 2}'
  ashlar check --json Spec.tla > result.json; ashlar repl --trace result.json Spec.tla
  ashlar repl --trace result.json --state 3 -e 'Cardinality(msgs)' Spec.tla`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec := ""
			if len(args) == 1 {
				spec = args[0]
			}
			return run(cmd.Context(), t, cmd.InOrStdin(), o, spec)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.config, "config", "c", "", "the configuration `FILE` (default: FILE.cfg beside FILE.tla)")
	o.library.AddTo(cmd)
	f.StringVar(&o.trace, "trace", "", "the result `FILE` of ashlar check --json, whose trace has the states")
	f.IntVar(&o.state, "state", 0, "begin in state `N` of the trace (default: its last)")
	f.StringArrayVarP(&o.eval, "eval", "e", nil, "evaluate an `EXPRESSION` and exit; may be repeated")
	return cmd
}

// repl is a session.
type repl struct {
	t       *console.Terminal
	spec    string // the specification's file, or ""
	cfg     string
	text    []byte // of the configuration
	library library.Dirs

	trace []reachedState
	at    int          // in the trace, or -1
	state reachedState // the present one, nil where there is none
	list  []reachedState
	// defs are the definitions that were typed.
	defs []def

	warnings *source.List // of the last model

	// busy and stopped concern the current line: an interrupt at a terminal ends its
	// evaluation, but not the session.
	busy, stopped atomic.Bool
}

// reachedState is a state: the values of the variables, and how the session
// reached it.
type reachedState struct {
	vals   []value.Value
	action string
}

// files is the file system with one additional module.
type files struct {
	specification.Files
	path string
	text []byte
}

func (f files) ReadFile(name string) ([]byte, error) {
	if name == f.path {
		return f.text, nil
	}
	return f.Files.ReadFile(name)
}

func run(ctx context.Context, t *console.Terminal, in io.Reader, o options, spec string) error {
	r := &repl{t: t, spec: spec, library: o.library, at: -1}
	if spec == "" && (o.trace != "" || o.config != "") {
		return exit.With(exit.Usage, errors.New("--trace and --config need a specification: name its FILE.tla"))
	}
	if spec != "" {
		if filepath.Ext(spec) == "" {
			r.spec += ".tla"
		}
		if err := r.configure(o.config); err != nil {
			return err
		}
	}
	// Check the specification first, so that its warnings appear once and not
	// with every line.
	if _, _, err := r.model("TRUE"); err != nil {
		return r.finish(err)
	}
	r.warnings.Print(r.t.Err)
	if o.trace != "" {
		if err := r.readTrace(o.trace, o.state); err != nil {
			return r.finish(err)
		}
	}
	if len(o.eval) > 0 {
		for _, e := range o.eval {
			if err := r.line(ctx, e); err != nil {
				if ctx.Err() != nil { // it was stopped, and has no value for that
					return exit.Stopped(ctx)
				}
				return r.finish(err)
			}
		}
		return nil
	}
	return r.read(ctx, in)
}

// configure reads the configuration, where there is one.
func (r *repl) configure(named string) error {
	r.cfg = named
	if named == "" {
		r.cfg = strings.TrimSuffix(r.spec, filepath.Ext(r.spec)) + ".cfg"
	}
	text, err := specification.Files{}.ReadFile(r.cfg)
	if err != nil && (named != "" || !errors.Is(err, os.ErrNotExist)) {
		return exit.Failed(fmt.Errorf("read configuration: %w", err))
	}
	r.text = text
	return nil
}

// read evaluates line after line. At a terminal an error does not end it.
func (r *repl) read(ctx context.Context, in io.Reader) error {
	s := bufio.NewScanner(in)
	s.Buffer(nil, 1<<20)
	var last error
	if r.t.OutTTY {
		defer r.t.End.Interrupts(r.interrupt)()
	}
	for ctx.Err() == nil {
		if r.t.OutTTY {
			fmt.Fprint(r.t.Out, prompt)
		}
		if !s.Scan() {
			break
		}
		text := strings.TrimSpace(s.Text())
		if text == ":quit" || text == ":q" {
			break
		}
		if text == "" {
			continue
		}
		if err := r.line(ctx, text); err != nil {
			last = r.finish(err)
			var x *exit.Error
			if errors.As(last, &x) && x.Err != nil {
				r.t.Complain(x.Err)
			}
			last = exit.With(codeOfExit(last), nil)
		}
	}
	if err := s.Err(); err != nil {
		return exit.Failed(err)
	}
	if r.t.OutTTY {
		return nil
	}
	return last
}

// prompt asks for a line.
const prompt = "> "

// interrupt handles an interrupt from the terminal and reports whether the session
// continues. It ends the current evaluation; if a second interrupt arrives during
// the same evaluation, it ends the session.
func (r *repl) interrupt() bool {
	if !r.busy.Load() {
		fmt.Fprint(r.t.Out, "\n:quit leaves\n"+prompt)
		return true
	}
	return !r.stopped.Swap(true)
}

// finish converts an error to an exit error, and shows errors in the input.
func (r *repl) finish(err error) error {
	var wrong *specification.Error
	var e *check.EvalError
	switch {
	case errors.As(err, &wrong):
		wrong.Diagnostics.Print(r.t.Err)
		return exit.With(exit.Input(wrong.Configuration), nil)
	case errors.As(err, &e):
		return exit.With(exit.Eval, errors.New(e.Message))
	}
	return err
}

// codeOfExit returns the exit code of an error from finish.
func codeOfExit(err error) int {
	var x *exit.Error
	if errors.As(err, &x) {
		return x.Code
	}
	return exit.World
}

// line executes one line.
func (r *repl) line(ctx context.Context, text string) error {
	r.stopped.Store(false)
	r.busy.Store(true)
	defer r.busy.Store(false)
	stop := func() bool { return r.stopped.Load() || ctx.Err() != nil }
	command, rest, _ := strings.Cut(text, " ")
	if !strings.HasPrefix(command, ":") {
		if name, ok := definedBy(text); ok {
			return r.define(def{name, text})
		}
		return r.evaluate(text, stop)
	}
	number := func(most int) (int, error) {
		n, err := strconv.Atoi(strings.TrimSpace(rest))
		if err != nil || n < 1 || n > most {
			return 0, exit.With(exit.Usage, fmt.Errorf("%s %s: want a number from 1 to %d", command, rest, most))
		}
		return n - 1, nil
	}
	switch command {
	case ":help":
		fmt.Fprintln(r.t.Out, help)
	case ":defs":
		for _, d := range r.defs {
			fmt.Fprintln(r.t.Out, d.text)
		}
	case ":state":
		return r.show()
	case ":init", ":next":
		return r.successors(stop, command == ":init")
	case ":go":
		n, err := number(len(r.list))
		if err != nil {
			return err
		}
		r.state, r.at = r.list[n], -1
		return r.show()
	case ":at":
		n, err := number(len(r.trace))
		if err != nil {
			return err
		}
		r.state, r.at = r.trace[n], n
		return r.show()
	case ":trace":
		for i, s := range r.trace {
			fmt.Fprintf(r.t.Out, "%d  %s\n", i+1, s.action)
		}
	default:
		return exit.With(exit.Usage, fmt.Errorf("%s is not a command; :help lists the commands", command))
	}
	return nil
}

// The module of one expression, and the name of its definition.
const (
	module = "AshlarRepl"
	name   = "AshlarReplValue"
)

// model makes a model of the specification in which an expression is defined.
func (r *repl) model(expr string) (*model.Model, *load.Loaded, error) {
	extends, dir := "Integers, Sequences, FiniteSets, TLC, Bags", "."
	if r.spec != "" {
		extends = strings.TrimSuffix(filepath.Base(r.spec), filepath.Ext(r.spec))
		dir = filepath.Dir(r.spec)
	}
	f := files{path: filepath.Join(dir, module+".tla")}
	f.text = []byte("---- MODULE " + module + " ----\nEXTENDS " + extends + "\n" + r.definitions() + name + " ==\n" + expr + "\n====\n")
	loaded, diags, err := load.Load(f, f.path, loadOptions(r.library))
	if err != nil {
		return nil, nil, exit.Failed(err)
	}
	if diags.HasErrors() {
		return nil, nil, &specification.Error{Diagnostics: diags}
	}
	cfg := config.Default(func(name string) bool { return loaded.Spec.Names[name] != nil })
	if r.text != nil {
		cfg = config.Parse(source.NewFile(r.cfg, r.text), diags)
	}
	if diags.HasErrors() {
		return nil, nil, &specification.Error{Diagnostics: diags, Configuration: true, File: r.cfg}
	}
	m, err := model.New(loaded.Spec, cfg, model.Options{Reference: true, Files: specification.Files{}, Environment: library.Environment,
		Output: func(line string) { fmt.Fprintln(r.t.Out, line) }})
	var wrong *source.List
	if errors.As(err, &wrong) {
		return nil, nil, &specification.Error{Diagnostics: wrong, Configuration: true, File: r.cfg}
	}
	if err == nil {
		diags.Append(m.Warnings())
		r.warnings = diags
	}
	return m, loaded, err
}

// evaluate prints the value of an expression.
func (r *repl) evaluate(text string, stop func() bool) error {
	v, err := r.value(text, stop)
	if err == nil {
		fmt.Fprintln(r.t.Out, v.String())
	}
	return err
}

func (r *repl) value(text string, stop func() bool) (value.Value, error) {
	m, loaded, err := r.model(text)
	if err != nil {
		return value.Value{}, err
	}
	var next []value.Value
	if r.at >= 0 && r.at+1 < len(r.trace) {
		next = r.trace[r.at+1].vals
	}
	return m.EvaluateUntil(stop, loaded.Spec.Names[name].Body, r.state.vals, next)
}

// show prints the present state.
func (r *repl) show() error {
	m, _, err := r.model("TRUE")
	if err != nil {
		return err
	}
	if r.state.vals == nil {
		return exit.With(exit.Usage, errors.New("there is no current state; :init lists the initial states"))
	}
	if r.state.action != "" {
		fmt.Fprintln(r.t.Out, r.state.action)
	}
	for i, name := range m.Variables() {
		fmt.Fprintf(r.t.Out, "    %s = %s\n", name, r.state.vals[i])
	}
	return nil
}

// errEnough stops the listing of states.
var errEnough = errors.New("enough states")

// successors lists the initial states, or the successors of the present state.
func (r *repl) successors(stop func() bool, initial bool) error {
	m, _, err := r.model("TRUE")
	if err != nil {
		return err
	}
	if !initial && r.state.vals == nil {
		return exit.With(exit.Usage, errors.New("there is no current state; :init lists the initial states"))
	}
	w := m.NewWorker()
	w.Capabilities().EndWhen(stop)
	r.list = nil
	visit := func(a int, s check.State) error {
		if len(r.list) == shownMax {
			return errEnough
		}
		x := reachedState{vals: m.Decode(s), action: report.Initial}
		if a >= 0 {
			x.action = m.Info().Actions[a].Name
		}
		r.list = append(r.list, x)
		return nil
	}
	if initial {
		err = w.Init(visit)
	} else {
		err = w.Next(m.Encode(r.state.vals), visit)
	}
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	for i, x := range r.list {
		var parts []string
		for k, name := range m.Variables() {
			parts = append(parts, name+" = "+x.vals[k].String())
		}
		fmt.Fprintf(r.t.Out, "%d  %s  %s\n", i+1, x.action, strings.Join(parts, "; "))
	}
	if errors.Is(err, errEnough) {
		fmt.Fprintf(r.t.Out, "... and more; only the first %d are listed\n", shownMax)
	}
	return nil
}

// readTrace takes the states of a result of ashlar check --json: the texts of
// their values, read as TLA+.
func (r *repl) readTrace(name string, state int) error {
	text, err := specification.Files{}.ReadFile(name)
	if err != nil {
		return exit.Failed(fmt.Errorf("read trace: %w", err))
	}
	var d report.Document
	if err := json.Unmarshal(text, &d); err != nil || d.Schema != report.Schema {
		return exit.With(exit.World, fmt.Errorf("read trace %s: not a result of ashlar check --json", name))
	}
	if len(d.Trace) == 0 {
		return exit.With(exit.World, fmt.Errorf("read trace %s: the result has no trace; its verdict is %s", name, d.Verdict))
	}
	var states []string
	for _, s := range d.Trace {
		var vals []string
		for _, v := range s.Variables {
			vals = append(vals, "("+v.Value+")")
		}
		states = append(states, "<<"+strings.Join(vals, ", ")+">>")
	}
	all, err := r.value("<<"+strings.Join(states, ",\n")+">>", nil)
	if err != nil {
		return err
	}
	m, _, err := r.model("TRUE")
	if err != nil {
		return err
	}
	for i, s := range all.Elements() {
		if s.Len() != len(m.Variables()) {
			return exit.With(exit.World, fmt.Errorf("read trace %s: state %d has %d variables, and %s has %d", name, i+1, s.Len(), r.spec, len(m.Variables())))
		}
		r.trace = append(r.trace, reachedState{vals: s.Elements(), action: d.Trace[i].Title()})
	}
	if state == 0 {
		state = len(r.trace)
	}
	if state < 1 || state > len(r.trace) {
		return exit.With(exit.Usage, fmt.Errorf("--state %d: the trace has %d", state, len(r.trace)))
	}
	r.at = state - 1
	r.state = r.trace[r.at]
	return nil
}

// loadOptions says how algorithms become TLA+, and where modules are looked for.
func loadOptions(l library.Dirs) load.Options {
	return load.Options{Translate: trans.InMemory, WarnStale: true, Libraries: l.All()}
}
