// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// exprGenerator writes random expressions over the names of exprModule. Most
// have a value; some do not, and then neither evaluator may find one.
type exprGenerator struct {
	r     *rand.Rand
	names map[string][]string // bound names by type
	fresh int
	// primed allows primes.
	primed bool
}

// The types of expressions: numbers, booleans, sets and sequences of numbers,
// functions on 1..3, records with fields x and y, sets of sets.
const exprTypes = "nbsqfrS"

func (g *exprGenerator) pick(forms ...func() string) string { return forms[g.r.IntN(len(forms))]() }

func (g *exprGenerator) name(prefix string) string {
	g.fresh++
	return prefix + strconv.Itoa(g.fresh)
}

// with writes a body in which name, of the given type, is bound.
func (g *exprGenerator) with(kind byte, body func(name string) string) string {
	name := g.name("v")
	k := string(kind)
	g.names[k] = append(g.names[k], name)
	text := body(name)
	g.names[k] = g.names[k][:len(g.names[k])-1]
	return text
}

// leaf is a variable, a bound name or a constant.
func (g *exprGenerator) leaf(kind byte) string {
	if bound := g.names[string(kind)]; len(bound) > 0 && g.r.IntN(2) == 0 {
		return bound[g.r.IntN(len(bound))]
	}
	variable := map[byte]string{'n': "a", 'b': "b", 's': "s", 'q': "q", 'f': "f", 'r': "r", 'S': "{s, {}}"}[kind]
	if g.primed && kind != 'S' && g.r.IntN(3) == 0 {
		return variable + "'"
	}
	if g.r.IntN(2) == 0 {
		return variable
	}
	switch kind {
	case 'n':
		return strconv.Itoa(g.r.IntN(5))
	case 'b':
		return []string{"TRUE", "FALSE"}[g.r.IntN(2)]
	case 's':
		return []string{"{}", "{1, 2}", "1..3", "{0, 4}", "0..a"}[g.r.IntN(5)]
	case 'q':
		return []string{"<<>>", "<<1, 2>>", "<<a, 3>>"}[g.r.IntN(3)]
	case 'f':
		return []string{"<<1, 2, 3>>", "[i \\in 1..3 |-> i]", "[i \\in 1..3 |-> a]"}[g.r.IntN(3)]
	case 'r':
		return []string{`[x |-> 1, y |-> 2]`, `[x |-> a, y |-> 2]`}[g.r.IntN(2)]
	}
	return []string{"{}", "{{1}, {1, 2}}", "SUBSET s"}[g.r.IntN(3)]
}

// expr writes an expression of a type, at most depth deep.
func (g *exprGenerator) expr(kind byte, depth int) string {
	if depth <= 0 {
		return g.leaf(kind)
	}
	e := func(k byte) string { return g.expr(k, depth-1-g.r.IntN(2)) }
	if g.r.IntN(6) == 0 {
		return g.shared(kind, e)
	}
	switch kind {
	case 'n':
		return g.number(e)
	case 'b':
		return g.boolean(e)
	case 's':
		return g.set(e)
	case 'q':
		return g.pick(
			func() string { return "Append(" + e('q') + ", " + e('n') + ")" },
			func() string { return "Tail(" + e('q') + ")" },
			func() string { return "(" + e('q') + " \\o " + e('q') + ")" },
			func() string { return "<<" + e('n') + ", " + e('n') + ">>" },
			func() string {
				seq := e('q')
				return g.with('n', func(v string) string { return "SelectSeq(" + seq + ", LAMBDA " + v + " : " + e('b') + ")" })
			},
			func() string { return "SubSeq(" + e('q') + ", " + e('n') + ", " + e('n') + ")" },
		)
	case 'f':
		return g.pick(
			func() string {
				return g.with('n', func(v string) string { return "[" + v + " \\in 1..3 |-> " + e('n') + "]" })
			},
			func() string { return "[" + e('f') + " EXCEPT ![" + e('n') + "] = " + e('n') + "]" },
			func() string { return "[" + e('f') + " EXCEPT ![" + e('n') + "] = @ + " + e('n') + ", ![2] = @]" },
		)
	case 'r':
		return g.pick(
			func() string { return "[x |-> " + e('n') + ", y |-> " + e('n') + "]" },
			func() string { return "[" + e('r') + " EXCEPT !.x = @ + " + e('n') + "]" },
		)
	}
	return g.pick(
		func() string { return "SUBSET " + e('s') },
		func() string { return "{" + e('s') + ", " + e('s') + "}" },
		func() string {
			set := g.leaf('s')
			return g.with('n', func(v string) string { return "{(" + e('s') + ") : " + v + " \\in " + set + "}" })
		},
	)
}

// shared writes the forms that every type has.
func (g *exprGenerator) shared(kind byte, e func(byte) string) string {
	other := exprTypes[g.r.IntN(len(exprTypes))]
	return g.pick(
		func() string { return "(IF " + e('b') + " THEN " + e(kind) + " ELSE " + e(kind) + ")" },
		func() string { return "(CASE " + e('b') + " -> " + e(kind) + " [] OTHER -> " + e(kind) + ")" },
		func() string {
			def := e(other)
			return g.with(other, func(v string) string { return "(LET " + v + " == " + def + " IN " + e(kind) + ")" })
		},
		func() string {
			op := g.name("op")
			body := g.with('n', func(v string) string { return op + "(" + v + ") == " + e(kind) })
			return "(LET " + body + " IN IF " + e('b') + " THEN " + op + "(" + e('n') + ") ELSE " + op + "(" + e('n') + "))"
		},
		func() string { return "First(" + e(kind) + ", " + e(other) + ")" },
		func() string {
			arg := g.leaf('n')
			return g.with('n', func(v string) string { return "Ap(LAMBDA " + v + " : " + e(kind) + ", " + arg + ")" })
		},
	)
}

func (g *exprGenerator) number(e func(byte) string) string {
	return g.pick(
		func() string { return "(" + e('n') + " + " + e('n') + ")" },
		func() string { return "(" + e('n') + " - " + e('n') + ")" },
		func() string { return "(" + e('n') + " * " + e('n') + ")" },
		func() string { return "(" + e('n') + " \\div " + e('n') + ")" },
		func() string { return "(" + e('n') + " % 3)" },
		func() string { return "Len(" + e('q') + ")" },
		func() string { return "Head(" + e('q') + ")" },
		func() string { return "Cardinality(" + e('s') + ")" },
		func() string { return "(" + e('f') + ")[" + e('n') + "]" },
		func() string { return "(" + e('r') + ").x" },
		func() string { return "Sum(" + e('s') + ")" },
		func() string {
			set := g.leaf('s')
			return g.with('n', func(v string) string { return "(CHOOSE " + v + " \\in " + set + " : " + e('b') + ")" })
		},
		func() string {
			set := g.leaf('s')
			return g.with('n', func(v string) string { return "SumOf(LAMBDA " + v + " : " + e('n') + ", " + set + ")" })
		},
		func() string {
			f := g.name("g")
			step := g.with('n', func(v string) string {
				return f + "[" + v + " \\in 0..4] == IF " + v + " = 0 THEN " + e('n') + " ELSE " + f + "[" + v + " - 1] + " + v
			})
			return "(LET " + step + " IN " + f + "[" + e('n') + "])"
		},
	)
}

func (g *exprGenerator) boolean(e func(byte) string) string {
	kind := exprTypes[g.r.IntN(len(exprTypes))]
	quant := func(q string) func() string {
		return func() string {
			set := g.pick(func() string { return e('s') }, func() string { return g.leaf('s') })
			return g.with('n', func(v string) string { return "(" + q + " " + v + " \\in " + set + " : " + e('b') + ")" })
		}
	}
	return g.pick(
		func() string { return "(" + e('b') + " /\\ " + e('b') + ")" },
		func() string { return "(" + e('b') + " \\/ " + e('b') + ")" },
		func() string { return "(" + e('b') + " => " + e('b') + ")" },
		func() string { return "(" + e('b') + " <=> " + e('b') + ")" },
		func() string { return "~" + e('b') },
		func() string { return "(" + e(kind) + " = " + e(kind) + ")" },
		func() string { return "(" + e(kind) + " # " + e(kind) + ")" },
		func() string { return "(" + e('n') + " < " + e('n') + ")" },
		func() string { return "(" + e('n') + " >= " + e('n') + ")" },
		func() string { return "(" + e('n') + " \\in " + e('s') + ")" },
		func() string { return "(" + e('n') + " \\notin (" + e('s') + " \\cup " + e('s') + "))" },
		func() string {
			op := []string{" \\cup ", " \\cap ", " \\ "}
			return "(" + e('n') + " \\in ((" + e('s') + op[g.r.IntN(3)] + e('s') + ")" + op[g.r.IntN(3)] + "{" + e('n') + "}))"
		},
		func() string {
			n, s, t := e('n'), e('s'), e('s')
			return g.with('n', func(v string) string {
				return "(" + n + " \\in {" + v + " \\in " + s + " : " + e('b') + "} \\cup " + t + ")"
			})
		},
		func() string {
			s, t, q := e('s'), e('s'), []string{"\\A", "\\E"}[g.r.IntN(2)]
			return g.with('n', func(v string) string {
				return g.with('n', func(w string) string {
					return "(" + q + " " + v + " \\in " + s + ", " + w + " \\in " + t + " : " + e('b') + ")"
				})
			})
		},
		func() string { return "(" + e('s') + " \\subseteq " + e('s') + ")" },
		func() string { return "(" + e('s') + " \\in SUBSET " + e('s') + ")" },
		func() string { return "(" + e('f') + " \\in [1..3 -> " + e('s') + "])" },
		func() string { return "(" + e('r') + " \\in [x : " + e('s') + ", y : Nat])" },
		func() string { return "(" + e('q') + " \\in Seq(" + e('s') + "))" },
		func() string {
			set := e('s')
			return g.with('n', func(v string) string { return "({" + v + " \\in " + set + " : " + e('b') + "} = {})" })
		},
		func() string { return "Even(Len(" + e('q') + "))" },
		quant("\\A"), quant("\\E"),
	)
}

func (g *exprGenerator) set(e func(byte) string) string {
	return g.pick(
		func() string { return "(" + e('s') + " \\cup " + e('s') + ")" },
		func() string { return "(" + e('s') + " \\cap " + e('s') + ")" },
		func() string { return "(" + e('s') + " \\ " + e('s') + ")" },
		func() string { return "(" + e('s') + " \\cup {" + e('n') + "})" },
		func() string { return "(" + e('s') + " \\ {" + e('n') + "})" },
		func() string { return "{" + e('n') + ", " + e('n') + "}" },
		func() string { return "(UNION " + e('S') + ")" },
		func() string { return "(" + e('n') + "..4)" },
		func() string { return "(DOMAIN " + e('q') + ")" },
		func() string {
			set := e('s')
			return g.with('n', func(v string) string { return "{" + v + " \\in " + set + " : " + e('b') + "}" })
		},
		func() string {
			set := e('s')
			return g.with('n', func(v string) string { return "{(" + e('n') + ") : " + v + " \\in " + set + "}" })
		},
	)
}

// randomRounds is how many modules of expressions a test run looks at.
func randomRounds(t testing.TB) (rounds int, seed uint64) {
	rounds, seed = 40, 1
	if s := os.Getenv("ASHLAR_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("ASHLAR_SEED: %v", err)
		}
		rounds, seed = 400, n
	}
	if testing.Short() {
		rounds = 10
	}
	return rounds, seed
}

// TestEvaluatorsAgreeOnRandomExpressions compares values, and whether there is
// one, of expressions and of predicates with primes. ASHLAR_SEED runs more of
// them, from another seed.
func TestEvaluatorsAgreeOnRandomExpressions(t *testing.T) {
	const perModule = 40
	rounds, seed := randomRounds(t)
	values, errors := 0, 0
	for round := range rounds {
		g := &exprGenerator{r: rand.New(rand.NewPCG(seed, uint64(round))), names: map[string][]string{}}
		var defs strings.Builder
		texts := make([]string, perModule)
		for i := range texts {
			g.primed = i%4 == 3
			kind := exprTypes[g.r.IntN(len(exprTypes))]
			if g.primed {
				kind = 'b'
			}
			texts[i] = g.expr(kind, 2+g.r.IntN(3))
			fmt.Fprintf(&defs, "E%d == %s\n", i, texts[i])
		}
		e := exprSpec(t, defs.String())
		for i, text := range texts {
			var got, want string
			if i%4 == 3 {
				got, want = e.step(t, fmt.Sprintf("E%d", i), false), e.step(t, fmt.Sprintf("E%d", i), true)
			} else {
				fast, ferr := e.value(t, fmt.Sprintf("E%d", i), false, exprState())
				slow, serr := e.value(t, fmt.Sprintf("E%d", i), true, exprState())
				got, want = outcome(fast, ferr), outcome(slow, serr)
			}
			if got != want {
				t.Fatalf("seed %d, round %d: %s\ncompiled  %s\nreference %s", seed, round, text, got, want)
			}
			if want == "error" {
				errors++
			} else {
				values++
			}
		}
	}
	t.Logf("%d values, %d errors", values, errors)
	if values < errors {
		t.Errorf("the expressions have errors too often to test much: %d values, %d errors", values, errors)
	}
}

func outcome(v value.Value, err error) string {
	if err != nil {
		return "error"
	}
	return v.String()
}

// step evaluates a predicate in a step that changes everything.
func (e exprModels) step(t testing.TB, name string, reference bool) string {
	t.Helper()
	m := newModel(t, e.spec, parseConfig(t, "test.cfg", e.cfg+"ACTION_CONSTRAINT "+name+"\n"), Options{Reference: reference})
	w := m.newWorker()
	next := exprState()
	next[0], next[1] = value.Int(2), value.Bool(false)
	next[2] = value.Set(value.Int(2), value.Int(4))
	next[3] = value.Tuple(value.Int(4))
	m.codec.Decode(m.Encode(exprState()), w.cur, w.ends)
	copy(w.nxt.Vals, next)
	f := m.actionConstraints[0]
	holds := false
	err := w.guard(f, w.cur, w.seen, func() { holds = w.ev.Holds(f.id, w.cur, w.seen) })
	return outcome(value.Bool(holds), err)
}

// TestNativesAgreeWithTheirDefinitions evaluates random expressions with the
// standard operators computed in Go, and by their definitions in TLA+: where Go
// has a value, the definitions have the same.
func TestNativesAgreeWithTheirDefinitions(t *testing.T) {
	const perModule = 40
	rounds, seed := randomRounds(t)
	compared := 0
	for round := range rounds / 2 {
		g := &exprGenerator{r: rand.New(rand.NewPCG(seed, uint64(1000+round))), names: map[string][]string{}}
		var defs strings.Builder
		texts := make([]string, perModule)
		for i := range texts {
			texts[i] = g.expr(exprTypes[g.r.IntN(len(exprTypes))], 2+g.r.IntN(2))
			fmt.Fprintf(&defs, "E%d == %s\n", i, texts[i])
		}
		e := exprSpec(t, defs.String())
		native := newModel(t, e.spec, parseConfig(t, "test.cfg", e.cfg), Options{Reference: true})
		pure := newModel(t, e.spec, parseConfig(t, "test.cfg", e.cfg), Options{Reference: true, pure: true})
		for i, text := range texts {
			body := e.spec.Names[fmt.Sprintf("E%d", i)].Body
			want, err := native.EvaluateIn(body, exprState())
			if err != nil {
				continue
			}
			got, err := pure.EvaluateIn(body, exprState())
			if err != nil || !value.Equal(got, want) {
				t.Fatalf("seed %d, round %d: %s\ndefinitions %v, %v\nnative      %v", seed, round, text, got, err, want)
			}
			compared++
		}
	}
	t.Logf("%d values compared", compared)
}
