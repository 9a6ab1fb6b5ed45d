package explore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/check"
	"github.com/ashlar-dev/ashlar/dedalus/explore"
	"github.com/ashlar-dev/ashlar/dedalus/interp"
	"github.com/ashlar-dev/ashlar/dedalus/logic"
	"github.com/ashlar-dev/ashlar/dedalus/lower"
	"github.com/ashlar-dev/ashlar/dedalus/rewrite"
	"github.com/ashlar-dev/ashlar/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/source"
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
`

func read(t *testing.T, text string) *logic.Program {
	t.Helper()
	var diags source.List
	f := syntax.Parse(source.NewFile("p.ded", []byte(text)), &diags)
	if !diags.HasErrors() {
		if p := lower.Lower(f, &diags); p != nil {
			return p
		}
	}
	var b strings.Builder
	diags.Print(&b)
	t.Fatal(b.String())
	return nil
}

// inputs gives so many messages to each input, at the component that reads it.
func inputs(n uint64) func(*logic.Program) []interp.Message {
	return func(p *logic.Program) []interp.Message {
		var out []interp.Message
		for _, c := range p.Components {
			for _, r := range p.In(c) {
				if r.Kind != logic.Input {
					continue
				}
				for i := range n {
					var row []logic.Value
					for _, col := range r.Columns {
						v := logic.Value{Kind: col.Type.Kind, Num: i}
						switch v.Kind {
						case logic.Node:
							v = logic.Value{Kind: logic.Node, Str: "client"}
						case logic.Bytes:
							v = logic.Value{Kind: logic.Bytes, Str: fmt.Sprint("v", i)}
						}
						row = append(row, v)
					}
					out = append(out, interp.Message{To: logic.NodeName(c.Name, 0), Fact: interp.Fact{Relation: r, Row: row}})
				}
			}
		}
		return out
	}
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

// TestModelIsWhatIsExplored has the house's checker visit the same states.
func TestModelIsWhatIsExplored(t *testing.T) {
	p := read(t, voting)
	for b, want := range map[explore.Bounds]int64{
		{Together: 1}: 100, {Together: 2}: 100, {Together: 2, Duplicates: 1}: 239, {Together: 2, Crashes: 1}: 256,
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
		"mutual":     {239, []string{"mutual leader rules 2 3 4 5 6 as collector"}},
		"functional": {329, []string{"mutual leader rules 2 3 4 5 6 as collector", "functional collector rules 4 as replier"}},
		"partition":  {239, []string{"partition participant into 2"}},
		"both":       {239, []string{"mutual leader rules 2 3 4 5 6 as collector", "partition collector into 2 voteRep by c2"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := read(t, voting)
			c, err := explore.Compare(t.Context(), p, apply(t, p, r.steps...), inputs(2), nil, explore.Bounds{Duplicates: 1})
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

// TestMistakes changes rewritten programs as somebody might who rewrites by hand,
// and wants each found.
func TestMistakes(t *testing.T) {
	for name, m := range map[string]struct {
		steps    []string
		old, new string
		kind     string
	}{
		"quorum too small":   {nil, "k >= m", "k + 1 >= m", "safety"},
		"quorum too large":   {nil, "k >= m", "k > m", "liveness"},
		"votes not kept":     {nil, "next votes(src, c, id, v) <- votes(src, c, id, v), not committed(c, id, v)\n", "\n", "liveness"},
		"wrong key":          {[]string{"mutual leader rules 2 3 4 5 6 as collector", "partition collector into 2 voteRep by c2"}, "hash(id)", "hash(self)", "liveness"},
		"not forwarded":      {[]string{"mutual leader rules 2 3 4 5 6 as collector"}, ", to_collector(l, to)", ", to := l", "liveness"},
		"somebody else's id": {nil, "voteRep@l(self, c, id, v)", "voteRep@l(c, c, id, v)", "liveness"},
	} {
		t.Run(name, func(t *testing.T) {
			p := read(t, voting)
			text := apply(t, p, m.steps...).String()
			if strings.Count(text, m.old) != 1 {
				t.Fatalf("%q is not there once:\n%s", m.old, text)
			}
			q := read(t, strings.Replace(text, m.old, m.new, 1))
			c, err := explore.Compare(t.Context(), p, q, inputs(2), nil, explore.Bounds{})
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
	p := read(t, voting)
	c, err := explore.Compare(t.Context(), p, p, inputs(2), nil, explore.Bounds{StatesMax: 10})
	if err != nil || c.Complete() || c.Different != nil {
		t.Errorf("complete %v, different %v, %v", c.Complete(), c.Different, err)
	}
}
