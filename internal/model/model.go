// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/closure"
	"github.com/ashlar-dev/ashlar/internal/model/direct"
	"github.com/ashlar-dev/ashlar/internal/model/profile"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/model/reduce"
	"github.com/ashlar-dev/ashlar/internal/model/symmetry"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Model is a specification with its configuration, ready to be checked. It is
// immutable and safe for concurrent use.
type Model struct {
	program *program.Program
	common  *tlcget.Shared
	info    check.Info
	codec   *vector.Codec

	init, next *formula
	actions    *program.Actions
	direct     *direct.Algorithm // the algorithm that next is the translation of, or nil

	invariants        []*formula
	antecedents       []antecedent // of the invariants
	met               []bool       // antecedents that were true before a search was resumed, or nil
	steps             []step
	constraints       []*formula
	actionConstraints []*formula
	assumes           []*formula
	view, alias, post *formula
	symmetry          []symmetry.Permutation
	orbits            *symmetry.Orbits // nil where the symmetry is not one of sets

	fairness []core.Expr
	temporal []temporal // properties of behaviours
	live     *liveness  // nil where no property of behaviours can be checked

	formulas []*formula
	compiled *closure.Code    // nil: the reference evaluator is used
	packed   *packing         // nil: states are not packed
	unpacked string           // why, once that was tried
	profile  *profile.Profile // nil: nothing is counted
	// reduction has the steps to be taken alone, if the options asked for a
	// reduction.
	reduction *reduce.Plan
	workers   atomic.Uint64
	warnings  *source.List
}

// Warnings returns warnings about settings of the configuration that have no effect.
// The caller must not change the list.
func (m *Model) Warnings() *source.List { return m.warnings }

// formula is an expression without free names that is evaluated on its own.
type formula struct {
	name string
	expr core.Expr
	id   int // its place in Model.formulas
}

// step is a property of the first state and of every step; either part may be
// absent.
type step struct{ init, next *formula }

var _ check.Model = (*Model)(nil)

// New joins a specification and a configuration. The error is a *source.List of
// the problems in the configuration, or in the specification as the
// configuration uses it.
func New(spec *core.Spec, cfg *config.Config, o Options) (*Model, error) {
	var diags source.List
	p := program.New(spec, cfg, o.program(), &diags)
	if err := diags.Err(); err != nil {
		return nil, err
	}
	m := &Model{program: p, codec: vector.NewCodec(len(spec.Variables))}
	m.common = tlcget.NewShared(o.settings(m))
	m.info.Name = spec.Name
	m.info.Deadlock = cfg.Deadlock
	b := &builder{m: m, p: p, o: o, cfg: cfg, diags: &diags}
	b.build()
	if err := diags.Err(); err != nil {
		return nil, err
	}
	b.reduce()
	if !o.Reference {
		if o.Profile {
			m.profile = profile.New()
		}
		m.compiled = m.compile()
	}
	b.symmetry()
	if err := diags.Err(); err != nil {
		return nil, err
	}
	m.warnings = &diags
	return m, nil
}

// NewDirect is New for a specification that has an algorithm: the model
// executes the algorithm's steps directly. The algorithm must be plain, have
// unique names, and be over the variables and definitions of spec. If the
// configuration names a next-state relation other than the algorithm's, or if
// the identities of processes depend on variables, NewDirect is the same as
// New.
func NewDirect(spec *core.Spec, alg *pcal.Algorithm, cfg *config.Config, o Options) (*Model, error) {
	if alg != nil {
		o.direct, spec = direct.New(spec, alg)
	}
	return New(spec, cfg, o)
}

// Constants returns the errors and warnings about a configuration's settings for
// constants and definitions. It evaluates nothing.
func Constants(spec *core.Spec, cfg *config.Config) *source.List {
	var diags source.List
	program.New(spec, cfg, program.Options{}, &diags)
	return &diags
}

// builder fills in a Model from a configuration.
type builder struct {
	m     *Model
	p     *program.Program
	o     Options
	cfg   *config.Config
	diags *source.List

	rest []core.Expr // what the specification assumes beyond fairness
}

func (b *builder) build() {
	b.unsupported()
	for _, a := range b.p.Spec.Assumes {
		name := a.Name
		if name == "" {
			name = a.Body.Span().String()
		}
		b.m.assumes = append(b.m.assumes, b.formula(name, a.Body))
	}
	b.behaviour()
	for _, n := range b.cfg.Invariants {
		if f := b.named(n, core.StateLevel, "an invariant"); f != nil {
			b.m.invariants = append(b.m.invariants, f)
			b.m.info.Invariants = append(b.m.info.Invariants, f.name)
		}
	}
	for _, n := range b.cfg.Properties {
		b.property(n)
	}
	b.live()
	b.lints()
	for _, n := range b.cfg.Constraints {
		if f := b.named(n, core.StateLevel, "a constraint"); f != nil {
			b.m.constraints = append(b.m.constraints, f)
		}
	}
	for _, n := range b.cfg.ActionConstraints {
		if f := b.named(n, core.ActionLevel, "an action constraint"); f != nil {
			b.m.actionConstraints = append(b.m.actionConstraints, f)
		}
	}
	if b.cfg.View.IsSet() {
		b.m.view = b.named(b.cfg.View, core.StateLevel, "a view")
	}
	if b.cfg.Alias.IsSet() {
		b.m.alias = b.named(b.cfg.Alias, core.ActionLevel, "an alias")
	}
	if b.cfg.Postcondition.IsSet() {
		b.m.post = b.named(b.cfg.Postcondition, core.ConstantLevel, "a postcondition")
	}
}

// unsupported rejects the parts of a configuration that this package does not
// support.
func (b *builder) unsupported() {
	refuse := func(n config.Name, section string) {
		if n.IsSet() {
			b.diags.Errorf(n.Span, Unsupported, "%s is not supported", section)
		}
	}
	for _, n := range b.cfg.Possible {
		refuse(n, "_POSSIBLE")
	}
	refuse(b.cfg.Periodic, "_PERIODIC")
	refuse(b.cfg.Reward, "_RL_REWARD")
}

func (b *builder) formula(name string, e core.Expr) *formula {
	f := &formula{name: name, expr: e, id: len(b.m.formulas)}
	b.m.formulas = append(b.m.formulas, f)
	return f
}

// lookup finds the definition without parameters that a configuration names,
// overrides applied.
func (b *builder) lookup(n config.Name) *core.Def {
	d := b.p.Spec.Names[n.Text]
	if d == nil {
		if c := b.p.Constant(n.Text); c != nil {
			return &core.Def{Name: c.Name, Module: c.Module, Span: c.Span, Body: &core.ConstRef{At: core.At{Place: n.Span}, Const: c}}
		}
		b.p.Unknown(n, b.diags)
		return nil
	}
	if r, repl := b.p.Resolve(d); r != nil {
		d = r
	} else {
		d = &core.Def{Name: n.Text, Span: d.Span, Body: &program.Literal{At: core.At{Place: d.Span}, Val: repl.Val}}
	}
	if len(d.Params) > 0 {
		b.diags.Errorf(n.Span, program.WrongArity, "%s takes %d arguments; what a configuration names must take none", n.Text, len(d.Params))
		return nil
	}
	return d
}

var levelNames = [...]string{"a constant", "a state predicate", "an action", "a temporal formula"}

// named makes a formula of the definition that a configuration names.
func (b *builder) named(n config.Name, most core.Level, what string) *formula {
	d := b.lookup(n)
	if d == nil {
		return nil
	}
	e := &core.Call{At: core.At{Place: d.Span}, Def: d}
	if l := b.p.DefFacts(d).Level; l > most {
		b.wrongLevel(n, d, l, most, what)
		return nil
	}
	return b.formula(n.Text, e)
}

// behaviour finds the initial predicate and the next-state relation.
func (b *builder) behaviour() {
	switch {
	case b.cfg.Specification.IsSet():
		d := b.lookup(b.cfg.Specification)
		if d == nil {
			return
		}
		found := behaviourOf(b.p, d, b.cfg.Specification.Span, b.executed(), b.diags)
		if found.next == nil {
			return
		}
		b.m.init = b.formula("Init", found.init)
		b.setNext("Next", found.next)
		b.setDirect()
		b.m.fairness, b.rest = found.fair, found.rest
		for _, e := range found.rest {
			b.m.info.Warnings = append(b.m.info.Warnings, e.Span().String()+
				": this part of the specification "+d.Name+" does not restrict which states are explored")
		}
	case b.cfg.Init.IsSet() && b.cfg.Next.IsSet():
		b.m.init = b.named(b.cfg.Init, core.StateLevel, "an initial predicate")
		if f := b.named(b.cfg.Next, core.ActionLevel, "a next-state relation"); f != nil {
			b.m.next = f
			b.primeless(f)
			b.m.actions = b.p.SplitActions(f.expr, f.name)
			b.setDirect()
		}
	case len(b.p.Spec.Variables) > 0 && len(b.cfg.Invariants)+len(b.cfg.Properties) > 0:
		asked := append(slices.Clone(b.cfg.Invariants), b.cfg.Properties...)
		b.diags.Add(source.Diagnostic{Code: MissingBehaviour, Span: asked[0].Span,
			Message: "the configuration asks for invariants or properties, but does not say which formula is the behaviour",
			Repair:  "SPECIFICATION Spec, or INIT Init NEXT Next"})
	}
	if b.m.direct != nil {
		b.m.info.Actions = b.m.direct.Actions
	} else if b.m.actions != nil {
		for _, a := range b.m.actions.List {
			b.m.info.Actions = append(b.m.info.Actions, check.Action{Name: a.Name, Place: a.Expr.Span().String()})
		}
	}
}

func (b *builder) setNext(name string, e core.Expr) {
	b.m.next = b.formula(name, e)
	b.primeless(b.m.next)
	b.m.actions = b.p.SplitActions(e, name)
}

// executed returns the next-state relation of the algorithm, for a model whose
// algorithm is executed step by step, or nil.
func (b *builder) executed() *core.Def {
	if d := b.o.direct; d != nil && b.o.Traces && d.Suits(b.p) {
		return d.Next
	}
	return nil
}

// setDirect replaces the translation by the algorithm itself.
func (b *builder) setDirect() {
	d := b.o.direct
	call, ok := b.m.next.expr.(*core.Call)
	if d == nil || !ok || b.o.Reference || !d.Suits(b.p) {
		return
	}
	if def, _ := b.p.Resolve(call.Def); def == d.Next {
		b.m.direct = d
	}
}

// property splits a property and keeps the parts that can be checked. It
// reports the rest as not checked.
func (b *builder) property(n config.Name) {
	d := b.lookup(n)
	if d == nil {
		return
	}
	call := &core.Call{At: core.At{Place: n.Span}, Def: d}
	ps := partsOf(b.p, call)
	for _, e := range ps.inv {
		b.m.invariants = append(b.m.invariants, b.formula(n.Text, e))
		b.m.info.Invariants = append(b.m.info.Invariants, n.Text)
	}
	if len(ps.init)+len(ps.steps) > 0 {
		var s step
		if e := conjunction(ps.init); e != nil {
			s.init = b.formula(n.Text, e)
		}
		if e := conjunction(ps.steps); e != nil {
			s.next = b.formula(n.Text, e)
		}
		b.m.steps = append(b.m.steps, s)
		b.m.info.Steps = append(b.m.info.Steps, n.Text)
	}
	if len(ps.init) > 0 && len(ps.steps)+len(ps.inv)+len(ps.fair)+len(ps.rest) == 0 {
		b.m.info.Warnings = append(b.m.info.Warnings, "the property "+n.Text+
			" is a state predicate: it is checked of initial states only; INVARIANT "+n.Text+" would check it of every state")
	}
	if len(ps.fair)+len(ps.rest) > 0 {
		b.m.temporal = append(b.m.temporal, temporal{n, append(ps.fair[:len(ps.fair):len(ps.fair)], ps.rest...)})
	}
}

// Info returns the static description of the model.
func (m *Model) Info() check.Info { return m.info }

// Capabilities returns the further features that the model supports.
func (m *Model) Capabilities() check.ModelCapabilities {
	return check.ModelCapabilities{Remarks: m.Remarks, ShowAt: m.ShowAt, Live: m.Live(), Durable: m}
}

// Fairness returns the specification's assumptions about behaviours beyond its
// initial predicate and next-state relation: formulas WF_v(A) and SF_v(A),
// possibly quantified over constant sets.
func (m *Model) Fairness() []core.Expr { return slices.Clone(m.fairness) }

// Variables returns the names of the state variables, in the order of states.
func (m *Model) Variables() []string {
	names := make([]string, len(m.program.Spec.Variables))
	for i, v := range m.program.Spec.Variables {
		names[i] = v.Name
	}
	return names
}

// Decode returns the values of a state that this model made, in the order of
// Variables.
func (m *Model) Decode(s check.State) []value.Value {
	if m.packed != nil {
		return m.decodePacked(s)
	}
	v := vector.New(len(m.program.Spec.Variables))
	m.codec.Decode(s, v, make([]int32, len(v.Vals)))
	return v.Vals
}

// Encode returns the state in which the variables have the given values.
func (m *Model) Encode(vals []value.Value) check.State {
	if m.packed != nil {
		return m.encodePacked(vals)
	}
	return m.encodeVector(vals)
}

func (m *Model) encodeVector(vals []value.Value) check.State {
	var buf, full []byte
	for i, v := range vals {
		buf, _, full = m.codec.Append(buf, i, v.Normal(), full)
	}
	return buf
}

// Show decodes a state and returns its variables or, if there is an alias, the
// fields of the alias.
func (m *Model) Show(s check.State) []check.Binding {
	return m.ShowAt(check.Shown{State: s, Next: s})
}

// ShowAt is Show with the next state and the position in the trace, which the alias may
// use.
func (m *Model) ShowAt(at check.Shown) []check.Binding {
	vals := m.Decode(at.State)
	if m.alias != nil {
		if shown := m.showAlias(at, vals, m.Decode(at.Next)); shown != nil {
			return shown
		}
	}
	out := make([]check.Binding, len(vals))
	for i, v := range vals {
		out[i] = show(m.program.Spec.Variables[i].Name, v)
	}
	return out
}

func show(name string, v value.Value) check.Binding {
	return check.Binding{Name: name, Value: v.String(), JSON: v.JSON()}
}

// Postcondition evaluates the configuration's condition for the end of a run;
// asked is false if there is none.
func (m *Model) Postcondition() (name string, holds, asked bool, err error) {
	if m.post == nil {
		return "", true, false, nil
	}
	w := m.newWorker()
	m.common.Last(w.run)
	err = w.guard(m.post, vector.Vector{}, vector.Vector{}, func() { holds = w.ev.Holds(m.post.id, vector.Vector{}, vector.Vector{}) })
	return m.post.name, holds, true, err
}
