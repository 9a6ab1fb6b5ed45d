// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/internal/cli"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/evidence/ports"
	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
)

// paramCase is one way in which an instance gets a parameter.
type paramCase struct {
	byValue bool
	macro   string // "" for none
	indexed bool
	plain   bool // the archetype's parameter is no ref
}

// paramCases are all ways: a value or a variable, through each macro or none, whole
// or by index; and a parameter that is a value.
func paramCases() []paramCase {
	cases := []paramCase{{byValue: true, plain: true}}
	for _, byValue := range []bool{false, true} {
		for _, macro := range []string{"", "Same", "Timeout", "Fifo"} {
			for _, indexed := range []bool{false, true} {
				cases = append(cases, paramCase{byValue: byValue, macro: macro, indexed: indexed})
			}
		}
	}
	return cases
}

// first is what the parameter starts with, and body what comes to its end only
// where the right resource stands behind the parameter.
func (c paramCase) first(self int) string {
	v := map[string]string{"": "3", "Same": "3", "Timeout": "FALSE", "Fifo": "<<>>"}[c.macro]
	if c.indexed {
		v = fmt.Sprintf("[i \\in {%d} |-> %s]", self, v)
	}
	return v
}

func (c paramCase) body() string {
	p := "p"
	if c.indexed {
		p = "p[self]"
	}
	switch c.macro {
	case "Timeout":
		if c.indexed && !c.byValue {
			return "await ~" + p + ";" // a detector: this process has not failed
		}
		return "await " + p + ";"
	case "Fifo":
		return p + " := 5; b: r := " + p + "; c: assert r = 5;"
	}
	if c.plain {
		return "assert p = 3;"
	}
	return p + " := " + p + " + 1; b: r := " + p + "; c: assert r = 4;"
}

// paramModule is a module with a process for each case.
func paramModule(cases []paramCase) string {
	var archetypes, vars, instances strings.Builder
	for k, c := range cases {
		param, arg, index := "ref p", c.first(k), ""
		if c.plain {
			param = "p"
		}
		if c.indexed {
			param, index = param+"[_]", "[_]"
		}
		fmt.Fprintf(&archetypes, "archetype A%d(%s) variables r = 0; { a: %s }\n", k, param, c.body())
		if !c.byValue {
			fmt.Fprintf(&vars, "g%d = %s; ", k, arg)
			arg = fmt.Sprintf("ref g%d%s", k, index)
		}
		mapping := ""
		if c.macro != "" {
			mapping = fmt.Sprintf(" mapping @1%s via %s", index, c.macro)
		}
		fmt.Fprintf(&instances, "process (P%d = %d) == instance A%d(%s)%s;\n", k, k, k, arg, mapping)
	}
	return "---- MODULE params ----\nEXTENDS Integers, Sequences, TLC\n(*\n--mpcal params {\n" +
		"mapping macro Same { read { yield $variable; } write { yield $value; } }\n" +
		"mapping macro Timeout { read { either { yield TRUE; } or { yield FALSE; }; } write { yield $value; } }\n" +
		"mapping macro Fifo { read { await Len($variable) > 0; with (m = Head($variable)) { $variable := Tail($variable); yield m; }; } write { yield Append($variable, $value); } }\n" +
		archetypes.String() + "variables " + vars.String() + "\n" + instances.String() + "}\n*)\n====\n"
}

// TestParametersOfEveryKind compiles a process for every way to get a
// parameter, runs all with the configuration that compile writes, and checks
// what they did: each comes to its end, and the model explains its trace.
func TestParametersOfEveryKind(t *testing.T) {
	cases := paramCases()
	dir := t.TempDir()
	spec := filepath.Join(dir, "params.tla")
	writeAll(t, spec, paramModule(cases))
	writeAll(t, filepath.Join(dir, "params.cfg"), "SPECIFICATION Spec\nCHECK_DEADLOCK FALSE\n")
	if err := os.MkdirAll("../../build", 0o777); err != nil {
		t.Fatal(err)
	}
	code, err := os.MkdirTemp("../../build", "_params")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(code)
	warnings := compileTo(t, spec, code)
	if warnings != "" {
		t.Errorf("warnings:\n%s", warnings)
	}
	bin := filepath.Join(dir, "params")
	if out, err := exec.Command("go", "build", "-o", bin, "../../build/"+filepath.Base(code)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	conf := filepath.Join(dir, "sys.json")
	writeAll(t, conf, onFreePorts(t, readAll(t, filepath.Join(code, "sys.json"))))
	traces := filepath.Join(dir, "traces")
	if err := os.Mkdir(traces, 0o777); err != nil {
		t.Fatal(err)
	}
	var running []*procs.Process
	for k := range cases {
		cmd := exec.Command(bin, "-config", conf, "-node", fmt.Sprintf("p%d", k))
		cmd.Env = append(os.Environ(), distsys.TraceDir+"="+traces)
		running = append(running, procs.Start(t, cmd))
	}
	for k, p := range running {
		if code := p.Wait(); code != 0 {
			t.Errorf("%+v: exit code %d", cases[k], code)
		}
	}
	if t.Failed() {
		return // the traces are of runs that were cut off
	}
	if out, err := ashlarCommand("trace", "check", spec, traces); err != nil {
		t.Errorf("trace check: %v\n%s", err, out)
	}
}

// TestGhostsAndNeighbours: variables that are only assigned put nothing on one
// node, those that are read do and a warning names them, a detector is one
// also where processes assign the variable behind it, and a first value may
// mention a variable before it.
func TestGhostsAndNeighbours(t *testing.T) {
	dir := t.TempDir()
	spec := filepath.Join(dir, "ghosts.tla")
	writeAll(t, spec, `---- MODULE ghosts ----
EXTENDS Integers, TLC
(*
--mpcal ghosts {
  mapping macro PracticalFD {
    read { if ($variable = FALSE) { either { yield TRUE; } or { yield FALSE; }; } else { yield $variable; }; }
    write { yield $value; }
  }
  mapping macro Doubled { read { yield $variable; } write { yield 2 * $value; } }
  archetype AServer(ref inside, ref fd[_], ref late) { s: inside := inside + 0; s2: fd[self] := TRUE; s3: late := self; }
  archetype AClient(ref ghost[_], ref fd[_]) { c: ghost[self] := TRUE; d: await ~fd[1]; }
  archetype AWriter(ref ghost[_]) { w: ghost[self] := FALSE; }
  variables n = 2; ghost = [i \in 1..9 |-> FALSE]; inside = n + 1; fd = [i \in 1..n |-> FALSE]; late;
  process (Server \in 1..2) == instance AServer(ref inside, ref fd[_], ref late);
  process (Client \in 3..4) == instance AClient(ref ghost[_], ref fd[_]) mapping fd[_] via PracticalFD;
  process (Writer = 5) == instance AWriter(ref ghost[_]);
  process (Twice = 6) == instance AServer(4, [i \in {6} |-> FALSE], 0) mapping @1 via Doubled;
}
*)
====
`)
	writeAll(t, filepath.Join(dir, "ghosts.cfg"), "SPECIFICATION Spec\nCHECK_DEADLOCK FALSE\n")
	warnings := compileTo(t, spec, filepath.Join(dir, "out"))
	var got distsys.Config
	if err := json.Unmarshal([]byte(readAll(t, filepath.Join(dir, "out", "sys.json"))), &got); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{}
	for name, s := range got.Resources {
		kinds[name] = s.Kind
	}
	want := map[string]string{"inside": "shared", "fd": "dummy", "fd_fd": "detector", "ghost": "dummy", "late": "dummy", "twice_inside": "variable", "twice_fd": "variable", "twice_late": "variable"}
	if fmt.Sprint(kinds) != fmt.Sprint(want) {
		t.Errorf("resources %v, want %v", kinds, want)
	}
	if v := got.Resources["inside"].Value.Value.String(); v != "3" {
		t.Errorf("inside starts with %s, want 3", v)
	}
	if len(got.Nodes) != 5 || len(got.Nodes["server1"]) != 2 {
		t.Errorf("nodes %v: want the servers on one, the others each on one of its own", got.NodeNames())
	}
	if !strings.Contains(warnings, "AServer(1), AServer(2) use the variable inside, so sys.json puts them on one node") || !strings.Contains(warnings, "no resource is known that acts like mapping macro Doubled; sys.json has a plain one for inside") ||
		strings.Count(warnings, "warning:") != 2 {
		t.Errorf("warnings:\n%s", warnings)
	}
}

func compileTo(t *testing.T, spec, dir string) string {
	t.Helper()
	var out, warnings bytes.Buffer
	code := cli.Run(t.Context(), []string{"compile", "--out", dir, "--package", "main", "--main", spec}, &console.Terminal{Out: &out, Err: &warnings})
	if code != exit.OK {
		t.Fatalf("exit code %d\n%s", code, &warnings)
	}
	return warnings.String()
}

func ashlarCommand(args ...string) (string, error) {
	var out bytes.Buffer
	root := cli.Command(&console.Terminal{Out: &out, Err: &out})
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	return out.String(), err
}

// onFreePorts puts ports that are free now in the place of those of a
// configuration, and has timers go off soon.
func onFreePorts(t *testing.T, conf string) string {
	t.Helper()
	conf = strings.ReplaceAll(conf, `"after": "1s"`, `"after": "20ms"`)
	address := regexp.MustCompile(`127\.0\.0\.1:\d+`)
	addrs, err := ports.Free(len(address.FindAllString(conf, -1)))
	if err != nil {
		t.Fatal(err)
	}
	return address.ReplaceAllStringFunc(conf, func(string) string {
		next := addrs[0]
		addrs = addrs[1:]
		return next
	})
}

func writeAll(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func readAll(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
