// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
)

// The specifications that crash, written a second time as transition systems by
// hand, from what the language says of a crash: nothing is shared with the
// parser, the translation or the checker.

// system is a transition system. A state holds when no invariant names it.
type system[S comparable] struct {
	initial []S
	next    func(S, func(S))
	broken  func(S) string // the first invariant that does not hold, or ""
}

// search visits every state, breadth first, and returns what expect.txt would
// say of it.
func search[S comparable](m system[S]) string {
	seen := map[S]bool{}
	generated, depth := 0, 0
	var level []S
	wrong := ""
	visit := func(next *[]S) func(S) {
		return func(s S) {
			generated++
			if seen[s] {
				return
			}
			seen[s] = true
			if wrong == "" {
				wrong = m.broken(s)
			}
			*next = append(*next, s)
		}
	}
	for _, s := range m.initial {
		visit(&level)(s)
	}
	for len(level) > 0 {
		depth++
		if wrong != "" {
			return fmt.Sprintf("%s - - %d", wrong, depth)
		}
		var next []S
		for _, s := range level {
			m.next(s, visit(&next))
		}
		level = next
	}
	return fmt.Sprintf("ok %d %d %d", generated, len(seen), depth)
}

// keeps says which of the variables that are declared durable a variant of a
// specification keeps when a process crashes.
type keeps map[string]bool

// message is one of the vote's.
type message struct {
	from, term int
	asks       bool
}

const (
	voters   = 3
	termsMax = 2
)

// voting is a state of vote.tla. Sets are arrays of what is in them.
type voting struct {
	term, voted [voters]int
	votes       [voters][voters]bool
	net         [voters][voters][termsMax + 1][2]bool // from, term, asks
	leaders     [termsMax + 1][voters]bool
	crashes     int
}

func (v *voting) send(to int, m message) {
	asks := 0
	if m.asks {
		asks = 1
	}
	v.net[to][m.from][m.term][asks] = true
}

// vote is vote.tla for three servers.
func vote(terms, crashes int, keep keeps) system[voting] {
	var none [voters]bool
	server := func(s voting, self int, step func(voting)) {
		if s.term[self] < terms {
			t := s
			t.term[self]++
			t.voted[self] = self + 1
			t.votes[self] = none
			t.votes[self][self] = true
			step(t)
		}
		if s.votes[self] != none {
			for to := range voters {
				if to != self {
					t := s
					t.send(to, message{self, s.term[self], true})
					step(t)
				}
			}
		}
		for from := range voters {
			for term := range termsMax + 1 {
				for asks := range 2 {
					if !s.net[self][from][term][asks] {
						continue
					}
					t := s
					t.net[self][from][term][asks] = false
					if term > t.term[self] {
						t.term[self], t.voted[self], t.votes[self] = term, 0, none
					}
					switch {
					case term < t.term[self]:
					case asks == 0:
						t.votes[self][from] = true
					case t.voted[self] == 0 || t.voted[self] == from+1:
						t.voted[self] = from + 1
						t.send(from, message{self, term, false})
					}
					step(t)
				}
			}
		}
		count := 0
		for _, v := range s.votes[self] {
			if v {
				count++
			}
		}
		if 2*count > voters {
			t := s
			t.leaders[s.term[self]][self] = true
			step(t)
		}
	}
	return system[voting]{
		initial: []voting{{}},
		next: func(s voting, step func(voting)) {
			for self := range voters {
				server(s, self, step)
			}
			for self := range voters {
				if s.crashes == crashes {
					continue
				}
				t := s
				t.crashes++
				t.net[self] = voting{}.net[self]
				t.votes[self] = none
				if !keep["term"] {
					t.term[self] = 0
				}
				if !keep["voted"] {
					t.voted[self] = 0
				}
				step(t)
			}
		},
		broken: func(s voting) string {
			for _, leaders := range s.leaders {
				count := 0
				for _, is := range leaders {
					if is {
						count++
					}
				}
				if count > 1 {
					return "OneLeader"
				}
			}
			return ""
		},
	}
}

const requestsMax = 3

// adding is a state of restart.tla.
type adding struct {
	server, client     string // where they stand
	sum, last, request int
	done               int
	toServer, toClient [requestsMax + 1]bool
	crashes            int
}

// restart is restart.tla.
func restart(requests, crashes int, keep keeps) system[adding] {
	server := func(s adding, step func(adding)) {
		switch s.server {
		case "receive":
			for m, is := range s.toServer {
				if is {
					t := s
					t.toServer[m], t.request, t.server = false, m, "work"
					step(t)
				}
			}
		case "work":
			if s.request > s.last {
				s.sum, s.last = s.sum+1, s.request
			}
			s.server = "answer"
			step(s)
		case "answer", "recover":
			s.toClient[s.last], s.server = true, "receive"
			step(s)
		}
	}
	client := func(s adding, step func(adding)) {
		switch s.client {
		case "next":
			if s.done == requests {
				s.client = "Done"
			} else {
				s.toServer[s.done+1], s.client = true, "wait"
			}
			step(s)
		case "wait":
			for m, is := range s.toClient {
				if is {
					t := s
					t.toClient[m], t.client = false, "next"
					t.done = max(t.done, m)
					step(t)
				}
			}
			s.toServer[s.done+1] = true
			step(s)
		}
	}
	return system[adding]{
		initial: []adding{{server: "receive", client: "next"}},
		next: func(s adding, step func(adding)) {
			server(s, step)
			client(s, step)
			if s.crashes == crashes {
				return
			}
			s.crashes++
			s.toServer, s.request, s.server = adding{}.toServer, 0, "recover"
			if !keep["sum"] {
				s.sum = 0
			}
			if !keep["last"] {
				s.last = 0
			}
			step(s)
		},
		broken: func(s adding) string {
			switch {
			case s.done > s.sum:
				return "Kept"
			case s.sum > s.done+1:
				return "Once"
			}
			return ""
		},
	}
}

// TestCrashesByHand holds the checker against the systems above: for the
// specifications as they are, with more crashes and with none, and for those in
// which a variable that should be durable is not, which must be refused with a
// trace of the same length.
func TestCrashesByHand(t *testing.T) {
	cases := []struct {
		spec    string
		crashes int32
		edit    [2]string // what a variant replaces
		byHand  func() string
		refused bool
	}{
		{"vote", 0, [2]string{}, func() string { return search(vote(1, 0, keeps{"term": true, "voted": true})) }, false},
		{"vote", 1, [2]string{}, func() string { return search(vote(1, 1, keeps{"term": true, "voted": true})) }, false},
		{"vote", 2, [2]string{}, func() string { return search(vote(1, 2, keeps{"term": true, "voted": true})) }, false},
		{"vote", 1, [2]string{"term = 0, voted = 0;\n    variables", "term = 0;\n    variables voted = 0,"},
			func() string { return search(vote(1, 1, keeps{"term": true})) }, true},
		{"vote", 1, [2]string{"durable variables term = 0, voted = 0;\n    variables", "durable variables voted = 0;\n    variables term = 0,"},
			func() string { return search(vote(1, 1, keeps{"voted": true})) }, true},
		{"restart", 0, [2]string{}, func() string { return search(restart(3, 0, keeps{"sum": true, "last": true})) }, false},
		{"restart", 1, [2]string{}, func() string { return search(restart(3, 1, keeps{"sum": true, "last": true})) }, false},
		{"restart", 2, [2]string{}, func() string { return search(restart(3, 2, keeps{"sum": true, "last": true})) }, false},
		{"restart", 3, [2]string{}, func() string { return search(restart(3, 3, keeps{"sum": true, "last": true})) }, false},
		{"restart", 2, [2]string{"durable variables sum = 0, last = 0;\n    variables", "durable variables last = 0;\n    variables sum = 0,"},
			func() string { return search(restart(3, 2, keeps{"last": true})) }, true},
		{"restart", 2, [2]string{"sum = 0, last = 0;\n    variables", "sum = 0;\n    variables last = 0,"},
			func() string { return search(restart(3, 2, keeps{"sum": true})) }, true},
	}
	for _, c := range cases {
		name := fmt.Sprintf("%s with %d crashes", c.spec, c.crashes)
		if c.refused {
			name += strings.ReplaceAll(" and "+c.edit[1], "\n    ", " ")
		}
		t.Run(name, func(t *testing.T) {
			path := c.spec + "/" + c.spec + ".tla"
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), c.edit[0]) {
				t.Fatalf("%s does not say %q", path, c.edit[0])
			}
			from := overlay{path: []byte(strings.Replace(string(text), c.edit[0], c.edit[1], 1))}
			cfg := configuration(t, path, expectation{config: c.spec + ".cfg"})
			cfg.Give(pcal.CrashBound, c.crashes)
			want := c.byHand()
			if strings.HasPrefix(want, "ok") == c.refused {
				t.Fatalf("by hand: %s", want)
			}
			if got := summary(explored(t, "the algorithm", from, path, cfg, load.Options{Translate: trans.InMemory})); got != want {
				t.Errorf("got %s, by hand it is %s", got, want)
			}
		})
	}
}

// TestPageOfCrashes holds the page against the specification that it quotes.
func TestPageOfCrashes(t *testing.T) {
	bare := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text = regexp.MustCompile(`\\\*[^\n]*`).ReplaceAll(text, nil)
		return strings.Join(strings.Fields(string(text)), " ")
	}
	spec, blocks := bare("restart/restart.tla"), regexp.MustCompile("```tla (.*?) ```").FindAllStringSubmatch(bare("../docs/lang/crash.md"), -1)
	if len(blocks) < 2 {
		t.Fatalf("the page has %d examples", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(spec, b[1]) {
			t.Errorf("restart.tla does not say: %s", b[1])
		}
	}
}

// patient is a process that only a crash could bring on.
const patient = `---- MODULE patient ----
EXTENDS Integers
(*
--mpcal patient {
  mapping macro Switch { read { yield $variable; } write { yield $value; } crash { $variable := 1; } }
  archetype A(ref n) durable variables d = 0; { wait: await n = 1; d := 1; }
  variables n = 0;
  fair+ process (P = 1) == instance A(ref n) mapping n via Switch;
}
*)
Hurt == <>(n = 1)
Moves == <>(d = 1)
====
`

// TestNothingForcesACrash checks that the fairness of a process does not make it
// crash, and that it holds for its steps after a crash as before.
func TestNothingForcesACrash(t *testing.T) {
	for _, c := range []struct{ formula, property, want string }{
		{"Spec", "Hurt", "Hurt - - 1"},
		{"Spec", "Moves", "Moves - - 1"},
		{"Crashing", "Moves", "ok 4 3 3"},
	} {
		text := strings.Replace(patient, "====\n", "Crashing == Spec /\\ WF_vars(CrashP)\n====\n", 1)
		var wrong source.List
		cfg := config.Parse(source.NewFile("patient.cfg", []byte("SPECIFICATION "+c.formula+"\nPROPERTY "+c.property+"\nCONSTANT CRASHES = 1\nCHECK_DEADLOCK FALSE\n")), &wrong)
		if wrong.HasErrors() {
			t.Fatal(&wrong)
		}
		r := explored(t, "the algorithm", overlay{"patient.tla": []byte(text)}, "patient.tla", cfg, load.Options{Translate: trans.InMemory})
		if got := summary(r); got != c.want {
			t.Errorf("%s under %s: got %s, want %s", c.property, c.formula, got, c.want)
		}
	}
}
