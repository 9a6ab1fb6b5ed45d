// SPDX-License-Identifier: Apache-2.0

package mutant

import (
	"testing"
	"testing/fstest"
)

func TestNearest(t *testing.T) {
	const before = `package p

// f is here.
func f(a, b int) bool {
	if a < b {
		return true
	}
	return false
}

type T struct{}

func (t *T) f(n, limit int) error {
	if n >= limit {
		return errFull
	}
	return t.add(n)
}

var x, y = 1, 2
`
	for old, want := range map[string]string{
		"f is here": "f", "a < b": "f", "T struct": "T", "n >= limit": "(*T).f", "y = 1": "x", "package": "", "is not there": "",
	} {
		if got := Declaration(before, old); got != want {
			t.Errorf("%q is in %q, want %q", old, got, want)
		}
	}

	// The function has moved to another file, and its condition has changed;
	// another function has a line that is more like the old one.
	tree := fstest.MapFS{
		"p/p.go": &fstest.MapFile{Data: []byte("package p\n\nfunc g() {\n\tif n >= limits {\n\t\treturn\n\t}\n}\n")},
		"p/q.go": &fstest.MapFile{Data: []byte("package p\n\nfunc (t *T) f(n int) error {\n\tlog(n)\n\tif n >= t.limit() {\n\t\treturn errFull\n\t}\n\tif full {\n\t\treturn errFull\n\t}\n}\n")},
	}
	for _, c := range []struct {
		m           Mutant
		declaration string
		want        Proposal
	}{
		{Mutant{In: "p", Old: "if n >= limit {", New: "if n > limit {"}, "(*T).f", Proposal{"p/q.go:5", "if n >= t.limit() {", "if n > t.limit() {"}},
		{Mutant{In: "p", Old: "\tif n >= limit {\n", New: "\tif limit > 7 {\n"}, "(*T).f", Proposal{"p/q.go:5", "\tif n >= t.limit() {\n", ""}},
		{Mutant{In: "p", Old: "if n >= limit {", New: "if n > limit {"}, "gone", Proposal{"p/p.go:4", "if n >= limits {", "if n > limits {"}},
		// A line that stands twice is lengthened.
		{Mutant{In: "p", Old: "return errFully", New: "return nil"}, "(*T).f", Proposal{"p/q.go:6", "return errFull\n\t}\n\tif full {", ""}},
	} {
		got, err := c.m.Nearest(tree, c.declaration)
		if err != nil || got != c.want {
			t.Errorf("%q of %s: %+q, %v, want %+q", c.m.Old, c.declaration, got, err, c.want)
		}
	}
	if p, err := (Mutant{In: "p", Old: "~~"}).Nearest(tree, ""); err == nil {
		t.Errorf("%+v is like ~~", p)
	}
}
