// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/cli/exit"
)

// matrixModel is a small model that every pair of flags is tried on.
type matrixModel struct {
	name, module, cfg string
	// code is the exit code of a search without flags.
	code int
	// steps says that what is violated is a property of steps: it is looked for also
	// where those of behaviours are not.
	steps bool
	// dfid is a depth that no path of the model goes beyond.
	dfid string
	// plain says that plain tests try every pair of flags on it, and not every seventh.
	plain bool
	// large says that it has states enough to be looked at during the search, and to be
	// compiled: pairs with a flag for that are tried on it, and no others.
	large bool
}

// matrixCounters is a model in which every kind of verdict can be had.
const matrixCounters = `---- MODULE M ----
EXTENDS Integers, FiniteSets, Sequences, TLC
CONSTANTS P, none
VARIABLES x, y, seen, last
vars == <<x, y, seen, last>>
Init == x \in 0..2 /\ y = 0 /\ seen = {} /\ last = none
Up == x < 6 /\ x' = x + 1 /\ UNCHANGED <<y, seen, last>>
Back == x = 6 /\ x' = 0 /\ UNCHANGED <<y, seen, last>>
Turn == y' = (y + x) % 3 /\ UNCHANGED <<x, seen, last>>
Mark(p) == p # last /\ seen' = seen \cup {p} /\ last' = p /\ UNCHANGED <<x, y>>
Drop == \E p \in seen : seen' = seen \ {p} /\ UNCHANGED <<x, y, last>>
Next == Up \/ Back \/ Turn \/ (\E p \in P : Mark(p)) \/ Drop
Spec == Init /\ [][Next]_vars /\ WF_vars(Up)
Fair == Spec /\ WF_vars(Back)
Kept == x \in 0..6 /\ y \in 0..2 /\ Cardinality(seen) <= Cardinality(P)
Low == x < 5 \/ Cardinality(seen) < 2
Lower == x < 5 \/ y # 2
Rises == [][x' >= x \/ x = 6]_x
Steps == [][x' - x \in {1, -6} \/ seen # {}]_vars
Reached == <>(x = 6)
Returns == (x = 6) ~> (x = 0)
Sym == Permutations(P)
View == <<x, y, seen>>
Near == x < 4
Slow == x' # 3 \/ y = 0
Valued == x < 6 \/ <<1, 2>>[y + 1] > 0
Stuck == Up \/ (x = 3 /\ Turn)
Cut == Init /\ [][Stuck]_vars
====
`

const matrixConstants = "CONSTANTS P = {a, b} none = none "

// matrixCounter is a model with more states than the others, and with properties of
// each kind that hold and that do not.
const matrixCounter = "---- MODULE M ----\nEXTENDS Integers, FiniteSets\nVARIABLES x, s, same\nvars == <<x, s, same>>\nInit == x \\in 0..2 /\\ s = {} /\\ same = 7\n" +
	"Up == x < 300 /\\ x' = x + 1 /\\ s' = s \\cup {x % 7} /\\ UNCHANGED same\n" +
	"Down == x > 0 /\\ x' = x - 1 /\\ \\E e \\in s : s' = s \\ {e} /\\ UNCHANGED same\n" +
	"Next == Up \\/ Down\nSpec == Init /\\ [][Next]_vars /\\ WF_vars(Up)\n" +
	"Kept == x \\in 0..400 /\\ Cardinality(s) < 8 /\\ (x > 10000 => s = {})\n" +
	"Low == x < 150\nLower == x < 100\nClose == [][x' - x \\in {1, -1}]_x\nRises == [][x' > x \\/ x < 250]_x\nReaches == <>(x > 2)\nNever == <>(x < 0)\nStays == <>[](same = 7)\n====\n"

// matrixThreads is an algorithm of which --por leaves states out.
const matrixThreads = `---- MODULE M ----
EXTENDS Integers, TLC
(*
--fair algorithm M {
  variables g = 0;
  process (P \in 1..3) variables k = 0; {
    a: k := self;
    b: k := k + 1;
    c: g := g + k;
    d: k := 0;
  }
}
*)
Small == g < 10
Smaller == g < 9
Ends == <>(g = 9)
Never == <>(g = 8)
====
`

var matrixModels = []matrixModel{
	{name: "holds", module: matrixCounters, cfg: matrixConstants + "SPECIFICATION Fair INVARIANT Kept PROPERTY Rises Reached Returns", dfid: "60"},
	{name: "invariant", module: matrixCounters, cfg: matrixConstants + "SPECIFICATION Spec INVARIANT Kept Low Lower PROPERTY Rises Steps", code: exit.Liveness, steps: true, dfid: "60", plain: true},
	{name: "step", module: matrixCounters, cfg: matrixConstants + "SPECIFICATION Spec INVARIANT Kept PROPERTY Steps Returns", code: exit.Liveness, steps: true, dfid: "60"},
	{name: "deadlock", module: matrixCounters, cfg: matrixConstants + "SPECIFICATION Cut INVARIANT Kept", code: exit.Deadlock, dfid: "60"},
	{name: "liveness", module: matrixCounters, cfg: matrixConstants + "SPECIFICATION Spec INVARIANT Kept PROPERTY Reached Returns", code: exit.Liveness, dfid: "60", plain: true},
	{name: "symmetry", module: matrixCounters, cfg: matrixConstants + "INIT Init NEXT Next INVARIANT Kept Lower SYMMETRY Sym", code: exit.Safety, dfid: "60"},
	{name: "symmetry, holds", module: matrixCounters, cfg: matrixConstants + "INIT Init NEXT Next INVARIANT Kept SYMMETRY Sym", dfid: "60"},
	{name: "view", module: matrixCounters, cfg: matrixConstants + "INIT Init NEXT Next INVARIANT Kept VIEW View", dfid: "60"},
	{name: "no value", module: matrixCounters, cfg: matrixConstants + "SPECIFICATION Spec INVARIANT Kept Valued", code: exit.Eval, dfid: "60"},
	{name: "assumption", module: "---- MODULE M ----\nEXTENDS Integers\nVARIABLE x\nASSUME Odd == 1 > 2\n" + "Init == x = 0\nNext == x' = 1 - x\n====\n", cfg: "INIT Init NEXT Next", code: exit.Assumption, dfid: "5"},
	{name: "constraints", module: matrixCounters, cfg: matrixConstants + "SPECIFICATION Spec INVARIANT Kept Low CONSTRAINT Near ACTION_CONSTRAINT Slow", dfid: "60"},
	{name: "processes", module: matrixThreads, cfg: "SPECIFICATION Spec INVARIANT Small PROPERTY Ends", dfid: "40", plain: true},
	{name: "processes, violated", module: matrixThreads, cfg: "SPECIFICATION Spec INVARIANT Smaller", code: exit.Safety, dfid: "40"},
	{name: "large", module: strings.ReplaceAll(matrixCounter, "300", "50"), cfg: "SPECIFICATION Spec INVARIANT Kept PROPERTY Close Stays CHECK_DEADLOCK FALSE", dfid: "700", large: true, plain: true},
	{name: "large, liveness", module: matrixCounter, cfg: "SPECIFICATION Spec INVARIANT Kept PROPERTY Reaches Never", code: exit.Liveness, dfid: "700", large: true, plain: true},
	{name: "large, invariant", module: matrixCounter, cfg: "SPECIFICATION Spec INVARIANT Kept Low Lower PROPERTY Rises Never", code: exit.Safety, dfid: "700", large: true, plain: true},
	{name: "processes, liveness", module: matrixThreads, cfg: "SPECIFICATION Spec PROPERTY Never", code: exit.Liveness, dfid: "40"},
}

// matrixFlag is a flag, or something that is done with a search.
type matrixFlag struct {
	name string
	args []string
	// means is that the result is another one; otherwise nothing but what the machine
	// has to do with may change.
	means bool
	// not are the flags that it is refused with.
	not []string
	// format is how the result is written.
	format string
	// ends says that the search is ended in its middle, and gone on with.
	ends bool
	// file is what is written beside.
	file string
	// native says that a compiler is needed.
	native bool
}

var matrixFlags = []matrixFlag{
	{name: "workers 2", args: []string{"--workers=2"}, not: []string{"dfid"}},
	{name: "exact", args: []string{"--exact"}, not: []string{"por"}},
	{name: "memory", args: []string{"--memory=1MiB"}, not: []string{"dfid"}},
	{name: "reference", args: []string{"--reference"}, not: []string{"profile", "por"}},
	{name: "profile", args: []string{"--profile"}},
	{name: "seqfinal", args: []string{"--liveness=seqfinal"}, not: []string{"periodic"}},
	{name: "auto", args: []string{"--native=auto"}, not: []string{"native"}},
	{name: "native", args: []string{"--native=always"}, not: []string{"dfid"}, native: true},
	{name: "resumed", ends: true, not: []string{"dfid", "max states"}},
	{name: "html", args: []string{"--html"}, file: "page.html"},
	{name: "dump json", args: []string{"--dump"}, file: "graph.json", not: []string{"dfid", "dump dot"}},
	{name: "dump dot", args: []string{"--dump"}, file: "graph.dot", not: []string{"dfid"}},
	{name: "tlc", format: "tlc", not: []string{"text"}},
	{name: "text", format: "text"},

	{name: "continue", args: []string{"--continue"}, means: true, not: []string{"dfid"}},
	{name: "dfid", means: true, not: []string{"por", "periodic", "max states"}},
	{name: "por", args: []string{"--por"}, means: true},
	{name: "periodic", args: []string{"--liveness=periodic"}, means: true, not: []string{"safety only"}},
	{name: "safety only", args: []string{"--safety-only"}, means: true},
	{name: "no deadlock", args: []string{"--deadlock=false"}, means: true},
	{name: "max states", args: []string{"--max-states=40"}, means: true},
}

// matrixPairs are all pairs of flags, each flag alone, and none.
func matrixPairs() (pairs [][]matrixFlag) {
	pairs = append(pairs, nil)
	for i, a := range matrixFlags {
		pairs = append(pairs, []matrixFlag{a})
		for _, b := range matrixFlags[i+1:] {
			pairs = append(pairs, []matrixFlag{a, b})
		}
	}
	return pairs
}

// refused reports whether the two are to be refused together. Those that are one flag
// with two values, of which the last counts, are left out.
func refused(pair []matrixFlag) (is, oneFlag bool) {
	if len(pair) < 2 {
		return false, false
	}
	a, b := pair[0], pair[1]
	is = slices.Contains(a.not, b.name) || slices.Contains(b.not, a.name)
	switch {
	case a.format != "" && b.format != "", a.name == "dump json" && b.name == "dump dot", a.name == "auto" && b.name == "native",
		a.name == "seqfinal" && b.name == "periodic", a.name == "resumed" && b.name == "max states":
		return false, true
	}
	return is, false
}
