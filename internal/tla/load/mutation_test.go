// SPDX-License-Identifier: Apache-2.0

package load

import (
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// overlaid is the disk with one file replaced.
type overlaid struct {
	disk
	path, text string
}

func (o overlaid) ReadFile(name string) ([]byte, error) {
	if name == o.path {
		return []byte(o.text), nil
	}
	return o.disk.ReadFile(name)
}

var tokenPattern = regexp.MustCompile(`\s+|\w+|[^\w\s]`)

// mutate exchanges, repeats, drops and replaces a few words of text.
func mutate(r *rand.Rand, text string) string {
	tokens := tokenPattern.FindAllString(text, -1)
	pick := func() int {
		for {
			if i := r.Intn(len(tokens)); strings.TrimSpace(tokens[i]) != "" {
				return i
			}
		}
	}
	for range 1 + r.Intn(3) {
		i, j := pick(), pick()
		switch r.Intn(4) {
		case 0:
			tokens[i], tokens[j] = tokens[j], tokens[i]
		case 1:
			tokens[i] = tokens[j]
		case 2:
			tokens[i] += " " + tokens[i]
		case 3:
			tokens[i] = " "
		}
	}
	return strings.Join(tokens, "")
}

// TestMutations loads specifications of the corpus with a few words changed:
// nothing may panic, and a specification that loads must be valid and print as
// text that parses. ASHLAR_MUTATIONS sets a larger number of rounds.
func TestMutations(t *testing.T) {
	rounds := 150
	if s := os.Getenv("ASHLAR_MUTATIONS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		rounds = n
	}
	paths := corpus(t)
	r := rand.New(rand.NewSource(int64(rounds)))
	loaded := 0
	for range rounds {
		path := paths[r.Intn(len(paths))]
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := mutate(r, string(text))
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s with changes: %v\n%s", filepath.Base(path), p, changed)
					panic(p)
				}
			}()
			l, diags, err := Load(overlaid{path: path, text: changed}, path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			messages(diags)
			if l == nil {
				return
			}
			loaded++
			if err := core.Validate(l.Spec); err != nil {
				t.Errorf("%s with changes: %v\n%s", filepath.Base(path), err, changed)
			}
			for _, d := range l.Spec.Defs {
				if d.Module != l.Spec.Name || d.Body == nil {
					continue
				}
				if _, list := syntax.ParseExpr(source.NewFile("printed", []byte(core.Format(d.Body, 0)))); list.HasErrors() {
					t.Errorf("%s with changes: %s prints as\n%s\n%v", filepath.Base(path), d.FullName(), core.Format(d.Body, 0), list)
				}
			}
		}()
	}
	if loaded == 0 {
		t.Error("no changed specification loads: the changes are too rough")
	}
	t.Logf("%d of %d load", loaded, rounds)
}
