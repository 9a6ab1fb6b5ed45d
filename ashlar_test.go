// SPDX-License-Identifier: Apache-2.0

package ashlar_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar"
)

// TestCommandSaysTheSame: the command and the package give the same figures, verdicts
// and traces. The command's searches may be compiled, the package's are not; they
// share the loader.
func TestCommandSaysTheSame(t *testing.T) {
	command := filepath.Join(t.TempDir(), "ashlar")
	if out, err := exec.Command("go", "build", "-o", command, "./cmd/ashlar").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct{ module, config, library string }{
		{"specs/diehard/diehard.tla", "specs/diehard/diehard.cfg", ""},
		{"specs/diehard/diehard.tla", "specs/diehard/unsolvable.cfg", ""},
		{"specs/mutex/mutex.tla", "specs/mutex/mutex.cfg", ""},
		{"specs/lockservice/lockservice.tla", "specs/lockservice/lockservice.cfg", ""},
		{"specs/wor/PaxosRegister.tla", "specs/wor/refused.cfg", "specs/lib"},
		{"specs/raft/raft.tla", "specs/raft/forgetful.cfg", ""},
	} {
		t.Run(c.config, func(t *testing.T) {
			args := []string{"check", "--json", "--workers", "1", "--config", c.config}
			var libraries []string
			if c.library != "" {
				libraries = []string{c.library}
				args = append(args, "--library", c.library)
			}
			out, err := exec.Command(command, append(args, c.module)...).Output()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			var want struct {
				Verdict    string
				Statistics struct{ Generated, Distinct, Depth int64 }
				Violation  *struct{ Property string }
				Trace      []json.RawMessage
			}
			if err := json.Unmarshal(out, &want); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			spec, err := ashlar.Load(c.module, ashlar.Options{Config: c.config, Libraries: libraries})
			if err != nil {
				t.Fatal(err)
			}
			got, err := spec.Check(t.Context(), ashlar.CheckOptions{Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Verdict) != want.Verdict || got.Generated != want.Statistics.Generated || got.Distinct != want.Statistics.Distinct || int64(got.Depth) != want.Statistics.Depth {
				t.Errorf("got %s, %d generated, %d distinct, depth %d; the command says %+v", got.Verdict, got.Generated, got.Distinct, got.Depth, want)
			}
			if want.Violation == nil != (len(got.Violations) == 0) {
				t.Fatalf("violations %+v; the command says %+v", got.Violations, want.Violation)
			}
			if want.Violation != nil && (got.Violations[0].Property != want.Violation.Property || len(got.Violations[0].Trace) != len(want.Trace)) {
				t.Errorf("%+v; the command says %+v with %d states", got.Violations[0], want.Violation, len(want.Trace))
			}
		})
	}
}

// small is a module with a configuration of its own.
func small(t *testing.T, definitions, config string) *ashlar.Specification {
	t.Helper()
	s, err := ashlar.Load("M", ashlar.Options{Files: memory{
		"M.tla": "---- MODULE M ----\nEXTENDS Naturals\nVARIABLE x\n" + definitions + "\n====\n", "M.cfg": config}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestVerdicts(t *testing.T) {
	const upTo3 = "Init == x = 0\nNext == x < 3 /\\ x' = x + 1\nSpec == Init /\\ [][Next]_x\n"
	for _, c := range []struct {
		definitions, config string
		options             ashlar.CheckOptions
		want                ashlar.Verdict
		trace, loop         int
	}{
		{upTo3, "INIT Init NEXT Next CHECK_DEADLOCK FALSE", ashlar.CheckOptions{}, ashlar.OK, 0, -1},
		{upTo3, "INIT Init NEXT Next", ashlar.CheckOptions{}, ashlar.Deadlock, 4, -1},
		{upTo3, "INIT Init NEXT Next", ashlar.CheckOptions{IgnoreDeadlock: true}, ashlar.OK, 0, -1},
		{upTo3 + "Low == x < 2", "INIT Init NEXT Next INVARIANT Low", ashlar.CheckOptions{}, ashlar.InvariantViolated, 3, -1},
		{upTo3 + "Down == [][x' < x]_x", "SPECIFICATION Spec PROPERTY Down CHECK_DEADLOCK FALSE", ashlar.CheckOptions{}, ashlar.StepViolated, 2, -1},
		{upTo3 + "Goes == <>(x = 3)", "SPECIFICATION Spec PROPERTY Goes CHECK_DEADLOCK FALSE", ashlar.CheckOptions{}, ashlar.LivenessViolated, 1, 0},
		{upTo3 + "Goes == <>(x = 3)", "SPECIFICATION Spec PROPERTY Goes CHECK_DEADLOCK FALSE", ashlar.CheckOptions{SafetyOnly: true}, ashlar.OK, 0, -1},
		{upTo3 + "Odd == x # 2 \\/ x = \"a\" + 1", "INIT Init NEXT Next INVARIANT Odd", ashlar.CheckOptions{}, ashlar.NoValue, 3, -1},
		{upTo3 + "ASSUME 1 = 2", "INIT Init NEXT Next", ashlar.CheckOptions{}, ashlar.AssumptionFalse, 0, -1},
		{upTo3 + "After == FALSE", "INIT Init NEXT Next CHECK_DEADLOCK FALSE POSTCONDITION After", ashlar.CheckOptions{}, ashlar.PostconditionFalse, 0, -1},
		{"Init == x = 0\nNext == x' = x + 1\n", "INIT Init NEXT Next", ashlar.CheckOptions{StatesMax: 10}, ashlar.Incomplete, 0, -1},
	} {
		t.Run(string(c.want), func(t *testing.T) {
			r, err := small(t, c.definitions, c.config).Check(t.Context(), c.options)
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != c.want || c.want == ashlar.OK && !r.Complete && !c.options.SafetyOnly || c.want == ashlar.Incomplete && r.Complete {
				t.Errorf("verdict %s, complete %v: %s", r.Verdict, r.Complete, r.Reason)
			}
			if accused := !slices.Contains([]ashlar.Verdict{ashlar.OK, ashlar.Incomplete}, c.want); accused != (len(r.Violations) == 1) {
				t.Fatalf("violations: %+v", r.Violations)
			} else if accused {
				if v := r.Violations[0]; v.Verdict != c.want || len(v.Trace) != c.trace || v.Loop != c.loop {
					t.Errorf("violation: %+v", v)
				}
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := small(t, "Init == x = 0\nNext == x' = x + 1\n", "INIT Init NEXT Next").Check(ctx, ashlar.CheckOptions{})
	if err != nil || r.Verdict != ashlar.Interrupted || r.Complete {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestContinueFindsEveryProperty(t *testing.T) {
	s := small(t, "Init == x = 0\nNext == x' = (x + 1) % 5\nA == x # 3\nB == x # 2\nC == x < 9\n", "INIT Init NEXT Next INVARIANTS A B C")
	r, err := s.Check(t.Context(), ashlar.CheckOptions{Continue: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Violations) != 2 || r.Violations[0].Property != "B" || r.Violations[1].Property != "A" || r.Distinct != 5 {
		t.Errorf("%+v", r)
	}
}

// TestMemoryGoesToDisk gives the search so little memory that states go to disk, and
// expects the figures of a search that has enough; nothing is left on disk.
func TestMemoryGoesToDisk(t *testing.T) {
	s := small(t, "Init == x \\in 0..3\nNext == x' \\in {(x * 7 + 3) % 100003, (x + 1) % 100003}\n", "INIT Init NEXT Next")
	all, err := s.Check(t.Context(), ashlar.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	small, err := s.Check(t.Context(), ashlar.CheckOptions{MemoryBytes: 1 << 18, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if all.Distinct != 100003 || small.Distinct != all.Distinct || small.Generated != all.Generated || small.Depth != all.Depth {
		t.Errorf("%d, %d, %d with little memory, %d, %d, %d with enough", small.Distinct, small.Generated, small.Depth, all.Distinct, all.Generated, all.Depth)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left on disk: %v, %v", left, err)
	}
	if _, err := s.Check(t.Context(), ashlar.CheckOptions{MemoryBytes: 1}); err == nil {
		t.Error("memory is bounded without a directory")
	}
}

// TestReplayRefuses: traces that are not there are an error, and a module without an
// algorithm is a diagnostic. What traces mean is tested with the compiled systems.
func TestReplayRefuses(t *testing.T) {
	o := ashlar.ReplayOptions{Options: ashlar.Options{Files: lock}}
	if _, err := ashlar.Replay(t.Context(), "Lock", os.DirFS(t.TempDir()), o); err == nil {
		t.Error("no traces are accepted")
	}
	o.Files = memory{"M.tla": "---- MODULE M ----\n====\n"}
	var wrong *ashlar.InputError
	if _, err := ashlar.Replay(t.Context(), "M", os.DirFS(t.TempDir()), o); !errors.As(err, &wrong) {
		t.Errorf("a module without an algorithm: %v", err)
	}
}

// TestInputAndWorld keeps the three kinds of errors apart.
func TestInputAndWorld(t *testing.T) {
	var wrong *ashlar.InputError
	if _, err := ashlar.Load("Absent", ashlar.Options{Files: memory{}}); !errors.Is(err, fs.ErrNotExist) || errors.As(err, &wrong) {
		t.Errorf("no module: %v", err)
	}
	files := memory{"M.tla": "---- MODULE M ----\nVARIABLE x\n====\n", "M.cfg": "INIT Init NEXT Next"}
	if _, err := ashlar.Load("M", ashlar.Options{Files: files}); !errors.As(err, &wrong) || !wrong.Configuration || !strings.Contains(err.Error(), "M.cfg") {
		t.Errorf("the configuration is wrong: %v", err)
	}
}
