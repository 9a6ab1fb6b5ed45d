// SPDX-License-Identifier: Apache-2.0

package loadgen

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/internal/dedalus/cost"
	"github.com/ashlar-dev/ashlar/internal/dedalus/gen"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/lower"
	"github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/source"
)

const echoText = `program echo

component server {
  input  ask(client: node, id: u64, key: text, v: bytes)
  output told(id: u64, key: text, v: bytes)

  async told@c(id, k, v) <- ask(c, id, k, v)
}

deploy { server: 3 }
`

// echo reads the program and a load for it.
func echo(t *testing.T, load string) (*logic.Program, *cost.Load) {
	t.Helper()
	var diags source.List
	p := lower.Lower(syntax.Parse(source.NewFile("echo.ded", []byte(echoText)), &diags), &diags)
	if p == nil {
		t.Fatal(diags.Err())
	}
	l := cost.ParseLoad(source.NewFile("echo.load", []byte(load)), p, &diags)
	if l == nil {
		t.Fatal(diags.Err())
	}
	return p, l
}

// TestCommands: who gets a command, first and when it is asked for again.
func TestCommands(t *testing.T) {
	for to, want := range map[string]string{
		"server":      "server/0 server/1 server/2 false",
		"server / 2":  "server/2 server/0 server/1 false",
		"server each": "server/0 server/1 server/2 true",
	} {
		sends, _ := Commands(echo(t, "send ask(client, #, #, bytes 8) to "+to+"\nwait told(#, _, _)\n"))
		got := strings.Join(sends[0].To, " ")
		if sends[0].All {
			got += " true"
		} else {
			got += " false"
		}
		if got != want {
			t.Errorf("to %s: %s, want %s", to, got, want)
		}
	}
}

// opened is a load generator without connections.
func opened(t *testing.T, load string) (*Generator, error) {
	p, l := echo(t, load)
	x := &Generator{outs: map[int][]waiting{}, opt: Options{Program: gen.Outline(p), Name: "c"}}
	x.opt.Sends, x.opt.Waits = Commands(p, l)
	return x, x.prepare()
}

// TestValues: what a command sends, and what number an answer tells.
func TestValues(t *testing.T) {
	x, err := opened(t, "send ask(client, # % 5, #, bytes 6) to server\nwait told(_, _, bytes 6)\n")
	if err != nil {
		t.Fatal(err)
	}
	columns := x.opt.Program.Relations[x.sent[0]].Columns
	got := x.values(12, x.opt.Sends[0].Args, columns)
	if got[0].Str != "c" || got[1].Num != 2 || got[2].Str != "12" || got[3].Str != "000012" {
		t.Errorf("command 12 sends %v", got)
	}
	var w *waiting
	for r := range x.outs {
		w = &x.outs[r][0]
	}
	answer := []rt.Value{{Num: 9}, {Str: "x"}, {Str: "000012"}}
	if n, ok := w.number(answer); n != 12 || !ok {
		t.Errorf("the answer has number %d, %v", n, ok)
	}
	if err := x.expect(12, w, answer); err != nil {
		t.Error(err)
	}
	if err := x.expect(13, w, answer); err == nil || !strings.Contains(err.Error(), `column v of told is "000012", want "000013"`) {
		t.Errorf("an answer to another command: %v", err)
	}
	if _, ok := w.number([]rt.Value{{}, {}, {Str: "noop"}}); ok {
		t.Error("a noop has a number")
	}
}

// TestPrepare: commands that cannot be asked for.
func TestPrepare(t *testing.T) {
	for load, want := range map[string]string{
		"send ask(client, #, #, bytes 6) to server\n":                         "must wait for 1 to 64 outputs, not 0",
		"send ask(client, #, #, bytes 6) to server\nwait told(_, \"a\", _)\n": "has no column that identifies its command",
		"send ask(client, #, #, bytes 6) to server\nwait told(# % 3, _, _)\n": "has no column that identifies its command",
	} {
		if _, err := opened(t, load); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", load, err, want)
		}
	}
}
