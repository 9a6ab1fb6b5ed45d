// SPDX-License-Identifier: Apache-2.0

package trans

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/resolve"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// Text is the text of a translation.
type Text struct {
	// PlusCal is the plain algorithm that a Modular one expands to, or "" if
	// the algorithm is already plain.
	PlusCal string
	// TLA is the text of the units between the translation's markers.
	TLA string
}

// Result is the translation of an algorithm.
type Result struct {
	// Algorithm is the algorithm as written, and Plain the algorithm that it
	// expands to: without instances, with unique names, and with its reads and
	// writes still in place.
	Algorithm, Plain *pcal.Algorithm
	flat             *pcal.Algorithm
	module           *module
	// steady is the module without crashes, because the emitted PlusCal has
	// none. If the algorithm has no crashes, it is the module itself.
	steady *module
}

// Translation returns the result in the form that Load needs.
func (r Result) Translation() load.Translation {
	if r.module == nil {
		return load.Translation{}
	}
	return load.Translation{Declares: r.module.declared(), Print: r.module.print, Algorithm: r.Algorithm, Plain: r.Plain}
}

// Text writes the result.
func (r Result) Text() Text {
	var out Text
	if r.module == nil {
		return out
	}
	if r.Algorithm.Modular {
		out.PlusCal = pluscalText(r.flat)
	}
	out.TLA = r.module.text()
	return out
}

// text returns the translation as it appears in a file.
func (m *module) text() string {
	out := ""
	for _, p := range m.print() {
		out += p.Text + "\n\n"
	}
	return out
}

// InMemory is the Options.Translate of a load that translates algorithms
// without touching files.
func InMemory(u *load.Untranslated, diags *source.List) load.Translation {
	return Run(u, u.Module.Algorithm, diags).Translation()
}

// Run translates an algorithm of the module of u. It reports errors to diags,
// which must be the list of the Program, and then returns an empty Result.
func Run(u *load.Untranslated, alg *syntax.Algorithm, diags *source.List) Result {
	a := u.Program.AlgorithmOf(alg, u.Scope)
	if diags.HasErrors() {
		return Result{}
	}
	if err := pcal.Validate(a); err != nil {
		invariant.Check(false, "lowered algorithm: %v", err)
	}
	out := Result{Algorithm: a}
	reserved := identifiers(u.Module, alg.Span().File)
	plain := pcal.Expand(a, pcal.Names{Written: reserved, Declared: declares(u)}, diags)
	if diags.HasErrors() {
		return Result{}
	}
	plain, renamed := pcal.Disambiguate(plain)
	warnLabels(u.Module, a, renamed, diags)
	warnRenamed(u.Module, plain, diags)
	if err := pcal.Validate(plain); err != nil {
		invariant.Check(false, "expanded algorithm: %v", err)
	}
	out.Plain = plain
	flat := plain
	if a.Modular {
		flat = flatten(plain, diags)
	}
	if diags.HasErrors() {
		return Result{}
	}
	out.flat = settleNames(flat, reserved)
	out.module = newModule(out.flat, u)
	out.steady = out.module
	if out.flat.Crashes != nil {
		out.steady = newModule(pcal.WithoutCrashes(out.flat), u)
	}
	return out
}

// File is the result of Translate.
type File struct {
	Text
	Result
	// Content is the whole file with the translation in place.
	Content []byte
}

// Translate returns the module in the file at path with the translation of its
// algorithm between the markers. It adds the markers if they are missing. libraries
// are the directories to search for modules that are not beside the module. The File
// is nil if the list has errors. A non-nil error means that a file could not be
// read.
func Translate(files load.Files, path string, libraries []string) (*File, *source.List, error) {
	out := &File{}
	var root *syntax.Module
	_, diags, err := load.Load(files, path, load.Options{Retranslate: true, Libraries: libraries,
		Translate: func(u *load.Untranslated, diags *source.List) load.Translation {
			root = u.Module
			out.Result = Run(u, u.Module.Algorithm, diags)
			return out.Translation()
		}})
	if err != nil {
		return nil, diags, err
	}
	diags = out.judged(diags)
	if diags.HasErrors() {
		return nil, diags, nil
	}
	if root == nil {
		diags.Add(source.Diagnostic{Code: NoAlgorithm, Span: wholeFile(files, path),
			Message: "the module has no algorithm: expected --algorithm, --fair algorithm or --mpcal in a comment"})
		return nil, diags, nil
	}
	out.Text = out.Result.Text()
	out.Content = splice(root, out.Text, diags)
	if !diags.HasErrors() {
		err = out.check(files, path, libraries, diags)
	}
	if err != nil || diags.HasErrors() {
		return nil, diags, err
	}
	return out, diags, nil
}

func wholeFile(files load.Files, path string) source.Span {
	text, err := files.ReadFile(path)
	if err != nil {
		return source.Span{}
	}
	return source.Span{File: source.NewFile(path, text)}
}

// judged turns warnings that prevent only a translation into errors, such as
// broken markers. An error in the algorithm that appears only after translation
// is a clash with a name of the module.
func (r Result) judged(list *source.List) *source.List {
	out := &source.List{}
	for _, d := range list.Sorted() {
		switch {
		case d.Code == syntax.MarkersBroken:
			d.Severity, d.Code = source.Error, PCalTagsError
		case d.Code == resolve.NoText:
			continue // it will have one: the written text is read again
		case d.Severity == source.Error && r.module != nil && d.Code == resolve.Redefined && contains(r.Algorithm.Span, d.Span):
			d = inconsistent(d)
		}
		out.Add(d)
	}
	return out
}

func contains(outer, s source.Span) bool {
	return s.File == outer.File && outer.Start <= s.Start && s.End <= outer.End
}

func inconsistent(d source.Diagnostic) source.Diagnostic {
	d.Message = "the translation is not a correct module: " + d.Message
	d.Code = ConsistencyCheckFailed
	if d.Repair == "" {
		d.Repair = "rename what clashes; if nothing does, this is a fault of the translator"
	}
	return d
}

// overlay is a Files with one file replaced.
type overlay struct {
	load.Files
	path    string
	content []byte
}

func (o overlay) ReadFile(name string) ([]byte, error) {
	if name == o.path {
		return o.content, nil
	}
	return o.Files.ReadFile(name)
}

// assertPlace matches the part of a translation that depends on the position of
// the algorithm in the file.
var assertPlace = regexp.MustCompile(`Failure of assertion at line \d+, column \d+`)

// check reads the result back. It must be a correct module, and the PlusCal in
// it, translated separately, must give the same TLA+.
func (f *File) check(files load.Files, path string, libraries []string, diags *source.List) error {
	var list source.List
	loaded, again, err := load.Load(overlay{files, path, f.Content}, path, load.Options{Libraries: libraries})
	if err != nil {
		return err
	}
	for _, d := range again.Sorted() {
		if d.Severity == source.Error {
			list.Add(inconsistent(d))
		}
	}
	diags.Append(&list)
	if diags.HasErrors() || f.PlusCal == "" {
		return nil
	}
	emitted := loaded.Root.Emitted
	if emitted == nil {
		diags.Errorf(loaded.Root.Name.Span(), ConsistencyCheckFailed, "the PlusCal translation was written and is not found again")
		return nil
	}
	var second Text
	_, again, err = load.Load(overlay{files, path, f.Content}, path, load.Options{Retranslate: true, TranslateOnly: true, Libraries: libraries,
		Translate: func(u *load.Untranslated, diags *source.List) load.Translation {
			r := Run(u, emitted, diags)
			second = r.Text()
			return r.Translation()
		}})
	if err != nil {
		return err
	}
	for _, d := range again.Sorted() {
		if d.Severity == source.Error {
			diags.Add(inconsistent(d))
		}
	}
	same := func(s string) string { return assertPlace.ReplaceAllString(s, "") }
	first := f.steady.text()
	if !diags.HasErrors() && same(second.TLA) != same(first) {
		diags.Errorf(emitted.Name.Span(), ConsistencyCheckFailed, "the PlusCal translation does not mean what the algorithm means, at %s", firstDifference(same(first), same(second.TLA)))
	}
	return nil
}

// firstDifference returns the first lines that differ.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			other := ""
			if i < len(y) {
				other = y[i]
			}
			return fmt.Sprintf("%q against %q", x[i], other)
		}
	}
	return "the end"
}

// edit replaces a range of the file.
type edit struct {
	start, end int32
	text       string
}

// splice inserts the texts between their markers.
func splice(m *syntax.Module, t Text, diags *source.List) []byte {
	f := m.Algorithm.Span().File
	c := comments(f.Text, int(m.Span().Start))
	var edits []edit
	tail := ""
	if t.PlusCal != "" {
		if r := m.PlusCalTranslation; r != nil {
			text := t.PlusCal
			if !c.inside(int(r.Begin.Start)) {
				text = "(*\n" + text + "*)\n"
			}
			edits = append(edits, edit{r.Inner.Start, r.Inner.End, text})
		} else {
			tail += "(*\n\\* BEGIN PLUSCAL TRANSLATION\n" + t.PlusCal + "\\* END PLUSCAL TRANSLATION\n*)\n"
		}
	}
	if r := m.Translation; r != nil {
		if c.inside(int(r.Begin.Start)) {
			diags.Add(source.Diagnostic{Code: PCalTagsError, Span: r.Begin, Message: "the markers of the translation are in a comment: expected them outside",
				Repair: "move them after the comment"})
		}
		edits = append(edits, edit{r.Inner.Start, r.Inner.End, t.TLA})
		for _, marker := range []source.Span{r.Begin, r.End} {
			if clean := withoutChecksum(marker.Text()); clean != marker.Text() {
				edits = append(edits, edit{marker.Start, marker.End, clean})
			}
		}
	} else {
		tail += "\\* BEGIN TRANSLATION\n" + t.TLA + "\\* END TRANSLATION\n"
	}
	if tail != "" {
		at, ok := c.lineAfter(int(m.Algorithm.Span().End))
		if !ok {
			diags.Add(source.Diagnostic{Code: PCalTagsError, Span: m.Algorithm.Name.Span(),
				Message: "the algorithm is outside a comment, and there is no marker for its translation",
				Repair:  `put the algorithm into (* *), or write \* BEGIN TRANSLATION and \* END TRANSLATION`})
			return nil
		}
		if at == len(f.Text) || f.Text[at-1] != '\n' {
			tail = "\n" + tail
		}
		edits = append(edits, edit{int32(at), int32(at), tail})
	}
	return apply(f.Text, edits)
}

// apply applies edits, which must not overlap. New lines get the line ends of
// the file.
func apply(text []byte, edits []edit) []byte {
	crlf := bytes.Contains(text, []byte("\r\n"))
	var out []byte
	at := int32(0)
	for len(edits) > 0 {
		k := 0
		for i, e := range edits {
			if e.start < edits[k].start {
				k = i
			}
		}
		e := edits[k]
		edits = append(edits[:k:k], edits[k+1:]...)
		out = append(out, text[at:e.start]...)
		if crlf {
			e.text = strings.ReplaceAll(e.text, "\n", "\r\n")
		}
		out = append(out, e.text...)
		at = e.end
	}
	return append(out, text[at:]...)
}

// withoutChecksum drops the checksum that the standard translator writes after
// a marker, because it would now be wrong.
func withoutChecksum(marker string) string {
	for _, word := range []string{"chksum", " hash "} {
		if strings.Contains(marker, word) {
			i := strings.Index(marker, "TRANSLATION") + len("TRANSLATION")
			return marker[:i]
		}
	}
	return marker
}

// spans returns the comments of a module in order; for nested (* *) comments
// only the outermost.
type spans struct {
	text []byte
	list [][2]int
}

func comments(text []byte, from int) spans {
	out := spans{text: text}
	depth, start := 0, 0
	for i := from; i < len(text); i++ {
		two := ""
		if i+1 < len(text) {
			two = string(text[i : i+2])
		}
		switch {
		case two == "(*":
			if depth == 0 {
				start = i
			}
			depth++
			i++
		case two == "*)" && depth > 0:
			depth--
			i++
			if depth == 0 {
				out.list = append(out.list, [2]int{start, i + 1})
			}
		case depth > 0:
		case two == `\*`:
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case text[i] == '"':
			for i++; i < len(text) && text[i] != '"' && text[i] != '\n'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return out
}

// inside reports whether an offset is in a comment.
func (s spans) inside(at int) bool {
	for _, c := range s.list {
		if c[0] <= at && at < c[1] {
			return true
		}
	}
	return false
}

// lineAfter returns the start of the line after the comment that contains at.
func (s spans) lineAfter(at int) (int, bool) {
	for _, c := range s.list {
		if c[0] <= at && at <= c[1] {
			i := c[1]
			for i < len(s.text) && s.text[i] != '\n' {
				i++
			}
			return min(i+1, len(s.text)), true
		}
	}
	return 0, false
}
