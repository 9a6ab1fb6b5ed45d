// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/internal/compile"
	"github.com/ashlar-dev/ashlar/internal/evidence/ports"
	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// TestLockServiceRuns compiles the lock service to a command, runs a server
// and three clients as processes of the operating system, and finds in their
// traces that each client was in its critical section, and that no two were at
// once.
func TestLockServiceRuns(t *testing.T) {
	const clients = 3
	s := read(t, "../../specs/lockservice/lockservice.tla")
	p, diags := s.compile(compile.Options{Main: true})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	b := newBundle(t)
	b.add(t, "lockservice", p)
	dir := filepath.Join(b.dir, "lockservice")
	goTool(t, "vet", "./build/"+filepath.Base(b.dir)+"/lockservice")
	goTool(t, "build", "-o", "./build/"+filepath.Base(b.dir)+"/run", "./build/"+filepath.Base(b.dir)+"/lockservice")

	addr, err := ports.Free(clients + 1)
	if err != nil {
		t.Fatal(err)
	}
	conf := distsys.Config{System: "lockservice", Constants: map[string]distsys.Text{"NumClients": distsys.TextOf(value.Int(clients))},
		Resources: map[string]distsys.Supply{}, Nodes: map[string][]distsys.Member{}}
	net := distsys.Supply{Kind: distsys.KindMailboxes, Mode: distsys.ModeRelaxed}
	for i := range clients + 1 {
		node, arch := fmt.Sprintf("client%d", i), "AClient"
		if i == 0 {
			node, arch = "server", "AServer"
		}
		self := distsys.TextOf(value.Int(int32(i)))
		net.At = append(net.At, distsys.Site{Node: node, Address: addr[i], Indices: []distsys.Text{self}})
		conf.Nodes[node] = []distsys.Member{{Archetype: arch, Self: self, Refs: map[string]string{"network": "network"}}}
	}
	conf.Resources["network"] = net
	text, err := json.Marshal(conf)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "sys.json")
	if err := os.WriteFile(config, text, 0o644); err != nil {
		t.Fatal(err)
	}
	traces := t.TempDir()
	var running []*procs.Process
	for i := range clients + 1 {
		args := []string{"-config", config, "-for", "2s", "-archetype", "AClient", "-self", fmt.Sprint(i)}
		if i == 0 {
			args = []string{"-config", config, "-for", "2500ms", "-node", "server"}
		}
		cmd := exec.Command(filepath.Join(b.dir, "run"), args...)
		cmd.Env = append(os.Environ(), distsys.TraceDir+"="+traces)
		running = append(running, procs.Start(t, cmd))
	}
	for i, p := range running {
		if code := p.Wait(); code != 0 {
			t.Errorf("process %d: exit code %d", i, code)
		}
	}

	type stay struct{ enter, leave tracelog.Clock }
	stays := make([][]stay, clients+1)
	for i := 1; i <= clients; i++ {
		events := readTrace(t, filepath.Join(traces, fmt.Sprintf("trace-AClient-%d.jsonl", i)))
		for k, e := range events {
			if e.Label == "criticalSection" && k > 0 && k+1 < len(events) {
				stays[i] = append(stays[i], stay{events[k-1].Clock, events[k+1].Clock})
			}
		}
		if len(stays[i]) < 3 {
			t.Errorf("client %d was %d times in its critical section", i, len(stays[i]))
		}
	}
	for i := 1; i <= clients; i++ {
		for j := i + 1; j <= clients; j++ {
			for _, a := range stays[i] {
				for _, b := range stays[j] {
					if !before(a.leave, b.enter, i) && !before(b.leave, a.enter, j) {
						t.Fatalf("clients %d and %d were in their critical sections at once: %v, %v", i, j, a, b)
					}
				}
			}
		}
	}
	t.Logf("critical sections: %d, %d, %d", len(stays[1]), len(stays[2]), len(stays[3]))
}

// before reports whether what client i did up to clock a is known at b.
func before(a, b tracelog.Clock, i int) bool {
	actor := fmt.Sprintf("AClient(%d)", i)
	return b.Of(actor) >= a.Of(actor)
}

func readTrace(t *testing.T, path string) []tracelog.Event {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []tracelog.Event
	for _, line := range bytes.Split(text, []byte("\n"))[1:] {
		var e tracelog.Event
		if json.Unmarshal(line, &e) == nil && len(line) > 0 {
			out = append(out, e)
		}
	}
	return out
}

// TestInvariantsRun compiles invariants in: one that holds, and one that a step
// breaks, which is then not taken.
func TestInvariantsRun(t *testing.T) {
	parts := "archetype A(limit) variables x = 0, log = <<>>; {\nl: while (x < limit) { x := x + 1; log := Append(log, x); }; }\n" +
		"process (P \\in {3, 9}) == instance A(P);"
	after := "Small(p) == x[p] <= 5\nBounded == \\A p \\in {3, 9} : Small(p)\nLogged == \\A p \\in {3, 9} : Len(log[p]) = x[p]\nOnlyThree == \\A p \\in {3} : x[p] < 1\n"
	s := readText(t, "m", module("", parts)+after+"====\n")
	p, diags := s.compile(compile.Options{Package: "inv", Invariants: []string{"Logged", "Bounded"}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	q, diags := s.compile(compile.Options{Package: "other", Invariants: []string{"OnlyThree"}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	fail := readText(t, "m", module("Deep(q) == Head(Tail(q))\n", "archetype A() variables q = <<1>>, r = 0; {\nl: r := 5;\n   r := Deep(q) +\n        1;\n}\nprocess (P = 0) == instance A();")+"\n====\n")
	f, diags := fail.compile(compile.Options{Package: "fail"})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	b := newBundle(t)
	b.add(t, "inv", p)
	b.add(t, "other", q)
	b.add(t, "fail", f)
	b.build(t)
	run := func(pkg, self string) scenario {
		return scenario{Pkg: pkg, Instances: []instance{{Archetype: "A", Self: self, Values: map[string]string{"limit": self}}}}
	}
	out := b.run(t, []scenario{run("inv", "3"), run("inv", "9"), run("other", "9"), run("other", "3"),
		{Pkg: "fail", Instances: []instance{{Archetype: "A", Self: "0"}}}})
	if out[0].Err != "" || out[0].Vars["A(3)"]["x"] != "3" {
		t.Errorf("three steps: %+v", out[0])
	}
	if !strings.Contains(out[1].Err, "invariant Bounded is false") || out[1].Vars["A(9)"]["x"] != "5" {
		t.Errorf("nine steps: %+v", out[1])
	}
	if out[2].Err != "" {
		t.Errorf("an invariant of others: %+v", out[2])
	}
	if !strings.Contains(out[3].Err, "invariant OnlyThree is false") {
		t.Errorf("an invariant of its own: %+v", out[3])
	}
	// An error names the places from the operator outward.
	if want := "(at m.tla:3, in m.tla:8)"; !strings.Contains(out[4].Err, want) {
		t.Errorf("got %q, want the places %q", out[4].Err, want)
	}
}
