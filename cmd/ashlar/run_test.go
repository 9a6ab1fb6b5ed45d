// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/cli"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
)

// TestRunLockService runs four processes, interrupts them when some of their sections
// are checked, and has the verdict on what they did.
func TestRunLockService(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	t.Setenv("GOPROXY", "off")
	work := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	traces := filepath.Join(work, "traces")
	client := filepath.Join(traces, "trace-AClient-1.jsonl")
	granted := func() { // waits until the client has been granted the lock, too
		for ctx.Err() == nil {
			if text, _ := os.ReadFile(client); strings.Contains(string(text), granting) {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	out, errs := &until{}, &until{text: " sections checked", then: func() { go granted() }}
	args := []string{"run", "../../specs/lockservice/lockservice.tla", "--ashlar", "../..", "--work", work}
	code := cli.Run(ctx, args, &console.Terminal{Out: out, Err: errs})
	// After an interrupt the check has a moment for what is left. On a busy machine that may not be enough.
	if code != exit.OK && code != exit.NotChecked {
		t.Fatalf("exit code %d\n%s%s", code, &out.b, &errs.b)
	}
	for _, want := range []string{"running 4 nodes: client1, client2, client3, server", "  AServer(0): ", "  AClient(3): "} {
		if !strings.Contains(errs.b.String(), want) {
			t.Errorf("%q was not told:\n%s", want, &errs.b)
		}
	}
	if !strings.Contains(out.b.String(), "the traces are in "+traces) {
		t.Errorf("it does not say where the traces are:\n%s", &out.b)
	}
	for _, want := range []int{exit.OK, exit.Safety} {
		if want == exit.Safety {
			forge(t, client)
		}
		var shown until
		if code := cli.Run(context.Background(), []string{"trace", "check", "../../specs/lockservice/lockservice.tla", traces}, &console.Terminal{Out: &shown, Err: &shown}); code != want {
			t.Errorf("the traces have exit code %d, want %d:\n%s", code, want, &shown.b)
		}
	}
}

// granting is how the trace of a client has that it reads a grant.
const granting = `"op":"read","name":"network","indices":["1"],"value":"\"grant\""`

// forge changes what a client has read into what nobody has sent.
func forge(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), granting) {
		t.Fatalf("the client was granted nothing:\n%.2000s", text)
	}
	is := strings.Replace(granting, "grant", "lock", 1)
	if err := os.WriteFile(name, []byte(strings.Replace(string(text), granting, is, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
}

const postModule = `---- MODULE post ----
EXTENDS Naturals, Sequences
(*
--mpcal post {
  mapping macro Link {
    read {
      await Len($variable) > 0;
      with (m = Head($variable)) {
        $variable := Tail($variable);
        yield m;
      };
    }
    write {
      yield Append($variable, $value);
    }
  }
  archetype A(ref net[_]) { send: net[2] := 7; }
  archetype B(ref net[_]) variables got = 0; { take: got := net[self]; }
  variables net = [i \in 1..2 |-> <<>>];
  process (P = 1) == instance A(ref net[_]) mapping net[_] via Link;
  process (Q = 2) == instance B(ref net[_]) mapping net[_] via Link;
}
*)
\* BEGIN TRANSLATION
\* END TRANSLATION
Never == got = 0
====
`

// TestRunToTheEnd runs processes that come to their ends, and an invariant that they
// break on the way.
func TestRunToTheEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	t.Setenv("GOPROXY", "off")
	dir := t.TempDir()
	for name, text := range map[string]string{"post.tla": postModule, "broken.cfg": "SPECIFICATION Spec\nINVARIANT Never\n", "post.cfg": "SPECIFICATION Spec\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for config, want := range map[string]string{"post.cfg": "accepted", "broken.cfg": "violated"} {
		var out, errs until
		code := cli.Run(context.Background(), []string{"run", filepath.Join(dir, "post.tla"), "--config", filepath.Join(dir, config), "--ashlar", "../..", "--json"},
			&console.Terminal{Out: &out, Err: &errs})
		var got struct {
			Verdict, Invariant string
			Sections, ExitCode int
			Nodes              []string
		}
		if err := json.Unmarshal(out.b.Bytes(), &got); err != nil {
			t.Fatalf("exit code %d, %v\n%s%s", code, err, &out.b, &errs.b)
		}
		if got.Verdict != want || got.Sections != 4 || got.ExitCode != code || len(got.Nodes) != 2 || (got.Invariant == "Never") != (want == "violated") {
			t.Errorf("%s: %+v, exit code %d, want %s\n%s", config, got, code, want, &errs.b)
		}
	}
}

// TestFollowSaysWhatItWaitsFor: a directory that gets no traces is named, with the
// processes whose traces are missing.
func TestFollowSaysWhatItWaitsFor(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, errs := &until{}, &until{text: "waiting for the traces of AServer(0), AClient(1), AClient(2), AClient(3) in " + dir, then: cancel}
	code := cli.Run(ctx, []string{"trace", "check", "--follow", "../../specs/lockservice/lockservice.tla", dir}, &console.Terminal{Out: out, Err: errs})
	if code != exit.World || !strings.Contains(errs.b.String(), "read traces: no file *.jsonl") {
		t.Errorf("exit code %d\n%s%s", code, &out.b, &errs.b)
	}
}

// TestRunRefuses: what cannot be run is said before anything is built.
func TestRunRefuses(t *testing.T) {
	dir := t.TempDir()
	shared := strings.NewReplacer("archetype A(ref net[_]) { send: net[2] := 7; }", "archetype A(ref net[_], ref both) { send: net[2] := 7; both := 1; }",
		"archetype B(ref net[_])", "archetype B(ref net[_], ref both)", "{ take: got := net[self]; }", "{ take: got := net[self]; both := both + 1; }",
		"(ref net[_]) mapping", "(ref net[_], ref both) mapping", "variables net =", "variables both = 0, net =").Replace(postModule)
	name := filepath.Join(dir, "post.tla")
	if err := os.WriteFile(name, []byte(shared), 0o666); err != nil {
		t.Fatal(err)
	}
	var out until
	code := cli.Run(context.Background(), []string{"run", name, "--ashlar", "../.."}, &console.Terminal{Out: &out, Err: &out})
	for _, want := range []string{"A(1), B(2): they share both", "exchange messages by net", "give --together"} {
		if !strings.Contains(out.b.String(), want) {
			t.Errorf("exit code %d, and the text lacks %q:\n%s", code, want, &out.b)
		}
	}
	if code != exit.World {
		t.Errorf("exit code %d", code)
	}
}
