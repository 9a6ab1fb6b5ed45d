// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/adversary"
	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/lower"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
	"github.com/ashlar-dev/ashlar/internal/dedalus/scenario"
	"github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// Row is a mistake.
type Row struct {
	// Name is a unique name of the mistake; for a published mistake it begins with
	// its number. About is why it matters.
	Name, About string
	// Program is the original, one of those in programs; Steps produce a program
	// from it, and Change has pairs of old and new text in that program, which make
	// the mistake.
	Program string
	Steps   []string
	Change  []string
	// Both, if not empty, has pairs of old and new text in both the original and the
	// resulting program: the mistake is to take the step at all. Refused then has words
	// of the rewriter's refusal.
	Both    []string
	Refused string
	// Claim, where it is not nil, is the mistake: a wrong certificate of the last
	// step.
	Claim func(*certificate.Claim)
	// Inputs are messages, one a line; without them, Each messages are generated
	// for each input.
	Inputs string
	Each   int
	Bounds explore.Bounds
	Limits map[string]int
	// Still has the component of that name be still when nothing comes in, in place
	// of a comparison.
	Still string
	// Certificate are words of the refusal that is wanted, Explored and Random the
	// kinds of difference; "" is that it is not found so, and Untried that it is not
	// tried so.
	Certificate, Explored, Random string
}

// Untried means that a means was not tried, for example because there is no
// certificate.
const Untried = "-"

// Result is how a row was found.
type Result struct {
	Row
	// Refusal is the message of the certificate's checker, or "" if there is none.
	Refusal string
	// Difference is what exploration finds, and States how many states it took.
	Difference *explore.Difference
	Stir       *explore.Stir
	States     int64
	// Verdict is of a run under the adversary, with Seed, made shorter.
	Verdict  *adversary.Verdict
	Seed     uint64
	Schedule adversary.Schedule
}

func (r *Result) explored() string {
	switch {
	case r.Stir != nil:
		return "still"
	case r.Difference != nil && r.Difference.Unsure:
		return r.Difference.Kind + ", unless messages come more often"
	case r.Difference != nil:
		return r.Difference.Kind
	}
	return ""
}

func (r *Result) random() string {
	if r.Verdict == nil {
		return ""
	}
	return r.Verdict.Kind
}

// Found reports whether one of the means finds it.
func (r *Result) Found() bool { return r.Refusal != "" || r.explored() != "" || r.random() != "" }

// Wrong describes where the result differs from the row, or is "" if it does not.
func (r *Result) Wrong() string {
	switch {
	case r.Certificate != Untried && (r.Certificate == "") != (r.Refusal == "") || r.Certificate != Untried && !strings.Contains(r.Refusal, r.Certificate):
		return fmt.Sprintf("the certificate: %q, want %q", r.Refusal, r.Certificate)
	case r.Explored != Untried && r.explored() != r.Explored:
		return fmt.Sprintf("exploration finds %q, want %q", r.explored(), r.Explored)
	case r.Random != Untried && r.random() != r.Random:
		return fmt.Sprintf("the adversary finds %q, want %q", r.random(), r.Random)
	}
	return ""
}

//go:embed programs/*.ded
var programs embed.FS

// read lowers a program. What is wrong with it is our mistake.
func read(name, text string) (*logic.Program, error) {
	var diags source.List
	f := syntax.Parse(source.NewFile(name, []byte(text)), &diags)
	var p *logic.Program
	if !diags.HasErrors() {
		p = lower.Lower(f, &diags)
	}
	if p == nil {
		var b strings.Builder
		diags.Print(&b)
		return nil, fmt.Errorf("%s is no program:\n%s", name, b.String())
	}
	return p, nil
}

// made is what a row makes: the original, the program before the last step, what the
// last step makes of it, and that with the mistake; and the certificate of the last
// step. Judged and claimed are the original and the program before that the one with the
// mistake is held against.
type made struct {
	first, before, right, wrong *logic.Program
	judged, claimed             *logic.Program
	claim                       *certificate.Claim
}

// Certified returns what the certificate's checker is to judge for a row: the program before, the
// one with the mistake, and the claim. It returns nil if the row has no certificate.
func (r *Row) Certified() (before, after *logic.Program, claim *certificate.Claim, err error) {
	m, err := r.make()
	if err != nil || m.claim == nil {
		return nil, nil, nil, err
	}
	if r.Claim != nil {
		r.Claim(m.claim)
	}
	return m.claimed, m.wrong, m.claim, nil
}

func (r *Row) make() (*made, error) {
	text, err := programs.ReadFile("programs/" + r.Program + ".ded")
	if err != nil {
		return nil, err
	}
	m := &made{}
	if m.first, err = read(r.Program, string(text)); err != nil {
		return nil, err
	}
	m.right = m.first
	for _, line := range r.Steps {
		s, err := rewrite.ParseStep(line)
		if err != nil {
			return nil, err
		}
		q, cert, err := rewrite.Apply(m.right, s)
		if err != nil {
			return nil, err
		}
		claim := cert.Claim(m.right)
		m.before, m.right, m.claim = m.right, q, &claim
	}
	m.judged, m.claimed = m.first, m.before
	if r.Both != nil {
		return m, r.both(m)
	}
	changed := m.right.String()
	for i := 0; i+1 < len(r.Change); i += 2 {
		if n := strings.Count(changed, r.Change[i]); n != 1 {
			return nil, fmt.Errorf("%q is there %d times, want once, in\n%s", r.Change[i], n, changed)
		}
		changed = strings.Replace(changed, r.Change[i], r.Change[i+1], 1)
	}
	m.wrong, err = read(r.Program+" with the mistake", changed)
	return m, err
}

// both makes the mistake in the program before the one step and after it.
func (r *Row) both(m *made) error {
	if m.before != m.first {
		return errors.New("a mistake in both programs is one of a single step")
	}
	change := func(p *logic.Program) (*logic.Program, error) {
		text := p.String()
		for i := 0; i+1 < len(r.Both); i += 2 {
			text = strings.ReplaceAll(text, r.Both[i], r.Both[i+1])
		}
		if text == p.String() {
			return nil, fmt.Errorf("none of %q is in\n%s", r.Both, text)
		}
		return read(r.Program+" with the mistake", text)
	}
	var err error
	if m.judged, err = change(m.first); err != nil {
		return err
	}
	if m.wrong, err = change(m.right); err != nil {
		return err
	}
	m.claimed = m.judged
	s, err := rewrite.ParseStep(r.Steps[0])
	if err != nil {
		return err
	}
	var refused *rewrite.Refusal
	if _, _, err := rewrite.Apply(m.judged, s); !errors.As(err, &refused) || !strings.Contains(err.Error(), r.Refused) {
		return fmt.Errorf("the rewriter says %v, want a refusal with %q", err, r.Refused)
	}
	return nil
}

// Pair is the program that a row is held against, and the one with the mistake.
func (r *Row) Pair() (before, after *logic.Program, err error) {
	m, err := r.make()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	return m.judged, m.wrong, nil
}

// Try goes through all means that a row is tried by.
func Try(ctx context.Context, r Row) (*Result, error) {
	m, err := r.make()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	out := &Result{Row: r}
	if r.Certificate != Untried {
		if err := certificate.Check(m.before, m.right, *m.claim); err != nil {
			return nil, fmt.Errorf("%s: without the mistake the certificate is refused: %w", r.Name, err)
		}
		claim := *m.claim
		if r.Claim != nil {
			r.Claim(&claim)
		}
		if err := certificate.Check(m.claimed, m.wrong, claim); err != nil {
			out.Refusal = err.Error()
		}
	}
	if r.Explored != Untried {
		if err := out.explore(ctx, m); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	if r.Random != Untried {
		if err := out.play(ctx, m); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	return out, nil
}

// given are the messages that a program gets.
func (r *Row) given(p *logic.Program) ([]interp.Message, error) {
	if r.Inputs == "" {
		return scenario.Inputs(p, r.Each), nil
	}
	return scenario.Read(p, r.Name, r.Inputs)
}

// must are messages that were read before for another program of the row.
func (r *Row) must(p *logic.Program) []interp.Message {
	m, err := r.given(p)
	invariant.Check(err == nil, "mutants: %v", err)
	return m
}

func (r *Result) limit(m *explore.Model) {
	for timer, n := range r.Limits {
		m.Limit(timer, n)
	}
}

func (r *Result) explore(ctx context.Context, m *made) error {
	inputs, err := r.given(m.first)
	if err != nil {
		return err
	}
	f := scenario.Functions(m.first)
	if r.Still != "" {
		model := explore.NewModel(m.wrong, inputs, nil, f, r.Bounds)
		r.limit(model)
		stir, out, err := model.Still(ctx, r.Still)
		if err != nil {
			return err
		}
		r.Stir, r.States = stir, out.States
		return nil
	}
	for _, p := range []*logic.Program{m.right, m.wrong} {
		first := m.first
		if p == m.wrong {
			first = m.judged
		}
		c, err := explore.Compare(ctx, first, p, func(q *logic.Program) []interp.Message {
			// All have the same inputs, by their names.
			if r.Inputs != "" {
				return r.must(q)
			}
			own := make([]interp.Message, len(inputs))
			for i, x := range inputs {
				own[i] = interp.Message{To: x.To, Fact: interp.Fact{Relation: q.Find(x.Fact.Relation.Name), Row: x.Fact.Row}}
			}
			return own
		}, f, r.Bounds, r.limit)
		if err != nil {
			return err
		}
		if p == m.right && (c.Different != nil || !c.Complete()) {
			return fmt.Errorf("without the mistake: complete %v, %v", c.Complete(), c.Different)
		}
		if p == m.wrong {
			r.Difference, r.States = c.Different, c.Second.States
		}
	}
	return nil
}

// seedsMax is how many runs the adversary has for a row.
const seedsMax = 150

// play runs the program under the adversary. Of the program without the mistake it
// wants as many runs explained as were needed to find it.
func (r *Result) play(ctx context.Context, m *made) error {
	inputs := map[*logic.Program][]interp.Message{}
	for _, p := range []*logic.Program{m.first, m.judged, m.right, m.wrong} {
		in, err := r.given(p)
		if err != nil {
			return err
		}
		inputs[p] = in
	}
	o := adversary.Options{Functions: scenario.Functions(m.first), Steps: 150, Faults: adversary.Faults{Crashes: r.Bounds.Crashes, Stops: r.Bounds.Omissions}}
	judge, oracle := adversary.NewOracle(m.first, inputs[m.first], o), adversary.NewOracle(m.judged, inputs[m.judged], o)
	wrong, right := adversary.NewPlayer(m.wrong, inputs[m.wrong], o), adversary.NewPlayer(m.right, inputs[m.right], o)
	for seed := range uint64(seedsMax) {
		if v := judge.Judge(ctx, right.Random(seed)); v.Kind != "" {
			return fmt.Errorf("without the mistake, seed %d: %v", seed, v)
		}
		run := wrong.Random(seed)
		v := oracle.Judge(ctx, run)
		if v.Kind == "" {
			continue
		}
		oracle.TicksMax = 200
		short := wrong.Shrink(ctx, run.Schedule, func(x *adversary.Run) bool { return oracle.Judge(ctx, x).Kind == v.Kind })
		oracle.TicksMax = 4000
		if w := oracle.Judge(ctx, short); w.Kind == v.Kind {
			run, v = short, w
		}
		r.Verdict, r.Seed, r.Schedule = v, seed, run.Schedule
		return nil
	}
	return nil
}
