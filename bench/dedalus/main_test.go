// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/bench/process"
)

func TestMain(m *testing.M) {
	// The peers' processes are this program in another role, as in main.
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case roleHandLeader:
			os.Exit(process.Main(handLeader))
		case roleHandParticipant:
			os.Exit(process.Main(handParticipant))
		case roleFrames:
			os.Exit(process.Main(framesMain))
		}
	}
	if err := os.Chdir(".."); err != nil { // the root of the module
		panic(err)
	}
	os.Exit(m.Run())
}

// TestMeasures measures voting as it is written, as rewrites make it, and by hand.
func TestMeasures(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds programs and runs their processes")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var out, errs strings.Builder
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	err = command(ctx, []string{"-smoke", "-programs", "voting,voting:voting", "-peers", "hand", "-json", "-measured", dir}, &out, &errs,
		func(role string) *exec.Cmd { return exec.Command(self, role) })
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	var r report
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Figures) != 3 {
		t.Fatalf("%d figures, want 3", len(r.Figures))
	}
	for _, f := range r.Figures {
		if f.Commands == 0 || f.Mean <= 0 || f.P50 <= 0 || f.Greatest < f.P99 || f.P99 < f.P50 || len(f.Nodes) != f.Processes {
			t.Errorf("%s: %+v", f.System, f)
		}
	}
	if f := r.Figures[1]; f.Processes != 10 || f.Scale <= 0 {
		t.Errorf("%s: %d processes, scale %v", f.System, f.Processes, f.Scale)
	}
	if _, err := os.Stat(dir + "/voting_voting.json"); err != nil {
		t.Error(err)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-clients", "0"}, {"-rounds", "0"}, {"-run", "1ms"}, {"-value", "1"}, {"-peers", "tlc"}, {"more"}, {"-nonsense"}} {
		if _, err := parse(args, io.Discard); !errors.Is(err, errUsage) {
			t.Errorf("%v: %v, want %v", args, err, errUsage)
		}
	}
}

// TestUnanswered: a run in which a command is not answered is an error, and not a
// figure.
func TestUnanswered(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	free, err := addresses(1)
	if err != nil {
		t.Fatal(err)
	}
	// A leader without participants never answers.
	leader, err := process.Start("leader/0", exec.Command(self, roleHandLeader), true)
	if err != nil {
		t.Fatal(err)
	}
	defer leader.End()
	var said string
	if err := errors.Join(leader.Tell(handJob{Listen: free[0]}), leader.Hear(&said, answerWithin)); err != nil {
		t.Fatal(err)
	}
	a := &cluster{nodes: []*process.Child{leader}}
	c := config{Clients: 3, Value: 16, Run: time.Second}
	if err := a.askFrames(c, free[0], func(role string) *exec.Cmd { return exec.Command(self, role) }); err != nil {
		t.Fatal(err)
	}
	defer a.end()
	if _, err := a.measure(c); err == nil || !strings.Contains(err.Error(), "answers did not come") {
		t.Errorf("measure: %v, want that answers did not come", err)
	}
}
