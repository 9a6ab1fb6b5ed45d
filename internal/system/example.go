// SPDX-License-Identifier: Apache-2.0

package system

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/internal/compile"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// firstPort is the first port of the addresses in an example configuration.
const firstPort = 7100

// exampler builds an example configuration from the instances of an algorithm.
type exampler struct {
	s     *algorithm
	m     *constantModel
	conf  *distsys.Config
	procs []*exampleProc
	users map[string][]*exampleProc // of resources
	first map[string]value.Value    // of the variables behind resources
	spans map[string]source.Span    // where resources are passed
	ghost map[string]bool           // resources that are assigned and never read
	named map[string]string         // of resources, by variable and role
	port  int
	// notRelaxed says where relaxed mailboxes are not sound, and why.
	notRelaxed map[string]map[string]string
}

// exampleProc is a process of the example.
type exampleProc struct {
	inst   *pcal.Instance
	self   value.Value
	member distsys.Member
	node   string
}

// exampleConfig builds a configuration with one node for each process.
// Processes that share a variable are on one node, and a warning says so. A
// variable that processes assign and none reads, which exists only for the
// model's properties, does not put them on one node: its resource discards what
// is assigned.
func exampleConfig(s *algorithm, m *constantModel, pkg *compile.Package) (*distsys.Config, error) {
	if m.model == nil {
		return nil, fmt.Errorf("the values of the constants are not known")
	}
	x := &exampler{s: s, m: m, users: map[string][]*exampleProc{}, first: map[string]value.Value{}, spans: map[string]source.Span{}, ghost: map[string]bool{}, named: map[string]string{}, port: firstPort, notRelaxed: pkg.NotRelaxed,
		conf: &distsys.Config{System: s.spec.Name, Constants: map[string]distsys.Text{}, Resources: map[string]distsys.Supply{}, Nodes: map[string][]distsys.Member{}}}
	for name, v := range m.values {
		x.conf.Constants[name] = distsys.TextOf(v)
	}
	for _, in := range s.made.Algorithm.Instances {
		if err := x.instance(in); err != nil {
			return nil, err
		}
	}
	x.ghosts()
	x.group()
	for _, p := range x.procs {
		x.conf.Nodes[p.node] = append(x.conf.Nodes[p.node], p.member)
	}
	for _, name := range sortedNames(x.conf.Resources) {
		x.place(name)
	}
	return x.conf, nil
}

func sortedNames[V any](m map[string]V) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// instance adds the processes of an instance.
func (x *exampler) instance(in *pcal.Instance) error {
	id, err := x.m.model.Evaluate(in.Id)
	if err != nil {
		return err
	}
	selves := []value.Value{id}
	if in.Set {
		if !value.IsFinite(id) {
			return fmt.Errorf("process %s: the set of identities is infinite", in.Name)
		}
		selves = id.Elems()
	}
	for _, self := range selves {
		p := &exampleProc{inst: in, self: self, node: strings.ToLower(in.Name)}
		if in.Set {
			p.node += nodeSuffix(self)
		}
		p.member = distsys.Member{Archetype: in.Archetype.Name, Self: distsys.TextOf(self), Values: map[string]distsys.Text{}, Refs: map[string]string{}}
		for i, param := range in.Archetype.Params {
			if err := x.argument(p, param, in.Args[i]); err != nil {
				return err
			}
		}
		x.procs = append(x.procs, p)
	}
	return nil
}

// nodeSuffix converts an identity to a part of a node's name.
func nodeSuffix(v value.Value) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' {
			return r
		}
		return -1
	}, v.String())
}

func (x *exampler) argument(p *exampleProc, param *pcal.Param, arg pcal.Arg) error {
	name := param.Var.Name
	if arg.X != nil && !param.Ref {
		v, err := x.evaluate(arg.X, p)
		if err != nil {
			return err
		}
		p.member.Values[name] = distsys.TextOf(v)
		return nil
	}
	role := compile.RoleOf(arg)
	res := p.node + "_" + name // a value is a variable of the process's own
	if arg.Ref != nil {
		res = x.name(arg, role, name)
	}
	for arg.Ref == nil && x.users[res] != nil {
		res += "_"
	}
	p.member.Refs[name] = res
	x.users[res] = append(x.users[res], p)
	ghost, known := x.ghost[res]
	x.ghost[res] = (ghost || !known) && role == compile.RoleVariable && arg.Ref != nil && !compile.Reads(p.inst.Archetype, param)
	if known {
		return nil
	}
	x.spans[res] = arg.Span
	first, err := x.firstValue(p, arg)
	if err != nil && (role == compile.RoleVariable || role == compile.RoleInput || role == compile.RoleOther) {
		return err
	}
	x.first[res] = first
	x.conf.Resources[res] = x.supply(role, param, arg, first)
	return nil
}

// name returns the name of a resource: that of the variable if the variable has
// only one role.
func (x *exampler) name(arg pcal.Arg, role compile.Role, param string) string {
	key := fmt.Sprintf("%s %d", arg.Ref.Name, role)
	if role == compile.RoleOther || role == compile.RoleInput {
		key += " " + arg.Mapping.Name
	}
	if res, ok := x.named[key]; ok {
		return res
	}
	res := arg.Ref.Name
	for _, used := range x.named {
		if used == res {
			res = arg.Ref.Name + "_" + param
		}
	}
	x.named[key] = res
	return res
}

// supply guesses the kind of a resource from the mapping macro and from whether
// the argument is a variable or a value.
func (x *exampler) supply(role compile.Role, param *pcal.Param, arg pcal.Arg, first value.Value) distsys.Supply {
	shared, name := arg.Ref != nil, param.Var.Name
	if shared {
		name = arg.Ref.Name
	}
	of := func(like distsys.Supply) distsys.Supply {
		if param.Mapping > 0 {
			return distsys.Supply{Kind: distsys.KindEach, Like: &like}
		}
		return like
	}
	text := distsys.TextOf(first)
	plain := distsys.Supply{Kind: distsys.KindVariable, Value: text}
	if shared {
		plain.Kind = distsys.KindShared
	}
	why := "no resource is known that acts like mapping macro %s; sys.json has a plain one for %s"
	switch role {
	case compile.RoleVariable:
		return plain
	case compile.RoleChannel:
		if shared && param.Mapping > 0 && compile.Named(arg.Mapping, compile.LossyMailbox) {
			return distsys.Supply{Kind: distsys.KindMailboxes, Mode: distsys.ModeLossy}
		}
		if shared && param.Mapping > 0 && compile.Named(arg.Mapping, compile.RelaxedMailbox) && x.mayRelax(param.Var.Name) {
			return distsys.Supply{Kind: distsys.KindMailboxes, Mode: distsys.ModeRelaxed}
		}
		if shared && param.Mapping > 0 && !compile.Named(arg.Mapping, compile.Input) && !compile.Named(arg.Mapping, compile.Output) {
			return distsys.Supply{Kind: distsys.KindMailboxes, Mode: distsys.ModeStrict, Distinct: compile.Distinct(arg.Mapping)}
		}
		return of(distsys.Supply{Kind: distsys.KindQueue, Distinct: compile.Distinct(arg.Mapping)})
	case compile.RoleLength:
		if shared && x.channelBehind(arg.Ref) {
			return distsys.Supply{Kind: distsys.KindLengths, Of: x.name(arg, compile.RoleChannel, param.Var.Name)}
		}
	case compile.RoleSignal:
		timer := compile.Named(arg.Mapping, compile.Timer)
		switch {
		case timer:
			return of(distsys.Supply{Kind: distsys.KindTimer, After: distsys.Duration(1e9), Spread: distsys.Duration(1e9), OfNode: shared})
		case !shared || param.Mapping == 0:
			return of(distsys.Supply{Kind: distsys.KindTimer, After: distsys.Duration(1e9)})
		case !x.assignedVia(arg):
			return distsys.Supply{Kind: distsys.KindDetector}
		}
		why = "mapping macro %s reads like a failure detector, but %s is assigned through it, and a detector is only read; sys.json has a plain variable"
	case compile.RoleInput:
		plain.Kind = distsys.KindConstant
	case compile.RoleCounter:
		if shared && param.Mapping == 0 {
			return distsys.Supply{Kind: distsys.KindCounter}
		}
	}
	x.s.diags.Add(source.Diagnostic{Severity: source.Warning, Code: "CompileNoResource", Span: arg.Span,
		Message: fmt.Sprintf(why, arg.Mapping.Name, name),
		Repair:  "edit sys.json, or bind your own resource to the parameter " + param.Var.Name})
	return plain
}

// mayRelax reports whether relaxed mailboxes are sound for the parameters of that
// name, of all archetypes that have one.
func (x *exampler) mayRelax(param string) bool {
	for _, why := range x.notRelaxed {
		if why[param] != "" {
			return false
		}
	}
	return true
}

// assignedVia reports whether an archetype assigns a variable through the
// mapping macro of the argument.
func (x *exampler) assignedVia(arg pcal.Arg) bool {
	for _, in := range x.s.made.Algorithm.Instances {
		for i, a := range in.Args {
			if a.Ref == arg.Ref && a.Mapping == arg.Mapping && compile.Assigns(in.Archetype, in.Archetype.Params[i]) {
				return true
			}
		}
	}
	return false
}

// channelBehind reports whether an instance uses the variable as mailboxes.
func (x *exampler) channelBehind(v *core.Variable) bool {
	for _, in := range x.s.made.Algorithm.Instances {
		for i, a := range in.Args {
			if a.Ref == v && a.Mapping != nil && compile.RoleOf(a) == compile.RoleChannel && in.Archetype.Params[i].Mapping > 0 {
				return true
			}
		}
	}
	return false
}

// firstValue returns the initial value of an argument's resource.
func (x *exampler) firstValue(p *exampleProc, arg pcal.Arg) (value.Value, error) {
	if arg.X != nil {
		return x.evaluate(arg.X, p)
	}
	return x.initial(arg.Ref)
}

// initial returns the first value of a global variable.
func (x *exampler) initial(v *core.Variable) (value.Value, error) {
	for _, g := range x.s.made.Algorithm.Globals {
		switch {
		case g.Var != v:
			continue
		case g.Init == nil:
			return value.Model(pcal.DefaultInitValue), nil
		}
		val, err := x.m.model.Evaluate(x.ground(g.Init))
		if err != nil || !g.In {
			return val, err
		}
		for first := range val.All() {
			return first, nil
		}
	}
	return value.Value{}, fmt.Errorf("the variable %s has no first value", v.Name)
}

// ground replaces the global variables in an expression by their first values.
// The expression can mention only variables declared before it.
func (x *exampler) ground(e core.Expr) core.Expr {
	r := &pcal.Rewriter{}
	r.Expr = func(e core.Expr) core.Expr {
		ref, ok := e.(*core.VarRef)
		if !ok {
			return nil
		}
		for _, g := range x.s.made.Algorithm.Globals {
			switch {
			case g.Var != ref.Var || g.Init == nil:
			case !g.In:
				return x.ground(g.Init)
			default:
				if v, err := x.initial(g.Var); err == nil {
					return x.literal(v, ref.At)
				}
			}
		}
		return nil
	}
	return r.X(e)
}

// evaluate returns the value of an argument, with the process's identity for
// self.
func (x *exampler) evaluate(e core.Expr, p *exampleProc) (value.Value, error) {
	r := &pcal.Rewriter{Expr: func(e core.Expr) core.Expr {
		if l, ok := e.(*core.LocalRef); ok && l.Local == p.inst.Self {
			return x.literal(p.self, l.At)
		}
		return nil
	}}
	return x.m.model.Evaluate(x.ground(r.X(e)))
}

// literal returns an expression for an identity.
func (x *exampler) literal(v value.Value, at core.At) core.Expr {
	switch v.Kind() {
	case value.KindInt:
		return &core.Int{At: at, Val: int64(v.AsInt())}
	case value.KindString:
		return &core.Str{At: at, Val: v.AsString()}
	case value.KindBool:
		return &core.Bool{At: at, Val: v.AsBool()}
	case value.KindTuple:
		t := &core.Tuple{At: at}
		for _, e := range v.Elements() {
			t.Elems = append(t.Elems, x.literal(e, at))
		}
		return t
	}
	for _, c := range x.s.spec.Constants {
		if have, ok := x.m.values[c.Name]; ok && value.Equal(have, v) {
			return &core.ConstRef{At: at, Const: c}
		}
	}
	return &core.Str{At: at, Val: v.String()}
}

// ghosts makes resources that are assigned and never read discard all writes.
func (x *exampler) ghosts() {
	for name, ghost := range x.ghost {
		if s := x.conf.Resources[name]; ghost && s.Kind == distsys.KindShared {
			s.Kind = distsys.KindDummy
			x.conf.Resources[name] = s
		}
	}
}

// group assigns processes that share a node-local resource to one node.
func (x *exampler) group() {
	var together []string
	for _, name := range sortedNames(x.users) {
		kind := x.conf.Resources[name].Kind
		if kind == distsys.KindShared || kind == distsys.KindQueue {
			together = append(together, name)
			x.sayTogether(name)
		}
	}
	for again := true; again; {
		again = false
		for _, name := range together {
			first := x.users[name][0].node
			for _, p := range x.users[name] {
				if p.node != first {
					p.node, again = first, true
				}
			}
		}
	}
}

// sayTogether warns about processes that must be on one node because of a
// resource.
func (x *exampler) sayTogether(name string) {
	var procs []string
	for _, p := range x.users[name] {
		if text := p.member.Archetype + "(" + p.self.String() + ")"; !slices.Contains(procs, text) {
			procs = append(procs, text)
		}
	}
	if len(procs) < 2 {
		return
	}
	const most = 6
	list := strings.Join(procs[:min(len(procs), most)], ", ")
	if len(procs) > most {
		list += fmt.Sprintf(" and %d more", len(procs)-most)
	}
	x.s.diags.Add(source.Diagnostic{Severity: source.Warning, Code: "CompileOneNode", Span: x.spans[name],
		Message: fmt.Sprintf("%s use the variable %s, so sys.json puts them on one node", list, name),
		Repair:  "pass what processes on different nodes exchange through a mapping macro that acts like a network"})
}

// place determines the nodes of a resource's parts.
func (x *exampler) place(name string) {
	s := x.conf.Resources[name]
	if s.Kind != distsys.KindMailboxes && s.Kind != distsys.KindDetector && s.Kind != distsys.KindCounter {
		return
	}
	indices := map[string][]distsys.Text{}
	var order []string
	add := func(node string, v value.Value) {
		if indices[node] == nil {
			order = append(order, node)
		}
		indices[node] = append(indices[node], distsys.TextOf(v))
	}
	for _, v := range x.indices(name) {
		add(x.home(v), v)
	}
	for _, node := range order {
		s.At = append(s.At, distsys.Site{Node: node, Address: "127.0.0.1:" + strconv.Itoa(x.port), Indices: indices[node]})
		x.port++
	}
	x.conf.Resources[name] = s
}

// indices returns the indices of a resource: the domain of its variable, or
// else the identities of the processes.
func (x *exampler) indices(name string) []value.Value {
	if v := x.first[name]; v.Kind() >= value.KindTuple && v.Kind() <= value.KindFn {
		return v.Domain().Elems()
	}
	var out []value.Value
	for _, p := range x.procs {
		out = append(out, p.self)
	}
	return out
}

// home returns the node of the process to which an index belongs: the process
// itself, or the first component of a tuple.
func (x *exampler) home(v value.Value) string {
	text := v.String()
	for _, p := range x.procs {
		if p.self.String() == text {
			return p.node
		}
	}
	if v.Kind() == value.KindTuple && v.Len() > 0 {
		return x.home(v.Index(1))
	}
	return x.procs[0].node
}
