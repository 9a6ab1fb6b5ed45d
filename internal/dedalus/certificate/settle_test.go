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

// chimes are keys that a timer rings for; what is put takes some ticks to be open, and
// is told when it is durable.
const chimes = `program chimes
component keeper {
  input  put(k: text, v: u64)
  output rang(k: text, n: u64)
  output kept(k: text, v: u64)
  timer  bell every 1s
  log    value(k: text, v: u64)
  table  asked(k: text, v: u64) delete when value(k, _)
  table  rung(k: text)
  next   asked(k, v) <- put(k, v), not value(k, _)
  sync   least(k, min<v>) <- asked(k, v)
  log    value(k, v) <- least(k, v), not value(k, _)
  next   telling(k, v) <- least(k, v), not value(k, _)
  next   telling(k, v) <- put(k, v), v > 100
  async  kept@node "c"(k, v) <- telling(k, v)
  async  rang@node "c"(k, v) <- bell(), value(k, v)
  next   rung(k) <- bell(), value(k, _)
}
assume collected asked
assume timely value
`

// chiming is what relays the timer and what is put, and what divides the rest.
func chiming(t *testing.T) []rewritten {
	return taken(t, chimes, "relay keeper as storage", "partial storage into 2")
}

func TestRelayHonest(t *testing.T) {
	for _, r := range chiming(t) {
		if err := certificate.Check(r.before, r.after, r.claim); err != nil {
			t.Errorf("%s: %v", r.step, err)
		}
	}
	if c := chiming(t)[1].claim.Partial; !c.Settling || !slices.Equal(c.Replicated, []string{"bell_storage"}) {
		t.Errorf("%+v", c)
	}
}

// TestRelayFalseClaims makes false claims.
func TestRelayFalseClaims(t *testing.T) {
	for name, lie := range map[string]struct {
		at     int
		change func(r *rewritten)
		want   string
	}{
		"a rule stays":       {0, func(r *rewritten) { r.claim.Moved = r.claim.Moved[1:] }, "must be the rules of keeper"},
		"the last one stays": {0, func(r *rewritten) { r.claim.Moved = r.claim.Moved[:len(r.claim.Moved)-1] }, "must move all rules"},
		"no rules":           {0, func(r *rewritten) { r.claim.Moved = nil }, "must move all rules"},
		"another name":       {0, func(r *rewritten) { r.claim.Name = "keeper" }, "is not a new component"},
		"it does not go on":  {1, func(r *rewritten) { r.claim.Partial.Settling = false }, "in ticks in which nothing was received"},
		"what is put to all": {1, func(r *rewritten) { r.claim.Partial.Replicated = []string{"put_storage"} }, ""},
		"nothing from outside": {0, func(r *rewritten) {
			r.before.Find("put").Kind, r.before.Find("bell").Kind = logic.Derived, logic.Derived
		}, ""},
	} {
		r := chiming(t)[lie.at]
		lie.change(&r)
		if err := certificate.Check(r.before, r.after, r.claim); err == nil || !strings.Contains(err.Error(), lie.want) {
			t.Errorf("%s: got %v, want %q", name, err, lie.want)
		}
	}
	// Of what the certificate says to be at rest by itself nothing waits.
	r := partial(t, ledgers)
	r.claim.Partial.Settling = true
	if err := certificate.Check(r.before, r.after, r.claim); err == nil || !strings.Contains(err.Error(), "a replicated input must have none") {
		t.Errorf("an input that says something: %v", err)
	}
}

// TestSettlingForbidden has programs that do not come to rest by themselves, or of which
// it makes a difference when, divided all the same.
func TestSettlingForbidden(t *testing.T) {
	honest := chiming(t)[1]
	const rung = "next rung(k) <- bell_storage(), value(k, _)\n"
	for name, m := range map[string]struct{ old, new, want string }{
		"it blinks":                {rung, "next rung(k) <- value(k, _)\n  next off(k) <- value(k, _), not off(k)\n  sync seen(k) <- off(k)\n", "off may change forever in ticks in which nothing was received"},
		"two blink":                {rung, "next rung(k) <- value(k, _)\n  next off(k) <- on(k)\n  sync high(k) <- off(k)\n  next on(k) <- value(k, _), not high(k)\n", "may change forever"},
		"new values":               {rung, "next rung(k) <- value(k, _)\n  next value(k, w) <- value(k, v), w := v + 1\n", "computes new values"},
		"new values in the head":   {rung, "next rung(k) <- value(k, _)\n  next value(k, v + 1) <- value(k, v)\n", "computes new values"},
		"filled by itself":         {rung, rung + "  next asked(k, v) <- value(k, v)\n", "may derive again"},
		"there by itself":          {rung, rung + "  sync asked(k, v) <- value(k, v)\n", "may derive again"},
		"for a tick, by itself":    {rung, rung + "  sync telling(k, v) <- value(k, v)\n", "may derive again"},
		"for a tick, and comes in": {rung, rung + "  async kept@node \"c\"(k, v) <- telling(k, v), put_storage(k, v)\n", "joins what idle ticks change"},
		"forgets by a comparison":  {"asked(k, v), not value(k, _)\n  next rung(k) <- rung(k)", "asked(k, v), v < 7\n  next rung(k) <- rung(k)", "deletes facts by a condition"},
	} {
		text := honest.before.String()
		if strings.Count(text, m.old) != 1 {
			t.Fatalf("%s: %q is not there once in\n%s", name, m.old, text)
		}
		p, errs := given.Read(strings.Replace(text, m.old, m.new, 1))
		if p == nil {
			t.Fatalf("%s: %s", name, errs)
		}
		// What is more there, is there after, too, and has a key.
		after, claim := honest.after.Clone(), honest.claim
		claim.Keys = map[string]certificate.Key{}
		for n, k := range honest.claim.Keys {
			claim.Keys[n] = k
		}
		for _, r := range p.Relations {
			if after.Find(r.Name) == nil {
				after.Relations = append(after.Relations, r)
				claim.Keys[r.Name] = certificate.Key{}
			}
		}
		if err := certificate.Check(p, after, claim); err == nil || !strings.Contains(err.Error(), m.want) {
			t.Errorf("%s: got %v, want %q", name, err, m.want)
		}
		s, err := rewrite.ParseStep("partial storage into 2")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err = rewrite.Apply(p, s); err == nil {
			t.Errorf("%s is divided", name)
		}
	}
}
