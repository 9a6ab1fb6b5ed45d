// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

// drawing writes random algorithms: every kind of statement, processes and
// procedures, and every way to declare fairness.
type drawing struct {
	*rand.Rand
	labels int
	// here are the labels of the body, calls the procedures that may be called.
	here  []string
	calls []string
	uni   bool
	bound []string
}

func (d *drawing) of(list ...string) string { return list[d.Intn(len(list))] }

func (d *drawing) number(depth int) string {
	if depth == 0 || d.Intn(3) == 0 {
		list := append([]string{"0", "7", "x", "y", "f[1]"}, d.bound...)
		if !d.uni {
			list = append(list, "self")
		}
		return d.of(list...)
	}
	switch d.Intn(7) {
	case 0:
		return "(IF " + d.truth(depth-1) + " THEN " + d.number(depth-1) + " ELSE " + d.number(depth-1) + ")"
	case 1:
		return "f[" + d.number(depth-1) + "]"
	case 2:
		return "(LET a == " + d.number(depth-1) + " IN a + a)"
	case 3:
		return `(CHOOSE i \in {1, ` + d.number(depth-1) + "} : " + d.truth(depth-1) + ")"
	case 4:
		return "(CASE " + d.truth(depth-1) + " -> 1 [] OTHER -> " + d.number(depth-1) + ")"
	case 5:
		return "[f EXCEPT ![1] = @ + " + d.number(depth-1) + "][1]"
	}
	return "(" + d.number(depth-1) + d.of(" + ", " - ", " * ") + d.number(depth-1) + ")"
}

func (d *drawing) truth(depth int) string {
	if depth == 0 || d.Intn(3) == 0 {
		return d.number(0) + d.of(" = ", " # ", " < ") + d.number(0)
	}
	switch d.Intn(4) {
	case 0:
		return "(" + d.truth(depth-1) + d.of(` /\ `, ` \/ `, " => ") + d.truth(depth-1) + ")"
	case 1:
		return "~(" + d.truth(depth-1) + ")"
	case 2:
		return d.of(`(\A `, `(\E `) + `j \in {1, ` + d.number(depth-1) + "} : j = " + d.number(depth-1) + ")"
	}
	return d.number(depth) + ` \in {` + d.number(depth-1) + "}"
}

func (d *drawing) stmts(depth int) string {
	var out strings.Builder
	for range 1 + d.Intn(2) {
		out.WriteString(d.stmt(depth))
	}
	return out.String()
}

func (d *drawing) stmt(depth int) string {
	n := 10
	if depth == 0 {
		n = 6
	}
	switch d.Intn(n) {
	case 0:
		return "x := " + d.number(2) + "; "
	case 1:
		return "f[" + d.number(1) + "] := " + d.number(2) + " || y := " + d.number(1) + "; "
	case 2:
		return "await " + d.truth(2) + "; "
	case 3:
		return "skip; "
	case 4:
		return "assert " + d.truth(2) + "; "
	case 5:
		return "print " + d.number(1) + "; "
	case 6:
		return "if (" + d.truth(2) + ") { " + d.stmts(depth-1) + "} else { " + d.stmts(depth-1) + "}; "
	case 7:
		return "either { " + d.stmts(depth-1) + "} or { " + d.stmts(depth-1) + "}; "
	case 8:
		return "if (" + d.truth(1) + ") { goto " + d.of(d.here...) + "; }; " + d.label()
	}
	name := fmt.Sprintf("w%d", len(d.bound))
	head := "with (" + name + d.of(" = "+d.number(2), ` \in {1, `+d.number(1)+"}") + ") { "
	d.bound = append(d.bound, name)
	body := d.stmt(0)
	d.bound = d.bound[:len(d.bound)-1]
	return head + body + "}; "
}

func (d *drawing) label() string {
	d.labels++
	name := fmt.Sprintf("L%d", d.labels)
	return name + ":" + d.of("", "", "+", "-") + " skip; "
}

// body is a body of up to three labels.
func (d *drawing) body() string {
	d.here = nil
	n := 1 + d.Intn(3)
	for i := range n {
		d.here = append(d.here, fmt.Sprintf("B%d_%d", d.labels, i))
	}
	var out strings.Builder
	for _, l := range d.here {
		out.WriteString(l + ":" + d.of("", "", "+", "-") + " ")
		switch {
		case d.Intn(4) == 0:
			out.WriteString("while (" + d.truth(1) + ") { " + d.stmts(2) + "}; ")
		case len(d.calls) > 0 && d.Intn(3) == 0:
			out.WriteString("call " + d.of(d.calls...) + "(" + d.number(1) + "); ")
		default:
			out.WriteString(d.stmts(2))
		}
	}
	d.labels++
	return out.String()
}

func (d *drawing) algorithm() string {
	d.uni = d.Intn(3) == 0
	out := "--" + d.of("", "", "fair ") + "algorithm A {\nvariables x = 1, y " + d.of(`\in 1..3`, "= 2") + ", f = [i \\in 1..3 |-> i]" + d.of("", ", z") + ";\n"
	if d.Intn(3) == 0 {
		out += "define { Big == x > 1 }\n"
	}
	if d.Intn(2) == 0 {
		d.calls = []string{"P"}
		d.bound = append(d.bound, "p")
		out += "procedure P(p = 0) variables q" + d.of(" = 1", ` \in {1, 2}`, "") + "; { " + d.body() + "return; }\n"
		d.bound = d.bound[:len(d.bound)-1]
	}
	if d.uni {
		return out + "{ " + d.body() + "} }"
	}
	for i := range 1 + d.Intn(2) {
		own := d.of("", fmt.Sprintf("variables l%d = 0, k%d \\in {1, 2};", i, i))
		who := d.of(fmt.Sprintf("= %d", 10*i+5), fmt.Sprintf(`\in %d..%d`, 10*i+1, 10*i+2))
		out += d.of("", "fair ", "fair+ ") + fmt.Sprintf("process (Q%d %s) %s { ", i, who, own) + d.body() + "}\n"
	}
	return out + "}"
}

// TestTreesOfDrawnAlgorithms compares the declarations of drawn algorithms with
// the text printed for them.
func TestTreesOfDrawnAlgorithms(t *testing.T) {
	const drawn = 300
	accepted := 0
	for seed := range int64(drawn) {
		d := &drawing{Rand: rand.New(rand.NewSource(seed))}
		text := inModule(d.algorithm())
		if treesAgree(t, oneFile(text), "T.tla") > 0 {
			accepted++
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, text)
		}
	}
	if accepted < drawn/3 {
		t.Errorf("of %d algorithms only %d are accepted", drawn, accepted)
	}
	t.Logf("%d of %d are accepted", accepted, drawn)
}
