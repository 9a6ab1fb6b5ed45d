// SPDX-License-Identifier: Apache-2.0

package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/cockroachdb/datadriven"
)

func parse(name, text string) (*Config, *source.List) {
	diags := &source.List{}
	return Parse(source.NewFile(name, []byte(text)), diags), diags
}

// TestParse prints the meaning of a configuration, or its errors.
func TestParse(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "parse" {
				t.Fatalf("unknown command %q", d.Cmd)
			}
			c, diags := parse("C.cfg", d.Input)
			var b strings.Builder
			if !diags.HasErrors() {
				b.WriteString(c.String())
			}
			diags.Print(&b)
			return b.String()
		})
	})
}

// TestEveryCodeIsReported fails when no golden file shows a code.
func TestEveryCodeIsReported(t *testing.T) {
	src, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	var golden strings.Builder
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err == nil {
			golden.Write(text)
		}
	}
	// These inputs are too large for a golden file.
	_, large := parse("C.cfg", "\\*"+strings.Repeat(" ", FileBytesMax))
	large.Print(&golden)
	_, deep := parse("C.cfg", "CONSTANT S = "+strings.Repeat("{", 1000))
	deep.Print(&golden)
	for _, line := range strings.Split(string(src), "\n") {
		_, quoted, ok := strings.Cut(line, "source.Code = \"")
		if !ok {
			continue
		}
		code := strings.TrimSuffix(strings.TrimSpace(quoted), "\"")
		if !strings.Contains(golden.String(), "["+code+"]") {
			t.Errorf("no test shows the code %s", code)
		}
	}
}

// TestCorpus parses every configuration of the corpus without a complaint and
// prints it back to an equal one.
func TestCorpus(t *testing.T) {
	root := "../../../../shared/corpus/tla-examples"
	if _, err := os.Stat(root); err != nil {
		t.Skipf("the corpus is not beside the repository: %v", err)
	}
	n := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".cfg") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		c, diags := parse(path, string(text))
		if diags.Len() > 0 {
			t.Errorf("%v", diags)
		}
		roundTrip(t, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n != 108 {
		t.Errorf("parsed %d configurations, want 108", n)
	}
}

// roundTrip prints c, parses that and prints it again.
func roundTrip(t *testing.T, c *Config) {
	t.Helper()
	first := c.String()
	again, diags := parse("printed.cfg", first)
	if diags.HasErrors() {
		t.Fatalf("the printed configuration has errors:\n%s\n%v", first, diags)
	}
	if second := again.String(); first != second {
		t.Fatalf("printed:\n%s\nparsed and printed again:\n%s", first, second)
	}
}

func TestDefault(t *testing.T) {
	tests := []struct {
		defined string
		want    string
	}{
		{"Init Next Spec", "SPECIFICATION Spec\n"},
		{"Init Next", "INIT Init\nNEXT Next\n"},
		{"Init", ""},
	}
	for _, tt := range tests {
		c := Default(func(name string) bool {
			for _, d := range strings.Fields(tt.defined) {
				if d == name {
					return true
				}
			}
			return false
		})
		if got := c.String(); got != tt.want {
			t.Errorf("Default of %s: got %q, want %q", tt.defined, got, tt.want)
		}
		if !c.Deadlock {
			t.Errorf("Default of %s does not check deadlock", tt.defined)
		}
	}
}

// FuzzParse looks for inputs that panic, hang, or do not survive printing and
// parsing.
func FuzzParse(f *testing.F) {
	f.Add("SPECIFICATION Spec\nCONSTANTS N = 3 S = {a, {\"b\", TRUE}, <<1, -2>>, [f |-> x]} Nat <- [M] MyNat F(1, 2) = 3")
	f.Add("INIT Init NEXT Next \\* comment\n(* (* nested *) *) INVARIANTS A B!C CHECK_DEADLOCK FALSE _POSSIBLE P")
	f.Add("CONSTANT N = 1..3 M = {1, 2 K = \"abc\nSYMMETRY , x")
	f.Add("CONSTANT \\prec <- Less + <- Plus SPECIFICATION A SPECIFICATION B INIT")
	f.Fuzz(func(t *testing.T, text string) {
		c, diags := parse("fuzz.cfg", text)
		if diags.HasErrors() {
			diags.Print(io{})
			return
		}
		roundTrip(t, c)
	})
}

// io discards output.
type io struct{}

func (io) Write(b []byte) (int, error) { return len(b), nil }
