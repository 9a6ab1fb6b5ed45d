// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/goose/coq"
)

// Statements become one term. Where control leaves early, and the statements
// after it cannot simply move into the other branch, statements give outcomes
// (proofs/lang/golib.v, "Control flow").

// tail says what the value of a list of statements is for.
type tail uint8

const (
	tailNone    tail = iota // the result is not used
	tailLoop                // the body of a loop that only continues
	tailUnit                // a function without results: ()
	tailValue               // a function with results: them
	tailOutcome             // an outcome
)

// escape says how statements may leave early.
type escape uint8

const (
	escapeReturn escape = 1 << iota
	escapeBreak
	escapeContinue
)

// escapes are the ways in which statements may leave the list.
func escapes(list []Stmt) escape {
	var e escape
	for _, s := range list {
		switch s := s.(type) {
		case Return:
			e |= escapeReturn
		case Break:
			e |= escapeBreak
		case Continue:
			e |= escapeContinue
		case If:
			e |= escapes(s.Then) | escapes(s.Else)
		case For:
			e |= escapes(s.Body) & escapeReturn
		case RangeInt:
			e |= escapes(s.Body) & escapeReturn
		case RangeMap:
			e |= escapes(s.Body) & escapeReturn
		}
	}
	return e
}

// completes reports whether statements may run off their end.
func completes(list []Stmt) bool {
	for _, s := range list {
		switch s := s.(type) {
		case Return, Break, Continue, Panic:
			return false
		case If:
			if !completes(s.Then) && !completes(s.Else) {
				return false
			}
		case For:
			if s.Cond == nil && escapes(s.Body)&escapeBreak == 0 {
				return false
			}
		}
	}
	return true
}

// inTail reports whether all early exits of the statements are where nothing
// follows, or what follows can move into the other branch.
func inTail(list []Stmt) bool {
	for i, s := range list {
		s, ok := s.(If)
		if !ok || escapes([]Stmt{s}) == 0 {
			continue
		}
		rest := list[i+1:]
		switch {
		case len(rest) == 0:
			return inTail(s.Then) && inTail(s.Else)
		case !completes(s.Then):
			return inTail(s.Then) && inTail(concat(s.Else, rest))
		case !completes(s.Else):
			return inTail(s.Else) && inTail(concat(s.Then, rest))
		}
		return false
	}
	return true
}

func concat(a, b []Stmt) []Stmt { return append(append([]Stmt(nil), a...), b...) }

// end is the value of no statements.
func end(k tail) coq.Expr {
	if k == tailOutcome {
		return goOn
	}
	return unit
}

// stmts encodes statements.
func (c *encoder) stmts(list []Stmt, k tail) coq.Expr {
	if len(list) == 0 {
		return end(k)
	}
	rest := list[1:]
	switch s := list[0].(type) {
	case Note:
		return coq.Note{Text: s.Text, Body: c.stmts(rest, k)}
	case Let:
		return coq.Let{Name: binder(s.Name), X: c.expr(s.X), Body: c.stmts(rest, k)}
	case LetTuple:
		return c.letTuple(s.Names, c.expr(s.X), func() coq.Expr { return c.stmts(rest, k) })
	case Return:
		return c.result(s, k)
	case Break:
		return coq.Atom("break")
	case Continue:
		if k == tailOutcome {
			return coq.Atom("continue")
		}
		return unit
	case Panic:
		return coq.App{Fun: coq.Atom("panic"), Args: []coq.Expr{c.expr(s.X)}}
	case If:
		return c.branches(s, list, k)
	case For, RangeInt, RangeMap:
		if escapes(list[:1]) != 0 {
			return c.leavingLoop(list, k)
		}
	}
	return c.then(list[0], rest, k)
}

// then encodes a statement that does not leave, and what follows.
func (c *encoder) then(s Stmt, rest []Stmt, k tail) coq.Expr {
	x, isUnit, isOutcome := c.simple(s)
	if len(rest) > 0 {
		return coq.Seq{X: x, Body: c.stmts(rest, k)}
	}
	switch {
	case k == tailUnit && !isUnit, k == tailOutcome && !isOutcome:
		return coq.Seq{X: x, Body: end(k)}
	}
	return x
}

// result is what a return gives.
func (c *encoder) result(s Return, k tail) coq.Expr {
	x := coq.Expr(unit)
	if s.X != nil {
		x = c.expr(s.X)
	}
	if k == tailOutcome {
		return coq.Return{X: x}
	}
	return x
}

// branches encodes an if and what follows it, list, of which it is the first.
func (c *encoder) branches(s If, list []Stmt, k tail) coq.Expr {
	rest := list[1:]
	cond := c.expr(s.Cond)
	leaves := escapes(list[:1]) != 0
	switch {
	case !leaves && len(rest) > 0:
		return coq.Seq{X: coq.If{Cond: cond, Yes: c.stmts(s.Then, tailNone), No: c.stmts(s.Else, tailNone)}, Body: c.stmts(rest, k)}
	case len(rest) == 0 && (leaves || k != tailOutcome):
		return coq.If{Cond: cond, Yes: c.stmts(s.Then, k), No: c.stmts(s.Else, k)}
	case len(rest) == 0:
		return coq.Seq{X: coq.If{Cond: cond, Yes: c.stmts(s.Then, tailNone), No: c.stmts(s.Else, tailNone)}, Body: goOn}
	case !completes(s.Then):
		return coq.If{Cond: cond, Yes: c.stmts(s.Then, k), No: c.stmts(concat(s.Else, rest), k)}
	case !completes(s.Else):
		return coq.If{Cond: cond, Yes: c.stmts(concat(s.Then, rest), k), No: c.stmts(s.Else, k)}
	case k != tailOutcome:
		return c.funResult(list)
	}
	return coq.Then{X: coq.If{Cond: cond, Yes: c.stmts(s.Then, k), No: c.stmts(s.Else, k)}, Body: c.stmts(rest, k)}
}

// funResult is the result of a function whose remaining statements give an
// outcome.
func (c *encoder) funResult(list []Stmt) coq.Expr {
	return coq.App{Fun: coq.Atom("fun_result"), Args: []coq.Expr{c.stmts(list, tailOutcome)}}
}

// leavingLoop encodes a loop from which the function returns, and what follows.
func (c *encoder) leavingLoop(list []Stmt, k tail) coq.Expr {
	if k != tailOutcome {
		return c.funResult(list)
	}
	x, _, _ := c.simple(list[0])
	if len(list) == 1 {
		return x
	}
	return coq.Then{X: x, Body: c.stmts(list[1:], k)}
}

// simple encodes a statement on its own; its value is (), or an outcome, or of
// no use.
func (c *encoder) simple(s Stmt) (x coq.Expr, isUnit, isOutcome bool) {
	switch s := s.(type) {
	case Do:
		return c.expr(s.X), s.Unit, false
	case Store:
		return coq.Infix{Op: "<-[" + typeText(s.Type) + "]", X: c.expr(s.Addr), Y: c.expr(s.X)}, true, false
	case Go:
		return coq.App{Fun: coq.Atom("Fork"), Args: []coq.Expr{c.stmts(s.Body, tailNone)}}, true, false
	case For:
		cond := coq.Expr(coq.Atom("#true"))
		if s.Cond != nil {
			cond = c.expr(s.Cond)
		}
		post := c.stmts(s.Post, tailNone)
		body, outcome := c.loopBody(s.Body)
		name := "for_simple"
		if outcome {
			name = "for_loop"
		}
		return coq.App{Fun: coq.Atom(name), Args: []coq.Expr{thunk(cond), thunk(body), thunk(post)}}, !outcome, outcome
	case RangeInt:
		body, outcome := c.loopBody(s.Body)
		name := "range_simple"
		if outcome {
			name = "range_loop"
		}
		return coq.App{Fun: coq.Atom(name), Args: []coq.Expr{coq.Atom(string(coqWidth(s.Width))), c.expr(s.N),
			coq.Lam{Params: []string{binder(s.Name)}, Body: body}}}, !outcome, outcome
	case RangeMap:
		body := coq.Lam{Params: []string{binder(s.Key), binder(s.Value)}, Body: c.stmts(s.Body, tailOutcome)}
		return coq.App{Fun: coq.Atom("map_range"), Args: []coq.Expr{c.expr(s.M), body}}, false, true
	}
	panic(fmt.Sprintf("goose: unknown statement %T", s))
}

func thunk(x coq.Expr) coq.Expr { return coq.Lam{Params: []string{"<>"}, Body: x} }

// loopBody encodes the body of a loop and says whether it gives an outcome.
func (c *encoder) loopBody(body []Stmt) (coq.Expr, bool) {
	if escapes(body)&(escapeReturn|escapeBreak) == 0 && inTail(body) {
		return c.stmts(body, tailLoop), false
	}
	return c.stmts(body, tailOutcome), true
}

// letTuple takes results apart, which nest to the left.
func (c *encoder) letTuple(names []string, x coq.Expr, body func() coq.Expr) coq.Expr {
	n := len(names)
	if n == 2 {
		return coq.Let{Name: binder(names[0]), Second: binder(names[1]), X: x, Body: body()}
	}
	// __q is a name that no Go variable has in the output.
	return coq.Let{Name: coq.Quote("__q"), Second: binder(names[n-1]), X: x,
		Body: c.letTuple(names[:n-1], coq.Atom(coq.Quote("__q")), body)}
}
