// SPDX-License-Identifier: Apache-2.0

package syntax

import "github.com/ashlar-dev/ashlar/internal/invariant"

// Inspect calls f for n and, where f returns true, for the nodes below it in
// the order of the text. It visits units, expressions, statements and the
// declarations of algorithms; names, bounds, fields and other parts that are
// held by value are not visited, but the expressions in them are.
func Inspect(n Node, f func(Node) bool) {
	if f(n) {
		children(n, func(c Node) { Inspect(c, f) })
	}
}

// TreeDepthMax is the maximum depth of the tree of one unit or algorithm. It is
// larger than NestingMax because a long row of operators, which is nested in
// the tree but not in the text, is common.
const TreeDepthMax = 10_000

// depthOf is the depth of the tree below n, found without recursion.
func depthOf(n Node) int {
	type level struct {
		n     Node
		depth int
	}
	stack := []level{{n, 1}}
	deepest := 0
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		deepest = max(deepest, top.depth)
		children(top.n, func(c Node) { stack = append(stack, level{c, top.depth + 1}) })
	}
	return deepest
}

// children calls yield for each node right below n.
func children(n Node, yield func(Node)) {
	switch n := n.(type) {
	case Expr:
		exprChildren(n, yield)
	case Unit:
		unitChildren(n, yield)
	case Stmt:
		stmtChildren(n, yield)
	default:
		declChildren(n, yield)
	}
}

func each[T Node](list []T, yield func(Node)) {
	for _, n := range list {
		yield(n)
	}
}

func boundChildren(bounds []Bound, yield func(Node)) {
	for _, b := range bounds {
		if b.Set != nil {
			yield(b.Set)
		}
	}
}

func unitChildren(u Unit, yield func(Node)) {
	switch u := u.(type) {
	case *VariableDecl, *ConstantDecl, *Recursive, *UseHide, *Separator, *BadUnit:
	case *OperatorDef:
		yield(u.Body)
	case *FunctionDef:
		boundChildren(u.Bounds, yield)
		yield(u.Body)
	case *Instance:
		for _, s := range u.With {
			yield(s.Value)
		}
	case *Module:
		each(u.Units, yield)
		if u.Algorithm != nil {
			yield(u.Algorithm)
		}
		if u.Emitted != nil {
			yield(u.Emitted)
		}
	case *Assume:
		yield(u.Body)
	case *Theorem:
		yield(u.Body)
	default:
		invariant.Unreachable(u)
	}
}

func exprChildren(x Expr, yield func(Node)) {
	switch x := x.(type) {
	case *Ident, *OpRef, *At, *Number, *String, *BadExpr, *Dollar, *RefArg:
	case *Apply:
		each(x.Args, yield)
	case *Path:
		for _, s := range x.Steps {
			each(s.Args, yield)
		}
	case *Lambda:
		yield(x.Body)
	case *Prefix:
		yield(x.X)
	case *Infix:
		yield(x.Left)
		yield(x.Right)
	case *Postfix:
		yield(x.X)
	case *Junction:
		each(x.Items, yield)
	case *Product:
		each(x.Factors, yield)
	case *Index:
		yield(x.Fn)
		each(x.Args, yield)
	case *Field:
		yield(x.X)
	case *Tuple:
		each(x.Elems, yield)
	case *If:
		yield(x.Cond)
		yield(x.Then)
		yield(x.Else)
	case *Case:
		for _, a := range x.Arms {
			yield(a.Guard)
			yield(a.Value)
		}
		if x.Other != nil {
			yield(x.Other)
		}
	case *Let:
		each(x.Units, yield)
		yield(x.Body)
	case *Action:
		yield(x.Body)
		yield(x.Vars)
	case *Fairness:
		yield(x.Vars)
		yield(x.Body)
	case *Label:
		yield(x.Body)
	case *AssumeProve:
		each(x.Items, yield)
		yield(x.Prove)
	default:
		collectionChildren(x, yield)
	}
}

// collectionChildren is for forms that bind names or build sets and functions.
func collectionChildren(x Expr, yield func(Node)) {
	switch x := x.(type) {
	case *Quant:
		boundChildren(x.Bounds, yield)
		yield(x.Body)
	case *Choose:
		boundChildren([]Bound{x.Bound}, yield)
		yield(x.Body)
	case *SetEnum:
		each(x.Elems, yield)
	case *SetFilter:
		boundChildren([]Bound{x.Bound}, yield)
		yield(x.Pred)
	case *SetMap:
		yield(x.Elem)
		boundChildren(x.Bounds, yield)
	case *Fn:
		boundChildren(x.Bounds, yield)
		yield(x.Body)
	case *FnSet:
		yield(x.Domain)
		yield(x.Range)
	case *Record:
		for _, f := range x.Fields {
			yield(f.Value)
		}
	case *RecordSet:
		for _, f := range x.Fields {
			yield(f.Value)
		}
	case *Except:
		yield(x.X)
		for _, u := range x.Updates {
			accessorChildren(u.Path, yield)
			yield(u.Value)
		}
	default:
		invariant.Unreachable(x)
	}
}

func accessorChildren(path []Accessor, yield func(Node)) {
	for _, a := range path {
		each(a.Index, yield)
	}
}

func stmtChildren(s Stmt, yield func(Node)) {
	switch s := s.(type) {
	case *Skip, *Return, *Goto, *BadStmt:
	case *Block:
		each(s.Body, yield)
	case *Assign:
		for _, a := range s.Parts {
			accessorChildren(a.Path, yield)
			yield(a.Value)
		}
	case *IfStmt:
		yield(s.Cond)
		yield(s.Then)
		if s.Else != nil {
			yield(s.Else)
		}
	case *While:
		yield(s.Cond)
		yield(s.Body)
	case *Either:
		each(s.Branches, yield)
	case *With:
		each(s.Binds, yield)
		yield(s.Body)
	case *Await:
		yield(s.Cond)
	case *Print:
		yield(s.Value)
	case *Assert:
		yield(s.Cond)
	case *Call:
		each(s.Args, yield)
	case *MacroCall:
		each(s.Args, yield)
	case *Yield:
		yield(s.Value)
	default:
		invariant.Unreachable(s)
	}
}

func declChildren(n Node, yield func(Node)) {
	switch n := n.(type) {
	case *Algorithm:
		each(n.Variables, yield)
		each(n.Define, yield)
		each(n.Macros, yield)
		each(n.Procedures, yield)
		each(n.MappingMacros, yield)
		each(n.Archetypes, yield)
		each(n.Instances, yield)
		each(n.Processes, yield)
		if n.Body != nil {
			yield(n.Body)
		}
	case *PlusVar:
		if n.Init != nil {
			yield(n.Init)
		}
	case *Macro:
		yield(n.Body)
	case *Param:
		if n.Init != nil {
			yield(n.Init)
		}
	case *Procedure:
		each(n.Params, yield)
		each(n.Variables, yield)
		yield(n.Body)
	case *Process:
		yield(n.Set)
		each(n.Variables, yield)
		yield(n.Body)
	case *MappingMacro:
		yield(n.Read)
		yield(n.Write)
		if n.Crash != nil {
			yield(n.Crash)
		}
	case *Archetype:
		each(n.Params, yield)
		each(n.Durable, yield)
		each(n.Variables, yield)
		yield(n.Body)
	case *ProcessInstance:
		yield(n.Set)
		each(n.Args, yield)
	case *NewDecl:
		if n.Set != nil {
			yield(n.Set)
		}
	default:
		invariant.Unreachable(n)
	}
}
