// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func small(p int) Profile {
	x := Profiles()[p]
	x.Ops /= 2
	return x
}

// TestTheReferenceIsSound: the explorer finds nothing in a correct store, and all its
// parts were used.
func TestTheReferenceIsSound(t *testing.T) {
	var sum Report
	seeds := uint64(10)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		for p := range Profiles() {
			r := Run(Options{Subject: logSubject{}, Profile: small(p), Seed: seed, Deeper: 60, FaultRuns: 8, Subsets: 6})
			if r.Failure != nil {
				t.Fatal(r.Failure)
			}
			sum.Add(r)
		}
	}
	if m := sum.Missing(append(Required(), "log.torn-tail")); m != nil {
		t.Errorf("never: %v", m)
	}
	if sum.Reads == 0 || sum.Verify == 0 || sum.Deep[1] == 0 || sum.Deep[2] == 0 || sum.Deep[3] == 0 {
		t.Errorf("reads %d, verified %d, by depth %d", sum.Reads, sum.Verify, sum.Deep)
	}
	t.Logf("%d moments, %d states, %d images, %d opens, by depth %d", sum.Moments, sum.States, sum.Images, sum.Opens, sum.Deep)
}

// TestFlawsAreFound: each flaw is found, and the replay of the failure finds it again.
func TestFlawsAreFound(t *testing.T) {
	all := reflect.TypeFor[flaws]()
	for i := range all.NumField() {
		name := all.Field(i).Name
		t.Run(name, func(t *testing.T) {
			var f flaws
			reflect.ValueOf(&f).Elem().Field(i).SetBool(true)
			var s Subject = logSubject{f}
			found := hunt(s)
			if found == nil {
				t.Fatal("not found")
			}
			suite := Suite{Subjects: []Subject{s}, Options: hunting()}
			for p := range Profiles() {
				suite.Profiles = append(suite.Profiles, small(p))
			}
			o, err := suite.Replay(found.Replay())
			if err != nil {
				t.Fatal(err)
			}
			if again := Run(o).Failure; again == nil || firstLine(again) != firstLine(found) {
				t.Errorf("%s does not replay: %v", found.Replay(), again)
			}
			less := found.Shrink(o, 60)
			t.Logf("%d operations, shrunk to %d: %v", len(found.Ops), len(less.Ops), firstLine(less))
		})
	}
}

func firstLine(err error) string {
	a, _, _ := strings.Cut(err.Error(), "\n")
	return a
}

func hunting() Options { return Options{Deeper: 20, FaultRuns: 30, Subsets: 6} }

func hunt(s Subject) *Failure {
	for seed := range uint64(6) {
		for p := range Profiles() {
			o := hunting()
			o.Subject, o.Profile, o.Seed = s, small(p), seed
			if r := Run(o); r.Failure != nil {
				return r.Failure
			}
		}
	}
	return nil
}

// TestReplayRefuses paths that do not exist.
func TestReplayRefuses(t *testing.T) {
	s := Suite{Subjects: []Subject{logSubject{}}, Profiles: Profiles()}
	for _, text := range []string{
		"", "subject=log", "subject=none,profile=mixed,seed=1", "subject=log,profile=none", "subject=log,profile=mixed,seed=x",
		"subject=log,profile=mixed,at=1", "subject=log,profile=mixed,at=1:x", "subject=log,profile=mixed,what=1",
	} {
		if o, err := s.Replay(text); err == nil {
			t.Errorf("%q is %+v", text, o)
		}
	}
	if o, err := s.Replay("subject=log,profile=mixed,seed=7,at=1:2/3:4"); err != nil || o.Seed != 7 || fmt.Sprint(o.Only) != "[1:2 3:4]" {
		t.Errorf("%+v, %v", o, err)
	}
	for _, fault := range []string{"full", "nothing:1", "full:x"} {
		r := Run(Options{Subject: logSubject{}, Profile: small(0), Fault: fault})
		if r.Failure == nil {
			t.Errorf("the fault %q is accepted", fault)
		}
	}
}

// TestRunsAreTheSame: a seed gives the same run, bit for bit.
func TestRunsAreTheSame(t *testing.T) {
	run := func() string {
		r := Run(Options{Subject: logSubject{}, Profile: small(0), Seed: 3, Deeper: 20, FaultRuns: 8, Subsets: 6})
		return fmt.Sprint(r)
	}
	if a, b := run(), run(); a != b {
		t.Errorf("%s\n%s", a, b)
	}
}

// TestPartsAreTheWhole: together the parts of a seed check each state once, and have its
// faults and its operations once. (If two parts meet the same image, both open it.)
func TestPartsAreTheWhole(t *testing.T) {
	for _, parts := range []int{1, 3, seedParts} {
		for p := range Profiles() {
			o := Options{Subject: logSubject{}, Profile: Profiles()[p], Seed: 4, Depth: 1, FaultRuns: 4, Subsets: 6}
			whole := Run(o)
			var sum Report
			o.Parts = parts
			for o.Part = range parts {
				sum.Add(Run(o))
			}
			if err := cmp.Or(whole.Failure, sum.Failure); err != nil {
				t.Fatal(err)
			}
			if whole.Moments <= neighbours || sum.Moments != whole.Moments || sum.States != whole.States || sum.Images < whole.Images {
				t.Errorf("%d parts: %d moments, %d states, %d images; the whole has %d, %d, %d",
					parts, sum.Moments, sum.States, sum.Images, whole.Moments, whole.States, whole.Images)
			}
			for name, n := range whole.Coverage {
				if (strings.HasPrefix(name, "fault ") || strings.HasPrefix(name, "op ")) && sum.Coverage[name] != n {
					t.Errorf("%d parts: %s %d times, not %d", parts, name, sum.Coverage[name], n)
				}
			}
		}
	}
}
