// SPDX-License-Identifier: Apache-2.0

package proofs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../../.."

// TestTablesFitTheCode reads every table: each proved program has one, with
// three mutants at least, whose texts are there and whose lemmas exist.
func TestTablesFitTheCode(t *testing.T) {
	tops, err := filepath.Glob(filepath.Join(root, "proofs/top/*.v"))
	if err != nil || len(tops) == 0 {
		t.Fatalf("no theorems: %v", err)
	}
	for _, top := range tops {
		name := strings.TrimSuffix(filepath.Base(top), ".v")
		text, err := os.ReadFile(filepath.Join(root, "proofs/mutants", name+".txt"))
		if err != nil {
			t.Errorf("%s has no mutants: %v", name, err)
			continue
		}
		table, err := Parse(name, string(text))
		if err != nil {
			t.Error(err)
			continue
		}
		if len(table) < 3 {
			t.Errorf("%s has %d mutants, want three at least", name, len(table))
		}
		lemmas := statements(t)
		for _, m := range table {
			if _, _, err := m.Edit(os.DirFS(root)); err != nil {
				t.Errorf("%v: mend the row", err)
			}
			if !lemmas[m.Lemma] {
				t.Errorf("%s/%s: there is no lemma %s", m.Proof, m.Name, m.Lemma)
			}
		}
	}
}

// statements are the names of everything that is stated in proofs.
func statements(t *testing.T) map[string]bool {
	names := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(root, "proofs"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".v" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, line := range strings.Split(string(text), "\n") {
			if match := statement.FindStringSubmatch(line); match != nil {
				names[match[1]] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"# a comment\n\nlost | a | x() | y()\\n\\tz() | wp_x\n", ""},
		{"lost | a | x()", "3 cells"},
		{"lost | a | x | y | l\nlost | a | x | z | l", "used once"},
		{" | a | x | y | l", "used once"},
	} {
		table, err := Parse("p", c.text)
		if c.want == "" {
			want := Mutant{Proof: "p", Name: "lost", In: "a", Old: "x()", New: "y()\n\tz()", Lemma: "wp_x"}
			if err != nil || len(table) != 1 || table[0] != want {
				t.Errorf("%q: %+v, %v", c.text, table, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

func TestPlace(t *testing.T) {
	const output = "make: x\nFile \"./wal/proof.v\", line 4, characters 2-5:\nError: no.\n"
	file, line, found := Place(output)
	if file != "wal/proof.v" || line != 4 || !found {
		t.Errorf("%s:%d, %t", file, line, found)
	}
	if _, _, found := Place("all is well"); found {
		t.Error("an error where there is none")
	}
	const text = "Lemma one : a.\nProof. done. Qed.\n  Local Lemma two b :\n  c.\nProof.\n"
	if got := Lemma(text, 2) + Lemma(text, 5); got != "onetwo" {
		t.Errorf("lemmas %s", got)
	}
}
