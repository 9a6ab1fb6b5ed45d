// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// goType is the type of a column in Go.
func goType(t logic.Type) string {
	switch t.Kind {
	case logic.U64:
		return "uint64"
	case logic.Int:
		return "int64"
	case logic.Bool:
		return "bool"
	case logic.SetType:
		return "[]" + goType(*t.Elem)
	}
	return "string"
}

// setName is a part of the names of functions for a type of set, which it enters.
func (g *generator) setName(t logic.Type) string {
	name := title(t.Elem.String())
	if t.Elem.Kind == logic.SetType {
		name = g.setName(*t.Elem)
	}
	name = "Set" + name
	g.sets[name] = t
	return name
}

// compare is a function that orders two values of a type.
func (g *generator) compare(t logic.Type) string {
	switch t.Kind {
	case logic.Bool:
		return g.use(rtPath) + ".CompareBool"
	case logic.SetType:
		return "compare" + g.setName(t)
	}
	return g.use("cmp") + ".Compare[" + goType(t) + "]"
}

// equal is an expression for whether two values are equal.
func (g *generator) equal(t logic.Type, a, b string) string {
	if t.Kind == logic.SetType {
		return fmt.Sprintf("%s(%s, %s) == 0", g.compare(t), a, b)
	}
	return a + " == " + b
}

// different is the contrary.
func (g *generator) different(t logic.Type, a, b string) string {
	if t.Kind == logic.SetType {
		return fmt.Sprintf("%s(%s, %s) != 0", g.compare(t), a, b)
	}
	return a + " != " + b
}

// hashed is an expression for a hash with a value more.
func (g *generator) hashed(h string, t logic.Type, v string) string {
	switch t.Kind {
	case logic.U64:
		return h + ".U64(" + v + ")"
	case logic.Int:
		return h + ".U64(uint64(" + v + "))"
	case logic.Bool:
		return h + ".Bool(" + v + ")"
	case logic.SetType:
		return "hash" + g.setName(t) + "(" + h + ", " + v + ")"
	}
	return h + ".Text(" + v + ")"
}

// read is an expression that reads a value from r.
func (g *generator) read(t logic.Type, texts string) string {
	switch t.Kind {
	case logic.U64:
		return "r.U64()"
	case logic.Int:
		return "r.Int()"
	case logic.Bool:
		return "r.Bool()"
	case logic.Node:
		return texts + ".Node(r.Bytes())"
	case logic.SetType:
		return "read" + g.setName(t) + "(&r, &" + texts + ")"
	}
	return texts + ".Text(r.Bytes())"
}

// write is a statement that writes a value to a row.
func (g *generator) write(t logic.Type, row, v string) string {
	switch t.Kind {
	case logic.U64:
		return row + ".U64(" + v + ")"
	case logic.Int:
		return row + ".Int(" + v + ")"
	case logic.Bool:
		return row + ".Bool(" + v + ")"
	case logic.SetType:
		return "write" + g.setName(t) + "(&" + row + ", " + v + ")"
	}
	return row + ".Text(" + v + ")"
}

// key is an expression that appends a value's key to b.
func (g *generator) key(t logic.Type, b, v string) string {
	rt := g.use(rtPath)
	switch t.Kind {
	case logic.U64, logic.Int:
		return fmt.Sprintf("%s.AppendNum(%s, %d, uint64(%s))", rt, b, t.Kind, v)
	case logic.Bool:
		return fmt.Sprintf("%s.AppendNum(%s, %d, %s.Truth(%s))", rt, b, t.Kind, rt, v)
	case logic.SetType:
		return "key" + g.setName(t) + "(" + b + ", " + v + ")"
	}
	return fmt.Sprintf("%s.AppendText(%s, %d, %s)", rt, b, t.Kind, v)
}

// plain is an expression for a value as text.
func (g *generator) plain(t logic.Type, v string) string {
	switch t.Kind {
	case logic.U64:
		return g.use("strconv") + ".FormatUint(" + v + ", 10)"
	case logic.Int:
		return g.use("strconv") + ".FormatInt(" + v + ", 10)"
	case logic.Bool:
		return g.use("strconv") + ".FormatBool(" + v + ")"
	case logic.SetType:
		return "text" + g.setName(t) + "(" + v + ")"
	}
	return v
}

// literal is a value in Go.
func (g *generator) literal(v logic.Value, t logic.Type) string {
	switch t.Kind {
	case logic.U64:
		return strconv.FormatUint(v.Num, 10)
	case logic.Int:
		return strconv.FormatInt(int64(v.Num), 10)
	case logic.Bool:
		return strconv.FormatBool(v.Num != 0)
	case logic.SetType:
		all := []string{g.compare(t)}
		for _, e := range v.Set {
			all = append(all, g.literal(e, *t.Elem))
		}
		return g.use(rtPath) + ".Set(" + strings.Join(all, ", ") + ")"
	}
	return strconv.Quote(v.Str)
}

// scope is where terms are evaluated.
type scope struct {
	g *generator
	// vars are expressions for the variables.
	vars map[string]string
	// self is an expression for the instance's identity.
	self string
	// before collects statements that must come before the expression; fail is the
	// statement for a function without a value.
	before []string
	fail   string
	count  *int
}

// fresh is a name for a local variable.
func (s *scope) fresh(prefix string) string {
	*s.count++
	return prefix + strconv.Itoa(*s.count)
}

// statements are those that must come before what has been evaluated.
func (s *scope) statements() string {
	text := strings.Join(s.before, "")
	s.before = nil
	return text
}

// expr is an expression for a term.
func (s *scope) expr(t *logic.Term) string {
	switch t.Kind {
	case logic.Var:
		v, ok := s.vars[t.Name]
		invariant.Check(ok, "variable %s is not bound", t.Name)
		return v
	case logic.Const:
		return s.g.literal(t.Value, t.Type)
	case logic.Self:
		return s.self
	}
	f := s.g.program.Function(t.Name)
	args := make([]string, len(t.Args))
	for i, a := range t.Args {
		args[i] = s.expr(a)
	}
	if f == nil {
		return s.builtin(t, args)
	}
	call := "fn" + title(f.Name) + "(" + strings.Join(args, ", ") + ")"
	if s.g.total(f.Body) {
		return call
	}
	v := s.fresh("v")
	s.before = append(s.before, fmt.Sprintf("%s, ok%s := %s\nif !ok%s {\n%s\n}\n", v, v, call, v, s.fail))
	return v
}

// total reports whether a term has a value whatever its variables are.
func (g *generator) total(t *logic.Term) bool {
	if t == nil {
		return true // A function from Go has a value always.
	}
	if t.Kind == logic.Call {
		if t.Name == "/" || t.Name == "%" {
			return false
		}
		if f := g.program.Function(t.Name); f != nil && !g.total(f.Body) {
			return false
		}
	}
	return !slices.ContainsFunc(t.Args, func(a *logic.Term) bool { return !g.total(a) })
}

func constant(t *logic.Term) bool { return t.Kind == logic.Const }

// builtin is a call of a function or operator of the language.
func (s *scope) builtin(t *logic.Term, args []string) string {
	g := s.g
	rt := g.use(rtPath)
	of := t.Args[0].Type
	for i, a := range t.Args {
		// The Go compiler refuses constants that wrap around.
		if constant(a) && (a.Type.Kind == logic.U64 || a.Type.Kind == logic.Int) {
			args[i] = fmt.Sprintf("%s.Number[%s](%s)", rt, goType(a.Type), args[i])
		}
	}
	switch t.Name {
	case "+", "-", "*":
		return "(" + args[0] + " " + t.Name + " " + args[1] + ")"
	case "/", "%":
		v := s.fresh("v")
		s.before = append(s.before, fmt.Sprintf("%s := %s\nif %s == 0 {\n%s\n}\n", v, args[1], v, s.fail))
		return "(" + args[0] + " " + t.Name + " " + v + ")"
	case "hash":
		switch of.Kind {
		case logic.SetType:
			return rt + ".Fnv(" + g.key(of, "nil", args[0]) + ")"
		case logic.Text, logic.Bytes, logic.Node:
			return fmt.Sprintf("%s.FnvText(%d, %s)", rt, of.Kind, args[0])
		case logic.Bool:
			return fmt.Sprintf("%s.FnvNum(%d, %s.Truth(%s))", rt, of.Kind, rt, args[0])
		}
		return fmt.Sprintf("%s.FnvNum(%d, uint64(%s))", rt, of.Kind, args[0])
	case "len", "size":
		return "uint64(len(" + args[0] + "))"
	case "concat":
		return "(" + args[0] + " + " + args[1] + ")"
	case "text":
		return g.plain(of, args[0])
	case "int":
		return "int64(" + args[0] + ")"
	case "u64":
		return "uint64(" + args[0] + ")"
	case "contains":
		return fmt.Sprintf("%s.Contains(%s, %s, %s)", rt, args[0], args[1], g.compare(*of.Elem))
	}
	invariant.Check(false, "no builtin %s", t.Name)
	return ""
}

// holds is an expression for a comparison.
func (s *scope) holds(c *logic.Compare) string {
	t := c.Left.Type
	a, b := s.expr(c.Left), s.expr(c.Right)
	if t.Kind == logic.SetType || t.Kind == logic.Bool && c.Op > logic.NotEqual {
		return fmt.Sprintf("%s(%s, %s) %v 0", s.g.compare(t), a, b, c.Op)
	}
	if constant(c.Left) && constant(c.Right) && t.Kind == logic.U64 {
		a = s.g.use(rtPath) + ".Number[uint64](" + a + ")"
	}
	return fmt.Sprintf("%s %v %s", a, c.Op, b)
}

// function writes a function that the program declares.
func (g *generator) function(f *logic.Function) {
	params := make([]string, len(f.Params))
	s := &scope{g: g, vars: map[string]string{}, count: new(int)}
	for i, t := range f.Params {
		name := fmt.Sprintf("p%d", i)
		params[i] = name + " " + goType(t)
		s.vars[name] = name
	}
	g.p("// fn%s is: %v", title(f.Name), f)
	head := fmt.Sprintf("func fn%s(%s)", title(f.Name), strings.Join(params, ", "))
	switch {
	case f.Body == nil:
		args := make([]string, len(f.Params))
		for i, t := range f.Params {
			args[i] = fmt.Sprintf("p%d", i)
			if t.Kind == logic.Bytes {
				args[i] = "[]byte(" + args[i] + ")"
			}
		}
		call := fmt.Sprintf("%s.%s(%s)", g.use(f.Import), f.Symbol, strings.Join(args, ", "))
		if f.Result.Kind == logic.Bytes {
			call = "string(" + call + ")"
		}
		g.p("%s %s {\nreturn %s\n}\n", head, goType(f.Result), call)
	case g.total(f.Body):
		value := s.expr(f.Body)
		g.p("%s %s {\n%sreturn %s\n}\n", head, goType(f.Result), s.statements(), value)
	default:
		s.fail = "return none, false"
		value := s.expr(f.Body)
		g.p("%s (none %s, ok bool) {\n%sreturn %s, true\n}\n", head, goType(f.Result), s.statements(), value)
	}
}

// setFunctions writes the functions for the types of sets that occur.
func (g *generator) setFunctions() {
	done := map[string]bool{}
	for {
		var names []string
		for n := range g.sets {
			if !done[n] {
				names = append(names, n)
			}
		}
		if len(names) == 0 {
			return
		}
		slices.Sort(names)
		for _, n := range names {
			done[n] = true
			g.setFunction(n, g.sets[n])
		}
	}
}

func (g *generator) setFunction(name string, t logic.Type) {
	rt, typ, elem := g.use(rtPath), goType(t), *t.Elem
	g.p("func compare%s(a, b %s) int { return %s.CompareFunc(a, b, %s) }\n", name, typ, g.use("slices"), g.compare(elem))
	g.p("func hash%s(h %s.Hash, set %s) %s.Hash {\nh = h.U64(uint64(len(set)))", name, rt, typ, rt)
	g.p("for _, e := range set {\nh = %s\n}\nreturn h\n}\n", g.hashed("h", elem, "e"))
	g.p("func write%s(row *%s.Row, set %s) {\nrow.U64(uint64(len(set)))\nfor _, e := range set {", name, rt, typ)
	g.p("%s\n}\n}\n", strings.ReplaceAll(g.write(elem, "row", "e"), "&row", "row"))
	g.p("func read%s(r *%s.Reader, texts *%s.Strings) (set %s) {", name, rt, rt, typ)
	g.p("for i := range r.Size() {\ne := %s", strings.NewReplacer("&r", "r", "&texts", "texts").Replace(g.read(elem, "texts")))
	g.p("if i > 0 && %s(e, set[i-1]) <= 0 {\nr.Fail()\nreturn nil\n}", g.compare(elem))
	g.p("set = append(set, e)\n}\nreturn set\n}\n")
	g.p("func key%s(b []byte, set %s) []byte {\nb = %s.AppendSet(b, len(set))", name, typ, rt)
	g.p("for _, e := range set {\nb = %s\n}\nreturn b\n}\n", g.key(elem, "b", "e"))
	g.p("func text%s(set %s) string {", name, typ)
	quoted := g.plain(elem, "e")
	if elem.Kind == logic.Text || elem.Kind == logic.Bytes || elem.Kind == logic.Node {
		quoted = fmt.Sprintf("%s.Quoted(%d, e)", rt, elem.Kind)
	}
	g.p("return %s.Braces(set, func(e %s) string { return %s })\n}\n", rt, goType(elem), quoted)
}
