// SPDX-License-Identifier: Apache-2.0

package rewrite_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/adversary"
	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// epochs is storage by key with an epoch that all keys share. If a put is refused because of
// it, the leader puts another key with the old epoch, which must not be accepted.
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

// scans is storage by key that can be asked for the number of its values and for each value. It
// reports deleted values a tick later.
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

// told parses messages from clients, in the syntax of the language: in(1, "a") to leader/0.
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

// partially divides a program by a step, and replaces texts in the result.
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

// TestPartialExplored compares programs with their partial partitionings, in every order of
// messages.
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

// TestPartialOfAPiece divides a piece that another step has made. Its nodes keep their old
// names, and the ordering component must lead to the new nodes.
func TestPartialOfAPiece(t *testing.T) {
	text := strings.Replace(strings.Replace(scans, "async scan@s(id) <- ask(id), storage(s)", "async scan@s(id) <- ask(id), storage(s)\n  async ping@s(id) <- ask(id), storage(s)", 1),
		"async size@l", "output pong(p: node, id: u64)\n  async pong@node \"c\"(self, id) <- ping(id)\n  async size@l", 1)
	p := given.Program(t, text)
	piece := partially(t, p, "mutual storage rules 1 2 3 4 5 7 8 9 as keeper")
	q := partially(t, piece, "partial keeper into 2")
	got, err := explore.Compare(t.Context(), p, q, told(t, `in("a", 1) to leader/0`, `ask(1) to leader/0`), nil, explore.Bounds{Together: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Different != nil || !got.Complete() || len(got.Second.Final) == 0 {
		t.Errorf("complete %v: %v\n%s", got.Complete(), got.Different, pathOf(got))
	}
}

// TestPartialMistakes changes partial partitionings, and requires that both exploration and the
// certificate checker find each change.
func TestPartialMistakes(t *testing.T) {
	const (
		put, epoch = `in(1, 1, "a") to leader/0`, `advance(2) to leader/0`
		in, scan   = `in("a", 1) to leader/0`, `ask(1) to leader/0`
	)
	for name, m := range map[string]struct {
		program string
		inputs  []string
		change  []string
		kind    string
	}{
		"B5: frozen before the first": {epochs, []string{put}, []string{"storage_voted(v), storage_done(d), v > d", "storage_done(0)"}, "liveness"},
		"B6: an input is known by what it says": {epochs, []string{`in(1, 1, "a") to leader/0`, `advance(1) to leader/0`, epoch}, []string{
			"storage_begin(m) <- epoch_start(_), storage_number(u), m := u + 1", "storage_begin(m) <- epoch_start(_), storage_number(_), m := 1",
			"sync epoch_storage(x0) <- epoch_do(u, _, x0), storage_voted(u), storage_done(d), d < u", "sync epoch_storage(x0) <- epoch_do(u, _, x0), storage_voted(u), storage_done(d), d <= u"}, "safety"},
		"no freeze":                  {epochs, []string{put, epoch}, []string{"storage_voted(v), storage_done(d), v > d", "storage_voted(v), storage_done(d), v > d, d > 9"}, "safety"},
		"not all have voted":         {epochs, []string{put, epoch}, []string{"storage_votes(u, k), k >= 2", "storage_votes(u, k), k >= 1"}, "safety"},
		"what waits is lost":         {epochs, []string{put, epoch}, []string{"  next put_kept(x0, x1, x2) <- put_kept(x0, x1, x2), storage_frozen()\n", ""}, "liveness"},
		"what waits is not held":     {epochs, []string{put, epoch}, []string{"put_kept(x0, x1, x2), not storage_frozen()", "put_kept(x0, x1, x2)"}, "safety"},
		"one piece is told":          {epochs, []string{put, epoch}, []string{"epoch_now(u, x0), storage_parts(self, part, to)", "epoch_now(u, x0), storage_parts(self, part, to), part < 1"}, "liveness"},
		"never done":                 {epochs, []string{put, epoch}, []string{"next storage_begun(u) <- storage_turn(i, _), u := i / 1", "next storage_begun(u) <- storage_turn(i, _), u := i / 2"}, "liveness"},
		"no seal":                    {scans, []string{in, scan}, []string{"storage_want(f, i, 2, p, n)", "storage_want(f, i, _, p, n)"}, "safety"},
		"sealed before all is there": {scans, []string{in, scan}, []string{"storage_got(f, i, n)\n  next", "storage_got(f, i, _)\n  next"}, "safety"},
		"parts are not added up":     {scans, []string{in, scan}, []string{"size_sum(f, i, x0, sum<x1>)", "size_sum(f, i, x0, min<x1>)"}, "safety"},
		"pieces count for others":    {scans, []string{in, scan}, []string{"storage_rows(to, 2, 0) <- storage_dest(to)", "storage_rows(to, 2, 1) <- storage_dest(to)"}, "liveness"},
		"one number for all":         {scans, []string{`ask(1) to leader/0`, `ask(2) to leader/0`}, []string{"storage_number(u), m := u + 1", "storage_number(_), m := 1"}, "liveness"},
	} {
		t.Run(name, func(t *testing.T) {
			p := given.Program(t, m.program)
			q := partially(t, p, "partial storage into 2", m.change...)
			s, err := rewrite.ParseStep("partial storage into 2")
			if err != nil {
				t.Fatal(err)
			}
			_, cert, err := rewrite.Apply(p, s)
			if err != nil {
				t.Fatal(err)
			}
			if certificate.Check(p, q, cert.Claim(p)) == nil {
				t.Error("the certificate passes")
			}
			got, err := explore.Compare(t.Context(), p, q, told(t, m.inputs...), nil, explore.Bounds{Together: 1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Different == nil || got.Different.Kind != m.kind {
				t.Errorf("want a difference of %s, got %v in %d states", m.kind, got.Different, got.Second.States)
			}
		})
	}
}

// TestPartialRefused requests impossible steps, and checks the reasons given.
func TestPartialRefused(t *testing.T) {
	for name, r := range map[string]struct {
		program, old, new, step string
		want                    []string
	}{
		"state that a divided input changes": {epochs, "next  now(e) <- epoch(e)\n", "next  now(e) <- epoch(e)\n  next  now(e) <- good(e, _)\n", "", []string{"with epoch replicated", "now has no column"}},
		"a step by itself":                   {epochs, "next  now(e) <- now(e)", "next  now(m) <- now(e), m := e + 1", "", []string{"the rule changes state in ticks in which nothing was received", "next now(m)"}},
		"a message by itself":                {epochs, "async done@l(id) <- good(id, _), leader(l)", "async done@l(id) <- value(_, id), leader(l)", "", []string{"the rule sends in ticks in which nothing was received", "async done@l"}},
		"forgetting by itself":               {epochs, "  next  now(e) <- now(e)", "  next  now(e) <- now(e), e < 9", "", []string{"the rule deletes facts in ticks in which nothing was received", "e < 9"}},
		"a join of two keys":                 {epochs, "sync  good(id, k) <- put(id, _, k), not now(_)", "sync  good(id, k) <- put(id, _, k), value(_, id), not now(_)", "", []string{"good is read here without a value for its c0"}},
		"an echo that meets others":          {epochs, "async done@l(id) <- good(id, _), leader(l)", "next  was(id, k) <- good(id, k)\n  async done@l(id) <- was(id, k), value(k, _), leader(l)", "", []string{"was is derived some ticks after a divided input"}},
		"a sum that decides":                 {scans, "n(n), leader(l)", "n(n), n > 1, leader(l)", "", []string{"n counts over all keys", "size@l"}},
		"a sum to the outside":               {scans, "async size@l(id, n) <- asked(id), n(n), leader(l)", "output much(id: u64, n: u64)\n  async much@node \"c\"(id, n) <- asked(id), n(n), leader(_)\n  async size@l(id, 0) <- asked(id), leader(l)", "", []string{"much is an output"}},
		"a count of no keys":                 {scans, "n(count<k>) <- value(k, _)", "n(count<v>) <- value(_, v)", "", []string{"n is not a count or sum over different keys"}},
		"a nought that is none":              {scans, "n(0) <- asked(_), not value(_, _)", "n(0) <- asked(_), not value(_, 3)", "", []string{"n is derived here other than as zero where there is nothing to count"}},
		"a sum at another time":              {scans, "async row@l", "async size@l(v, v) <- put(_, v), leader(l)\n  async row@l", "", []string{"size is sent here at other times"}},
		"inputs from outside":                {epochs, "", "", "partial leader into 2", []string{"comes from outside"}},
		"no replicated input":                {epochs, "", "", "partial storage into 2 epoch by e, put by k", []string{"storage has no two inputs"}},
		"keys that are none":                 {epochs, "", "", "partial storage into 2 put by c0", []string{"none by the keys that the step names"}},
		"one piece":                          {epochs, "", "", "partial storage into 1", []string{"two parts"}},
	} {
		p, errs := given.Read(strings.Replace(r.program, r.old, r.new, 1))
		if p == nil {
			t.Fatalf("%s: %s", name, errs)
		}
		if r.step == "" {
			r.step = "partial storage into 2"
		}
		s, err := rewrite.ParseStep(r.step)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = rewrite.Apply(p, s)
		if err == nil {
			t.Errorf("%s is not refused", name)
			continue
		}
		for _, want := range r.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: want %q, got %v", name, want, err)
			}
		}
	}
}

// TestPartialAdversary has more inputs, nodes and pieces than can be explored. It runs random
// schedules, and an oracle decides whether the original program can send the same outputs.
// ASHLAR_DEDALUS_SEEDS is the number of schedules.
func TestPartialAdversary(t *testing.T) {
	seeds := uint64(5)
	if text := os.Getenv("ASHLAR_DEDALUS_SEEDS"); text != "" {
		var err error
		if seeds, err = strconv.ParseUint(text, 10, 32); err != nil {
			t.Fatal(err)
		}
	}
	durable := strings.NewReplacer("var    now(e: max<u64>)", "durable now(e: max<u64>)", "table  value(", "log    value(").Replace(epochs)
	for name, c := range map[string]struct {
		program string
		step    string
		inputs  []string
		faults  adversary.Faults
		// explained is the number of runs whose outputs the oracle finds in the original program
		// within its bound. For the other runs it must not be sure that there are none.
		explained int
	}{
		"epochs": {epochs, "partial storage into 3", []string{`in(1, 1, "a") to leader/0`, `in(2, 2, "b") to leader/0`, `in(3, 2, "c") to leader/0`,
			`advance(2) to leader/0`, `advance(3) to leader/0`}, adversary.Faults{}, 1},
		"scans": {scans, "partial storage into 3", []string{`in("a", 1) to leader/0`, `in("b", 2) to leader/0`, `in("c", 3) to leader/0`, `in("d", 4) to leader/0`,
			`ask(1) to leader/0`}, adversary.Faults{}, 1},
		"two nodes": {scans + "deploy { leader: 1, storage: 2 }\n", "partial storage into 2", []string{`in("a", 1) to leader/0`, `in("b", 2) to leader/0`, `ask(1) to leader/0`, `ask(2) to leader/0`}, adversary.Faults{}, 1},
		"crashes": {durable, "partial storage into 2", []string{`in(1, 1, "a") to leader/0`, `in(2, 2, "b") to leader/0`, `advance(2) to leader/0`, `advance(3) to leader/0`},
			adversary.Faults{Crashes: 2, Spared: []string{"leader"}}, 1},
		"a piece that stops": {epochs, "partial storage into 2", []string{`in(1, 1, "a") to leader/0`, `in(2, 2, "b") to leader/0`, `advance(2) to leader/0`},
			adversary.Faults{Stops: 1, Spared: []string{"leader"}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := given.Program(t, c.program)
			q := partially(t, p, c.step)
			o := adversary.Options{Faults: c.faults}
			player, oracle := adversary.NewPlayer(q, told(t, c.inputs...)(q), o), adversary.NewOracle(p, told(t, c.inputs...)(p), o)
			explained := 0
			for seed := range seeds {
				r := player.Random(seed)
				v := oracle.Judge(t.Context(), r)
				if v.Kind == "" {
					explained++
				} else if v.Sure {
					t.Errorf("seed %d: %v\n%s", seed, v, strings.Join(r.Schedule.Tell(), "\n"))
				}
				if !r.Rest {
					t.Errorf("seed %d: no rest after %d steps", seed, r.Steps)
				}
			}
			t.Logf("%d of %d runs explained", explained, seeds)
			if explained < c.explained {
				t.Errorf("%d runs are explained, want %d", explained, c.explained)
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

// oneForAll is sealed in parts, and one piece sends for all. The other pieces must still
// announce a count, or the receiver waits for it forever.
const oneForAll = `program oneforall
component leader {
  input  in(k: text)
  input  ask(id: u64)
  output item(id: u64, k: text)
  static storage(s: node) = nodes storage
  async put@s(k) <- in(k), storage(s)
  async scan@s(id) <- ask(id), storage(s)
  async item@node "c"(id, k) <- row(id, k)
}
component storage {
  static leader(l: node) = nodes leader
  table  value(k: text)
  next   value(k) <- put(k)
  next   asked(id) <- scan(id)
  async  row@l(id, k) <- scan(id), value(k), leader(l)
  async  row@l(id, "end") <- asked(id), leader(l)
}
`

func TestPartialOneForAll(t *testing.T) {
	p := given.Program(t, oneForAll)
	for name, change := range map[string][]string{
		"as it is":          nil,
		"one piece's count": {"storage_dest(l) <- asked(id), leader(l)", "storage_dest(l) <- asked(id), leader(l), storage_turn(_, 0)"},
	} {
		q := partially(t, p, "partial storage into 2 put by c0", change...)
		got, err := explore.Compare(t.Context(), p, q, told(t, `in("a") to leader/0`, `ask(1) to leader/0`), nil, explore.Bounds{Together: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Complete() || (got.Different != nil) != (change != nil) {
			t.Errorf("%s: complete %v: %v\n%s", name, got.Complete(), got.Different, pathOf(got))
		}
	}
}
