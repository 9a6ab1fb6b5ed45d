// SPDX-License-Identifier: Apache-2.0

package adversary_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/internal/dedalus/adversary"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

const voting = `program voting
component leader {
  input  clientIn(client: node, id: u64, v: bytes)
  output clientOut(id: u64, v: bytes)
  static participant(p: node) = nodes participant
  static n(k: u64) = size participant
  timer  retry every 1s
  table  asked(c: node, id: u64, v: bytes) delete when committed(c, id, v)
  table  votes(src: node, c: node, id: u64, v: bytes)
  table  ended(c: node, id: u64, v: bytes)
  sync  asked(c, id, v) <- clientIn(c, id, v), not ended(c, id, v)
  async voteReq@p(c, id, v) <- clientIn(c, id, v), participant(p)
  async voteReq@p(c, id, v) <- retry(), asked(c, id, v), participant(p)
  sync  votes(s, c, id, v) <- voteRep(s, c, id, v)
  sync  cnt(c, id, count<s>) <- votes(s, c, id, _)
  sync  committed(c, id, v) <- cnt(c, id, k), n(m), k >= m, votes(_, c, id, v)
  next  ended(c, id, v) <- committed(c, id, v)
  async clientOut@c(id, v) <- committed(c, id, v)
}
component participant {
  static leader(l: node) = nodes leader
  output voted(p: node, id: u64)
  async voted@c(self, id) <- voteReq(c, id, _)
  async voteRep@l(self, c, id, v) <- voteReq(c, id, v), leader(l)
}
deploy { leader: 1, participant: 3 }
`

func apply(t *testing.T, p *logic.Program, steps ...string) *logic.Program {
	t.Helper()
	for _, text := range steps {
		s, err := rewrite.ParseStep(text)
		if err != nil {
			t.Fatal(err)
		}
		q, _, err := rewrite.Apply(p, s)
		if err != nil {
			t.Fatal(err)
		}
		p = q
	}
	return p
}

var faults = adversary.Options{Faults: adversary.Faults{Crashes: 2, Stops: 1}}

// TestRewritten checks that rewritten programs do nothing that their originals cannot do.
func TestRewritten(t *testing.T) {
	p := given.Program(t, voting)
	for name, steps := range map[string][]string{
		"none":       nil,
		"partition":  {"partition participant into 2"},
		"functional": {"functional leader rules 2 as asker"},
	} {
		t.Run(name, func(t *testing.T) {
			q := apply(t, p, steps...)
			x := adversary.NewPlayer(q, given.Inputs(q, 6), faults)
			o := adversary.NewOracle(p, given.Inputs(p, 6), faults)
			told := 0
			for seed := range uint64(40) {
				r := x.Random(seed)
				if v := o.Judge(t.Context(), r); v.Kind != "" {
					t.Errorf("seed %d: %v\n%v", seed, v, r.Schedule)
				}
				told += len(r.Told)
			}
			if told < 500 {
				t.Errorf("only %d messages were told", told)
			}
		})
	}
}

// TestMistakes finds mistakes, and shows each by a short schedule.
func TestMistakes(t *testing.T) {
	// Clients of this program may ask a participant whether it has seen an answered request.
	asking := strings.Replace(voting, "  output voted(p: node, id: u64)\n  async voted@c(self, id) <- voteReq(c, id, _)\n",
		"  input  peek(client: node, id: u64)\n  output unseen(id: u64)\n  table  seen(id: u64)\n  next   seen(id) <- voteReq(_, id, _)\n"+
			"  async  unseen@c(id) <- peek(c, id), not seen(id), not voteReq(_, id, _)\n", 1)
	for name, m := range map[string]struct {
		steps          []string
		old, new, kind string
		most           int // steps
	}{
		"quorum too small": {nil, "k >= m", "k + 1 >= m", "safety", 12},
		"quorum too large": {nil, "k >= m", "k > m", "liveness", 1},
		"wrong key":        {[]string{"partition participant into 2"}, "participant(p), part := hash(id) % 2", "participant(p), part := hash(p) % 2", "", 0},
		"votes of nobody":  {nil, "voteRep@l(self, c, id, v)", "voteRep@l(c, c, id, v)", "liveness", 1},
		"another's answer": {nil, "async clientOut@c(id, v) <- committed(c, id, v)", "async clientOut@c(id, v) <- committed(c, id, _), committed(c, _, v)", "safety", 20},
	} {
		t.Run(name, func(t *testing.T) {
			p := given.Program(t, voting)
			if name == "quorum too small" {
				p = given.Program(t, asking)
			}
			text := apply(t, p, m.steps...).String()
			if m.kind != "" && strings.Count(text, m.old) != 1 {
				t.Fatalf("%q is not there once:\n%s", m.old, text)
			}
			q := given.Program(t, strings.ReplaceAll(text, m.old, m.new))
			x := adversary.NewPlayer(q, given.Inputs(q, 4), adversary.Options{})
			o := adversary.NewOracle(p, given.Inputs(p, 4), adversary.Options{})
			for seed := range uint64(40) {
				r := x.Random(seed)
				v := o.Judge(t.Context(), r)
				if v.Kind == "" {
					continue
				}
				o.TicksMax = 300
				short := x.Shrink(t.Context(), r.Schedule, func(r *adversary.Run) bool { return o.Judge(t.Context(), r).Kind == v.Kind })
				o.TicksMax = 4000
				t.Logf("seed %d: %v\n%v", seed, o.Judge(t.Context(), short), short.Schedule)
				again, err := adversary.Parse(short.Schedule.String())
				if err != nil {
					t.Fatal(err)
				}
				if got := x.Replay(again); got.Outcome() != short.Outcome() || o.Judge(t.Context(), got).Kind != m.kind {
					t.Errorf("read again, it tells\n%s\nwant\n%s", got.Outcome(), short.Outcome())
				}
				if v.Kind != m.kind || len(short.Schedule) > m.most {
					t.Errorf("%s in %d steps, want %s in %d", v.Kind, len(short.Schedule), m.kind, m.most)
				}
				return
			}
			if m.kind != "" {
				t.Error("not found")
			}
		})
	}
}

// TestSameSeedSameRun replays a run from its schedule, with all kinds of faults.
func TestSameSeedSameRun(t *testing.T) {
	p := given.Program(t, voting)
	x := adversary.NewPlayer(p, given.Inputs(p, 5), faults)
	for seed := range uint64(20) {
		r := x.Random(seed)
		line := r.Schedule.String()
		if again := x.Random(seed); again.Schedule.String() != line || again.Outcome() != r.Outcome() {
			t.Fatalf("seed %d is not the same again", seed)
		}
		s, err := adversary.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if again := x.Replay(s); again.Schedule.String() != line || again.Outcome() != r.Outcome() || again.Steps != r.Steps {
			t.Fatalf("seed %d is not the same from its line", seed)
		}
	}
}

func TestParse(t *testing.T) {
	for word, want := range map[string]string{
		">": "the number of an input", ">-1": "the number of an input", "leader": "a machine", "/0": "a machine",
		"leader/0:": "the number of a message", "leader/0:x": "the number of a message", "leader/0+": "the name of a timer",
		"leader/0:1~": "no messages and no timers", "leader/0+t^!": "no messages and no timers", "!": "a machine",
	} {
		if _, err := adversary.Parse(word); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", word, err, want)
		}
	}
	word := rapid.SampledFrom([]string{">0", ">12", "a/0", "a/1:2", "b_c/3:4,5,6", "a/0+t", "a/0:7+t+u", "a/0!", "a/0:1!!", "a/0^!", "a/0^!!", "a/0~"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(word, 1, 20).Draw(t, "steps"), " ")
		s, err := adversary.Parse(text)
		if err != nil || s.String() != text {
			t.Fatalf("%q is %q, %v", text, s, err)
		}
	})
}

// FuzzParse parses any text, also texts that are not schedules.
func FuzzParse(f *testing.F) {
	f.Add(">1 a/0:1,2+t! a/0^!! b/1~")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := adversary.Parse(text)
		if err != nil {
			return
		}
		again, err := adversary.Parse(s.String())
		if err != nil || again.String() != s.String() {
			t.Errorf("%q, written %q, is read as %q, %v", text, s, again, err)
		}
		// Unknown message numbers and names do no harm.
		p, _ := given.Read(voting)
		adversary.NewPlayer(p, nil, adversary.Options{}).Replay(s[:min(len(s), 100)])
	})
}

// TestInterruptedShrink returns the schedule so far.
func TestInterruptedShrink(t *testing.T) {
	p := given.Program(t, voting)
	x := adversary.NewPlayer(p, given.Inputs(p, 2), adversary.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := x.Random(1)
	if got := x.Shrink(ctx, r.Schedule, func(*adversary.Run) bool { return true }); len(got.Schedule) != len(r.Schedule) {
		t.Errorf("%d steps of %d", len(got.Schedule), len(r.Schedule))
	}
}

// TestStops stops machines of one node, and requires that the others continue.
func TestStops(t *testing.T) {
	p := given.Program(t, strings.Replace(voting, "k >= m", "k + 1 >= m", 1))
	o := adversary.Options{Faults: adversary.Faults{Stops: 1, Spared: []string{"leader"}}}
	x := adversary.NewPlayer(p, given.Inputs(p, 3), o)
	stops := 0
	for seed := range uint64(40) {
		r := x.Random(seed)
		stops += len(slices.DeleteFunc(r.Schedule, func(s adversary.Step) bool { return s.Kind != adversary.Stop }))
		for id := range 3 {
			if want := fmt.Sprintf(`clientOut(%d, b"v%d")`, id, id); !strings.Contains(r.Outcome(), want) || !r.Rest {
				t.Errorf("seed %d: rest %v without %s", seed, r.Rest, want)
			}
		}
	}
	if stops < 15 {
		t.Errorf("only %d stops", stops)
	}
}
