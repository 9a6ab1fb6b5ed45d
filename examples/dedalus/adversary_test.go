// SPDX-License-Identifier: Apache-2.0

package dedalus_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/adversary"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// seeds is how many runs a test makes: more with ASHLAR_DEDALUS_SEEDS.
func seeds(t *testing.T, few uint64) uint64 {
	if text := os.Getenv("ASHLAR_DEDALUS_SEEDS"); text != "" {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return few
}

// trial is a program with what it is given for a seed, and what is wrong with a run.
type trial struct {
	program *logic.Program
	options adversary.Options
	inputs  func(*logic.Program, uint64) []interp.Message
	wrong   func(inputs []interp.Message, r *adversary.Run) string
}

// find runs a trial with some seeds, and shows the first run that is wrong, made
// shorter, with the line that repeats it.
func (c trial) find(t *testing.T, seeds uint64) (string, bool) {
	t.Helper()
	for seed := range seeds {
		inputs := c.inputs(c.program, seed)
		x := adversary.NewPlayer(c.program, inputs, c.options)
		r := x.Random(seed)
		wrong := c.wrong(inputs, r)
		if wrong == "" {
			continue
		}
		r = x.Shrink(t.Context(), r.Schedule, func(r *adversary.Run) bool { return c.wrong(inputs, r) == wrong })
		return fmt.Sprintf("seed %d: %s\n%s\nschedule %v", seed, c.wrong(inputs, r), strings.Join(r.Schedule.Tell(), "\n"), r.Schedule), true
	}
	return "", false
}

// twoPhaseTrial is ten transactions, of which some are not wanted by a resource, and
// some are never answered by one. Clients ask again.
func twoPhaseTrial(t *testing.T, p *logic.Program) trial {
	inputs := func(p *logic.Program, seed uint64) []interp.Message {
		r := env.Seeded(seed + 1<<32)
		var texts []string
		for tx := range 10 {
			texts = append(texts, fmt.Sprintf(`begin(node "c", %d) to coordinator/0`, tx))
			for i := range 2 {
				if v := env.IntN(r, 6); v > 0 {
					texts = append(texts, fmt.Sprintf("ready(%d, %v) to resource/%d", tx, v > 1, i))
				}
			}
		}
		return messages(t, texts...)(p)
	}
	wrong := func(inputs []interp.Message, r *adversary.Run) string {
		var told []interp.Message
		for _, x := range r.Told {
			told = append(told, x.Message)
		}
		if wrong := atomicity(inputs)(told); wrong != "" {
			return wrong
		}
		if r.Rest && len(told) == 30 {
			return ""
		}
		return fmt.Sprintf("not decided: %d of 30 answers, at rest %v", len(told), r.Rest)
	}
	return trial{p, adversary.Options{Functions: functions(), Steps: 1200, Again: true, Faults: adversary.Faults{Crashes: 15, Partitions: 2}}, inputs, wrong}
}

// op is an operation of a client on a store of keys.
type op struct {
	id         uint64
	write      bool
	key, value string
	answer     string
	done       int // the step; negative while it is not
}

func (o *op) String() string {
	return fmt.Sprintf("%d:%v:%s:%s", o.id, o.write, o.key, o.value)
}

// session is clients that each do some operations one after the other, and ask both
// proposers each time.
type session struct {
	program *logic.Program
	ops     []*op // of all clients, a client's in its order
	propose func(p *logic.Program, o *op) []interp.Message
	// chosen are commands by slot, where the log is all that the program tells.
	chosen map[uint64]string
	held   map[string]bool // replied
}

// clients and each are how many clients there are, and how many operations of each.
const clients, each = 4, 5

// operations are those of a seed's clients.
func operations(seed uint64) []*op {
	r := env.Seeded(seed + 1<<33)
	var out []*op
	for i := range clients * each {
		out = append(out, &op{id: uint64(i + 1), write: env.IntN(r, 2) == 0, key: string(rune('x' + env.IntN(r, 2))), value: fmt.Sprint("v", i+1), done: -1})
	}
	return out
}

// after is what a client does when an operation is answered.
func (s *session) after(o *op) []interp.Message {
	if o.id%each == 0 {
		return nil
	}
	return s.propose(s.program, s.ops[o.id])
}

// stored answers where the program has the store: by number.
func (s *session) stored(m interp.Message) []interp.Message {
	if m.Fact.Relation.Name != "reply" {
		return nil
	}
	o := s.ops[m.Fact.Row[0].Num-1]
	if o.answer != "" {
		return nil
	}
	o.answer = "=" + m.Fact.Row[1].Str
	return s.after(o)
}

// logged answers where the program has the log only: a command is answered when the
// client has heard so and all slots before are known, which are applied in order, a
// command at its first slot only.
func (s *session) logged(m interp.Message) []interp.Message {
	switch m.Fact.Relation.Name {
	case "chosen":
		s.chosen[m.Fact.Row[0].Num] = m.Fact.Row[1].Str
	case "reply":
		s.held[m.Fact.Row[1].Str] = true
	}
	var out []interp.Message
	store, seen := map[string]string{}, map[string]bool{}
	for slot := uint64(0); s.chosen[slot] != ""; slot++ {
		v := s.chosen[slot]
		at := slices.IndexFunc(s.ops, func(o *op) bool { return o.String() == v })
		if at < 0 || seen[v] {
			continue
		}
		seen[v] = true
		o := s.ops[at]
		if o.write {
			store[o.key] = o.value
		}
		if s.held[v] && o.answer == "" {
			o.answer = "=" + store[o.key]
			out = append(out, s.after(o)...)
		}
	}
	return out
}

// asks are the messages of an operation, for a program with a store and one with a log.
func asks(t *testing.T, store bool) func(*logic.Program, *op) []interp.Message {
	return func(p *logic.Program, o *op) []interp.Message {
		var texts []string
		for i := range 2 {
			if store {
				texts = append(texts, fmt.Sprintf(`propose(node "c", %d, %v, %q, b%q) to proposer/%d`, o.id, o.write, o.key, o.value, i))
			} else {
				texts = append(texts, fmt.Sprintf(`propose(node "c", b%q) to proposer/%d`, o, i))
			}
		}
		return messages(t, texts...)(p)
	}
}

// registers is a store of keys, for porcupine.
var registers = porcupine.Model{
	Partition: func(h []porcupine.Operation) [][]porcupine.Operation {
		by := map[string][]porcupine.Operation{}
		for _, o := range h {
			by[o.Input.(*op).key] = append(by[o.Input.(*op).key], o)
		}
		return [][]porcupine.Operation{by["x"], by["y"]}
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		o := input.(*op)
		if o.write {
			return output == "?" || output == "="+o.value, o.value
		}
		return output == "?" || output == "="+state.(string), state
	},
}

// storeTrial is clients of a store under crashes, partitions, and a node of which
// machines stop. What they see must be linearizable, slots must be agreed on, and all
// must be answered.
func storeTrial(t *testing.T, p *logic.Program, store bool) trial {
	propose := asks(t, store)
	c := trial{program: p}
	var seed uint64
	c.inputs = func(p *logic.Program, s uint64) []interp.Message {
		seed = s
		var first []interp.Message
		for i, o := range operations(s) {
			if i%each == 0 {
				first = append(first, propose(p, o)...)
			}
		}
		return first
	}
	var now *session
	c.options = adversary.Options{Functions: functions(), Steps: 1500, Again: true, Slow: 4, Faults: adversary.Faults{Crashes: 6, Stops: 1, Partitions: 3},
		Client: func(p *logic.Program) func(interp.Message) []interp.Message {
			now = &session{program: p, ops: operations(seed), propose: propose, chosen: map[uint64]string{}, held: map[string]bool{}}
			if store {
				return now.stored
			}
			return now.logged
		}}
	c.wrong = func(_ []interp.Message, r *adversary.Run) string {
		if wrong := slotsAgree(r); wrong != "" {
			return wrong
		}
		return linearizable(now, r, store)
	}
	return c
}

// slotsAgree says whether two commands were told of one slot.
func slotsAgree(r *adversary.Run) string {
	slots := map[uint64]logic.Value{}
	for _, x := range r.Told {
		row := x.Message.Fact.Row
		if name := x.Message.Fact.Relation.Name; name != "chosen" && name != "applied" {
			continue
		}
		if old, ok := slots[row[0].Num]; ok && old.Compare(row[1]) != 0 {
			return "two commands are chosen in a slot"
		}
		slots[row[0].Num] = row[1]
	}
	return ""
}

// linearizable judges the history of a run's clients.
func linearizable(s *session, r *adversary.Run, store bool) string {
	asked, told := map[string]int{}, map[uint64]int{}
	for _, x := range r.Given {
		key := fmt.Sprint(x.Message.Fact)
		if _, ok := asked[key]; !ok {
			asked[key] = x.At
		}
	}
	// What was answered is found again by going through what was told.
	again := &session{program: s.program, ops: make([]*op, len(s.ops)), chosen: map[uint64]string{}, held: map[string]bool{},
		propose: func(*logic.Program, *op) []interp.Message { return nil }}
	for i, o := range s.ops {
		fresh := *o
		fresh.answer = ""
		again.ops[i] = &fresh
	}
	for _, x := range r.Told {
		if store {
			again.stored(x.Message)
		} else {
			again.logged(x.Message)
		}
		for _, o := range again.ops {
			if _, ok := told[o.id]; o.answer != "" && !ok {
				told[o.id] = x.At
			}
		}
	}
	var history []porcupine.Operation
	for i, o := range again.ops {
		first, ok := asked[fmt.Sprint(s.propose(s.program, o)[0].Fact)]
		if !ok {
			continue
		}
		x := porcupine.Operation{ClientId: i / each, Input: o, Call: int64(2 * first), Output: "?", Return: math.MaxInt64}
		if at, ok := told[o.id]; ok {
			x.Output, x.Return = o.answer, int64(2*at+1)
		}
		history = append(history, x)
	}
	if !porcupine.CheckOperations(registers, history) {
		return "the history is not linearizable"
	}
	if len(told) < len(s.ops) {
		return fmt.Sprintf("%d of %d operations are answered, at rest %v", len(told), len(s.ops), r.Rest)
	}
	return ""
}

// last is what a program's script makes of it.
func last(t *testing.T, name string) *logic.Program {
	steps := rewritten(t, name)
	return steps[len(steps)-1].after
}

// TestAdversary has long runs, of the programs and of what their scripts make of them.
func TestAdversary(t *testing.T) {
	divided := scripted(t, "twophase", "twophase-12")
	for name, c := range map[string]struct {
		trial trial
		few   uint64
	}{
		"twophase":           {twoPhaseTrial(t, load(t, "twophase")), 4},
		"twophase rewritten": {twoPhaseTrial(t, last(t, "twophase")), 4},
		"twophase divided":   {twoPhaseTrial(t, divided[len(divided)-1].after), 4},
		"paxos":              {storeTrial(t, load(t, "paxos"), false), 3},
		"paxos rewritten":    {storeTrial(t, last(t, "paxos"), false), 3},
		"comppaxos":          {storeTrial(t, load(t, "comppaxos"), true), 2},
	} {
		t.Run(name, func(t *testing.T) {
			if wrong, found := c.trial.find(t, seeds(t, c.few)); found {
				t.Error(wrong)
			}
		})
	}
}

// TestAdversaryFinds runs programs with mistakes. The schedule that shows one is short.
func TestAdversaryFinds(t *testing.T) {
	for name, c := range map[string]struct {
		trial trial
		want  string
	}{
		"a vote is forgotten": {twoPhaseTrial(t, mutant(t, "twophase", "log    voted(", "table  voted(", "log   voted(tx", "next  voted(tx", "log    decided(", "table  decided(", "log  decided(", "next decided(")), "transaction"},
	} {
		t.Run(name, func(t *testing.T) {
			c.trial.options.NoPeace = true
			any := c.trial.wrong
			c.trial.wrong = func(inputs []interp.Message, r *adversary.Run) string {
				if wrong := any(inputs, r); strings.Contains(wrong, c.want) {
					return wrong
				}
				return ""
			}
			wrong, found := c.trial.find(t, 40)
			if !found || !strings.Contains(wrong, c.want) {
				t.Fatalf("want %q, got %s", c.want, wrong)
			}
			t.Log(wrong)
		})
	}
}
