package main

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/compile"
	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/source"
	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/pcal"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// firstPort is where the addresses of an example configuration begin.
const firstPort = 7100

// exampler makes an example configuration from the instances of an algorithm.
type exampler struct {
	s     *algorithmSpec
	m     *constantModel
	conf  *distsys.Config
	procs []*exampleProc
	users map[string][]*exampleProc // of resources
	vars  map[string]*core.Variable // of resources
	named map[string]string         // of resources, by variable and role
	port  int
}

// exampleProc is a process of the example.
type exampleProc struct {
	inst   *pcal.Instance
	self   value.Value
	member distsys.Member
	node   string
}

// exampleConfig is a configuration with one node for each process; processes
// that share a variable are on one node.
func exampleConfig(s *algorithmSpec, m *constantModel) (*distsys.Config, error) {
	if m.model == nil {
		return nil, fmt.Errorf("the values of the constants are not known")
	}
	x := &exampler{s: s, m: m, users: map[string][]*exampleProc{}, vars: map[string]*core.Variable{}, named: map[string]string{}, port: firstPort,
		conf: &distsys.Config{System: s.spec.Name, Constants: map[string]distsys.Text{}, Resources: map[string]distsys.Supply{}, Nodes: map[string][]distsys.Member{}}}
	for name, v := range m.values {
		x.conf.Constants[name] = distsys.TextOf(v)
	}
	for _, in := range s.text.Algorithm.Instances {
		if err := x.instance(in); err != nil {
			return nil, err
		}
	}
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

// nodeSuffix makes a part of a node's name of an identity.
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
	if arg.X != nil {
		v, err := x.evaluate(arg.X, p)
		if err != nil {
			return err
		}
		if !param.Ref {
			p.member.Values[name] = distsys.TextOf(v)
			return nil
		}
		res := p.node + "_" + name
		x.conf.Resources[res] = distsys.Supply{Kind: distsys.KindVariable, Value: distsys.TextOf(v)}
		p.member.Refs[name] = res
		return nil
	}
	role := compile.RoleOf(arg)
	res := x.name(arg, role, name)
	p.member.Refs[name] = res
	x.users[res] = append(x.users[res], p)
	x.vars[res] = arg.Ref
	if _, known := x.conf.Resources[res]; known {
		return nil
	}
	s, err := x.supply(role, param, arg)
	if err != nil {
		return err
	}
	x.conf.Resources[res] = s
	return nil
}

// name is that of a resource: the variable's where one role is played with it.
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

// supply guesses what a resource is.
func (x *exampler) supply(role compile.Role, param *pcal.Param, arg pcal.Arg) (distsys.Supply, error) {
	switch {
	case role == compile.RoleChannel && param.Mapping > 0:
		return distsys.Supply{Kind: distsys.KindMailboxes, Mode: distsys.ModeStrict}, nil
	case role == compile.RoleChannel:
		return distsys.Supply{Kind: distsys.KindQueue}, nil
	case role == compile.RoleLength && x.channelBehind(arg.Ref):
		return distsys.Supply{Kind: distsys.KindLengths, Of: x.name(arg, compile.RoleChannel, param.Var.Name)}, nil
	case role == compile.RoleSignal && param.Mapping > 0:
		return distsys.Supply{Kind: distsys.KindDetector}, nil
	case role == compile.RoleSignal:
		return distsys.Supply{Kind: distsys.KindTimer, After: distsys.Duration(1e9)}, nil
	}
	v, err := x.initial(arg.Ref)
	if err != nil {
		return distsys.Supply{}, err
	}
	kind := distsys.KindShared
	if role == compile.RoleInput {
		kind = distsys.KindConstant
	}
	if role == compile.RoleInput || role == compile.RoleOther {
		x.s.diags.Add(source.Diagnostic{Severity: source.Warning, Code: "CompileNoResource", Span: arg.Span,
			Message: fmt.Sprintf("no resource is known that acts like mapping macro %s; sys.json has a plain one for %s", arg.Mapping.Name, arg.Ref.Name),
			Repair:  "edit sys.json, or bind a resource of your own to the parameter " + param.Var.Name})
	}
	return distsys.Supply{Kind: kind, Value: distsys.TextOf(v)}, nil
}

// channelBehind says whether some instance uses the variable as mailboxes.
func (x *exampler) channelBehind(v *core.Variable) bool {
	for _, in := range x.s.text.Algorithm.Instances {
		for i, a := range in.Args {
			if a.Ref == v && a.Mapping != nil && compile.RoleOf(a) == compile.RoleChannel && in.Archetype.Params[i].Mapping > 0 {
				return true
			}
		}
	}
	return false
}

// initial is the first value of a global variable.
func (x *exampler) initial(v *core.Variable) (value.Value, error) {
	for _, g := range x.s.text.Algorithm.Globals {
		if g.Var != v || g.Init == nil {
			continue
		}
		val, err := x.m.model.Evaluate(g.Init)
		if err != nil || !g.In {
			return val, err
		}
		for first := range val.All() {
			return first, nil
		}
	}
	return value.Value{}, fmt.Errorf("the variable %s has no first value", v.Name)
}

// evaluate is the value of an argument, self being the process's.
func (x *exampler) evaluate(e core.Expr, p *exampleProc) (value.Value, error) {
	r := &pcal.Rewriter{Expr: func(e core.Expr) core.Expr {
		if l, ok := e.(*core.LocalRef); ok && l.Local == p.inst.Self {
			return x.literal(p.self, l.At)
		}
		return nil
	}}
	return x.m.model.Evaluate(r.X(e))
}

// literal is an expression for an identity.
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

// group puts processes that share a resource of one node on one node.
func (x *exampler) group() {
	for again := true; again; {
		again = false
		for _, name := range sortedNames(x.users) {
			kind := x.conf.Resources[name].Kind
			if kind != distsys.KindShared && kind != distsys.KindQueue {
				continue
			}
			first := x.users[name][0].node
			for _, p := range x.users[name] {
				if p.node != first {
					p.node, again = first, true
				}
			}
		}
	}
}

// place says where the parts of a resource are.
func (x *exampler) place(name string) {
	s := x.conf.Resources[name]
	if s.Kind != distsys.KindMailboxes && s.Kind != distsys.KindDetector {
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

// indices are what a resource is indexed with: the domain of the variable
// behind it, or else the identities of the processes.
func (x *exampler) indices(name string) []value.Value {
	if v, err := x.initial(x.vars[name]); err == nil && v.Kind() >= value.KindTuple && v.Kind() <= value.KindFn {
		return v.Domain().Elems()
	}
	var out []value.Value
	for _, p := range x.procs {
		out = append(out, p.self)
	}
	return out
}

// home is the node of the process that an index belongs to: the process
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
