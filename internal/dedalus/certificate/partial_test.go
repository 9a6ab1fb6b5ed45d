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

// ledgers is storage by key with two inputs that all pieces must receive in order: one ends an
// epoch, the other asks for all values.
const ledgers = `program ledgers
component leader {
  input  in(k: text, v: u64)
  input  end()
  input  ask(id: u64)
  output total(id: u64, n: u64)
  output item(id: u64, k: text, v: u64)
  static storage(s: node) = nodes storage
  async put@s(k, v) <- in(k, v), storage(s)
  async close@s() <- end(), storage(s)
  async scan@s(id) <- ask(id), storage(s)
  async total@node "c"(id, n) <- size(id, n)
  async item@node "c"(id, k, v) <- row(id, k, v)
}
component storage {
  static leader(l: node) = nodes leader
  output closed(k: text)
  output stored(k: text)
  log    epoch(e: max<u64>)
  table  value(k: text, v: u64) delete when put(k, _)
  log   epoch(m) <- close(), at(e), m := e + 1
  sync  at(e) <- epoch(e)
  sync  at(0) <- not epoch(_)
  async closed@node "c"(k) <- close(), value(k, _)
  sync  least(k, min<v>) <- put(k, v)
  next  value(k, v) <- least(k, v)
  next  echo(k) <- put(k, _)
  async stored@node "c"(k) <- echo(k)
  next  asked(id) <- scan(id)
  sync  n(count<k>) <- value(k, _)
  sync  n(0) <- asked(_), not value(_, _)
  async size@l(id, n) <- asked(id), n(n), leader(l)
  async row@l(id, k, v) <- asked(id), value(k, v), leader(l)
}
deploy { storage: 2 }
`

func partial(t *testing.T, text string) rewritten {
	t.Helper()
	p := given.Program(t, text)
	s, err := rewrite.ParseStep("partial storage into 2")
	if err != nil {
		t.Fatal(err)
	}
	q, cert, err := rewrite.Apply(p, s)
	if err != nil {
		t.Fatal(err)
	}
	return rewritten{s.String(), p, q, cert.Claim(p)}
}

func TestPartialHonest(t *testing.T) {
	r := partial(t, ledgers)
	if err := certificate.Check(r.before, r.after, r.claim); err != nil {
		t.Fatal(err)
	}
	if p := r.claim.Partial; !slices.Equal(p.Replicated, []string{"close", "scan"}) || !slices.Equal(p.Sealed, []string{"size", "row"}) || p.Depth != 1 {
		t.Errorf("%+v", p)
	}
}

// TestPartialEveryChangeIsRefused changes every place of the program after a partial
// partitioning: what TestEveryChangeIsRefused changes, and also numbers, kinds of rules,
// destinations, lattices, durability, and the numbers of instances and partitions.
func TestPartialEveryChangeIsRefused(t *testing.T) {
	for _, r := range []rewritten{partial(t, ledgers), chiming(t)[0], chiming(t)[1]} {
		t.Run(r.step, func(t *testing.T) { refuseChanges(t, r) })
	}
}

func refuseChanges(t *testing.T, r rewritten) {
	tried := 0
	try := func(what string, change func(q *logic.Program)) {
		q := r.after.Clone()
		change(q)
		if q.Validate() != nil || q.String() == r.after.String() {
			return
		}
		tried++
		if certificate.Check(r.before, q, r.claim) == nil {
			t.Errorf("%s passes", what)
		}
	}
	for ci, c := range r.after.Components {
		try("more of "+c.Name, func(q *logic.Program) { q.Components[ci].Instances++ })
		try("more pieces of "+c.Name, func(q *logic.Program) { q.Components[ci].Partitions++ })
		try("another original of "+c.Name, func(q *logic.Program) { q.Components[ci].Of = "leader" + c.Of })
		try("without "+c.Name, func(q *logic.Program) { q.Components = slices.Delete(q.Components, ci, ci+1) })
		for ri, rule := range c.Rules {
			at := func(q *logic.Program) *logic.Rule { return q.Components[ci].Rules[ri] }
			what := "'" + rule.String() + "' changed"
			try(what, func(q *logic.Program) { q.Components[ci].Rules = slices.Delete(q.Components[ci].Rules, ri, ri+1) })
			try(what, func(q *logic.Program) { q.Components[ci].Rules = append(q.Components[ci].Rules, at(q)) })
			for _, kind := range []logic.RuleKind{logic.Sync, logic.Next} {
				try(what, func(q *logic.Program) { at(q).Kind, at(q).Dest = kind, nil })
			}
			for li := range rule.Body {
				try(what, func(q *logic.Program) { at(q).Body = slices.Delete(at(q).Body, li, li+1) })
				try(what, func(q *logic.Program) { at(q).Body[li].Negated = rule.Body[li].Atom != nil && !rule.Body[li].Negated })
				for op := logic.Equal; op <= logic.GreaterEqual; op++ {
					try(what, func(q *logic.Program) {
						if cmp := rule.Body[li].Compare; cmp != nil {
							at(q).Body[li].Compare = &logic.Compare{Op: op, Left: cmp.Left, Right: cmp.Right}
						}
					})
				}
				if a := rule.Body[li].Atom; a != nil {
					for i := range a.Args {
						for _, other := range []*logic.Term{{Kind: logic.Wildcard}, {Kind: logic.Self, Type: logic.Type{Kind: logic.Node}}, a.Args[(i+1)%len(a.Args)]} {
							try(what, func(q *logic.Program) { at(q).Body[li].Atom.Args[i] = other })
						}
					}
				}
			}
			for ai := range rule.Head.Args {
				for bi := range rule.Head.Args {
					try(what, func(q *logic.Program) { at(q).Head.Args[ai] = rule.Head.Args[bi] })
				}
			}
			for _, self := range []logic.TermKind{logic.Self} {
				try(what, func(q *logic.Program) {
					if at(q).Dest != nil {
						at(q).Dest = &logic.Term{Kind: self, Type: logic.Type{Kind: logic.Node}}
					}
				})
			}
		}
	}
	for i, rel := range r.after.Relations {
		try(rel.Name+" durable or not", func(q *logic.Program) { q.Relations[i].Durable = !rel.Durable && rel.Kind == logic.Derived })
		for j := range rel.Columns {
			for _, l := range []logic.Lattice{logic.NoLattice, logic.MaxLattice, logic.MinLattice} {
				try(rel.Name+" merged", func(q *logic.Program) { q.Relations[i].Columns[j].Lattice = l })
			}
		}
		if len(rel.Facts) > 1 {
			try("a fact less in "+rel.Name, func(q *logic.Program) { q.Relations[i].Facts = rel.Facts[1:] })
			try("another fact in "+rel.Name, func(q *logic.Program) {
				row := slices.Clone(rel.Facts[0])
				row[len(row)-1] = rel.Facts[1][len(row)-1]
				q.Relations[i].Facts = append([][]logic.Value{row}, rel.Facts[1:]...)
			})
		}
	}
	if tried < 10*len(r.after.Relations) {
		t.Errorf("only %d changes were tried", tried)
	}
	t.Logf("%d changes refused", tried)
}

// TestPartialFalseClaims makes false claims.
func TestPartialFalseClaims(t *testing.T) {
	for name, lie := range map[string]struct {
		change func(c *certificate.Claim)
		want   string
	}{
		"nothing":                  {func(c *certificate.Claim) { c.Partial = nil }, "what a partial partitioning must state"},
		"no pieces":                {func(c *certificate.Claim) { c.Partitions = 1 }, "what a partial partitioning must state"},
		"too short":                {func(c *certificate.Claim) { c.Partial.Depth = 0 }, "1 ticks after a replicated input"},
		"endless":                  {func(c *certificate.Claim) { c.Partial.Depth = 1 << 40 }, "what a partial partitioning must state"},
		"longer than it is":        {func(c *certificate.Claim) { c.Partial.Depth = 2 }, "want '"},
		"an input less":            {func(c *certificate.Claim) { c.Partial.Replicated = []string{"scan"} }, ""},
		"all inputs":               {func(c *certificate.Claim) { c.Partial.Replicated = []string{"put", "close", "scan"} }, "some of the inputs of"},
		"another input":            {func(c *certificate.Claim) { c.Partial.Replicated = []string{"size", "scan"} }, "some of the inputs of"},
		"nothing sealed":           {func(c *certificate.Claim) { c.Partial.Sealed = nil }, "that is not sealed"},
		"one sealed":               {func(c *certificate.Claim) { c.Partial.Sealed = []string{"size"} }, ""},
		"what is not sent sealed":  {func(c *certificate.Claim) { c.Partial.Sealed = []string{"size", "row", "put"} }, "at other times"},
		"what goes outside sealed": {func(c *certificate.Claim) { c.Partial.Sealed = []string{"size", "row", "closed"} }, "cannot be sealed"},
		"no key":                   {func(c *certificate.Claim) { delete(c.Keys, "value") }, "value has no key"},
		"another key":              {func(c *certificate.Claim) { c.Keys["value"] = certificate.Key{Column: 1} }, "divided by"},
		"a key for a sum":          {func(c *certificate.Claim) { c.Keys["n"] = certificate.Key{} }, ""},
	} {
		r := partial(t, ledgers)
		lie.change(&r.claim)
		if err := certificate.Check(r.before, r.after, r.claim); err == nil || !strings.Contains(err.Error(), lie.want) {
			t.Errorf("%s: got %v, want %q", name, err, lie.want)
		}
	}
}

// TestPartialForbidden has programs that cannot be divided partially, or not so,
// divided all the same: what the condition says is left in the program before and made
// so in the program after.
func TestPartialForbidden(t *testing.T) {
	honest := partial(t, ledgers)
	for name, m := range map[string]struct{ old, new, want string }{
		"state that moves by itself":                  {"next value(k, v) <- least(k, v)\n", "next value(k, v) <- value(k, u), v := u + 1\n", "in ticks in which nothing was received"},
		"sends by itself":                             {"sync at(0) <- not epoch(_)\n", "sync at(0) <- not epoch(_)\n  async closed@node \"c\"(k) <- value(k, _)\n", "in ticks in which nothing was received"},
		"forgets by itself":                           {"value(k, v), not put", "value(k, v), not value(k, 7), not put", "deletes facts in ticks in which"},
		"a divided fact that all know":                {"next asked(id) <- scan", "next epoch(v) <- least(_, v)\n  next asked(id) <- scan", "epoch has no key"},
		"counts other than keys":                      {"n(count<k>) <- value(k, _)", "n(count<v>) <- value(_, v)", "does not count by the key"},
		"nought where there is one":                   {"not value(_, _)", "not value(\"a\", _)", "does not derive zero"},
		"a sum that decides":                          {"n(n), leader(l)", "n(n), n > 2, leader(l)", "uses n for more than"},
		"some ticks after a divided input withs more": {"(k) <- echo(k)", "(k) <- echo(k), value(k, _)", "some ticks after a divided input with"},
		"late and absent":                             {"(k) <- echo(k)", "(k) <- put(k, _), not echo(k)", "which is derived some ticks after"},
		"late and kept":                               {"next value(k, v) <- least(k, v)\n", "next value(k, 1) <- echo(k)\n", "some ticks after a divided input with"},
		"joined by another column":                    {"least(k, min<v>) <- put(k, v)", "least(k, min<v>) <- put(k, v), value(_, v)", "has no key"},
		"sealed and sent another time":                {"sync at(0) <- not epoch(_)\n", "sync at(0) <- not epoch(_)\n  async row@l(0, k, v) <- put(k, v), leader(l)\n", "at other times"},
		"a count over what is counted ":               {"n(0) <- asked(_)", "n(1) <- asked(_)", "does not derive zero"},
	} {
		p, errs := given.Read(strings.Replace(honest.before.String(), m.old, m.new, 1))
		if p == nil || p.String() == honest.before.String() {
			t.Fatalf("%s: %s", name, errs)
		}
		// The program after is that of the rewriter where it takes the step, and the
		// honest one where it does not: the certificate must not even get there.
		err := certificate.Check(p, honest.after, honest.claim)
		if err == nil || !strings.Contains(err.Error(), m.want) {
			t.Errorf("%s: got %v, want %q", name, err, m.want)
		}
	}
}
