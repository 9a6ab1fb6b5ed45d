// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// renamable returns the reason why the name at o cannot be renamed within its
// document, or nil.
func (s *server) renamable(d *document, a *analysis, o occurrence) error {
	e := o.of
	switch {
	case a.broken:
		return errors.New("the document has errors: some of the places where the name is used are not known")
	case e.span.File == nil || e.hidden:
		return fmt.Errorf("%s comes with the language", e.name)
	case e.span.File.Name != d.path:
		return fmt.Errorf("%s is defined in %s", e.name, e.span.File.Name)
	case o.span.Text() != e.name || !plainName(e.name):
		return fmt.Errorf("%s is not a plain name", o.span.Text())
	case e.kind == "module" || e.kind == "program":
		return fmt.Errorf("the name of a %s is that of its file", e.kind)
	}
	if a.module == nil {
		return nil
	}
	if err := unfollowed(a.module, e); err != nil {
		return err
	}
	if e.global || e.algorithmic {
		return s.neighbours(d, a.module.Name.Text, e.name)
	}
	return nil
}

func plainName(name string) bool {
	ok, err := regexp.MatchString(`^[A-Za-z_][A-Za-z0-9_]*$`, name)
	return ok && err == nil
}

// unfollowed returns an error with the position of an occurrence that the index
// does not include: in a translation, in a proof, or in a string that is a
// label.
func unfollowed(m *syntax.Module, e *entity) error {
	for _, r := range []*syntax.Region{m.Translation, m.PlusCalTranslation} {
		if r != nil && hasWord(r.Inner.Text(), e.name) {
			return fmt.Errorf("%s is in the translation of the algorithm: empty the translation, rename, and translate again", e.name)
		}
	}
	if e.label && strings.Contains(string(m.Span().File.Text), `"`+e.name+`"`) {
		return fmt.Errorf(`"%s" occurs in the module as a string, which may be this label`, e.name)
	}
	var at source.Span
	syntax.Inspect(m, func(n syntax.Node) bool {
		var proof source.Span
		switch n := n.(type) {
		case *syntax.Theorem:
			proof = n.Proof
		case *syntax.UseHide:
			proof = n.Span()
		}
		if proof.IsValid() && hasWord(proof.Text(), e.name) {
			at = proof
		}
		return true
	})
	if at.IsValid() {
		return fmt.Errorf("%s stands in the proof at line %d, which is not analysed", e.name, at.From().Line)
	}
	return nil
}

// neighbours looks for a name in the files of the directory that may use the
// module: configurations, and modules that mention it.
func (s *server) neighbours(d *document, module, name string) error {
	o := &overlay{documents: &s.documents, reads: map[string]bool{}}
	list, err := o.List(filepath.Dir(d.path))
	if err != nil {
		return fmt.Errorf("other modules may use %s: %w", name, err)
	}
	seen := 0
	for _, base := range list {
		path := filepath.Join(filepath.Dir(d.path), base)
		ext := filepath.Ext(base)
		if path == d.path || ext != ".tla" && ext != ".cfg" {
			continue
		}
		if seen++; seen > NeighboursMax {
			return fmt.Errorf("other modules may use %s: there are more than %d", name, NeighboursMax)
		}
		text, err := o.ReadFile(path)
		if err != nil {
			return fmt.Errorf("%s may use %s: %w", base, name, err)
		}
		if hasWord(string(text), name) && (ext == ".cfg" || hasWord(string(text), module)) {
			return fmt.Errorf("%s is used in %s as well, it seems: renaming is for names of one file", name, base)
		}
	}
	return nil
}

// rename renames the name at an offset after checking that the document then
// means the same.
func (s *server) rename(d *document, offset int, name string) (any, *failure) {
	a := s.analysis(d)
	o, ok := a.index.at(offset)
	if !ok {
		return nil, fail(codeRequestFailed, "there is no name here")
	}
	if err := s.renamable(d, a, o); err != nil {
		return nil, fail(codeRequestFailed, "%v", err)
	}
	if !plainName(name) {
		return nil, fail(codeRequestFailed, "%q is not a name", name)
	}
	if o.of.restarts && (name == pcal.LabelRecover) != (o.of.name == pcal.LabelRecover) {
		return nil, fail(codeRequestFailed, "%s is where an archetype starts again after a crash: it cannot be renamed, nor another label to it, without changing what crashes do", pcal.LabelRecover)
	}
	if name == o.of.name {
		return workspaceEdit{map[string][]textEdit{}}, nil
	}
	var edits []textEdit
	var text []byte
	from := 0
	for _, other := range a.index.occurrences {
		if other.of != o.of || other.span.Text() != o.of.name {
			continue
		}
		edits = append(edits, textEdit{d.lines.rangeOf(other.span), name})
		text = append(append(text, d.text[from:other.span.Start]...), name...)
		from = int(other.span.End)
	}
	text = append(text, d.text[from:]...)
	if len(text) > source.FileBytesMax {
		return nil, fail(codeRequestFailed, "the document would be larger than %d bytes", source.FileBytesMax)
	}
	then := s.analyze(d, newLines(text), &overlay{documents: &s.documents, reads: map[string]bool{}, path: d.path, instead: text})
	if then.broken || len(then.diagnostics) > len(a.diagnostics) {
		for _, p := range then.diagnostics {
			if !slices.ContainsFunc(a.diagnostics, func(q diagnostic) bool { return q.Message == p.Message }) {
				return nil, fail(codeRequestFailed, "%s cannot be %s: %s", o.of.name, name, p.Message)
			}
		}
		return nil, fail(codeRequestFailed, "%s cannot be %s: the document would have errors", o.of.name, name)
	}
	if !slices.Equal(a.index.shape(), then.index.shape()) {
		return nil, fail(codeRequestFailed, "%s cannot be %s: the name would mean something else in some place", o.of.name, name)
	}
	return workspaceEdit{map[string][]textEdit{d.uri: edits}}, nil
}
