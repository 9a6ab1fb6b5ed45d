// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Suite explores many seeds. It rotates through all combinations of a profile and a
// subject, and uses all profiles and subjects early.
type Suite struct {
	// Options are the options of each seed; Run sets Subject, Profile, Seed and
	// Ops.
	Options  Options
	Subjects []Subject
	Profiles []Profile
	First    uint64 // seed
	Seeds    uint64 // how many; 0: until there are enough States
	States   uint64
	Workers  int // that run at one time; each part of a seed is explored by one of them
	// Progress receives the sum so far after each part of a seed. Its calls do not
	// overlap.
	Progress func(seed uint64, sum Report)
}

// seedParts is the number of parts into which a seed is divided: the largest seed has a
// third of the states of a whole suite, and all other workers would wait for it.
const seedParts = 8

// Seed returns the options of one seed.
func (s Suite) Seed(n uint64) Options {
	o := s.Options
	o.Seed = n
	profiles, subjects := uint64(len(s.Profiles)), uint64(len(s.Subjects))
	o.Profile = s.Profiles[n%profiles]
	o.Subject = s.Subjects[(n+n/profiles)%subjects]
	return o
}

// Run explores the seeds in order, part by part, until all are done, there are enough
// states, or there is a failure. It adds up the reports in the order in which they
// arrive; their sum does not depend on the order.
func (s Suite) Run() Report {
	var (
		mu   sync.Mutex
		sum  Report
		next uint64 // part, counted from the first of the first seed
		wait sync.WaitGroup
	)
	take := func() (o Options, more bool) {
		mu.Lock()
		defer mu.Unlock()
		done := s.Seeds > 0 && next >= s.Seeds*seedParts || s.States > 0 && sum.States >= s.States || sum.Failure != nil
		o = s.Seed(s.First + next/seedParts)
		o.Part, o.Parts = int(next%seedParts), seedParts
		next++
		return o, !done
	}
	for range max(s.Workers, 1) {
		wait.Go(func() {
			for {
				o, more := take()
				if !more {
					return
				}
				r := Run(o)
				mu.Lock()
				sum.Add(r)
				if s.Progress != nil {
					s.Progress(o.Seed, sum)
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return sum
}

// Replay parses the output of Failure.Replay, and returns the options that repeat it.
func (s Suite) Replay(text string) (Options, error) {
	o := s.Options
	for _, part := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		var err error
		switch name {
		case "subject":
			i := slices.IndexFunc(s.Subjects, func(x Subject) bool { return x.Name() == value })
			if i < 0 {
				return o, fmt.Errorf("no subject is called %q", value)
			}
			o.Subject = s.Subjects[i]
		case "profile":
			i := slices.IndexFunc(s.Profiles, func(x Profile) bool { return x.Name == value })
			if i < 0 {
				return o, fmt.Errorf("no profile is called %q", value)
			}
			o.Profile = s.Profiles[i]
		case "seed":
			o.Seed, err = strconv.ParseUint(value, 10, 64)
		case "at":
			o.Only, err = ParsePath(value)
		case "fault":
			o.Fault = value
		default:
			err = fmt.Errorf("%q is none of subject, profile, seed, at, fault", name)
		}
		if err != nil {
			return o, err
		}
	}
	if o.Subject == nil || o.Profile.Ops == 0 {
		return o, fmt.Errorf("%q names no subject or no profile", text)
	}
	return o, nil
}
