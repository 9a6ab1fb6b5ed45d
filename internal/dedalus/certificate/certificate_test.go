// SPDX-License-Identifier: Apache-2.0

package certificate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

const storage = `program storage
fn sign(v: bytes) -> bytes from "example.org/crypt.Sign"
component leader {
  input  in(client: node, v: bytes)
  output outCert(client: node, v: bytes)
  output outInconsistent(client: node, v: bytes)
  static storageNodes(n: node) = nodes storage
  static numNodes(n: u64) = size storage
  static client(c: node) = { (node "client") }
  var    fromStorage(src: node, sig: bytes, v: bytes, n: u64)
  table  acks(src: node, sig: bytes, v: bytes, n: u64)
  sync   signed(v, s) <- in(_, v), s := sign(v)
  async  toStorage@l(v, s) <- signed(v, s), storageNodes(l)
  sync   acks(l, s, v, n) <- fromStorage(l, s, v, n)
  sync   numACKs(count<l>, v, n) <- acks(l, _, v, n)
  async  outCert@c(c, v) <- numACKs(k, v, _), numNodes(m), k >= m, client(c)
  async  outInconsistent@c(c, v) <- acks(l1, _, v, n1), acks(l2, _, v, n2), n1 != n2, l1 != l2, client(c)
}
component storage {
  static leader(l: node) = nodes leader
  table  hashset(h: u64, v: bytes)
  sync   collisions(v, w, h, s) <- toStorage(v, s), h := hash(v), hashset(h, w)
  next   hashset(h, v) <- toStorage(v, _), h := hash(v)
  sync   numCollisions(count<w>, h) <- collisions(_, w, h, _)
  sync   numCollisions(0, h) <- toStorage(v, _), h := hash(v), not hashset(h, _)
  async  fromStorage@l(self, s, v, n) <- toStorage(v, s), h := hash(v), numCollisions(n, h), leader(l)
}
deploy { leader: 1, storage: 3 }
`

// steps returns a sequence of steps with rewrites of all kinds.
func steps() []string {
	return []string{
		"mutual leader rules 3 4 5 6 7 as collector",
		"functional leader rules 2 as broadcaster",
		"monotonic collector rules 4 as inconsistency",
		"partition inconsistency into 3",
		"partition storage into 2",
	}
}

// rewritten is a step of the sequence: the programs before and after it, and the claim.
type rewritten struct {
	step          string
	before, after *logic.Program
	claim         certificate.Claim
}

func sequence(t *testing.T) []rewritten { return taken(t, storage, steps()...) }

// taken applies steps in sequence.
func taken(t *testing.T, text string, steps ...string) []rewritten {
	t.Helper()
	p := given.Program(t, text)
	var out []rewritten
	for _, step := range steps {
		s, err := rewrite.ParseStep(step)
		if err != nil {
			t.Fatal(err)
		}
		q, cert, err := rewrite.Apply(p, s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rewritten{step, p, q, cert.Claim(p)})
		p = q
	}
	return out
}

func TestHonestClaims(t *testing.T) {
	for _, r := range sequence(t) {
		if err := certificate.Check(r.before, r.after, r.claim); err != nil {
			t.Errorf("%s: %v", r.step, err)
		}
	}
}

// TestEveryChangeIsRefused changes every place of the program after a rewrite.
func TestEveryChangeIsRefused(t *testing.T) {
	for _, r := range append(sequence(t), batched(t)...) {
		t.Run(r.step, func(t *testing.T) {
			tried := 0
			changes(r.after, func(what string, q *logic.Program) {
				if q.Validate() != nil || q.String() == r.after.String() {
					return
				}
				if tried++; certificate.Check(r.before, q, r.claim) == nil {
					t.Errorf("%s passes", what)
				}
			})
			if tried < 20 {
				t.Errorf("only %d changes were tried", tried)
			}
			t.Logf("%d changes", tried)
		})
	}
}

// changes removes each rule and each literal, negates each literal, and replaces the kind and
// the head relation of each rule, each argument of a head, each number, and the facts of each
// forwarding relation.
func changes(p *logic.Program, try func(what string, q *logic.Program)) {
	for ci, c := range p.Components {
		for ri, rule := range c.Rules {
			changed := func(change func(x *logic.Rule)) {
				q := p.Clone()
				x := q.Components[ci].Rules[ri]
				change(x)
				try("'"+x.String()+"'", q)
			}
			q := p.Clone()
			q.Components[ci].Rules = slices.Delete(q.Components[ci].Rules, ri, ri+1)
			try("without '"+rule.String()+"'", q)
			for _, k := range []logic.RuleKind{logic.Sync, logic.Next} {
				if k != rule.Kind {
					changed(func(x *logic.Rule) { x.Kind, x.Dest = k, nil })
				}
			}
			for i, rel := range p.Relations {
				if fits(rule.Head.Relation, rel) {
					q := p.Clone()
					x := q.Components[ci].Rules[ri]
					x.Head.Relation = q.Relations[i]
					try("'"+x.String()+"'", q)
				}
			}
			for li, l := range rule.Body {
				changed(func(x *logic.Rule) { x.Body = slices.Delete(x.Body, li, li+1) })
				switch {
				case l.Atom != nil:
					changed(func(x *logic.Rule) { x.Body[li].Negated = !x.Body[li].Negated })
				case l.Compare != nil:
					changed(func(x *logic.Rule) {
						x.Body[li].Compare = &logic.Compare{Op: (l.Compare.Op + 1) % 6, Left: l.Compare.Left, Right: l.Compare.Right}
					})
				}
			}
			for ai, a := range rule.Head.Args {
				for bi := range rule.Head.Args {
					changed(func(x *logic.Rule) { x.Head.Args[ai] = rule.Head.Args[bi] })
				}
				if a.Term.Kind == logic.Const && a.Term.Type.Kind == logic.U64 {
					changed(func(x *logic.Rule) {
						n := *a.Term
						n.Value.Num++
						x.Head.Args[ai].Term = &n
					})
				}
			}
		}
	}
	q := p.Clone()
	q.Assumptions = append(q.Assumptions, logic.Assumption{Kind: logic.Growing, Relation: p.Relations[0].Name})
	try("one more assumption", q)
	for i, rel := range p.Relations {
		if rel.Facts == nil {
			continue
		}
		q := p.Clone()
		q.Relations[i].Facts = rel.Facts[1:]
		try("a fact less in "+rel.Name, q)
		if len(rel.Columns) > 1 && len(rel.Facts) > 1 {
			q = p.Clone()
			row := slices.Clone(rel.Facts[0])
			row[len(row)-1] = rel.Facts[1][len(row)-1]
			q.Relations[i].Facts = append([][]logic.Value{row}, rel.Facts[1:]...)
			try("another fact in "+rel.Name, q)
		}
	}
}

// TestOneForEach sends two relations to the new component as one, and fills the kept copy of
// one relation with facts of another.
func TestOneForEach(t *testing.T) {
	const text = `program p
component a {
  input  u(k: u64)
  input  w(k: u64)
  input  z(k: u64)
  output seen(k: u64)
  output both(k: u64)
  async  seen@node "c"(k) <- z(k)
  sync   d(k) <- u(k)
  sync   e(k) <- w(k)
  async  both@node "c"(k) <- d(k), e(k)
}
`
	r := taken(t, text, "monotonic a rules 2 3 4 as b")[0]
	own := "  sync w_b_kept(x0) <- w_b(x0)\n  next w_b_kept(x0) <- w_b_kept(x0)\n"
	for name, m := range map[string][]string{
		"two are passed on as one": {own, "", "async w_b@to(x0)", "async u_b@to(x0)", "e(k) <- w_b_kept(k)", "e(k) <- u_b_kept(k)"},
		"two are kept as one":      {"  sync u_b_kept(x0)", "  sync u_b_kept(x0) <- w_b(x0)\n  next u_b_kept(x0) <- u_b_kept(x0)\n  sync u_b_kept(x0)"},
		"one is kept as another":   {own, own + "  sync u_b(x0) <- w_b(x0)\n  next u_b(x0) <- u_b(x0)\n"},
		"what is kept was there":   {own, own + "  sync d(x0) <- e(x0)\n  next d(x0) <- d(x0)\n"},
	} {
		after := r.after.String()
		for i := 0; i < len(m); i += 2 {
			if strings.Count(after, m[i]) != 1 {
				t.Fatalf("%s: %q is not there once in\n%s", name, m[i], after)
			}
			after = strings.Replace(after, m[i], m[i+1], 1)
		}
		if err := certificate.Check(r.before, given.Program(t, after), r.claim); err == nil {
			t.Errorf("%s: passes\n%s", name, after)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}

// fits reports whether rules may derive another relation with the same arguments.
func fits(of, other *logic.Relation) bool {
	return other != of && other.Kind == logic.Derived && slices.EqualFunc(of.Columns, other.Columns, func(a, b logic.Column) bool {
		return a.Type.Equal(b.Type) && a.Lattice == b.Lattice
	})
}

// TestFalseClaims makes false claims about programs that were changed to fit them.
func TestFalseClaims(t *testing.T) {
	seq := sequence(t)
	for name, lie := range map[string]struct {
		at     int
		change func(c *certificate.Claim)
		want   string
	}{
		"stateful for functional": {2, func(c *certificate.Claim) { c.Kind = "functional" }, "joins"},
		"dependent for mutual":    {1, func(c *certificate.Claim) { c.Kind = "mutual" }, "the rules that move read"},
		"other rules":             {0, func(c *certificate.Claim) { c.Moved = []int{0, 1} }, "want '"},
		"rules that are not":      {0, func(c *certificate.Claim) { c.Moved = []int{99} }, "some of the rules of"},
		"another key":             {4, func(c *certificate.Claim) { c.Keys["toStorage"] = certificate.Key{Column: 0} }, "is divided by"},
		"no key":                  {4, func(c *certificate.Claim) { delete(c.Keys, "hashset") }, "hashset has no key"},
		"a dependency that fails": {4, func(c *certificate.Claim) {
			c.Dependencies["toStorage"] = []certificate.Dependency{{From: 1, To: 0, Func: "hash"}}
		}, "does not ensure that"},
		"a dependency of an input": {4, func(c *certificate.Claim) {
			c.Dependencies["in"] = []certificate.Dependency{{From: 0, To: 1}}
		}, "which no rule derives"},
		"other parts":        {4, func(c *certificate.Claim) { c.Partitions = 3 }, "does not have 3 partitions"},
		"another component":  {4, func(c *certificate.Claim) { c.Component = "leader" }, ""},
		"an unknown rewrite": {0, func(c *certificate.Claim) { c.Kind = "magic" }, "unknown rewrite"},
	} {
		r := seq[lie.at]
		c := r.claim
		c.Keys, c.Dependencies = map[string]certificate.Key{}, map[string][]certificate.Dependency{}
		for k, v := range r.claim.Keys {
			c.Keys[k] = v
		}
		for k, v := range r.claim.Dependencies {
			c.Dependencies[k] = v
		}
		lie.change(&c)
		if err := certificate.Check(r.before, r.after, c); err == nil || !strings.Contains(err.Error(), lie.want) {
			t.Errorf("%s: got %v, want %q", name, err, lie.want)
		}
	}
}

// TestWhatTheRulesForbid divides storage by the hash of the value in programs in which this
// changes the behaviour.
func TestWhatTheRulesForbid(t *testing.T) {
	honest := sequence(t)[4]
	for name, m := range map[string]struct{ old, new, want string }{
		"a join on other columns": {"h := hash(v), hashset(h, w)", "h := hash(s), hashset(h, w)", "does not ensure that"},
		"a count over all":        {"numCollisions(count<w>, h) <- collisions(_, w, h, _)", "numCollisions(count<w>, 0) <- collisions(_, w, _, _)", "collisions has no key"},
		"absence of anything":     {"not hashset(h, _)", "not hashset(_, v)", "hashset has no key"},
		"groups that are divided": {"numCollisions(count<w>, h) <- collisions(_, w, h, _)", "numCollisions(count<h>, 0) <- collisions(_, _, h, _)", "is divided by"},
		"another value's hash":    {"next hashset(h, v) <- toStorage(v, _), h := hash(v)", "next hashset(h, v) <- toStorage(v, s), h := hash(s)", "does not ensure that"},
	} {
		change := func(p *logic.Program) *logic.Program {
			text := p.String()
			if strings.Count(text, m.old) != 1 {
				t.Fatalf("%s: %q is not there once in\n%s", name, m.old, text)
			}
			q, _ := given.Read(strings.Replace(text, m.old, m.new, 1))
			if q == nil {
				t.Fatalf("%s: not a program", name)
			}
			return q
		}
		err := certificate.Check(change(honest.before), change(honest.after), honest.claim)
		if err == nil || !strings.Contains(err.Error(), m.want) {
			t.Errorf("%s: got %v, want %q", name, err, m.want)
		}
	}
}

// TestMergingIsNotMonotonic moves rules that compare with a maximum so far, which was smaller
// before. They are monotonic only if the maximum is not a lattice.
func TestMergingIsNotMonotonic(t *testing.T) {
	const text = `program p
component a {
  input  in(x: u64)
  output seen(x: u64)
  output less(x: u64)
  var    top(x: u64)
  table  kept(x: u64)
  sync   kept(x) <- in(x)
  async  seen@node "c"(x) <- in(x)
  sync   top(x) <- kept(x)
  async  less@node "c"(x) <- kept(x), top(y), y <= x
}
`
	before := given.Program(t, text)
	s, err := rewrite.ParseStep("monotonic a rules 3 4 as b")
	if err != nil {
		t.Fatal(err)
	}
	after, cert, err := rewrite.Apply(before, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := certificate.Check(before, after, cert.Claim(before)); err != nil {
		t.Fatal(err)
	}
	lattice := func(p *logic.Program) *logic.Program {
		return given.Program(t, strings.Replace(p.String(), "top(x: u64)", "top(x: max<u64>)", 1))
	}
	if _, _, err = rewrite.Apply(lattice(before), s); err == nil || !strings.Contains(err.Error(), "merges") {
		t.Errorf("not refused: %v", err)
	}
	if err = certificate.Check(lattice(before), lattice(after), cert.Claim(before)); err == nil || !strings.Contains(err.Error(), "merges") {
		t.Errorf("passes: %v", err)
	}
}
