// SPDX-License-Identifier: Apache-2.0

package explore_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

const voting = `program voting
component leader {
  input  clientIn(client: node, id: u64, v: bytes)
  output clientOut(id: u64, v: bytes)
  static participant(p: node) = nodes participant
  static n(k: u64) = size participant
  table  votes(src: node, c: node, id: u64, v: bytes) delete when committed(c, id, v)
  async voteReq@p(c, id, v) <- clientIn(c, id, v), participant(p)
  sync  votes(s, c, id, v) <- voteRep(s, c, id, v)
  sync  cnt(c, id, count<s>) <- votes(s, c, id, _)
  sync  committed(c, id, v) <- cnt(c, id, k), n(m), k >= m, votes(_, c, id, v)
  async clientOut@c(id, v) <- committed(c, id, v)
}
component participant {
  static leader(l: node) = nodes leader
  output voted(p: node, id: u64)
  async voted@c(self, id) <- voteReq(c, id, _)
  async voteRep@l(self, c, id, v) <- voteReq(c, id, v), leader(l)
}
deploy { leader: 1, participant: 2 }
assume collected votes
`

// inputs returns n messages for each input.
func inputs(n uint64) func(*logic.Program) []interp.Message {
	return func(p *logic.Program) []interp.Message { return given.Inputs(p, n) }
}

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

// TestModelIsWhatIsExplored compares the states with those that package check visits.
func TestModelIsWhatIsExplored(t *testing.T) {
	p := given.Program(t, voting)
	for b, want := range map[explore.Bounds]int64{
		{Together: 1}: 100, {Together: 2}: 100, {Together: 2, Duplicates: 1}: 859, {Together: 2, Crashes: 1}: 724,
	} {
		m := explore.NewModel(p, inputs(2)(p), nil, nil, b)
		found, err := m.Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r, err := check.Run(context.Background(), m, check.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Distinct != found.States || found.States != want || !found.Complete {
			t.Errorf("%v: the checker has %d states, the exploration %d, want %d", b, r.Distinct, found.States, want)
		}
	}
}

// TestRewrites compares rewritten programs with their originals.
func TestRewrites(t *testing.T) {
	for name, r := range map[string]struct {
		states int64
		steps  []string
	}{
		"mutual":     {4411, []string{"mutual leader rules 2 3 4 5 6 as collector"}},
		"functional": {6957, []string{"mutual leader rules 2 3 4 5 6 as collector", "functional collector rules 4 as replier"}},
		"partition":  {4411, []string{"partition participant into 2"}},
		"both":       {4411, []string{"mutual leader rules 2 3 4 5 6 as collector", "partition collector into 2 voteRep by c2"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := given.Program(t, voting)
			c, err := explore.Compare(t.Context(), p, apply(t, p, r.steps...), inputs(2), nil, explore.Bounds{Duplicates: 1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.Different != nil || !c.Complete() {
				t.Errorf("complete %v: %v", c.Complete(), c.Different)
			}
			if c.Second.States != r.states {
				t.Errorf("%d states, want %d", c.Second.States, r.states)
			}
		})
	}
}

// TestMistakes makes mistakes that are plausible in a rewrite by hand, and requires that each
// is found.
func TestMistakes(t *testing.T) {
	for name, m := range map[string]struct {
		steps    []string
		old, new string
		kind     string
	}{
		"quorum too large":   {nil, "k >= m", "k > m", "liveness"},
		"votes not kept":     {nil, "next votes(src, c, id, v) <- votes(src, c, id, v), not committed(c, id, v)\n", "\n", "liveness"},
		"wrong key":          {[]string{"mutual leader rules 2 3 4 5 6 as collector", "partition collector into 2 voteRep by c2"}, "hash(id)", "hash(self)", "liveness"},
		"not forwarded":      {[]string{"mutual leader rules 2 3 4 5 6 as collector"}, ", to_collector(l, to)", ", to := l", "liveness"},
		"somebody else's id": {nil, "voteRep@l(self, c, id, v)", "voteRep@l(c, c, id, v)", "liveness"},
	} {
		t.Run(name, func(t *testing.T) {
			p := given.Program(t, voting)
			text := apply(t, p, m.steps...).String()
			if strings.Count(text, m.old) != 1 {
				t.Fatalf("%q is not there once:\n%s", m.old, text)
			}
			q := given.Program(t, strings.Replace(text, m.old, m.new, 1))
			c, err := explore.Compare(t.Context(), p, q, inputs(2), nil, explore.Bounds{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.Different == nil || c.Different.Kind != m.kind {
				t.Errorf("want a difference of %s, got %v", m.kind, c.Different)
			}
		})
	}
}

func TestBoundIsTold(t *testing.T) {
	p := given.Program(t, voting)
	early := given.Program(t, strings.Replace(voting, "k >= m", "k + 1 >= m", 1))
	for _, q := range []*logic.Program{p, early} {
		// If the search of the original is incomplete, no output is known to be missing from it, and
		// states that were not visited are not at rest.
		c, err := explore.Compare(t.Context(), p, q, inputs(2), nil, explore.Bounds{StatesMax: 40}, nil)
		if err != nil || c.Complete() || c.Different != nil {
			t.Errorf("complete %v, different %v, %v", c.Complete(), c.Different, err)
		}
		whole, err := explore.NewModel(q, inputs(2)(q), nil, nil, explore.Bounds{}).Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for told := range c.Second.Final {
			if !whole.Final[told] {
				t.Errorf("it is said to come to rest with %q", told)
			}
		}
	}
}

// early answers before its fact is durable.
const early = `program early
component server {
  input  put(x: u64)
  output absent(x: u64)
  output flushed(x: u64)
  timer  flush every 1s
  table  soft(x: u64)
  log   kept(x) <- put(x)
  log   kept(x) <- kept(x)
  next  stored(x) <- put(x)
  sync  soft(x) <- put(x)
  async done@node "client/0"(x) <- put(x)
  async absent@node "c"(x) <- get(x), not kept(x), not stored(x)
  async flushed@node "c"(x) <- flush(), soft(x)
}
component client {
  timer  other every 1s
  output nothing()
  async  get@node "server/0"(x) <- done(x)
  async  nothing@node "c"() <- other()
}
`

// TestCrashInATick loses what a tick logged, but not its messages.
func TestCrashInATick(t *testing.T) {
	lied := func(told []interp.Message) bool {
		return slices.ContainsFunc(told, func(m interp.Message) bool { return m.Fact.Relation.Name == "absent" })
	}
	late := strings.Replace(early, "(x) <- put(x)\n  async absent", "(x) <- stored(x)\n  async absent", 1)
	for name, c := range map[string]struct {
		text    string
		crashes int
		found   bool
	}{"early, no crash": {early, 0, false}, "early": {early, 1, true}, "late": {late, 1, false}} {
		p := given.Program(t, c.text)
		m := explore.NewModel(p, inputs(1)(p), nil, nil, explore.Bounds{Crashes: c.crashes})
		m.Until(lied)
		out, err := m.Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if (out.Stopped != nil) != c.found || out.Complete == c.found || (len(out.Path) > 0) != c.found {
			t.Errorf("%s: stopped %v after %v, complete %v", name, out.Stopped, out.Path, out.Complete)
		}
	}
}

// TestLimitAndLose limits timers and loses messages.
func TestLimitAndLose(t *testing.T) {
	told := func(limit map[string]int) string {
		p := given.Program(t, early)
		m := explore.NewModel(p, inputs(1)(p), nil, nil, explore.Bounds{})
		for timer, n := range limit {
			m.Limit(timer, n)
		}
		out, err := m.Find(t.Context())
		if err != nil || !out.Complete {
			t.Fatalf("%v %v", err, out)
		}
		var all []string
		for told := range out.Told {
			all = append(all, told)
		}
		return strings.Join(all, "\n")
	}
	for _, c := range []struct {
		limit map[string]int
		timer string
		found bool
	}{
		{nil, "flushed", true}, {nil, "nothing", true},
		{map[string]int{"flush": 0}, "flushed", false}, {map[string]int{"flush": 0}, "nothing", true},
		{map[string]int{"other": 0}, "nothing", false}, {map[string]int{"flush": 1}, "flushed", true},
	} {
		if got := told(c.limit); strings.Contains(got, c.timer) != c.found {
			t.Errorf("%v: %s", c.limit, got)
		}
	}
	// Outputs arrive; only messages between nodes are lost.
	p := given.Program(t, voting)
	m := explore.NewModel(p, inputs(1)(p), nil, nil, explore.Bounds{})
	m.Lose(func(m interp.Message) bool { return m.Fact.Relation.Name == "voteRep" })
	out, err := m.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for told := range out.Told {
		if strings.Contains(told, "clientOut") {
			t.Errorf("told %s without votes", told)
		}
	}
}

// TestOrder has clients that ask a participant whether it has seen an answered request. Only
// this order shows that an answer did not wait for all participants, because messages of
// participants may be late.
func TestOrder(t *testing.T) {
	asking := strings.Replace(voting, "  output voted(p: node, id: u64)\n  async voted@c(self, id) <- voteReq(c, id, _)\n",
		"  input  peek(client: node, id: u64)\n  output unseen(id: u64)\n  table  seen(id: u64)\n  next   seen(id) <- voteReq(_, id, _)\n"+
			"  async  unseen@c(id) <- peek(c, id), not seen(id), not voteReq(_, id, _)\n", 1)
	if asking == voting {
		t.Fatal("nothing was replaced")
	}
	p := given.Program(t, asking)
	small := given.Program(t, strings.Replace(asking, "k >= m", "k + 1 >= m", 1))
	c, err := explore.Compare(t.Context(), p, small, inputs(1), nil, explore.Bounds{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Different == nil || c.Different.Kind != "safety" || !c.Different.Ordered || len(c.Different.Steps) == 0 {
		t.Errorf("a quorum too small: %v", c.Different)
	}
	for _, step := range []string{"mutual leader rules 2 3 4 5 6 as collector", "partition participant into 2"} {
		c, err := explore.Compare(t.Context(), p, apply(t, p, "relay participant as worker", strings.Replace(step, "participant", "worker", 1)), inputs(1), nil, explore.Bounds{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.Different != nil || !c.Complete() {
			t.Errorf("%s: complete %v, %v", step, c.Complete(), c.Different)
		}
	}
}

// TestLate makes both sides of decouplings send an output in the tick of the input. The output
// of the moved side may be late; the search finds it if the output is never sent.
func TestLate(t *testing.T) {
	const both = `program both
component a {
  input  in(v: u64)
  output one(v: u64)
  output two(v: u64)
  var    had(v: u64)
  sync   had(v) <- in(v)
  next   had(v) <- had(v)
  async  one@node "c"(v) <- in(v)
  async  two@node "c"(v) <- in(v)
  async  two@node "d"(v) <- had(v)
}
`
	for _, step := range []string{"functional a rules 4 as b", "monotonic a rules 1 2 4 5 as b", "asymmetric a rules 3 as b"} {
		p := given.Program(t, both)
		q := apply(t, p, step)
		c, err := explore.Compare(t.Context(), p, q, inputs(2), nil, explore.Bounds{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.Different != nil || !c.Complete() {
			t.Errorf("%s: complete %v, %v", step, c.Complete(), c.Different)
		}
		wrong := given.Program(t, strings.Replace(q.String(), "async two@node \"c\"(v) <- ", "async two@node \"c\"(v) <- v > 0, ", 1))
		if c, err = explore.Compare(t.Context(), p, wrong, inputs(2), nil, explore.Bounds{}, nil); err != nil {
			t.Fatal(err)
		}
		if c.Different == nil || c.Different.Kind != "liveness" {
			t.Errorf("%s, and never told: %v", step, c.Different)
		}
	}
}
