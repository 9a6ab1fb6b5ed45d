// SPDX-License-Identifier: Apache-2.0

package stdlib_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/module"
	"github.com/ashlar-dev/ashlar/tla/stdlib"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// files is a set of modules held in memory.
type files map[string]string

func (f files) ReadFile(name string) ([]byte, error) {
	if text, ok := f[filepath.Base(name)]; ok {
		return []byte(text), nil
	}
	return nil, fs.ErrNotExist
}

// root is the module whose definitions are evaluated. Reference is a copy of the
// module under test whose name has no native operators, so that its definitions
// are evaluated.
const root = `---- MODULE Root ----
EXTENDS Integers, TLC
CONSTANTS a, b, m
REF == INSTANCE Reference
even(x) == x % 2 = 0
double(x) == x * 2
same(x) == x
one(x) == 1
first(S) == CHOOSE x \in S : TRUE
clock(e) == e.c
minus(x, y) == x - y
greater(x, y) == x > y
leq(x, y) == x <= y
next(x, y) == x + 1 = y
R == [p \in (1..2) \X (1..2) |-> p = <<1, 2>>]
R3 == [p \in (1..3) \X (1..3) |-> p[1] + 1 = p[2]]
`

// TestDefinitions: Go computes what the definition in TLA+ says.
func TestDefinitions(t *testing.T) {
	calls := map[string][][]string{}
	for _, line := range strings.Split(stdlib.Cases, "\n") {
		parts := strings.Split(line, " | ")
		if strings.HasPrefix(line, "Bitwise | | |") {
			parts = append([]string{"Bitwise", "|"}, strings.Split(strings.TrimPrefix(line, "Bitwise | | | "), " | ")...)
		}
		want := parts[len(parts)-1]
		if line == "" || strings.HasPrefix(want, "!") || stdlib.Lookup(parts[0], parts[1]).Primitive {
			continue
		}
		calls[parts[0]] = append(calls[parts[0]], parts)
	}
	checked := 0
	for _, name := range module.Names() {
		if len(calls[name]) > 0 {
			t.Run(name, func(t *testing.T) { checkModule(t, name, calls[name]) })
			checked += len(calls[name])
		}
	}
	if checked < 150 {
		t.Errorf("only %d calls were checked", checked)
	}
}

// primitive is a definition that only Go implements, with the parts of its left
// side.
var primitive = regexp.MustCompile(`(?m)^((-\.) (\w+)|(\w+) (\S+) (\w+)|(\w+)(\(.*\))?) == TRUE\n\\\* native$`)

// reference is the text of a module under the name Reference. It takes the
// definitions that only Go implements from the module itself.
func reference(t *testing.T, name string) string {
	text, ok := module.Source(name)
	if !ok {
		t.Fatalf("there is no module %s", name)
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines[0] = strings.Replace(lines[0], "MODULE "+name, "MODULE Reference", 1)
	at := 1
	for i, l := range lines {
		if strings.HasPrefix(l, "EXTENDS") {
			at = i + 1
		}
	}
	out := strings.Join(lines[:at], "") + "LOCAL ORIGINAL == INSTANCE " + name + "\n" + strings.Join(lines[at:], "")
	return primitive.ReplaceAllStringFunc(out, func(d string) string {
		m := primitive.FindStringSubmatch(d)
		switch {
		case m[2] != "":
			return m[1] + " == ORIGINAL!" + m[2] + "(" + m[3] + ")"
		case m[5] != "":
			return m[1] + " == ORIGINAL!" + m[5] + "(" + m[4] + ", " + m[6] + ")"
		}
		return m[1] + " == ORIGINAL!" + m[7] + regexp.MustCompile(`\(_.*?\)`).ReplaceAllString(m[8], "")
	})
}

func checkModule(t *testing.T, name string, calls [][]string) {
	text := reference(t, name)
	var main strings.Builder
	main.WriteString(root)
	for i, c := range calls {
		fmt.Fprintf(&main, "Case%d == REF!%s", i, c[1])
		if given := c[2 : len(c)-1]; len(given) > 0 {
			for j := range given {
				given[j] = strings.TrimPrefix(given[j], "@")
			}
			main.WriteString("(" + strings.Join(given, ", ") + ")")
		}
		main.WriteString("\n")
	}
	main.WriteString("====\n")
	loaded, diags, err := load.Load(files{"Root.tla": main.String(), "Reference.tla": text}, "Root.tla", load.Options{})
	if err != nil || loaded == nil {
		t.Fatalf("load: %v\n%s", err, diags.Error())
	}
	var list source.List
	cfg := config.Parse(source.NewFile("Root.cfg", []byte("CONSTANTS a = a b = b m = m\n")), &list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	model, err := model.New(loaded.Spec, cfg, model.Options{Reference: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range calls {
		got, err := model.Evaluate(model.Definition(fmt.Sprintf("Case%d", i)).Body)
		text, wider := strings.CutPrefix(c[len(c)-1], "?")
		want, parseErr := value.Parse(text)
		if wider {
			if err == nil {
				t.Errorf("%s: the definition gives %v", strings.Join(c, " | "), got)
			}
			continue
		}
		equal := false
		if compareErr := value.Catch(func() { equal = value.Equal(got, want) }); err != nil || parseErr != nil || compareErr != nil || !equal {
			t.Errorf("%s: the definition gives %v, errors %v, %v", strings.Join(c, " | "), got, err, parseErr)
		}
	}
}
