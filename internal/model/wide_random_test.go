// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// wideModule is what random models of wideGenerator are written in: processes,
// messages, queues, partial functions, values of several kinds.
const wideModule = `---- MODULE W ----
EXTENDS Integers, Sequences, FiniteSets, TLC
CONSTANTS P, p1, p2, p3, None
VARIABLES n, pc, msgs, ch, mat, vot, own, par, es, u, w, z
RECURSIVE Total(_, _)
Total(f, S) == IF S = {} THEN 0 ELSE LET e == CHOOSE e \in S : TRUE IN f[e] + Total(f, S \ {e})
RECURSIVE Fold(_, _)
Fold(q, acc) == IF q = <<>> THEN acc ELSE Fold(Tail(q), acc + q[1])
Req(p) == [k |-> "req", from |-> p]
Ack(p, i) == [k |-> "ack", from |-> p, n |-> i]
Send(m) == msgs' = msgs \cup {m}
Most(S) == CHOOSE i \in S : \A j \in S : i >= j
Quorum == {S \in SUBSET P : Cardinality(S) * 2 > Cardinality(P)}
vars == <<n, pc, msgs, ch, mat, vot, own, par, es, u, w, z>>
Init == /\ n = 0 /\ pc = [p \in P |-> "a"] /\ msgs = {} /\ ch \in {[p \in P |-> <<Req(p)>>], [p \in P |-> <<Ack(p, 1), Req(p1)>>]}
        /\ mat = [p \in P |-> [r \in P |-> 0]] /\ vot = [p \in P |-> {}]
        /\ own = None /\ par \in {<<>>, (p1 :> 2)} /\ es = {} /\ u = "a" /\ w \in {<<>>, <<1, 2>>} /\ z \in {0, 3}
`

const wideConfig = `CONSTANTS p1 = p1 p2 = p2 p3 = p3 P = {p1, p2, p3} None = None
INIT Init NEXT Steps CONSTRAINT Small
`

// wideGenerator writes random models over wideModule. The kinds of expressions:
// n numbers, b booleans, p processes, t strings, A sets of processes, N sets of
// numbers, m messages, M sets of them, q queues of them, i sequences of numbers,
// F functions from processes to numbers, C to strings, Q to queues, G to F, H to
// A, o processes or None, d functions from some processes to numbers, e pairs of
// a process and a number, E sets of those.
type wideGenerator struct {
	r     *rand.Rand
	bound map[byte][]string
	fresh int
	all   bool // variables may be read with a prime
}

const wideKinds = "nbptANmMqiFCQGHodeE"

// wideVars are the variables and their kinds.
var wideVars = []struct {
	name string
	kind byte
}{{"n", 'n'}, {"pc", 'C'}, {"msgs", 'M'}, {"ch", 'Q'}, {"mat", 'G'}, {"vot", 'H'}, {"own", 'o'}, {"par", 'd'}, {"es", 'E'}, {"u", 't'}, {"w", 'i'}, {"z", 'n'}}

func (g *wideGenerator) one(list ...string) string { return list[g.r.IntN(len(list))] }

func (g *wideGenerator) with(kind byte, body func(name string) string) string {
	g.fresh++
	name := fmt.Sprintf("v%d", g.fresh)
	g.bound[kind] = append(g.bound[kind], name)
	text := body(name)
	g.bound[kind] = g.bound[kind][:len(g.bound[kind])-1]
	return text
}

func (g *wideGenerator) leaf(kind byte) string {
	if b := g.bound[kind]; len(b) > 0 && g.r.IntN(4) > 0 {
		return b[g.r.IntN(len(b))]
	}
	if g.r.IntN(3) > 0 {
		var names []string
		for _, v := range wideVars {
			if v.kind == kind {
				names = append(names, v.name)
				if g.all {
					names = append(names, v.name+"'")
				}
			}
		}
		if len(names) > 0 {
			return g.one(names...)
		}
	}
	p := func() string {
		if b := g.bound['p']; len(b) > 0 && g.r.IntN(3) > 0 {
			return b[g.r.IntN(len(b))]
		}
		return g.one("p1", "p2", "p3")
	}
	switch kind {
	case 'n':
		return g.one("0", "1", "2", "5", "Cardinality(msgs)", "mat["+p()+"]["+p()+"]", "Len(w)", "Len(ch["+p()+"])", "-1", "Total(mat["+p()+"], P)")
	case 'b':
		return "(" + g.one("TRUE", "FALSE", "n = 1", "own = None", "own = "+p(), "pc["+p()+"] = \"a\"", p()+" \\in vot["+p()+"]", "par = <<>>", p()+" \\in DOMAIN par") + ")"
	case 'p':
		return p()
	case 't':
		return g.one(`"a"`, `"b"`, `"c"`, "pc["+p()+"]")
	case 'A':
		return g.one("P", "{}", "{p1}", "vot["+p()+"]", "DOMAIN par", "{p1, p3}")
	case 'N':
		return g.one("{}", "0..2", "{1, 4}", "DOMAIN w", "0..n")
	case 'm':
		return g.one("Req("+p()+")", "Ack("+p()+", n)", "Ack("+p()+", 1)")
	case 'M':
		return g.one("{}", "{Req("+p()+")}")
	case 'q':
		return g.one("<<>>", "ch["+p()+"]", "<<Req("+p()+")>>")
	case 'i':
		return g.one("<<>>", "<<1, 2>>", "<<n>>")
	case 'F':
		return g.one("mat["+p()+"]", "[p \\in P |-> 1]")
	case 'C':
		return g.one("[p \\in P |-> \"b\"]", "pc")
	case 'Q':
		return "ch"
	case 'G':
		return "mat"
	case 'H':
		return g.one("vot", "[p \\in P |-> {p}]")
	case 'o':
		return g.one("None", p(), "own")
	case 'd':
		return g.one("par", "<<>>", "[p \\in {} |-> 0]", "[p \\in {"+p()+"} |-> 1]", "("+p()+" :> 1)")
	case 'e':
		return "<<" + p() + ", " + g.one("0", "n") + ">>"
	}
	return g.one("{}", "{<<p1, 0>>}", "P \\X {0, 1}")
}

func (g *wideGenerator) expr(kind byte, depth int) string {
	if depth <= 0 {
		return g.leaf(kind)
	}
	e := func(k byte) string { return g.expr(k, depth-1-g.r.IntN(2)) }
	if g.r.IntN(7) == 0 {
		other := wideKinds[g.r.IntN(len(wideKinds))]
		switch g.r.IntN(4) {
		case 0:
			return "(IF " + e('b') + " THEN " + e(kind) + " ELSE " + e(kind) + ")"
		case 1:
			def := e(other)
			return g.with(other, func(v string) string { return "(LET " + v + " == " + def + " IN " + e(kind) + ")" })
		case 2:
			return "(CASE " + e('b') + " -> " + e(kind) + " [] " + e('b') + " -> " + e(kind) + g.one("", " [] OTHER -> "+e(kind)) + ")"
		}
		g.fresh++
		op := fmt.Sprintf("Op%d", g.fresh)
		body := g.with(other, func(v string) string { return op + "(" + v + ") == " + e(kind) })
		return "(LET " + body + " IN " + op + "(" + e(other) + "))"
	}
	list := g.forms(kind, e)
	return list[g.r.IntN(len(list))]()
}

func (g *wideGenerator) bind(set byte, of byte, before, middle string, body byte, after string, e func(byte) string) func() string {
	return func() string {
		s := e(set)
		return g.with(of, func(v string) string { return before + v + " \\in " + s + middle + e(body) + after })
	}
}

// forms are those of a kind of expressions.
func (g *wideGenerator) forms(kind byte, e func(byte) string) []func() string {
	f := func(parts ...string) func() string { // one-letter parts with a $ are expressions
		return func() string {
			var b strings.Builder
			for _, p := range parts {
				if len(p) == 2 && p[0] == '$' {
					b.WriteString(e(p[1]))
				} else {
					b.WriteString(p)
				}
			}
			return b.String()
		}
	}
	same := wideKinds[g.r.IntN(len(wideKinds))]
	switch kind {
	case 'n':
		return []func() string{f("(", "$n", " + ", "$n", ")"), f("(", "$n", " - ", "$n", ")"), f("(", "$n", " * ", "$n", ")"), f("(", "$n", " \\div ", "$n", ")"), f("(", "$n", " % ", "$n", ")"),
			f("Cardinality(", "$A", ")"), f("Cardinality(", "$M", ")"), f("Len(", "$q", ")"), f("Len(", "$i", ")"), f("(", "$F", ")[", "$p", "]"), f("(", "$G", ")[", "$p", "][", "$p", "]"),
			f("(", "$d", ")[", "$p", "]"), f("(", "$i", ")[", "$n", "]"), f("Head(", "$i", ")"), f("(", "$m", ").n"), f("(", "$e", ")[2]"), f("Total(", "$F", ", ", "$A", ")"), f("Fold(", "$i", ", ", "$n", ")"),
			f("Most(", "$N", ")"), g.bind('N', 'n', "(CHOOSE ", " : ", 'b', ")", e)}
	case 'p':
		return []func() string{f("(", "$m", ").from"), f("(", "$e", ")[1]"), g.bind('A', 'p', "(CHOOSE ", " : ", 'b', ")", e), f("(CHOOSE x \\in P : x \\notin ", "$A", ")"), f("$o")}
	case 't':
		return []func() string{f("(", "$C", ")[", "$p", "]"), f("(", "$m", ").k")}
	case 'A':
		return []func() string{f("(", "$A", " \\cup ", "$A", ")"), f("(", "$A", " \\cap ", "$A", ")"), f("(", "$A", " \\ ", "$A", ")"), f("(", "$A", " \\cup {", "$p", "})"), f("(", "$H", ")[", "$p", "]"), f("(DOMAIN ", "$d", ")"),
			g.bind('A', 'p', "{", " : ", 'b', "}", e), g.bind2('M', 'm', 'p', e), g.bind2('E', 'e', 'p', e), g.bind2('A', 'p', 'p', e),
			f("(UNION {", "$A", ", ", "$A", "})"), f("(CHOOSE Z \\in Quorum : ", "$p", " \\in Z)"), f("{x[1] : x \\in ", "$E", "}")}
	case 'N':
		return []func() string{func() string {
			s, t := e('A'), e('N')
			return g.with('p', func(x string) string {
				return g.with('n', func(y string) string { return "{" + e('n') + " : " + x + " \\in " + s + ", " + y + " \\in " + t + "}" })
			})
		}, f("(", "$N", " \\cup ", "$N", ")"), f("(", "$N", " \\ ", "$N", ")"), f("(", "$N", " \\cap ", "$N", ")"), f("(", "$n", "..", "$n", ")"), f("{", "$n", ", ", "$n", "}"),
			g.bind('N', 'n', "{", " : ", 'b', "}", e), g.bind2('N', 'n', 'n', e), g.bind2('M', 'm', 'n', e), g.bind2('A', 'p', 'n', e)}
	case 'm':
		return []func() string{f("Req(", "$p", ")"), f("Ack(", "$p", ", ", "$n", ")"), f("[", "$m", " EXCEPT !.from = ", "$p", "]"), f("[", "$m", " EXCEPT !.n = @ + ", "$n", "]"), f("Head(", "$q", ")"),
			f("(", "$q", ")[", "$n", "]"), g.bind('M', 'm', "(CHOOSE ", " : ", 'b', ")", e)}
	case 'M':
		return []func() string{f("(", "$M", " \\cup {", "$m", "})"), f("(", "$M", " \\ {", "$m", "})"), f("(", "$M", " \\cup ", "$M", ")"), g.bind('M', 'm', "{", " : ", 'b', "}", e), g.bind2('A', 'p', 'm', e), g.bind2('M', 'm', 'm', e),
			f("{", "$m", ", ", "$m", "}"), f("[k : {\"req\"}, from : ", "$A", "]")}
	case 'q':
		return []func() string{f("Append(", "$q", ", ", "$m", ")"), f("Tail(", "$q", ")"), f("(", "$q", " \\o ", "$q", ")"), f("(", "$Q", ")[", "$p", "]"), f("SubSeq(", "$q", ", ", "$n", ", ", "$n", ")"),
			func() string {
				s := e('q')
				return g.with('m', func(v string) string { return "SelectSeq(" + s + ", LAMBDA " + v + " : " + e('b') + ")" })
			}}
	case 'i':
		return []func() string{f("Append(", "$i", ", ", "$n", ")"), f("Tail(", "$i", ")"), f("(", "$i", " \\o ", "$i", ")"), f("[", "$i", " EXCEPT ![", "$n", "] = ", "$n", "]"), f("SubSeq(", "$i", ", ", "$n", ", ", "$n", ")"),
			func() string {
				return g.with('n', func(v string) string { return "[" + v + " \\in 1..2 |-> " + e('n') + "]" })
			}, func() string {
				return g.with('n', func(v string) string { return "[" + v + " \\in DOMAIN w |-> " + e('n') + "]" })
			}}
	case 'F', 'C', 'Q', 'G', 'H':
		to := map[byte]byte{'F': 'n', 'C': 't', 'Q': 'q', 'G': 'F', 'H': 'A'}[kind]
		k, v := "$"+string(kind), "$"+string(to)
		out := []func() string{f("[", k, " EXCEPT ![", "$p", "] = ", v, "]"), f("[", k, " EXCEPT ![", "$p", "] = ", v, ", ![", "$p", "] = ", v, "]"),
			func() string {
				return g.with('p', func(x string) string { return "[" + x + " \\in P |-> " + e(to) + "]" })
			}}
		switch kind {
		case 'F':
			out = append(out, f("(", "$G", ")[", "$p", "]"), f("[", k, " EXCEPT ![", "$p", "] = @ + ", "$n", "]"), f("((", "$p", " :> ", "$n", ") @@ ", k, ")"))
		case 'G':
			out = append(out, f("[", k, " EXCEPT ![", "$p", "][", "$p", "] = ", "$n", "]"), f("[", k, " EXCEPT ![", "$p", "][", "$p", "] = @ + ", "$n", "]"))
		case 'H':
			out = append(out, f("[", k, " EXCEPT ![", "$p", "] = @ \\cup {", "$p", "}]"))
		case 'Q':
			out = append(out, f("[", k, " EXCEPT ![", "$p", "] = Append(@, ", "$m", ")]"), f("[", k, " EXCEPT ![", "$p", "] = Tail(@)]"))
		}
		return out
	case 'o':
		return []func() string{f("$p"), f("(IF ", "$b", " THEN None ELSE ", "$p", ")")}
	case 'd':
		return []func() string{f("((", "$p", " :> ", "$n", ") @@ ", "$d", ")"), f("(", "$d", " @@ (", "$p", " :> ", "$n", "))"), f("[", "$d", " EXCEPT ![", "$p", "] = ", "$n", "]"), f("$F"),
			func() string {
				s := e('A')
				return g.with('p', func(v string) string { return "[" + v + " \\in " + s + " |-> " + e('n') + "]" })
			}}
	case 'e':
		return []func() string{f("<<", "$p", ", ", "$n", ">>"), g.bind('E', 'e', "(CHOOSE ", " : ", 'b', ")", e), f("[", "$e", " EXCEPT ![2] = ", "$n", "]")}
	case 'E':
		return []func() string{f("(", "$E", " \\cup {", "$e", "})"), f("(", "$E", " \\ {", "$e", "})"), f("(", "$A", " \\X ", "$N", ")"), g.bind('E', 'e', "{", " : ", 'b', "}", e), g.bind2('A', 'p', 'e', e), f("(", "$E", " \\cap ", "$E", ")")}
	}
	s := "$" + string(same)
	return []func() string{f("(", "$b", " /\\ ", "$b", ")"), f("(", "$b", " \\/ ", "$b", ")"), f("(", "$b", " => ", "$b", ")"), f("~", "$b"), f("(", s, " = ", s, ")"), f("(", s, " # ", s, ")"), f("(", s, " = ", s, ")"),
		f("(", "$n", " < ", "$n", ")"), f("(", "$n", " >= ", "$n", ")"), f("(", "$p", " \\in ", "$A", ")"), f("(", "$n", " \\in ", "$N", ")"), f("(", "$m", " \\in ", "$M", ")"), f("(", "$e", " \\notin ", "$E", ")"),
		f("(", "$A", " \\subseteq ", "$A", ")"), f("(", "$A", " \\in Quorum)"), f("(", "$H", " \\in [P -> SUBSET ", "$A", "])"), f("(", "$d", " \\in [P -> ", "$N", "])"), f("(", "$o", " \\in P)"), f("(", "$o", " = ", "$p", ")"),
		f("(", "$M", " \\subseteq [k : {\"req\"}, from : ", "$A", "])"), f("(", "$i", " \\in Seq(", "$N", "))"), f("(", "$d", " = ", "$F", ")"), f("(", "$i", " = <<>>)"), f("(", "$d", " = <<>>)"), f("(", "$i", " = ", "$d", ")"),
		g.bind('A', 'p', "(\\A ", " : ", 'b', ")", e), g.bind('M', 'm', "(\\E ", " : ", 'b', ")", e), g.bind('N', 'n', "(\\E ", " : ", 'b', ")", e), g.bind('E', 'e', "(\\A ", " : ", 'b', ")", e),
		f("(", "$n", " \\in (", "$N", g.one(" \\cup ", " \\cap ", " \\ "), "$N", "))"), f("(", "$m", " \\in (", "$M", g.one(" \\cup ", " \\ "), "{", "$m", "}))"),
		f("(", "$p", " \\in (", "$A", g.one(" \\cup ", " \\cap ", " \\ "), "{", "$p", "}))"), f("(", "$e", " \\in ((", "$A", " \\X ", "$N", ")", g.one(" \\cup ", " \\cap ", " \\ "), "$E", "))"),
		func() string {
			n, s := e('n'), e('N')
			return g.with('n', func(x string) string { return "(" + n + " \\in {" + x + " \\in " + s + " : " + e('b') + "})" })
		},
		func() string {
			s, t, q := e('A'), e('N'), g.one("\\A", "\\E")
			return g.with('p', func(x string) string {
				return g.with('n', func(y string) string {
					return "(" + q + " " + x + " \\in " + s + ", " + y + " \\in " + t + " : " + e('b') + ")"
				})
			})
		},
		func() string {
			s := e('E')
			return g.with('p', func(x string) string {
				return g.with('n', func(y string) string { return "(\\E <<" + x + ", " + y + ">> \\in " + s + " : " + e('b') + ")" })
			})
		}}
}

// bind2 writes {body : v \in set}.
func (g *wideGenerator) bind2(set, of, body byte, e func(byte) string) func() string {
	return func() string {
		s := e(set)
		return g.with(of, func(v string) string { return "{" + e(body) + " : " + v + " \\in " + s + "}" })
	}
}

// assign gives every variable a next value.
func (g *wideGenerator) assign(depth int) string {
	var parts, kept []string
	for _, v := range wideVars {
		if g.r.IntN(5) > 0 {
			kept = append(kept, v.name)
			continue
		}
		value := g.expr(v.kind, depth)
		switch g.r.IntN(8) {
		case 0:
			parts = append(parts, v.name+"' \\in {"+value+", "+g.expr(v.kind, depth)+"}")
		case 1:
			parts = append(parts, "(("+g.expr('b', 1)+" /\\ "+v.name+"' = "+value+") \\/ "+v.name+"' = "+g.expr(v.kind, 1)+")")
		case 2:
			parts = append(parts, "IF "+g.expr('b', depth)+" THEN "+v.name+"' = "+value+" ELSE UNCHANGED "+v.name)
		default:
			parts = append(parts, v.name+"' = "+value)
		}
	}
	if len(kept) > 0 {
		parts = append(parts, "UNCHANGED <<"+strings.Join(kept, ", ")+">>")
	}
	return strings.Join(parts, "\n  /\\ ")
}

func (g *wideGenerator) action(depth int) string {
	sets := []struct {
		kind byte
		text string
	}{{'p', "P"}, {'p', "P"}, {'m', "msgs"}, {'e', "es"}, {'p', "vot[p2]"}, {'n', "0..2"}}
	if k := g.r.IntN(len(sets) + 2); k < len(sets) {
		s := sets[k]
		return g.with(s.kind, func(v string) string {
			return "\\E " + v + " \\in " + s.text + " :\n  /\\ " + g.expr('b', depth) + "\n  /\\ " + g.assign(depth)
		})
	}
	return "\n  /\\ " + g.expr('b', depth) + "\n  /\\ " + g.assign(depth)
}

// wideModel writes a model.
func wideModel(r *rand.Rand) (module, cfg string) {
	g := &wideGenerator{r: r, bound: map[byte][]string{}}
	var defs strings.Builder
	var names []string
	for i := range 5 {
		fmt.Fprintf(&defs, "Do%d == %s\n", i, g.action(1+g.r.IntN(2)))
		names = append(names, fmt.Sprintf("Do%d", i))
	}
	fmt.Fprintf(&defs, "Steps == %s\n", strings.Join(names, " \\/ "))
	fmt.Fprintf(&defs, "Inv == %s\n", g.expr('b', 3))
	fmt.Fprintf(&defs, "Small == n < 100 /\\ n > -100 /\\ z < 1000 /\\ Len(w) < 8 /\\ \\A p \\in P : Len(ch[p]) < 5\n")
	g.all = true
	fmt.Fprintf(&defs, "Kept == %s\nBoxed == [][%s]_vars\n", g.expr('b', 2), g.expr('b', 2))
	cfg = wideConfig + "CHECK_DEADLOCK FALSE\n"
	if r.IntN(3) == 0 {
		cfg += "INVARIANT Inv\n"
	}
	if r.IntN(3) == 0 {
		cfg += "ACTION_CONSTRAINT Kept\n"
	}
	if r.IntN(3) == 0 {
		cfg += "PROPERTY Boxed\n"
	}
	return wideModule + defs.String() + "\n====\n", cfg
}

// resultText is what a search finds, in words.
func resultText(t *testing.T, m *Model, workers int) string {
	t.Helper()
	r, err := check.Run(context.Background(), m, check.Options{Workers: workers, StatesMax: 400})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%v %s %d/%d/%d\n", r.Verdict, r.Reason, r.Generated, r.Distinct, r.Depth)
	fmt.Fprintf(&b, "%+v\n%v\n%v\n%q\n", r.Violation.Err, r.Actions, r.Levels, r.Warnings)
	for _, s := range r.Trace {
		fmt.Fprintln(&b, s.Action, s.Values)
	}
	return b.String()
}

// compareValues explores two models side by side, up to most states, and compares
// what they say. Packed code need not ask for what a result does not depend on:
// where plain has no value and packed has one, the comparison ends, and same is
// false. The reverse is an error, as is any other difference.
func compareValues(t *testing.T, packed, plain *Model, most int) (states int, same bool) {
	t.Helper()
	pw, bw := packed.NewWorker(), plain.NewWorker()
	seen := map[string]bool{}
	var queue []check.State
	gather := func(m *Model, w check.Worker, out *[]string, add bool) check.Visit {
		return func(a int, s check.State) error {
			*out = append(*out, visitText(m, w, a, s))
			if add && !seen[string(s)] && len(seen) < most {
				seen[string(s)] = true
				queue = append(queue, append(check.State(nil), s...))
			}
			return nil
		}
	}
	agree := func(what string, p, b []string, perr, berr error) bool {
		t.Helper()
		p, b = append(p, fmt.Sprint("end: ", perr)), append(b, fmt.Sprint("end: ", berr))
		for i := range min(len(p), len(b)) {
			if p[i] == b[i] {
				continue
			}
			if strings.Contains(b[i], "W.tla:") && (strings.HasPrefix(b[i], "end: ") || !strings.Contains(p[i], "W.tla:")) {
				return false
			}
			t.Fatalf("%s, number %d:\npacked %s\nboxed  %s", what, i, p[i], b[i])
		}
		if len(p) != len(b) {
			t.Fatalf("%s: %d packed, %d boxed", what, len(p), len(b))
		}
		return true
	}
	var p, b []string
	perr := pw.Init(gather(packed, pw, &p, true))
	berr := bw.Init(gather(plain, bw, &b, false))
	same = agree("initial states", p, b, perr, berr)
	for same && len(queue) > 0 {
		s := queue[0]
		queue, p, b = queue[1:], p[:0], b[:0]
		states++
		vals := packed.Decode(s)
		perr = pw.Next(s, gather(packed, pw, &p, true))
		berr = bw.Next(plain.Encode(vals), gather(plain, bw, &b, false))
		same = agree(fmt.Sprintf("successors of %v", vals), p, b, perr, berr)
	}
	return states, same
}

// TestPackedAgreesOnWideModels compares packed code with the compiled evaluator
// on random models with values of all kinds: what each step and predicate gives,
// and what a search finds. ASHLAR_SEED runs more of them, from another seed.
func TestPackedAgreesOnWideModels(t *testing.T) {
	rounds, seed := randomRounds(t)
	packed, visited, hidden, reasons := 0, 0, 0, map[string]int{}
	for round := range rounds {
		r := rand.New(rand.NewPCG(seed, uint64(7000+round)))
		module, cfg := wideModel(r)
		sample := []int{4, 8, 12, 16, 40}[r.IntN(5)]
		ok := t.Run(fmt.Sprint(round), func(t *testing.T) {
			spec, _ := loadText(t, module, cfg)
			plain := newModel(t, spec, parseConfig(t, "test.cfg", cfg), Options{})
			m := newModel(t, spec, parseConfig(t, "test.cfg", cfg), Options{})
			if ok, why := m.pack(packOptions{states: sample, always: true, stop: never}); !ok {
				if strings.Contains(why, "a fault of the lowering") {
					t.Error(why)
				}
				reasons[why]++
				return
			}
			packed++
			n, same := compareValues(t, m, plain, 100)
			visited += n
			if !same {
				hidden++
				return
			}
			// What was compared has met states outside the constraints.
			want := resultText(t, newModel(t, spec, parseConfig(t, "test.cfg", cfg), Options{}), 1)
			for workers := 1; workers <= 2; workers++ {
				if workers > 1 && strings.HasPrefix(want, check.Incomplete.String()) {
					break // several workers end at a limit later
				}
				again := packedModel(t, newModel(t, spec, parseConfig(t, "test.cfg", cfg), Options{}), sample)
				if got := resultText(t, again, workers); got != want {
					t.Errorf("packed, %d workers: %s\nboxed %s", workers, got, want)
				}
			}
		})
		if !ok {
			t.Fatalf("seed %d, round %d:\n%s", seed, round, module[len(wideModule):])
		}
	}
	t.Logf("%d of %d models packed, %d states expanded, %d where packed code asks for less; not packed: %v", packed, rounds, visited, hidden, reasons)
	if packed < rounds/4 {
		t.Errorf("%d of %d models were packed", packed, rounds)
	}
}
