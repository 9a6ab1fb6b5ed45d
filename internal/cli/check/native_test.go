// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// nativeCase is a model that is searched by compiled code and without.
type nativeCase struct {
	name, module, cfg string
	change            func(o *checkOptions)
	// verdict is what is found, and used says whether it is compiled code that
	// finds it.
	verdict check.Verdict
	used    bool
	workers int // 0: two
	// keeps says that the program keeps checkpoints, for the case that it gives up.
	keeps bool
}

const nativeCounter = "---- MODULE M ----\nEXTENDS Integers, FiniteSets\nVARIABLES x, s, same\nvars == <<x, s, same>>\nInit == x \\in 0..2 /\\ s = {} /\\ same = 7\n" +
	"Up == x < 300 /\\ x' = x + 1 /\\ s' = s \\cup {x % 7} /\\ UNCHANGED same\n" +
	"Down == x > 0 /\\ x' = x - 1 /\\ \\E e \\in s : s' = s \\ {e} /\\ UNCHANGED same\n" +
	"Next == Up \\/ Down\nSpec == Init /\\ [][Next]_vars /\\ WF_vars(Up)\n" +
	"Kept == x \\in 0..400 /\\ Cardinality(s) < 8 /\\ (x > 10000 => s = {})\n" +
	"Low == x < 150\nLower == x < 100\nClose == [][x' - x \\in {1, -1}]_x\nRises == [][x' > x \\/ x < 250]_x\nReaches == <>(x > 2)\nNever == <>(x < 0)\nStays == <>[](same = 7)\nLate == []<>(x < 40 \\/ x > 60)\n====\n"

// nativeTurns is a model with a symmetry, and with a view of less than its states.
const nativeTurns = "---- MODULE M ----\nEXTENDS Integers, FiniteSets, Sequences, TLC\nCONSTANTS S, none\nVARIABLES x, f, seen, last\n" +
	"Init == x = 0 /\\ f = [s \\in S |-> 0] /\\ seen = {} /\\ last = <<none, none>>\n" +
	"Next == \\E s \\in S : x < 150 /\\ x' = x + 1 /\\ f' = [f EXCEPT ![s] = (@ + 1) % 3]\n" +
	"  /\\ seen' = {r \\in S : r = s \\/ (r \\in seen /\\ f[r] # 2)} /\\ last' = <<s, last[1]>>\n" +
	"Kept == x \\in 0..200 /\\ Cardinality(seen) < 9\nLow == x < 120 \\/ last[2] \\in seen\nLower == x < 100 \\/ Cardinality(seen) < 3\n" +
	"Sym == Permutations(S)\nView == <<x, Cardinality(seen), last>>\n" +
	"Blind == <<x, IF x < 90 THEN Cardinality(seen) ELSE <<1, 2>>[x], last>>\n====\n"

const nativeTurnsCfg = "INIT Init NEXT Next INVARIANT Kept Low Lower CONSTANTS S = {a, b, c, d} none = none "

const nativeBeyond = "---- MODULE M ----\nEXTENDS Integers\nVARIABLES x, y\nInit == x = 0 /\\ y = {0}\n" +
	"Next == x < 9000 /\\ x' = x + 1 /\\ y' = IF x = 8000 THEN {{1}} ELSE y\nInv == x \\in 0..9000\n" +
	"Spec == Init /\\ [][Next]_<<x, y>>\nNever == <>(x < 0)\nStays == []<>(x >= 0)\n====\n"

// nativePlainCases is how many of the cases plain tests try.
const nativePlainCases = 3

var nativeEveryCase = []nativeCase{
	{name: "properties looked at", module: nativeCounter, verdict: check.LivenessViolated, used: true, change: looking(true),
		cfg: "SPECIFICATION Spec INVARIANT Kept Low PROPERTY Close Stays Never CHECK_DEADLOCK FALSE"},
	{name: "symmetry", module: nativeTurns, cfg: nativeTurnsCfg + "SYMMETRY Sym", verdict: check.InvariantViolated, used: true},
	{name: "view", module: nativeTurns, cfg: nativeTurnsCfg + "VIEW View", verdict: check.InvariantViolated, used: true},
	{name: "properties", module: nativeCounter, verdict: check.LivenessViolated, used: true,
		cfg: "SPECIFICATION Spec INVARIANT Kept PROPERTY Close Reaches Never"},
	{name: "properties looked at, one violated", module: nativeCounter, verdict: check.LivenessViolated, used: true, change: looking(false),
		cfg: "SPECIFICATION Spec INVARIANT Kept PROPERTY Close Stays Late"},
	{name: "properties looked at, all hold", module: nativeCounter, used: true, change: looking(false),
		cfg: "SPECIFICATION Spec INVARIANT Kept PROPERTY Close Stays CHECK_DEADLOCK FALSE"},
	{name: "properties looked at, little memory", module: nativeCounter, verdict: check.LivenessViolated, used: true,
		cfg:    "SPECIFICATION Spec INVARIANT Kept Low PROPERTY Close Stays Never CHECK_DEADLOCK FALSE",
		change: func(o *checkOptions) { looking(true)(o); o.memoryBytes = 8 << 20 }},
	{name: "properties looked at, beyond the layout", module: nativeBeyond, verdict: check.LivenessViolated, keeps: true, change: looking(true),
		cfg: "SPECIFICATION Spec INVARIANT Inv PROPERTY Never Stays CHECK_DEADLOCK FALSE"},
	// The view has no value from some state on, which the code only knows to stop at.
	{name: "view without value", module: nativeTurns, cfg: nativeTurnsCfg + "VIEW Blind", verdict: check.EvalFailed},
	{name: "symmetry, little memory", module: nativeTurns, cfg: nativeTurnsCfg + "SYMMETRY Sym", verdict: check.InvariantViolated, used: true,
		change: func(o *checkOptions) { o.goOn, o.memoryBytes = true, 1<<20 }},
	{name: "continue", module: nativeCounter, verdict: check.InvariantViolated, used: true, change: func(o *checkOptions) { o.goOn = true },
		cfg: "SPECIFICATION Spec INVARIANT Kept Low Lower PROPERTY Rises CHECK_DEADLOCK FALSE"},
	{name: "violated", module: nativeCounter, cfg: "INIT Init NEXT Next INVARIANT Kept Low", verdict: check.InvariantViolated, used: true},
	{name: "safety only", module: nativeCounter, cfg: "SPECIFICATION Spec INVARIANT Kept PROPERTY Reaches", used: true,
		change: func(o *checkOptions) { o.safetyOnly = true }},
	{name: "constraint", module: nativeCounter, cfg: "INIT Init NEXT Next INVARIANT Kept CONSTRAINT Low", used: true},
	{name: "little memory", module: nativeCounter, cfg: "INIT Init NEXT Next INVARIANT Kept", used: true,
		change: func(o *checkOptions) { o.memoryBytes = 1 << 20 }},
	{name: "deadlock", verdict: check.Deadlock, used: true, cfg: "INIT Init NEXT Next INVARIANT Inv",
		module: "---- MODULE M ----\nEXTENDS Integers\nVARIABLE x\nInit == x \\in 0..1\nNext == x < 5000 /\\ x' = x + 1\nInv == x \\in 0..5000\n====\n"},
	// Nobody says how large y becomes, so a state comes that is not packed.
	{name: "beyond the layout", module: nativeBeyond, cfg: "INIT Init NEXT Next INVARIANT Inv CHECK_DEADLOCK FALSE"},
	{name: "beyond the layout, with checkpoints", module: nativeBeyond, cfg: "INIT Init NEXT Next INVARIANT Inv CHECK_DEADLOCK FALSE", keeps: true},
}

// looking has properties of behaviours be looked at during the search.
func looking(goOn bool) func(o *checkOptions) {
	return func(o *checkOptions) { o.liveness, o.goOn = livenessPeriodic, goOn }
}

// TestNativeFindsTheSame compares a search that compiled code takes over with one
// in this process: figures, verdicts, traces, warnings. The first models are always
// compiled, the others where ASHLAR_NATIVE is set.
func TestNativeFindsTheSame(t *testing.T) {
	cases := nativeEveryCase
	if os.Getenv("ASHLAR_NATIVE") == "" {
		cases = cases[:nativePlainCases]
	}
	nativePlace(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			spec := filepath.Join(t.TempDir(), "M.tla")
			for name, text := range map[string]string{"M.tla": c.module, "M.cfg": c.cfg} {
				if err := os.WriteFile(filepath.Join(filepath.Dir(spec), name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, _ := c.search(t, spec, nativeNever, nil)
			if want.Verdict != c.verdict {
				t.Fatalf("%v, want %v", want.Verdict, c.verdict)
			}
			for _, segments := range []int{1, 40} {
				c := c
				if segments == 1 {
					c.workers = 1
				}
				got, s := c.search(t, spec, nativeAlways, func(x *nativeSearch) (*check.Result, error) { return leaveAfter(x, segments) })
				if last := len(got.Warnings) - 1; !c.used && last >= 0 {
					got.Warnings = got.Warnings[:last] // it says that the code met what it was not made for
				}
				if diff := cmp.Diff(normal(want), normal(got)); diff != "" {
					t.Errorf("after %d segments (-in this process +compiled):\n%s", segments, diff)
				}
				if c.keeps && s.native.Until <= s.native.Since {
					t.Errorf("the search did not go on from the program's checkpoint: %+v", s.native)
				}
				if s.native.Used != c.used || s.native.Since == 0 || (s.native.Reason == "") != c.used {
					t.Errorf("after %d segments: %+v", segments, s.native)
				}
			}
			// The program is in the cache by now.
			got, s := c.search(t, spec, nativeAuto, nil)
			if diff := cmp.Diff(normal(want), normal(got)); diff != "" {
				t.Errorf("(-in this process +by itself):\n%s", diff)
			}
			t.Logf("by itself: %+v", s.native)
			if slices.ContainsFunc(cases[:nativePlainCases], func(x nativeCase) bool { return x.name == c.name }) {
				c.resumes(t, spec, want)
			}
		})
	}
}

// resumes has compiled code keep checkpoints of a search that ends at a limit, and
// a search of either kind go on with it.
func (c nativeCase) resumes(t *testing.T, spec string, want *check.Result) {
	for _, kind := range []string{nativeNever, nativeAlways} {
		dir := t.TempDir()
		keeps := c
		also := func(more func(o *checkOptions)) func(o *checkOptions) {
			return func(o *checkOptions) {
				if c.change != nil {
					c.change(o)
				}
				more(o)
			}
		}
		keeps.change = also(func(o *checkOptions) { o.checkpoint, o.every, o.statesMax = dir, 1, want.Distinct/2 })
		r, s := keeps.search(t, spec, nativeAlways, nil)
		if !r.Unfinished || !s.native.Used {
			t.Fatalf("%v, %+v", r.Verdict, s.native)
		}
		kept := filepath.Join(dir, "checkpoint")
		if _, err := os.Stat(kept); err != nil {
			t.Fatal(err)
		}
		keeps.change = also(func(o *checkOptions) { o.resume, o.every = dir, time.Hour })
		r, s = keeps.search(t, spec, kind, nil)
		if r.Before == 0 || s.native.Used != (kind == nativeAlways) {
			t.Errorf("%d states were generated before, %+v", r.Before, s.native)
		}
		r.Before = 0
		if diff := cmp.Diff(normal(want), normal(r)); diff != "" {
			t.Errorf("resumed with --native=%s (-whole +resumed):\n%s", kind, diff)
		}
		if _, err := os.Stat(kept); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the checkpoint is not removed: %v", err)
		}
	}
}

// nativePlace has programs be kept in a directory of the test, and compiled with
// what the Go toolchain has compiled before.
func nativePlace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no Go toolchain to compile models with")
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
}

// leaveAfter leaves the search after some segments.
func leaveAfter(x *nativeSearch, segments int) (*check.Result, error) {
	if why := x.prepare(context.Background(), nativeTimes{}, 0); why != "" {
		return nil, errors.New(why)
	}
	x.o.Checker = check.NewPeriodicChecker(context.Background(), x.model, x.o)
	polls := 0
	_, err := check.Run(context.Background(), x.model, x.options(false, func() bool { polls++; return polls >= segments }))
	if !errors.Is(err, check.ErrLeft) {
		return nil, errors.Join(errors.New("the search was not left"), err)
	}
	r, err := x.goOn(context.Background())
	return r, errors.Join(err, x.o.Checker.Close())
}

// search searches the model, in some way or as the command does.
func (c nativeCase) search(t *testing.T, spec, kind string, way func(x *nativeSearch) (*check.Result, error)) (*check.Result, *searcher) {
	t.Helper()
	o := checkOptions{workers: 2, deadlock: true, native: kind, temp: t.TempDir()}
	if c.workers > 0 {
		o.workers = c.workers
	}
	if c.change != nil {
		c.change(&o)
	}
	s := &searcher{o: o, nativeTimes: &nativeTimes{0, time.Hour, time.Hour}}
	if c.keeps {
		s.nativeTimes.keep = 1
	}
	m, err := loadSpecification(spec, o, func(string) {}, &s.breadth)
	if err != nil {
		t.Fatal(err)
	}
	if s.disk, err = o.openDisk(context.Background(), m.identity); err != nil {
		t.Fatal(err)
	}
	s.tla = m.tla
	var r *check.Result
	if way == nil {
		r, err = s.wide(context.Background(), m.model)
	} else {
		packModel(context.Background(), m.tla, o)
		x, why := s.nativeSearch(s.options())
		if x == nil {
			t.Fatal(why)
		}
		r, err = way(x)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.disk.close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(o.temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if figures := s.breadth.Figures(); s.native.Used && figures.Stats != r.Stats {
		t.Errorf("the monitor tells %+v of a search that found %+v", figures.Stats, r.Stats)
	}
	return r, s
}

// normal is what of a result does not depend on memory, with empty slices nil,
// which is what they are after a journey.
func normal(r *check.Result) check.Result {
	out := *r
	out.Bytes, out.DiskBytes, out.StateBytes = 0, 0, 0
	if out.Live.Checks > 0 { // how much was on disk when it was looked
		out.Live.Bytes, out.Live.DiskBytes = 0, 0
	}
	for _, list := range []*[]string{&out.Broken, &out.Warnings} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	if len(out.Violations) == 0 {
		out.Violations = nil
	}
	if len(out.Trace) == 0 {
		out.Trace = nil
	}
	return out
}
