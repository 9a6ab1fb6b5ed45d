package explore

import (
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

// TestTheReferenceIsSound: the explorer finds nothing in a store that is
// right, and everything it has was used.
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

// TestFlawsAreFound: each way to be wrong is found out, and the words of the
// failure find it again.
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
			o := Options{Subject: s, Seed: found.Seed, Only: append([]Step{}, found.Path...), Fault: found.Fault, Deeper: 20, FaultRuns: 30, Subsets: 6}
			if found.Fault != "" {
				o.Only = nil
			}
			for p := range Profiles() {
				if Profiles()[p].Name == found.Profile {
					o.Profile = small(p)
				}
			}
			if again := Run(o).Failure; again == nil || firstLine(again) != firstLine(found) {
				t.Errorf("%s does not replay: %v", found.Replay(), again)
			}
			o.Only, o.Fault = nil, ""
			less := found.Shrink(o, 60)
			t.Logf("%d operations, shrunk to %d: %v", len(found.Ops), len(less.Ops), firstLine(less))
		})
	}
}

func firstLine(err error) string {
	a, _, _ := strings.Cut(err.Error(), "\n")
	return a
}

func hunt(s Subject) *Failure {
	for seed := range uint64(6) {
		for p := range Profiles() {
			r := Run(Options{Subject: s, Profile: small(p), Seed: seed, Deeper: 20, FaultRuns: 30, Subsets: 6})
			if r.Failure != nil {
				return r.Failure
			}
		}
	}
	return nil
}

// TestRunsAreTheSame: a seed does the same bit for bit.
func TestRunsAreTheSame(t *testing.T) {
	run := func() string {
		r := Run(Options{Subject: logSubject{}, Profile: small(0), Seed: 3, Deeper: 20, FaultRuns: 8, Subsets: 6})
		return fmt.Sprint(r)
	}
	if a, b := run(), run(); a != b {
		t.Errorf("%s\n%s", a, b)
	}
}
