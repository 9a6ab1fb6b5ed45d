// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Algorithm is the Spec of a Modular PlusCal algorithm: its instances are the
// actors, its labels the sections, and the uses of mapping macros the accesses.
type Algorithm struct {
	m    *model.Model
	alg  *model.Algorithm
	open map[*pcal.Instance]bool // see sealed
}

var _ Spec = (*Algorithm)(nil)

// NewAlgorithm makes the Spec of an algorithm and the model that it is
// checked as.
func NewAlgorithm(m *model.Model, alg *model.Algorithm) *Algorithm {
	return &Algorithm{m: m, alg: alg}
}

// Init returns the initial states.
func (a *Algorithm) Init() ([]State, error) {
	var out []State
	err := a.alg.Init(func(vals []value.Value) error {
		out = append(out, vals)
		return nil
	})
	return out, err
}

// Key appends the encoding of a state.
func (a *Algorithm) Key(to []byte, s State) []byte {
	return append(to, a.m.Encode(s.([]value.Value))...)
}

// Instances lists the processes that are instances of archetypes.
func (a *Algorithm) Instances() []string {
	var out []string
	for _, p := range a.alg.Processes() {
		if from := p.Decl.From; from != nil {
			out = append(out, instance(from.Archetype.Name, p.Self))
		}
	}
	return out
}

// instance is the name of an instance.
func instance(archetype string, self value.Value) string {
	return archetype + "(" + self.String() + ")"
}

// Actor finds the process of an archetype by its self.
func (a *Algorithm) Actor(archetype string, self value.Value) (int, error) {
	for i, p := range a.alg.Processes() {
		if from := p.Decl.From; from != nil && from.Archetype.Name == archetype && same(p.Self, self) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("the specification has no instance %s; it has %s: check that its constants are those of the system",
		instance(archetype, self), strings.Join(a.Instances(), ", "))
}

// same compares any two values and never fails.
func same(a, b value.Value) (equal bool) {
	err := value.Catch(func() { equal = value.Equal(a, b) })
	return err == nil && equal
}

// Hidden executes a step of any process that has no log.
func (a *Algorithm) Hidden(s State, logged []int, yield func(State) error) error {
	is := map[int]bool{}
	for _, i := range logged {
		is[i] = true
	}
	vals := s.([]value.Value)
	for i, p := range a.alg.Processes() {
		if is[i] {
			continue
		}
		err := a.alg.Step(p, vals, nil, func(after []value.Value, _ int) error { return yield(after) })
		if err != nil {
			return err
		}
	}
	return nil
}

// Waits executes the next step of an actor, to see what blocks it.
func (a *Algorithm) Waits(s State, actor int) (label string, why *Obstacle) {
	p, vals := a.alg.Processes()[actor], s.([]value.Value)
	label, _ = a.alg.Label(p, vals)
	w, free := &watcher{any: true}, false
	err := a.alg.Step(p, vals, w, func([]value.Value, int) error {
		free = true
		return nil
	})
	if err != nil || free {
		return label, nil
	}
	return label, w.furthest
}

// Footprint follows the accesses of a section to the variables that stand behind
// the parameters.
func (a *Algorithm) Footprint(actor int, of *Section) ([]Cell, bool) {
	from := a.alg.Processes()[actor].Decl.From
	if of.Crash || from == nil || !a.sealed(from) {
		return nil, false
	}
	var out []Cell
	for _, x := range of.Accesses {
		i := slices.IndexFunc(from.Archetype.Params, func(p *pcal.Param) bool { return p.Var.Name == x.Param })
		if i < 0 || from.Args[i].Ref == nil || len(x.Indices) < from.Args[i].Count {
			return nil, false // of a procedure
		}
		out = append(out, Cell{from.Args[i].Ref.Name, x.Indices[:from.Args[i].Count]})
	}
	return out, true
}

// sealed reports whether an instance accesses variables by its parameters only,
// and its mapping macros only the variable that they are for.
func (a *Algorithm) sealed(from *pcal.Instance) bool {
	if open, known := a.open[from]; known {
		return !open
	}
	mine := map[*core.Variable]bool{}
	for _, p := range from.Archetype.Params {
		mine[p.Var] = true
	}
	for _, v := range from.Archetype.Locals {
		mine[v.Var] = true
	}
	open := false
	inspect := func(list []pcal.Stmt) {
		pcal.InspectStmts(list, func(s pcal.Stmt) {
			switch s := s.(type) {
			case *pcal.Call:
				open = true
			case *pcal.Assign:
				for _, x := range s.Pairs {
					open = open || !mine[x.Target]
				}
			}
		}, func(e core.Expr) bool {
			core.Walk(e, func(x core.Expr) bool {
				if v, ok := x.(*core.VarRef); ok && !mine[v.Var] {
					open = true
				}
				return true
			})
			core.Calls(e, func(d *core.Def) { open = open || a.m.Varies(d) })
			return false
		})
	}
	for _, b := range from.Archetype.Blocks {
		inspect(b.Body)
	}
	for _, arg := range from.Args {
		if arg.Mapping != nil {
			mine[arg.Mapping.Target] = true
			inspect(arg.Mapping.Read)
			inspect(arg.Mapping.Write)
		}
	}
	if a.open == nil {
		a.open = map[*pcal.Instance]bool{}
	}
	a.open[from] = open
	return !open
}

// Broken evaluates the invariants of the configuration.
func (a *Algorithm) Broken(s State) (*Invariant, error) {
	name, def, err := a.alg.BrokenInvariant(s.([]value.Value))
	if err != nil || name == "" {
		return nil, err
	}
	i := &Invariant{Name: name}
	if def != nil {
		i.Place, i.Text = def.Span.String(), def.Name+" == "+line(def.Body.Span().Text())
	}
	return i, nil
}

// Show decodes a state.
func (a *Algorithm) Show(s State) []check.Binding { return a.m.Show(a.m.Encode(s.([]value.Value))) }

// Step executes a logged section.
func (a *Algorithm) Step(s State, actor int, want *Section, yield func(State) error) (*Obstacle, error) {
	p := a.alg.Processes()[actor]
	vals := s.([]value.Value)
	written, _ := a.alg.Label(p, vals)
	if want.Crash {
		return a.crash(p, want, vals, yield)
	}
	if want.Label == "" {
		if o := a.arrived(p, want, vals, 0); o != nil {
			return o, nil
		}
		return nil, yield(s)
	}
	if written != want.Label {
		return &Obstacle{Reason: fmt.Sprintf("the specification is at label %s here, the log at %s", written, want.Label)}, nil
	}
	w := &watcher{want: want.Accesses}
	found := false
	err := a.alg.Step(p, vals, w, func(after []value.Value, n int) error {
		if n < len(want.Accesses) {
			w.note(Obstacle{Matched: n, Place: a.alg.Place(p, vals), Text: want.Label + ":",
				Reason: fmt.Sprintf("in this state the step ends here in the specification; in the log it continues and %s", want.Accesses[n])})
			return nil
		}
		if o := a.arrived(p, want, after, n); o != nil {
			o.Place, o.Text = a.alg.Place(p, vals), want.Label+":"
			w.note(*o)
			return nil
		}
		found = true
		return yield(after)
	})
	if err != nil || found {
		return nil, err
	}
	if w.furthest == nil {
		w.note(Obstacle{Reason: "the specification cannot take this step"})
	}
	return w.furthest, nil
}

// crash executes a crash.
func (a *Algorithm) crash(p *model.Process, want *Section, vals []value.Value, yield func(State) error) (*Obstacle, error) {
	o := &Obstacle{Reason: "the specification allows no crash here; the process may have ended"}
	err := a.alg.Crash(p, vals, func(after []value.Value) error {
		if wrong := a.arrived(p, want, after, 0); wrong != nil {
			if o != nil {
				o = wrong
			}
			return nil
		}
		o = nil
		return yield(after)
	})
	return o, err
}

// Survives implements Spec.
func (a *Algorithm) Survives(actor int) bool {
	return a.alg.Survives(a.alg.Processes()[actor])
}

// arrived returns what is wrong with the state after a section, or nil.
func (a *Algorithm) arrived(p *model.Process, want *Section, vals []value.Value, n int) *Obstacle {
	if label, _ := a.alg.Label(p, vals); label != want.Next {
		return &Obstacle{Matched: n, Reason: fmt.Sprintf("the specification continues at %s, the log at %s", label, want.Next)}
	}
	for _, v := range want.Vars {
		have, ok := a.alg.Local(p, v.Name, vals)
		if !ok {
			return &Obstacle{Matched: n, Reason: fmt.Sprintf("the specification has no variable %s here", v.Name)}
		}
		if !same(have, v.Value) {
			return &Obstacle{Matched: n, Reason: fmt.Sprintf("%s is %s in the specification after it, %s in the log", v.Name, have, v.Value)}
		}
	}
	return nil
}

// watcher compares the accesses of a step with those in a log. It keeps the
// obstacle of the execution that got furthest.
type watcher struct {
	want     []Access
	any      bool // any access is accepted
	furthest *Obstacle
}

func (w *watcher) note(o Obstacle) {
	if w.furthest == nil || o.Matched > w.furthest.Matched {
		w.furthest = &o
	}
}

// Access compares an access.
func (w *watcher) Access(n int, s model.Access) bool {
	have := Access{Write: s.Write, Param: s.Param, Indices: s.Index, Value: s.Value}
	missed := func(format string, args ...any) bool {
		w.note(Obstacle{Matched: n, Place: s.Stmt.Span().String(), Text: line(s.Stmt.Span().Text()), Reason: fmt.Sprintf(format, args...)})
		return false
	}
	if w.any {
		return true
	}
	if n >= len(w.want) {
		return missed("the specification %s here, the log has no further access", have)
	}
	want := w.want[n]
	if have.Param == "" {
		have.Param = want.Param // inside a procedure, whose parameter it is does not show
	}
	if have.Write == want.Write && have.Param == want.Param && sameAll(have.Indices, want.Indices) && same(have.Value, want.Value) {
		return true
	}
	return missed("the specification %s here; the log %s", have, want)
}

// Blocked records a false condition.
func (w *watcher) Blocked(n int, at core.Expr, s pcal.Stmt) {
	o := Obstacle{Matched: n, Place: s.Span().String(), Text: line(s.Span().Text()), Reason: "the condition is false"}
	if _, ok := s.(*pcal.With); ok {
		o.Reason = "there is no element to choose"
	}
	w.note(o)
}

func sameAll(a, b []value.Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}

// line returns the first line of a text.
func line(text string) string {
	first, _, more := strings.Cut(text, "\n")
	if more {
		first += " ..."
	}
	return first
}
