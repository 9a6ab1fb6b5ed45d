// SPDX-License-Identifier: Apache-2.0

package mutant

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
	"unicode"
)

// A row whose text is gone is mended in two steps. Declaration names the
// declaration that held the text in a version of the package that the row still
// fits. Nearest compares every run of lines in the declaration of that name, as
// long as the text plus or minus a line, with the text, by the pairs of
// neighbouring characters that both have, and takes the most similar. If the
// declaration is gone, it searches the whole package.

// Declaration returns the name of the top-level declaration of a Go text that
// contains old: "f", "(*T).f", "T". It returns "" if there is none.
func Declaration(text, old string) string {
	at := strings.Index(text, old)
	for _, d := range declarations(text) {
		if at >= d.from && at < d.to {
			return d.name
		}
	}
	return ""
}

type declaration struct {
	name     string
	from, to int // in the text
}

func declarations(text string) []declaration {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var all []declaration
	for _, d := range file.Decls {
		one := declaration{from: files.Position(d.Pos()).Offset, to: files.Position(d.End()).Offset}
		var doc *ast.CommentGroup
		switch d := d.(type) {
		case *ast.FuncDecl:
			one.name, doc = d.Name.Name, d.Doc
			if d.Recv != nil {
				t := d.Recv.List[0].Type
				one.name = fmt.Sprintf("(%s).%s", text[files.Position(t.Pos()).Offset:files.Position(t.End()).Offset], one.name)
			}
		case *ast.GenDecl:
			doc = d.Doc
			if len(d.Specs) > 0 {
				switch s := d.Specs[0].(type) {
				case *ast.TypeSpec:
					one.name = s.Name.Name
				case *ast.ValueSpec:
					one.name = s.Names[0].Name
				}
			}
		}
		if doc != nil {
			one.from = files.Position(doc.Pos()).Offset
		}
		all = append(all, one)
	}
	return all
}

// Proposal is a possible replacement for a row's texts.
type Proposal struct {
	Place string // file:line
	Old   string
	New   string // "" if the mistake cannot be carried over
}

// Nearest proposes new texts for m from the lines of its package in tree that
// are most like the old one, of declaration if there is one of that name.
func (m Mutant) Nearest(tree fs.FS, declaration string) (Proposal, error) {
	files, err := sources(tree, m.In)
	if err != nil {
		return Proposal{}, err
	}
	var regions, whole []region
	for _, f := range files {
		bytes, err := fs.ReadFile(tree, f)
		if err != nil {
			return Proposal{}, err
		}
		text := string(bytes)
		whole = append(whole, region{f, text, 0, len(text)})
		for _, d := range declarations(text) {
			if d.name == declaration && declaration != "" {
				regions = append(regions, region{f, text, d.from, d.to})
			}
		}
	}
	if len(regions) == 0 {
		regions = whole
	}
	best, likeness := window{}, 0.0
	want := pairs(m.Old)
	lines := strings.Count(strings.TrimRight(m.Old, "\n"), "\n") + 1
	for _, r := range regions {
		for w := range r.windows(lines) {
			if l := alike(want, pairs(w.text())); l > likeness {
				best, likeness = w, l
			}
		}
	}
	if likeness == 0 {
		return Proposal{}, fmt.Errorf("nothing in %s is like %q", m.In, m.Old)
	}
	return m.proposal(tree, best)
}

// proposal lengthens the window until its text is unique.
func (m Mutant) proposal(tree fs.FS, w window) (Proposal, error) {
	for {
		old := w.text()
		if !strings.HasPrefix(m.Old, "\t") {
			old = strings.TrimLeft(old, "\t")
		}
		if strings.HasSuffix(m.Old, "\n") {
			old += "\n"
		}
		_, _, err := Locate(tree, m.In, old)
		if err != nil && w.last+1 < len(w.ends) {
			w.last++
			continue
		}
		p := Proposal{Place: fmt.Sprintf("%s:%d", w.file, 1+strings.Count(w.region.text[:w.starts[w.first]], "\n")), Old: old}
		if right, wrong := difference(m.Old, m.New); right != "" && strings.Count(old, right) == 1 {
			p.New = strings.Replace(old, right, wrong, 1)
		}
		return p, err
	}
}

// difference is the rest of two texts without their common beginning and end,
// cut between words.
func difference(a, b string) (string, string) {
	word := func(c byte) bool { return c == '_' || unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c)) }
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	for from > 0 && from < len(a) && word(a[from-1]) && word(a[from]) {
		from--
	}
	end := 0
	for end < min(len(a), len(b))-from && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	for end > 0 && end < len(a) && word(a[len(a)-end-1]) && word(a[len(a)-end]) {
		end--
	}
	// If nothing is replaced, the word or the operator before it is.
	for last := from; last == len(a)-end && from > 0 && a[from-1] != ' ' && word(a[from-1]) == word(a[last-1]); {
		from--
	}
	return a[from : len(a)-end], b[from : len(b)-end]
}

// region is a part of a file.
type region struct {
	file, text string
	from, to   int
}

// window is some lines of a region.
type window struct {
	region
	starts, ends []int // of the region's lines, in text
	first, last  int   // of the window's lines, among them
}

func (w window) text() string { return w.region.text[w.starts[w.first]:w.ends[w.last]] }

// windows are the runs of lines of about that number.
func (r region) windows(lines int) func(yield func(window) bool) {
	w := window{region: r}
	for at := r.from; at < r.to; {
		end := r.to
		if i := strings.IndexByte(r.text[at:r.to], '\n'); i >= 0 {
			end = at + i
		}
		w.starts, w.ends = append(w.starts, at), append(w.ends, end)
		at = end + 1
	}
	return func(yield func(window) bool) {
		for n := max(1, lines-1); n <= lines+1; n++ {
			for w.first = 0; w.first+n <= len(w.starts); w.first++ {
				w.last = w.first + n - 1
				if !yield(w) {
					return
				}
			}
		}
	}
}

// pairs counts the pairs of neighbouring characters, without white space.
func pairs(text string) map[[2]rune]int {
	count := map[[2]rune]int{}
	var before rune
	for _, c := range text {
		if unicode.IsSpace(c) {
			continue
		}
		count[[2]rune{before, c}]++
		before = c
	}
	return count
}

// alike is between 0, nothing in common, and 1, the same.
func alike(a, b map[[2]rune]int) float64 {
	common, all := 0, 0
	for p, n := range a {
		common += 2 * min(n, b[p])
		all += n
	}
	for _, n := range b {
		all += n
	}
	return float64(common) / float64(max(all, 1))
}
