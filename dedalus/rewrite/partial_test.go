package rewrite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/dedalus/explore"
	"github.com/ashlar-dev/ashlar/dedalus/internal/given"
	"github.com/ashlar-dev/ashlar/dedalus/interp"
	"github.com/ashlar-dev/ashlar/dedalus/logic"
	"github.com/ashlar-dev/ashlar/dedalus/rewrite"
)

// epochs is storage by key with an epoch that all keys have in common. Who is refused
// because of it has another key written as before it: nobody must take that.
const epochs = `program epochs
component leader {
  input  in(id: u64, e: u64, k: text)
  input  advance(e: u64)
  output stored(id: u64)
  output refused(id: u64)
  static storage(s: node) = nodes storage
  async put@s(id, e, k) <- in(id, e, k), storage(s)
  async epoch@s(e) <- advance(e), storage(s)
  async stored@node "c"(id) <- done(id)
  async refused@node "c"(id) <- late(id)
  async put@s(j, 1, "b") <- late(i), storage(s), i < 10, j := i + 10
}
component storage {
  static leader(l: node) = nodes leader
  var    now(e: max<u64>)
  table  value(k: text, id: u64) delete when good(_, k)
  next  now(e) <- epoch(e)
  next  now(e) <- now(e)
  sync  good(id, k) <- put(id, _, k), not now(_)
  sync  good(id, k) <- put(id, e, k), now(m), m <= e
  next  value(k, id) <- good(id, k)
  async done@l(id) <- good(id, _), leader(l)
  async late@l(id) <- put(id, e, _), now(m), m > e, leader(l)
}
`

// scans is storage by key that can be asked for all that it has: how much that is, and
// each. What it is told to forget it tells a tick later.
const scans = `program scans
component leader {
  input  in(k: text, v: u64)
  input  ask(id: u64)
  output total(id: u64, n: u64)
  output item(id: u64, k: text, v: u64)
  output all(id: u64, n: u64)
  static storage(s: node) = nodes storage
  table  items(id: u64, k: text, v: u64)
  async put@s(k, v) <- in(k, v), storage(s)
  async scan@s(id) <- ask(id), storage(s)
  async total@node "c"(id, n) <- size(id, n)
  async item@node "c"(id, k, v) <- row(id, k, v)
  sync  items(id, k, v) <- row(id, k, v)
  sync  count(id, count<k>) <- items(id, k, _)
  async all@node "c"(id, n) <- size(id, n), count(id, n)
  async put@s("b", 9) <- size(id, 0), storage(s)
}
component storage {
  static leader(l: node) = nodes leader
  table  value(k: text, v: u64) delete when put(k, _)
  sync  least(k, min<v>) <- put(k, v)
  next  value(k, v) <- least(k, v)
  next  asked(id) <- scan(id)
  sync  n(count<k>) <- value(k, _)
  sync  n(0) <- asked(_), not value(_, _)
  async size@l(id, n) <- asked(id), n(n), leader(l)
  async row@l(id, k, v) <- asked(id), value(k, v), leader(l)
}
`

// told reads messages from outside, written as in the language: in(1, "a") to leader/0.
func told(t *testing.T, texts ...string) func(*logic.Program) []interp.Message {
	return func(p *logic.Program) []interp.Message {
		var out []interp.Message
		for _, text := range texts {
			fact, to, _ := strings.Cut(text, " to ")
			name, args, _ := strings.Cut(fact, "(")
			var cols []string
			for i, c := range p.Find(name).Columns {
				cols = append(cols, fmt.Sprintf("c%d: %v", i, c.Type))
			}
			q := given.Program(t, fmt.Sprintf("program p\ncomponent c { static f(%s) = { (%s } }\n", strings.Join(cols, ", "), args))
			out = append(out, interp.Message{To: to, Fact: interp.Fact{Relation: p.Find(name), Row: q.Find("f").Facts[0]}})
		}
		return out
	}
}

// partially is a program divided by a step, with a text in it replaced.
func partially(t *testing.T, p *logic.Program, step string, oldNew ...string) *logic.Program {
	t.Helper()
	s, err := rewrite.ParseStep(step)
	if err != nil {
		t.Fatal(err)
	}
	q, cert, err := rewrite.Apply(p, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := certificate.Check(p, q, cert.Claim(p)); err != nil {
		t.Fatalf("%s: the certificate: %v", step, err)
	}
	text := q.String()
	for i := 0; i < len(oldNew); i += 2 {
		if strings.Count(text, oldNew[i]) != 1 {
			t.Fatalf("%q is there %d times in\n%s", oldNew[i], strings.Count(text, oldNew[i]), text)
		}
		text = strings.Replace(text, oldNew[i], oldNew[i+1], 1)
	}
	return given.Program(t, text)
}

// TestPartialExplored compares programs with what partial partitioning makes of them,
// in every order.
func TestPartialExplored(t *testing.T) {
	for name, c := range map[string]struct {
		program string
		inputs  []string
		bounds  explore.Bounds
	}{
		"nothing replicated": {epochs, []string{`in(1, 1, "a") to leader/0`, `in(2, 1, "b") to leader/0`}, explore.Bounds{Duplicates: 1}},
		"one epoch":          {epochs, []string{`in(1, 1, "a") to leader/0`, `advance(2) to leader/0`}, explore.Bounds{}},
		"two epochs":         {epochs, []string{`in(1, 2, "a") to leader/0`, `advance(2) to leader/0`, `advance(3) to leader/0`}, explore.Bounds{Together: 1}},
		"an epoch twice":     {epochs, []string{`in(1, 1, "a") to leader/0`, `advance(2) to leader/0`}, explore.Bounds{Together: 1, Duplicates: 1}},
		"a scan":             {scans, []string{`in("a", 1) to leader/0`, `ask(1) to leader/0`}, explore.Bounds{Together: 1}},
		"a scan of two":      {scans, []string{`in("a", 1) to leader/0`, `in("b", 2) to leader/0`, `ask(1) to leader/0`}, explore.Bounds{Together: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			p := given.Program(t, c.program)
			got, err := explore.Compare(t.Context(), p, partially(t, p, "partial storage into 2"), told(t, c.inputs...), nil, c.bounds, nil)
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

func pathOf(c *explore.Comparison) string {
	if c.Different == nil {
		return ""
	}
	return strings.Join(c.Different.Steps, "\n")
}
