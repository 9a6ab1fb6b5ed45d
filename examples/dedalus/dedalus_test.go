// SPDX-License-Identifier: Apache-2.0

package dedalus_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/examples/dedalus/crypt"
	"github.com/ashlar-dev/ashlar/internal/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/lower"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
	"github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// TestTranscripts shows of each program what check tells of it ("check"), the
// verdicts on each component and what of it could be taken apart ("verdicts"), each
// step of its script with what it rests on ("steps"), steps that are refused
// ("refused"), and the program that results ("rewritten").
func TestTranscripts(t *testing.T) {
	programs, err := filepath.Glob("*.ded")
	if err != nil || len(programs) < 12 {
		t.Fatalf("%v, %v", programs, err)
	}
	for _, path := range programs {
		name := strings.TrimSuffix(path, ".ded")
		t.Run(name, func(t *testing.T) {
			datadriven.RunTest(t, filepath.Join("testdata", name), func(t *testing.T, d *datadriven.TestData) string {
				switch d.Cmd {
				case "check":
					return check(t, path)
				case "verdicts":
					return verdicts(load(t, name))
				case "steps":
					var b strings.Builder
					for _, s := range rewritten(t, name) {
						b.WriteString(s.explain())
					}
					return b.String()
				case "refused":
					return refused(t, name, strings.TrimSpace(d.Input))
				case "rewritten":
					steps := rewritten(t, name)
					return steps[len(steps)-1].after.String()
				}
				d.Fatalf(t, "unknown command")
				return ""
			})
		})
	}
}

// check is what is wrong with a program, and what its components receive and send.
// The program must be laid out.
func check(t *testing.T, path string) string {
	var diags source.List
	f := parse(t, path, file(t, path), &diags)
	if got := syntax.Format(f); got != string(f.Source.Text) {
		t.Errorf("%s is not laid out: ashlar dedalus fmt --write", path)
	}
	p := lower.Lower(f, &diags)
	var b strings.Builder
	diags.Print(&b)
	for _, c := range p.Components {
		fmt.Fprintf(&b, "%s: %d instances, %d rules\n", c.Name, c.Instances, len(c.Rules))
		fmt.Fprintf(&b, "  receives %s\n  sends %s\n", names(p.In(c)), names(p.Out(c)))
	}
	return b.String()
}

// verdicts tell of each component as a whole.
func verdicts(p *logic.Program) string {
	var b strings.Builder
	for _, c := range p.Components {
		part := analyze.Whole(p, c)
		fmt.Fprintf(&b, "%s\n", c.Name)
		for i, r := range c.Rules {
			fmt.Fprintf(&b, "%4d  %v\n", i+1, r)
		}
		persisted, _ := analyze.Persisted(part, func(*logic.Relation) bool { return false })
		fmt.Fprintf(&b, "  persisted: %s\n  only when something came in: %s\n", among(p, persisted), among(p, analyze.Existence(part)))
		keys, partition := analyze.Partition(part)
		for _, v := range []struct {
			what string
			v    analyze.Verdict
		}{{"functional", analyze.Functional(part)}, {"monotonic", analyze.Monotonic(part)}, {"state machine", analyze.StateMachine(part)}, {"partition", partition}} {
			fmt.Fprintf(&b, "  %s: %s\n", v.what, strings.ReplaceAll(v.v.String(), "\n", "\n  "))
		}
		for _, k := range keys {
			fmt.Fprintf(&b, "    %s\n", written(k))
		}
	}
	return b.String()
}

func written(k analyze.Keys) string {
	var out []string
	for r, key := range k {
		out = append(out, r.Name+" by "+key.Name(r))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func names(rels []*logic.Relation) string {
	if len(rels) == 0 {
		return "nothing"
	}
	var out []string
	for _, r := range rels {
		out = append(out, r.Name)
	}
	return strings.Join(out, ", ")
}

func among(p *logic.Program, set map[*logic.Relation]bool) string {
	return names(slices.DeleteFunc(slices.Clone(p.Relations), func(r *logic.Relation) bool { return !set[r] || r.Kind == logic.Static }))
}

// step is one of a script, with the programs before and after it.
type step struct {
	before, after *logic.Program
	cert          *rewrite.Certificate
}

// explain says what a step did and what it rests on.
func (s step) explain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n", s.cert.Step)
	for _, r := range s.cert.Moved {
		fmt.Fprintf(&b, "  moves %s\n", r)
	}
	for _, r := range s.cert.Copied {
		fmt.Fprintf(&b, "  copies %s\n", r)
	}
	keys := analyze.Keys{}
	for r, k := range s.cert.Keys {
		keys[s.after.Find(r)] = k
	}
	if len(keys) > 0 {
		fmt.Fprintf(&b, "  divides %s\n", written(keys))
	}
	if p := s.cert.Partial; p != nil {
		fmt.Fprintf(&b, "  orders %s, seals %v, depth %d\n", strings.Join(p.Replicated, ", "), p.Sealed, p.Depth)
	}
	for _, a := range s.cert.Assuming {
		fmt.Fprintf(&b, "  assuming %v\n", a)
	}
	return b.String()
}

// rewritten takes the steps of a program's script, after replacing in the program
// each of some texts. What each says of itself must hold,
// and each program that results must be read again as it was written.
func rewritten(t testing.TB, name string, oldNew ...string) []step {
	t.Helper()
	return scripted(t, name, name, oldNew...)
}

// scripted are the steps that a script with a name of its own takes.
func scripted(t testing.TB, name, script string, oldNew ...string) []step {
	t.Helper()
	var out []step
	p := mutant(t, name, oldNew...)
	for _, line := range strings.Split(file(t, script+".steps"), "\n") {
		if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) == "" {
			continue
		}
		s, err := rewrite.ParseStep(line)
		if err != nil {
			t.Fatal(err)
		}
		q, cert, err := rewrite.Apply(p, s)
		if err != nil {
			t.Fatal(err)
		}
		if err := certificate.Check(p, q, cert.Claim(p)); err != nil {
			t.Fatalf("%s: the certificate: %v", line, err)
		}
		if again := read(t, name, q.String()); again.String() != q.String() {
			t.Fatalf("%s: read again:\n%v\nwas\n%v", line, again, q)
		}
		out = append(out, step{p, q, cert})
		p = q
	}
	return out
}

// refused takes a step that must not be taken, after those of the script.
func refused(t *testing.T, name, line string) string {
	p := load(t, name)
	if _, err := os.Stat(name + ".steps"); err == nil {
		steps := rewritten(t, name)
		p = steps[len(steps)-1].after
	}
	s, err := rewrite.ParseStep(line)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = rewrite.Apply(p, s); err == nil {
		t.Fatalf("%s is not refused", line)
	}
	return err.Error() + "\n"
}

func file(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func parse(t testing.TB, path, text string, diags *source.List) *syntax.File {
	t.Helper()
	f := syntax.Parse(source.NewFile(path, []byte(text)), diags)
	if diags.HasErrors() {
		var b strings.Builder
		diags.Print(&b)
		t.Fatal(b.String())
	}
	return f
}

// read lowers a program, which must be without errors.
func read(t testing.TB, path, text string) *logic.Program {
	t.Helper()
	var diags source.List
	p := lower.Lower(parse(t, path, text, &diags), &diags)
	if p == nil || p.Validate() != nil {
		var b strings.Builder
		diags.Print(&b)
		t.Fatal(b.String())
	}
	return p
}

func load(t testing.TB, name string) *logic.Program {
	t.Helper()
	return read(t, name+".ded", file(t, name+".ded"))
}

// mutant is a program with each of some texts replaced, which must be there once.
func mutant(t testing.TB, name string, oldNew ...string) *logic.Program {
	t.Helper()
	text := file(t, name+".ded")
	for i := 0; i < len(oldNew); i += 2 {
		if strings.Count(text, oldNew[i]) != 1 {
			t.Fatalf("%q is not there once", oldNew[i])
		}
		text = strings.Replace(text, oldNew[i], oldNew[i+1], 1)
	}
	return read(t, name+".ded", text)
}

// functions are those that the programs have from Go.
func functions() interp.Functions {
	of := func(f func([]byte) []byte) func([]logic.Value) (logic.Value, bool) {
		return func(a []logic.Value) (logic.Value, bool) {
			return logic.Value{Kind: logic.Bytes, Str: string(f([]byte(a[0].Str)))}, true
		}
	}
	return interp.Functions{"sign": of(crypt.Sign), "encrypt": of(crypt.Encrypt), "decrypt": of(crypt.Decrypt)}
}

// message is one from outside, written as in the language: in(node "c", 1) to leader/0.
func message(t testing.TB, p *logic.Program, text string) interp.Message {
	t.Helper()
	fact, to, _ := strings.Cut(text, " to ")
	name, args, _ := strings.Cut(fact, "(")
	r := p.Find(name)
	if r == nil {
		t.Fatalf("no relation %s", name)
	}
	var cols []string
	for i, c := range r.Columns {
		cols = append(cols, fmt.Sprintf("c%d: %v", i, c.Type))
	}
	q := read(t, "fact", fmt.Sprintf("program p\ncomponent c { static f(%s) = { (%s } }\n", strings.Join(cols, ", "), args))
	return interp.Message{To: to, Fact: interp.Fact{Relation: r, Row: q.Find("f").Facts[0]}}
}

func messages(t testing.TB, texts ...string) func(p *logic.Program) []interp.Message {
	return func(p *logic.Program) []interp.Message {
		var out []interp.Message
		for _, text := range texts {
			out = append(out, message(t, p, text))
		}
		return out
	}
}
