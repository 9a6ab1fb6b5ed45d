// SPDX-License-Identifier: Apache-2.0

package explore_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// counted counts at one node the messages that another sends at every tick.
const counted = `program counted
component sender {
  input  start(x: u64)
  static counter(c: node) = nodes counter
  timer  retry every 1s
  table  started(x: u64)
  sync   started(x) <- start(x)
  sync   due(x) <- started(x), retry()
  async  item@c(x) <- due(x), counter(c)
}
component counter {
  output enough(n: u64)
  table  items(x: u64)
  sync   items(x) <- item(x)
  sync   n(count<x>) <- items(x)
  async  enough@node "c"(k) <- n(k), k >= 2
}
`

// TestResendingBehindAForwarder moves the sending, so that a machine forwards between the node
// that sends again and the one that crashes.
func TestResendingBehindAForwarder(t *testing.T) {
	p := given.Program(t, counted)
	q := apply(t, p, "functional sender rules 3 as forwarder")
	c, err := explore.Compare(t.Context(), p, q, inputs(2), nil, explore.Bounds{Together: 1, Crashes: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Different != nil || !c.Complete() {
		t.Errorf("complete %v: %v", c.Complete(), c.Different)
	}
	if c.First.States != 142 || c.Second.States != 382 {
		t.Errorf("%d and %d states", c.First.States, c.Second.States)
	}
	if len(c.Second.Final) != 2 {
		t.Errorf("it comes to rest in %d ways: %v", len(c.Second.Final), c.Second.Final)
	}
}

// TestOmittedForEver makes a node omit a message that it sends at every tick.
func TestOmittedForEver(t *testing.T) {
	p := given.Program(t, counted)
	for omissions, rests := range []int{1, 2} {
		out, err := explore.NewModel(p, inputs(2)(p), nil, nil, explore.Bounds{Together: 1, Omissions: omissions}).Find(t.Context())
		if err != nil || !out.Complete || len(out.Final) != rests {
			t.Errorf("%d nodes that omit: it comes to rest in %d ways, want %d, %v: %v", omissions, len(out.Final), rests, err, out.Final)
		}
	}
}

// TestOmission makes a node omit permanently messages that it sends and receives.
func TestOmission(t *testing.T) {
	// Two of three votes are enough.
	p := given.Program(t, strings.NewReplacer("k >= m", "k + 1 >= m", "participant: 2", "participant: 3").Replace(voting))
	q := apply(t, p, "mutual leader rules 2 3 4 5 6 as collector")
	// A request to participant/1 goes through participant/0.
	around := given.Program(t, strings.Replace(strings.Replace(p.String(),
		"async voteReq@p(c, id, v) <- clientIn(c, id, v), participant(p)",
		"async voteReq@p(c, id, v) <- clientIn(c, id, v), participant(p), p != node \"participant/1\"", 1),
		"component participant {", "component participant {\nasync voteReq@node \"participant/1\"(c, id, v) <- voteReq(c, id, v), self == node \"participant/0\"", 1))
	for name, c := range map[string]struct {
		second    string
		omissions int
		kind      string
	}{
		"rewritten":         {q.String(), 1, ""},
		"around, no faults": {around.String(), 0, ""},
		"around":            {around.String(), 1, "liveness"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := explore.Compare(t.Context(), p, given.Program(t, c.second), inputs(1), nil, explore.Bounds{Together: 1, Omissions: c.omissions}, nil)
			if err != nil || !got.Complete() {
				t.Fatal(err, "not complete")
			}
			t.Log(got.First.States, got.Second.States)
			if c.kind == "" && got.Different != nil || c.kind != "" && (got.Different == nil || got.Different.Kind != c.kind) {
				t.Errorf("want a difference of %q, got %v", c.kind, got.Different)
			}
		})
	}
}

// apart stores its inputs, and answers when they are durable.
const apart = `program apart
component server {
  input  put(x: u64)
  output ack(x: u64)
  output have(x: u64)
  log    kept(x: u64)
  log    kept(x) <- put(x)
  async  have@node "c"(x) <- get(x), kept(x)
  next   stored(x) <- put(x)
  async  done@node "client/0"(x) <- stored(x)
}
component client {
  log    acked(x: u64)
  timer  ask every 1s
  log    acked(x) <- done(x)
  async  get@node "server/0"(x) <- ask(), acked(x)
  async  ack@node "c"(x) <- acked(x)
}
`

// taken is the result that a monotonic decoupling of rules 1, 2 and 5 of the server would have.
const taken = `program apart
component server {
  input  put(x: u64)
  static to_keeper(l: node, to: node) = { (node "server/0", node "keeper/0"), (node "client/0", node "client/0") }
  next   stored(x) <- put(x)
  async  done@node "client/0"(x) <- stored(x)
  async  put_keeper@to(x) <- put(x), to_keeper(self, to)
}
component keeper of server {
  output have(x: u64)
  log    kept(x: u64)
  table  put_kept(x: u64)
  table  get_kept(x: u64)
  log    kept(x) <- put_kept(x)
  async  have@node "c"(x) <- get_kept(x), kept(x)
  sync   put_kept(x) <- put_keeper(x)
  sync   get_kept(x) <- get(x)
}
component client {
  output ack(x: u64)
  log    acked(x: u64)
  timer  ask every 1s
  log    acked(x) <- done(x)
  async  get@to(x) <- ask(), acked(x), to_keeper(node "server/0", to)
  async  ack@node "c"(x) <- acked(x)
}
`

// TestDurableApart moves a durable relation away from the rules that answer. An answer then no
// longer implies that the fact is durable, which only crashes show. The rewriter refuses.
func TestDurableApart(t *testing.T) {
	p, q := given.Program(t, apart), given.Program(t, taken)
	step, err := rewrite.ParseStep("monotonic server rules 1 2 5 as keeper")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := rewrite.Apply(p, step); err == nil || !strings.Contains(err.Error(), "derives kept, which is durable, and would move away from the rules that answer once it is") {
		t.Errorf("not refused: %v", err)
	}
	for crashes, kind := range []string{"", "liveness"} {
		got, err := explore.Compare(t.Context(), p, q, inputs(1), nil, explore.Bounds{Together: 1, Crashes: crashes}, nil)
		if err != nil || !got.Complete() {
			t.Fatal(err, "not complete")
		}
		if kind == "" && got.Different != nil || kind != "" && (got.Different == nil || got.Different.Kind != kind) {
			t.Errorf("%d crashes: want a difference of %q, got %v", crashes, kind, got.Different)
		}
	}
}

// stirring has state, and one rule that a state machine may not be allowed to have.
const stirring = `program stirring
component a {
  input  put(x: u64)
  output told(x: u64)
  table  kept(x: u64)
  RULE
  sync   kept(x) <- put(x)
  async  told@node "c"(x) <- put(x)
}
`

// TestStill finds changes in ticks without inputs.
func TestStill(t *testing.T) {
	for rule, want := range map[string]string{
		"":                        "",
		"next twice(x) <- put(x)": "deletes twice",
		"table all(x: u64)\nsync all(x) <- put(x)":                  "",
		"next all(x) <- kept(x)\nnext all(y) <- all(x), y := x + 1": "derives all",
		"next all(x) <- put(x)\nnext all(x) <- all(x), not put(_)":  "",
		"output more(x: u64)\nasync more@node \"c\"(x) <- kept(x)":  "sends more",
	} {
		p := given.Program(t, strings.Replace(stirring, "RULE", rule, 1))
		found, out, err := explore.NewModel(p, inputs(2)(p), nil, nil, explore.Bounds{}).Still(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case want == "" && (found != nil || !out.Complete):
			t.Errorf("%s: complete %v: %v", rule, out.Complete, found)
		case want != "" && (found == nil || !strings.Contains(found.Error(), want) || len(found.Path) == 0):
			t.Errorf("%s: want %q, got %v", rule, want, found)
		}
	}
}
