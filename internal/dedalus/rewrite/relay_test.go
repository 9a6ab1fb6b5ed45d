// SPDX-License-Identifier: Apache-2.0

package rewrite_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// slowly has a bell that rings for all keys that are open. A key takes some ticks to
// open, and b is asked for when a has been: where it rings for b alone, the ticks were
// not those of one node.
const slowly = `program slowly
component leader {
  input  start(id: u64)
  output rang(k: text)
  output opened(k: text)
  static storage(s: node) = nodes storage
  async opened@node "c"(k) <- stored(k)
  async put@s("a") <- start(_), storage(s)
  async put@s("b") <- stored("a"), storage(s)
  async rang@node "c"(k) <- ring(k)
}
component storage {
  static leader(l: node) = nodes leader
  timer  bell every 1s
  table  had(k: text) delete when ready(k)
  table  almost(k: text)
  table  soon(k: text)
  table  ready(k: text)
  table  open(k: text)
  async  stored@l(k) <- put(k), leader(l)
  next   had(k) <- put(k)
  next   almost(k) <- had(k)
  next   soon(k) <- almost(k)
  next   ready(k) <- soon(k), not ready(k)
  next   open(k) <- ready(k), not open(k)
  async  ring@l(k) <- bell(), open(k), leader(l)
}
assume timely soon
assume timely ready
assume timely open
`

// bells are keys for which the bell rings while they are open; of which it has rung for
// one, the other one is closed. Nothing goes on by itself.
const bells = `program bells
component leader {
  input  start(k: text)
  input  shut(k: text)
  output rang(k: text)
  static storage(s: node) = nodes storage
  async put@s(k) <- start(k), storage(s)
  async put@s("b") <- stored("a"), storage(s)
  async close@s("b") <- ring("a"), storage(s)
  async close@s("a") <- ring("b"), storage(s)
  async close@s(k) <- shut(k), storage(s)
  async rang@node "c"(k) <- ring(k)
}
component storage {
  static leader(l: node) = nodes leader
  timer  bell every 1s
  table  open(k: text) delete when close(k)
  async  stored@l(k) <- put(k), leader(l)
  next   open(k) <- put(k)
  async  ring@l(k) <- bell(), open(k), leader(l)
}
`

const relaying, dividing = "relay storage as keeper", "partial keeper into 2"

// ringing limits how often the bell rings.
func ringing(times int) func(*explore.Model) {
	return func(m *explore.Model) { m.Limit("bell", times) }
}

// TestRelayExplored compares programs with relays of them, and with divisions of the rules that
// waited for a timer, in every order of messages.
func TestRelayExplored(t *testing.T) {
	start := `start(1) to leader/0`
	for name, c := range map[string]struct {
		program string
		inputs  []string
		steps   []string
		bounds  explore.Bounds
		rings   int
	}{
		"a relay":                {slowly, []string{start}, []string{relaying}, explore.Bounds{Together: 1}, 1},
		"a relay, two rings":     {slowly, []string{start}, []string{relaying}, explore.Bounds{Together: 1}, 2},
		"a relay, a crash":       {slowly, []string{start}, []string{relaying}, explore.Bounds{Together: 1, Crashes: 1}, 1},
		"a relay that omits":     {slowly, []string{start}, []string{relaying}, explore.Bounds{Together: 1, Omissions: 1}, 1},
		"what comes from a user": {bells, []string{`start("a") to leader/0`, `shut("a") to leader/0`}, []string{"relay leader as worker"}, explore.Bounds{Together: 1}, 1},
		"divided":                {bells, []string{`start("a") to leader/0`}, []string{relaying, dividing}, explore.Bounds{Together: 1}, 1},
		"divided, it goes on":    {slowly, []string{start}, []string{relaying, dividing}, explore.Bounds{Together: 1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := given.Program(t, c.program)
			q := p
			for _, s := range c.steps {
				q = partially(t, q, s)
			}
			got, err := explore.Compare(t.Context(), p, q, told(t, c.inputs...), nil, c.bounds, ringing(c.rings))
			if err != nil {
				t.Fatal(err)
			}
			t.Log(got.First.States, got.Second.States, len(got.First.Final), len(got.Second.Final))
			if got.Different != nil || !got.Complete() || len(got.Second.Final) == 0 {
				t.Errorf("complete %v: %v\n%s", got.Complete(), got.Different, pathOf(got))
			}
		})
	}
}

// TestTimerMistakes makes mistakes in dividing rules that wait for a timer, and requires that
// both exploration and the certificate checker find each one.
func TestTimerMistakes(t *testing.T) {
	for name, m := range map[string]struct {
		program string
		inputs  []string
		change  []string
		rings   int
		kind    string
	}{
		"a piece votes before it is at rest": {slowly, []string{`start(1) to leader/0`}, []string{"keeper_done(d), not keeper_busy(), ", "keeper_done(d), "}, 1, "liveness"},
		"a step is not seen":                 {slowly, []string{`start(1) to leader/0`}, []string{"  sync keeper_busy() <- almost(k), not soon(k)\n", ""}, 1, "liveness"},
		"rest that never comes":              {slowly, []string{`start(1) to leader/0`}, []string{"keeper_busy() <- had(k), ready(k)\n", "keeper_busy() <- had(k), ready(k)\n  sync keeper_busy() <- open(k)\n"}, 1, "liveness"},
		"no freeze":                          {bells, []string{`start("a") to leader/0`}, []string{"keeper_voted(v), keeper_done(d), v > d", "keeper_voted(v), keeper_done(d), v > d, d > 9"}, 1, "liveness"},
		"each piece by itself":               {bells, []string{`start("a") to leader/0`}, []string{"keeper_votes(u, k), k >= 2", "keeper_votes(u, k), k >= 0"}, 1, "liveness"},
	} {
		t.Run(name, func(t *testing.T) {
			p := given.Program(t, m.program)
			piece := partially(t, p, relaying)
			q := partially(t, piece, dividing, m.change...)
			s, err := rewrite.ParseStep(dividing)
			if err != nil {
				t.Fatal(err)
			}
			_, cert, err := rewrite.Apply(piece, s)
			if err != nil {
				t.Fatal(err)
			}
			if certificate.Check(piece, q, cert.Claim(piece)) == nil {
				t.Error("the certificate passes")
			}
			got, err := explore.Compare(t.Context(), p, q, told(t, m.inputs...), nil, explore.Bounds{Together: 1}, ringing(m.rings))
			if err != nil {
				t.Fatal(err)
			}
			if got.Different == nil || got.Different.Kind != m.kind {
				t.Errorf("want a difference of %s, got %v in %d states", m.kind, got.Different, got.Second.States)
			}
		})
	}
}

// TestTimerOfEachPiece gives each piece a timer of its own, as dividing a component together
// with its timers would. It finds a run that the original does not have, which is why no
// rewrite does that.
func TestTimerOfEachPiece(t *testing.T) {
	p := given.Program(t, bells)
	text := p.String()
	for _, change := range [][2]string{
		{"component storage", "component other {\n  static chief(l: node) = nodes leader\n  timer bell2 every 1s\n  var open2(k: text)\n" +
			"  next open2(k) <- put2(k)\n  next open2(k) <- open2(k), not close2(k)\n  async ring@l(k) <- bell2(), open2(k), chief(l)\n}\ncomponent storage"},
		{"static storage(s: node) = nodes storage", "static storage(s: node) = nodes storage\n  static other(s: node) = nodes other"},
		{`async put@s("b") <- stored("a"), storage(s)`, `async put2@s("b") <- stored("a"), other(s)`},
		{`async close@s("b") <- ring("a"), storage(s)`, `async close2@s("b") <- ring("a"), other(s)`},
	} {
		if strings.Count(text, change[0]) != 1 {
			t.Fatalf("%q is there %d times in\n%s", change[0], strings.Count(text, change[0]), text)
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	q := given.Program(t, text)
	got, err := explore.Compare(t.Context(), p, q, told(t, `start("a") to leader/0`), nil, explore.Bounds{Together: 1}, func(m *explore.Model) {
		m.Limit("bell", 1)
		m.Limit("bell2", 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	if !got.Complete() {
		t.Fatal("the search is not complete")
	}
	t.Log(got.Different, pathOf(got))
	if got.Different == nil {
		t.Error("no difference is found")
	}
}

// TestRelayRefused requests relays of components without inputs from outside, and divisions of
// components that do not come to rest.
func TestRelayRefused(t *testing.T) {
	for name, r := range map[string]struct {
		program, old, new string
		steps             []string
		want              string
	}{
		"nothing from outside":     {slowly, "timer  bell every 1s", "", []string{relaying}, "there is nothing to relay"},
		"a relay of a relay":       {slowly, "", "", []string{relaying, "relay storage as another"}, "does is pass on what it receives"},
		"a name that is there":     {slowly, "", "", []string{"relay storage as leader"}, "choose a new name"},
		"what is derived and sent": {slowly, "next   had(k) <- put(k)", "next had(k) <- put(k)\n  sync put(k) <- had(k)", []string{relaying}, "put is derived by the rules that move, and messages bring it"},
		"blinks": {slowly, "next   almost(k) <- had(k)", "next   almost(k) <- had(k)\n  next off(k) <- had(k), not off(k)",
			[]string{relaying, dividing}, "off may change forever"},
		"blinks by way of another": {slowly, "next   almost(k) <- had(k)", "next   almost(k) <- had(k)\n  next off(k) <- on(k)\n  next on(k) <- had(k), not off(k)",
			[]string{relaying, dividing}, "may change forever"},
		"counts up": {strings.Replace(slowly, "table  had", "table  ticks(k: text, n: u64)\n  next ticks(k, 0) <- put(k)\n  table  had", 1), "next   almost(k) <- had(k)", "next   almost(k) <- had(k)\n  next ticks(k, m) <- ticks(k, n), m := n + 1",
			[]string{relaying, dividing}, "the rule computes new values in ticks in which nothing was received"},
		"fills what is forgotten": {slowly, "next   almost(k) <- had(k)", "next   almost(k) <- had(k)\n  next had(k) <- open(k)",
			[]string{relaying, dividing}, "in ticks in which nothing was received, the rule derives facts that can be deleted again"},
		"forgets by a comparison": {strings.Replace(slowly, "table  had(k: text) delete when ready(k)", "var    had(k: text)", 1), "next   had(k) <- put(k)", "next   had(k) <- put(k)\n  next   had(k) <- had(k), k != \"b\"",
			[]string{relaying, dividing}, "the rule deletes facts by a condition other than the presence of a fact"},
		"meets what comes in": {slowly, "next   almost(k) <- had(k)", "next   almost(k) <- had(k)\n  next once(k) <- put(k)\n  async stored@l(k) <- put(k), once(k), leader(l)",
			[]string{relaying, dividing}, "once"},
		"an input that says more": {slowly, "async put@s(\"a\") <- start(_), storage(s)", "async put@s(\"a\") <- start(_), storage(s)\n  async all@s(i) <- start(i), storage(s)",
			[]string{"partial storage into 2"}, "bell comes from outside"},
	} {
		text := strings.Replace(r.program, r.old, r.new, 1)
		if strings.Contains(name, "nothing from") {
			text = strings.Replace(text, "bell(), ", "", 1)
		}
		p, errs := given.Read(text)
		if p == nil {
			t.Fatalf("%s: %s", name, errs)
		}
		err := applyAll(t, p, r.steps)
		if err == nil || !strings.Contains(err.Error(), r.want) {
			t.Errorf("%s: want %q, got %v", name, r.want, err)
		}
	}
}

// applyAll applies steps; the last one may be refused.
func applyAll(t *testing.T, p *logic.Program, steps []string) error {
	t.Helper()
	for i, text := range steps {
		s, err := rewrite.ParseStep(text)
		if err != nil {
			t.Fatal(err)
		}
		if s.String() != text {
			t.Errorf("'%s' is written '%v'", text, s)
		}
		q, _, err := rewrite.Apply(p, s)
		if err != nil {
			if i < len(steps)-1 {
				t.Fatal(err)
			}
			return err
		}
		p = q
	}
	return nil
}

// timed draws a program of n rules whose facts join on their only column, some of which wait
// for a timer. It returns nil if the program is not valid.
func (d drawn) timed(n int) *logic.Program {
	local := []string{"p", "q", "r", "s"}
	rules := []string{"async one@c(x) <- tick(), " + d.of(local...) + "(x), client(c)", "next " + d.of(local...) + "(x) <- in(x)"}
	for range n {
		body := d.of(append([]string{"in", "ask"}, local...)...) + "(x)"
		switch env.IntN(d.r, 4) {
		case 0:
			body += ", not " + d.of(local...) + "(x)"
		case 1:
			body += ", tick()"
		}
		head := d.of(local...)
		switch env.IntN(d.r, 8) {
		case 0, 1:
			rules = append(rules, "async "+d.of("one", "two")+"@c(x) <- "+body+", client(c)")
		case 2, 3:
			rules = append(rules, "next "+head+"(x) <- "+head+"(x)")
		case 4:
			rules = append(rules, "next "+head+"(x) <- "+head+"(x), not "+d.of(local...)+"(x)")
		default:
			if rule := d.of("next ", "next ", "sync ") + head + "(x) <- " + body; !strings.HasPrefix(rule, "sync "+head+"(x) <- "+head+"(x)") {
				rules = append(rules, rule)
			}
		}
	}
	for _, l := range local {
		if text := strings.Join(rules, "\n"); strings.Contains(text, " "+l+"(") && !strings.Contains(text, "c "+l+"(") && !strings.Contains(text, "t "+l+"(") {
			rules = append(rules, "next "+l+"(x) <- "+d.of("in", "ask")+"(x)")
		}
	}
	p, _ := given.Read("program timed\ncomponent a {\n  input in(x: u64)\n  timer tick every 1s\n  static client(c: node) = nodes client\n  " + strings.Join(rules, "\n  ") +
		"\n}\ncomponent client {\n  output first(x: u64)\n  output second(x: u64)\n  static a(n: node) = nodes a\n" +
		"  async first@node \"c\"(x) <- one(x)\n  async second@node \"c\"(x) <- two(x)\n" +
		"  async ask@n(y) <- one(x), a(n), x < 2, y := 1 - x\n}\n")
	return p
}

// TestDrawnTimers relays and divides random programs that wait for a timer, as the rewrites
// allow, and explores whether the results behave as the originals do. ASHLAR_DRAWN=N draws
// from N seeds.
func TestDrawnTimers(t *testing.T) {
	seeds := uint64(300)
	if n := os.Getenv("ASHLAR_DRAWN"); n != "" {
		if _, err := fmt.Sscan(n, &seeds); err != nil {
			t.Fatal(err)
		}
	}
	divided, settling, compared := 0, 0, 0
	for seed := range seeds {
		d := drawn{env.Seeded(seed)}
		p := d.timed(2 + env.IntN(d.r, 5))
		if p == nil {
			continue
		}
		q, cert, err := rewrite.Apply(p, rewrite.Step{Kind: rewrite.Relay, Component: "a", Name: "b"})
		if err != nil {
			continue
		}
		if err := certificate.Check(p, q, cert.Claim(p)); err != nil {
			t.Errorf("seed %d: the relay's certificate: %v", seed, err)
		}
		parts, cert, err := rewrite.Apply(q, rewrite.Step{Kind: rewrite.Partial, Component: "b", Partitions: 2})
		if err != nil {
			continue
		}
		if err := certificate.Check(q, parts, cert.Claim(q)); err != nil {
			t.Errorf("seed %d: the certificate: %v of\n%v", seed, err, p)
		}
		divided++
		if cert.Partial.Settling {
			settling++
		}
		c, err := explore.Compare(t.Context(), p, parts, told(t, "in(0) to a/0"), nil, explore.Bounds{Together: 1, StatesMax: 4000}, func(m *explore.Model) { m.Limit("tick", 1) })
		if err != nil {
			t.Fatal(err)
		}
		if c.Different != nil {
			t.Errorf("seed %d of\n%v\n%v\n%s", seed, p, c.Different, pathOf(c))
		}
		if c.Complete() {
			compared++
		}
	}
	t.Logf("%d divided, of which %d go on by themselves; %d compared to the end", divided, settling, compared)
	if settling == 0 || compared == 0 {
		t.Error("too little was compared")
	}
}
