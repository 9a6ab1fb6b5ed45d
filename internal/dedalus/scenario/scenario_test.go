// SPDX-License-Identifier: Apache-2.0

package scenario_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/scenario"
)

const program = `program p
fn sign(v: bytes, k: u64) -> bytes from "example.org/crypt.Sign"
fn number(v: bytes) -> u64 from "example.org/crypt.Number"
fn good(v: bytes) -> bool from "example.org/crypt.Good"
component a {
  input  in(c: node, n: u64, i: int, b: bool, t: text, v: bytes, s: set<u64>)
  input  go()
  output out(v: bytes, k: u64, b: bool)
  async  out@c(x, y, z) <- in(c, n, _, _, _, v, _), x := sign(v, n), y := number(v), z := good(v)
  async  out@node "c"(b"", 0, true) <- go()
}
deploy { a: 2 }
`

func TestRead(t *testing.T) {
	p := given.Program(t, program)
	text := "# both\n\n in(node \"c\", 1, -2, true, \"to x\", b\"y\", {1, 2}) to a/1\ngo() to a/0\n"
	if strings.Contains(text, "{1, 2}") {
		// Sets have no form in the text of static facts.
		if _, err := scenario.Read(p, "x", text); err == nil || !strings.Contains(err.Error(), "x:3: in takes (node, u64, int, bool, text, bytes, set<u64>)") {
			t.Errorf("got %v", err)
		}
	}
	got, err := scenario.Read(p, "x", "go() to a/0\n#\ngo( ) to a/1")
	if err != nil || len(got) != 2 || got[1].String() != "go() to a/1" {
		t.Errorf("got %v, %v", got, err)
	}
	for line, want := range map[string]string{
		"go()":               "expected RELATION(VALUES) to MACHINE",
		"go to a/0":          "expected RELATION(VALUES) to MACHINE",
		"out(b\"\") to a/0":  "'out' is not an input of the program; its inputs are in, go",
		"go() to a/2":        "there is no machine 'a/2'",
		"go(1) to a/0":       "go takes ()",
		"in(1) to a/0":       "in takes (node",
		"in(}) to a/0":       "in takes (node",
		" to a/0":            "expected RELATION",
		"go() to a/0 to a/9": "there is no machine",
	} {
		if _, err := scenario.Read(p, "x", "\n"+line); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "x:2: ") {
			t.Errorf("%s: got %v, want %q", line, err, want)
		}
	}
	if _, err := scenario.Read(p, "x", strings.Repeat("go() to a/0\n", 10_001)); err == nil || !strings.Contains(err.Error(), "more than 10000") {
		t.Errorf("got %v", err)
	}
}

// TestInputs reads what was made up again, where its types can be written.
func TestInputs(t *testing.T) {
	p := given.Program(t, strings.ReplaceAll(program, ", s: set<u64>", ", s: u64"))
	made := scenario.Inputs(p, 3)
	if len(made) != 6 {
		t.Fatalf("%d messages", len(made))
	}
	for _, m := range made {
		again, err := scenario.Message(p, m.String())
		if err != nil || again.String() != m.String() {
			t.Errorf("%v is read as %v, %v", m, again, err)
		}
	}
}

func TestFunctions(t *testing.T) {
	p := given.Program(t, program)
	f := scenario.Functions(p)
	bytes := func(s string) logic.Value { return logic.Value{Kind: logic.Bytes, Str: s} }
	signed, _ := f["sign"]([]logic.Value{bytes("x"), {Num: 3}})
	if signed.Str != `sign(b"x",3)` || signed.Kind != logic.Bytes {
		t.Errorf("got %v", signed)
	}
	a, _ := f["number"]([]logic.Value{bytes("x")})
	b, _ := f["number"]([]logic.Value{bytes("y")})
	if a.Kind != logic.U64 || a.Num == b.Num {
		t.Errorf("got %v and %v", a, b)
	}
	if g, ok := f["good"]([]logic.Value{bytes("x")}); !ok || g.Kind != logic.Bool || g.Num > 1 {
		t.Errorf("got %v", g)
	}
	if len(f) != 3 {
		t.Errorf("%d functions", len(f))
	}
}

func FuzzMessage(f *testing.F) {
	f.Add(`in(node "c", 1, -2, true, "t", b"y", 4) to a/1`)
	f.Fuzz(func(t *testing.T, line string) {
		p, _ := given.Read(strings.ReplaceAll(program, ", s: set<u64>", ", s: u64"))
		m, err := scenario.Message(p, line)
		if err != nil {
			return
		}
		if again, err := scenario.Message(p, m.String()); err != nil || again.String() != m.String() {
			t.Errorf("%q is %v, read again %v, %v", line, m, again, err)
		}
	})
}
