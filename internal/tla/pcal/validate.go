// SPDX-License-Identifier: Apache-2.0

package pcal

import (
	"fmt"
)

// Validate checks what the types cannot express. Labels must be unique where
// they are looked up, and every jump must have a target. A statement that
// contains a jump must end its sequence, so that every path through a block
// ends in exactly one jump. Yields must be where a value is required, and must
// end their path. Arguments must match parameters. Nothing may be nil. Validate
// returns the first fault found; a fault is a bug in this program, never the
// user's error.
func Validate(a *Algorithm) error {
	v := &validator{}
	if a.PC == nil || a.Stack == nil {
		return fmt.Errorf("algorithm %s: no pc or stack", a.Name)
	}
	v.variables(a.Globals)
	for _, p := range a.Procedures {
		v.in = "procedure " + p.Name
		v.inProcedure = true
		v.params(p.Params)
		v.variables(p.Locals)
		v.blocks(p.Blocks)
	}
	v.inProcedure = false
	for _, p := range a.Processes {
		v.in = "process " + p.Name
		v.check(p.Id == nil || p.Self != nil, "has an identity and no self")
		v.check(p.Id != nil || len(a.Processes) == 1, "has no identity")
		v.variables(p.Locals)
		v.blocks(p.Blocks)
		if p.Crash != nil {
			v.check(a.Crashes != nil && a.Crashes.Count != nil, "crashes, and nothing counts how often")
			v.check(v.jumps(p.Crash.Body) == jumpsAlways, "its crash has a path without a restart")
		}
	}
	for _, p := range a.Archetypes {
		v.in = "archetype " + p.Name
		v.check(p.Self != nil, "has no self")
		v.params(p.Params)
		v.variables(p.Locals)
		v.blocks(p.Blocks)
		v.check(p.Restart == "" || v.labels[p.Restart], "starts again at %s, which is no label", p.Restart)
	}
	for _, m := range a.Mappings {
		v.in = "mapping macro " + m.Name
		v.check(m.Target != nil && m.Value != nil && m.Self != nil, "misses a name")
		v.labels = nil
		v.check(v.valued(m.Read), "its read part has a path without a yield")
		v.macroWrite(m.Write)
		v.check(v.jumps(m.Crash) == jumpsNever, "its crash part jumps")
	}
	for _, in := range a.Instances {
		v.in = "instance " + in.Name
		v.check(in.Archetype != nil && in.Self != nil && in.Id != nil, "misses a part")
		if in.Archetype != nil {
			v.args(in.Args, in.Archetype.Params)
		}
	}
	return v.err
}

// validator has the current position and the first fault.
type validator struct {
	in          string
	inProcedure bool
	labels      map[string]bool
	err         error
}

func (v *validator) check(ok bool, format string, args ...any) {
	if !ok && v.err == nil {
		v.err = fmt.Errorf("%s: %s", v.in, fmt.Sprintf(format, args...))
	}
}

func (v *validator) variables(list []*Variable) {
	for _, x := range list {
		v.check(x.Var != nil, "a variable without identity")
		v.check(!x.In || x.Init != nil, "variable %s is an element of nothing", x.Var.Name)
	}
}

func (v *validator) params(list []*Param) {
	for _, p := range list {
		v.check(p.Var != nil, "a parameter without identity")
		v.check(p.Ref || p.Mapping == 0, "parameter %s has indices and is not a ref", p.Var.Name)
	}
}

func (v *validator) args(args []Arg, params []*Param) {
	v.check(len(args) == len(params), "%d arguments for %d parameters", len(args), len(params))
	for i := 0; i < len(args) && i < len(params); i++ {
		v.check((args[i].Ref == nil) != (args[i].X == nil), "argument %d is neither ref nor value", i+1)
		v.check(params[i].Ref || args[i].Ref == nil, "argument %d is ref and its parameter is not", i+1)
	}
}

func (v *validator) blocks(list []*Block) {
	v.check(len(list) > 0, "has no block")
	v.labels = map[string]bool{LabelDone: true, LabelError: true}
	for _, b := range list {
		v.check(!v.labels[b.Label], "label %s occurs twice", b.Label)
		v.labels[b.Label] = true
	}
	for _, b := range list {
		v.check(v.jumps(b.Body) == jumpsAlways, "label %s has a path without a jump", b.Label)
	}
}

// jumping states which paths through some statements end in a jump.
type jumping uint8

const (
	jumpsNever jumping = iota
	jumpsAlways
	jumpsSometimes
)

func join(a, b jumping) jumping {
	if a == b {
		return a
	}
	return jumpsSometimes
}

// jumps checks a sequence and says how it ends.
func (v *validator) jumps(list []Stmt) jumping {
	for i, s := range list {
		j := v.stmt(s)
		v.check(j != jumpsSometimes, "%s: some paths jump and some do not", s.Span())
		if j == jumpsAlways {
			v.check(i == len(list)-1, "%s: a statement after a jump", s.Span())
			return j
		}
	}
	return jumpsNever
}

// stmt checks a statement of a block and says which of its paths jump.
func (v *validator) stmt(s Stmt) jumping {
	switch s := s.(type) {
	case *Goto:
		v.check(v.labels[s.Label], "goto %s has no target", s.Label)
		return jumpsAlways
	case *Restart:
		v.check(v.labels[s.Label], "restart at %s has no target", s.Label)
		return jumpsAlways
	case *Return:
		v.check(v.inProcedure, "return outside a procedure")
		return jumpsAlways
	case *Call:
		v.args(s.Args, s.Proc.Params)
		v.check(s.Return == "" || v.labels[s.Return], "call returns to %s, which is no label", s.Return)
		v.check(s.Return != "" || v.inProcedure, "tail call outside a procedure")
		return jumpsAlways
	case *If:
		v.check(s.Cond != nil, "if without condition")
		return join(v.jumps(s.Then), v.jumps(s.Else))
	case *Either:
		v.check(len(s.Branches) > 0, "either without branches")
		if len(s.Branches) == 0 {
			return jumpsNever
		}
		j := v.jumps(s.Branches[0])
		for _, b := range s.Branches[1:] {
			j = join(j, v.jumps(b))
		}
		return j
	case *With:
		v.check(s.Var != nil && s.X != nil, "with without a name or a value")
		return v.jumps(s.Body)
	case *Read:
		v.check(s.Dst != nil, "read without a name")
		v.check(s.Access != nil || len(s.Body) > 0, "read of nothing")
		v.check(len(s.Body) == 0 || v.valued(s.Body), "a read has a path without a yield")
		return v.jumps(s.Rest)
	case *Write:
		v.check((s.Access != nil || len(s.Body) > 0) && s.X != nil, "write without a resource or a value")
		v.check(len(s.Body) == 0 || s.Value != nil, "write without a name for its value")
		v.check(v.jumps(s.Body) == jumpsNever, "a write jumps")
		return jumpsNever
	case *Assign:
		v.check(len(s.Pairs) > 0, "assignment of nothing")
		for _, p := range s.Pairs {
			v.check(p.Target != nil && p.Value != nil, "assignment without target or value")
		}
	case *Await:
		v.check(s.Cond != nil, "await without condition")
	case *Assert:
		v.check(s.Cond != nil, "assert without condition")
	case *Print:
		v.check(s.X != nil, "print without value")
	case *Skip:
	case *Yield:
		v.check(false, "%s: a yield where no value is asked for", s.Span())
	}
	return jumpsNever
}

// valued checks statements that compute a value. It reports whether every path
// ends in a yield with nothing after it.
func (v *validator) valued(list []Stmt) bool {
	for i, s := range list {
		switch v.yields(s) {
		case jumpsAlways:
			v.check(i == len(list)-1, "%s: a statement after a yield", s.Span())
			return true
		case jumpsSometimes:
			v.check(false, "%s: some paths yield and some do not", s.Span())
			return true
		}
	}
	return false
}

func (v *validator) yields(s Stmt) jumping {
	of := func(list []Stmt) jumping {
		if v.valued(list) {
			return jumpsAlways
		}
		return jumpsNever
	}
	switch s := s.(type) {
	case *Yield:
		v.check(s.X != nil, "yield of nothing")
		return jumpsAlways
	case *If:
		return join(of(s.Then), of(s.Else))
	case *Either:
		j := of(s.Branches[0])
		for _, b := range s.Branches[1:] {
			j = join(j, of(b))
		}
		return j
	case *With:
		return of(s.Body)
	case *Read:
		v.check(len(s.Body) == 0 || v.valued(s.Body), "a read has a path without a yield")
		return of(s.Rest)
	default:
		v.check(v.stmt(s) == jumpsNever, "%s: a jump where a value is asked for", s.Span())
		return jumpsNever
	}
}

// macroWrite checks the write part of a mapping macro. Its yields are
// assignments to the variable and may be anywhere.
func (v *validator) macroWrite(list []Stmt) {
	r := &Rewriter{Stmt: func(s Stmt) ([]Stmt, bool) {
		if y, ok := s.(*Yield); ok {
			return []Stmt{&Skip{At: y.At}}, true
		}
		return nil, false
	}}
	v.check(v.jumps(r.Stmts(list)) == jumpsNever, "its write part jumps")
}
