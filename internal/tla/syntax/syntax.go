// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"bytes"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// NestingMax is the maximum nesting depth of expressions, statements and
// modules in the text.
const NestingMax = 1000

// Mode changes what ParseModuleMode reads.
type Mode uint8

// SkipTranslation makes the parser treat the text between translation markers
// (TLA+ and PlusCal) as a comment, so that a stale or broken translation has no
// effect.
const SkipTranslation Mode = 1

// ParseModule reads the module in f, including the algorithm in its comments.
// The Module is never nil; it is incomplete if the list has errors. Text before
// the module's header and after its end is ignored, except for an algorithm in
// it.
func ParseModule(f *source.File) (*Module, *source.List) { return ParseModuleMode(f, 0) }

// ParseModuleMode is ParseModule under a mode.
func ParseModuleMode(f *source.File, mode Mode) (*Module, *source.List) {
	errs := new(source.List)
	if !checkSize(f, errs) {
		return &Module{}, errs
	}
	tla, pcal := findRegions(f, errs)
	s := &scanner{file: f, text: f.Text}
	if mode&SkipTranslation != 0 {
		for _, r := range []*Region{tla, pcal} {
			if r != nil {
				s.skip = append(s.skip, r)
			}
		}
	}
	header := findHeader(f.Text)
	if header < 0 {
		d := source.Diagnostic{
			Code: ModuleMissing, Span: source.Span{File: f},
			Message: "expected the header of a module", Repair: "write ---- MODULE Name ---- before and ==== after the text",
		}
		if bytes.HasPrefix(f.Text, []byte("\xff\xfe")) || bytes.HasPrefix(f.Text, []byte("\xfe\xff")) {
			d.Message, d.Repair = "the file is in UTF-16", "save it as UTF-8"
		}
		errs.Add(d)
		return &Module{Translation: tla, PlusCalTranslation: pcal}, errs
	}
	s.scanModule(header)
	p := newParser(f, s.tokens, errs)
	p.noteDefined()
	m := p.module()
	m.Translation, m.PlusCalTranslation = tla, pcal
	heads := s.heads
	if len(heads) == 0 {
		heads = append(findHeads(f.Text, 0, header), findHeads(f.Text, int(m.Span().End), len(f.Text))...)
	}
	parseAlgorithms(f, m, heads, mode, errs)
	if m.Algorithm == nil {
		warnHead(f, errs)
		checkHeads(f, heads, errs)
	}
	return m, errs
}

// Further finds the modules in f after its first one, because a file may have
// several. It maps their names to their starts. Of two modules with the same
// name, the first counts.
func Further(f *source.File) map[string]int {
	out := map[string]int{}
	if len(f.Text) > source.FileBytesMax {
		return out
	}
	for from := 0; ; {
		header := findHeader(f.Text[from:])
		if header < 0 || from == 0 && findHeader(f.Text[header+len("---- MODULE"):]) < 0 {
			return out
		}
		s := &scanner{file: f, text: f.Text}
		s.scanModule(from + header)
		if name := s.tokens[min(2, len(s.tokens)-1)]; from > 0 && name.kind == kindIdent && out[name.text] == 0 {
			out[name.text] = from + header
		}
		from = s.pos
	}
}

// ParseFurther reads the module at a position that Further returned. An
// algorithm in that module is treated as a comment.
func ParseFurther(f *source.File, start int) (*Module, *source.List) {
	errs := new(source.List)
	s := &scanner{file: f, text: f.Text}
	s.scanModule(start)
	p := newParser(f, s.tokens, errs)
	p.noteDefined()
	return p.module(), errs
}

func checkSize(f *source.File, errs *source.List) bool {
	if len(f.Text) <= source.FileBytesMax {
		return true
	}
	errs.Add(source.Diagnostic{
		Code: FileTooLarge, Span: source.Span{File: f},
		Message: fmt.Sprintf("the file has %d bytes, more than %d", len(f.Text), source.FileBytesMax),
	})
	return false
}

// noteDefined records whether the module defines := itself.
func (p *parser) noteDefined() {
	for i := range p.toks {
		if !p.toks[i].is(kindOp, ":=") || i == 0 {
			continue
		}
		if i+2 < len(p.toks) && p.toks[i+2].is(kindPunct, "==") || p.toks[i-1].is(kindPunct, "_") {
			p.assignOp = true
			return
		}
	}
}

// parseAlgorithms reads the algorithm of the module and, if it is a modular
// one, the PlusCal emitted for it.
func parseAlgorithms(f *source.File, m *Module, heads []algorithmHead, mode Mode, errs *source.List) {
	var first source.Span
	for _, h := range heads {
		if !isAlgorithmStart(f.Text[:h.end], h) {
			continue
		}
		span := source.Span{File: f, Start: int32(h.start), End: int32(h.after)}
		emitted := m.PlusCalTranslation.Contains(span)
		switch {
		case emitted && (m.Emitted != nil || mode&SkipTranslation != 0):
		case emitted:
			// An error in the emitted PlusCal is the translator's fault, not
			// the user's, and disappears with the next translation.
			inner := new(source.List)
			m.Emitted = parseAlgorithm(f, h, inner)
			for _, d := range inner.Sorted() {
				d.Severity = source.Warning
				errs.Add(d)
			}
		case m.Algorithm == nil:
			m.Algorithm = parseAlgorithm(f, h, errs)
			m.Algorithm.Options = findOptions(f)
			first = span
		case h.start < int(m.Algorithm.Span().End):
			// The head is in a comment inside the algorithm, which only
			// mentions another algorithm.
		default:
			errs.Add(source.Diagnostic{
				Code: AlgorithmRepeated, Span: span,
				Message: "a module has one algorithm, and this is a second one",
				Repair:  "move it to a separate module",
				Related: []source.Note{{Span: first, Message: "the first one"}},
			})
		}
	}
}

func parseAlgorithm(f *source.File, h algorithmHead, errs *source.List) *Algorithm {
	s := &scanner{file: f, text: f.Text[:h.end], dialect: plusCal}
	if h.modular {
		s.dialect = modularPlusCal
	}
	s.scanAll(h.after)
	inner := new(source.List)
	p := newParser(f, s.tokens, inner)
	a := p.algorithmOf(h)
	if p.i > TreeDepthMax {
		if d := depthOf(a); d > TreeDepthMax {
			inner.Add(source.Diagnostic{
				Code: NestingTooDeep, Span: a.Name.Span(),
				Message: fmt.Sprintf("this is nested %d levels deep, more than %d", d, TreeDepthMax),
				Repair:  "define parts of it separately",
			})
			a = &Algorithm{place: a.place, Modular: a.Modular, Style: a.Style, Name: a.Name}
		}
	}
	errs.Append(inner)
	return a
}

// ParseExpr reads f as one expression, to its end.
func ParseExpr(f *source.File) (Expr, *source.List) {
	errs := new(source.List)
	if !checkSize(f, errs) {
		return &BadExpr{place{source.Span{File: f}}}, errs
	}
	s := &scanner{file: f, text: f.Text}
	s.scanAll(0)
	p := newParser(f, s.tokens, errs)
	x := p.expr()
	if p.tok().kind != kindEOF {
		p.unexpected(TokenExpected, "an operator or the end of the expression", "")
	}
	if len(p.toks) > TreeDepthMax {
		if d := depthOf(x); d > TreeDepthMax {
			errs.Add(source.Diagnostic{
				Code: NestingTooDeep, Span: x.Span(),
				Message: fmt.Sprintf("this is nested %d levels deep, more than %d", d, TreeDepthMax),
				Repair:  "define parts of it separately",
			})
			return &BadExpr{place{x.Span()}}, errs
		}
	}
	return x, errs
}
