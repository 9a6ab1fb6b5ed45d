// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	dedlower "github.com/ashlar-dev/ashlar/internal/dedalus/lower"
	ded "github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/module"
	"github.com/ashlar-dev/ashlar/internal/tla/resolve"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
)

// analysis is the result of analyzing one version of a document.
type analysis struct {
	index       *index
	diagnostics []diagnostic
	broken      bool // there are errors
	module      *syntax.Module
	program     *ded.File
	// levels maps the positions of definition names to the levels of the
	// definitions. columns has the types of the variables of rules.
	levels  map[source.Span]core.Level
	columns map[*entity]string
}

// analysis returns the document's analysis and computes it if there is none.
func (s *server) analysis(d *document) *analysis {
	if d.known == nil {
		o := &overlay{documents: &s.documents, reads: map[string]bool{}}
		d.known = s.analyze(d, d.lines, o)
		d.reads = o.reads
	}
	return d.known
}

// analyze analyzes the text that o has for the path of d.
func (s *server) analyze(d *document, l *lines, o *overlay) *analysis {
	switch d.language {
	case tlaLanguage:
		return s.analyzeTLA(d, l, o)
	case dedLanguage:
		return s.analyzeDed(d, l)
	}
	return &analysis{index: &index{}, diagnostics: []diagnostic{}}
}

func (s *server) analyzeDed(d *document, l *lines) *analysis {
	var list source.List
	file := source.NewFile(d.path, l.text)
	f := ded.Parse(file, &list)
	var program *logic.Program
	if !list.HasErrors() {
		program = dedlower.Lower(f, &list)
	}
	a := &analysis{program: f, broken: list.HasErrors(), columns: map[*entity]string{}}
	a.index = indexDed(f, file, program, a.columns)
	a.diagnostics = s.diagnosticsOf(&list, file, l, func(source.Span) source.Span { return f.Name.Span })
	return a
}

func (s *server) analyzeTLA(d *document, l *lines, o *overlay) *analysis {
	loaded, list, err := load.Load(o, d.path, load.Options{Translate: trans.InMemory, WarnStale: true, Libraries: s.libraries})
	a := &analysis{broken: list.HasErrors() || err != nil, levels: map[source.Span]core.Level{}}
	if err != nil {
		list = new(source.List)
		list.Errorf(source.Span{}, "File", "%v", err)
	}
	var info *resolve.Info
	var file *source.File
	if loaded != nil {
		info, file = loaded.Info, loaded.Root.Span().File
		for _, def := range loaded.Spec.Defs {
			a.levels[def.Span] = def.Level
		}
	} else {
		file = source.NewFile(d.path, l.text)
	}
	// Parse the text again, without the translation that loading made in
	// memory.
	m, _ := syntax.ParseModule(file)
	a.module = m
	if info == nil {
		if m.Algorithm != nil {
			m, _ = syntax.ParseModuleMode(file, syntax.SkipTranslation)
		}
		info = resolve.Resolve(m, &library{o, append([]string{filepath.Dir(d.path)}, s.libraries...), map[string]*syntax.Module{}}, resolve.Options{}, new(source.List))
	} else {
		m = loaded.Root
		a.checkAlgorithm(d.path, o, s.libraries, list)
		a.checkConfiguration(d.path, loaded.Spec, o, list)
	}
	a.index = indexTLA(info, m)
	// A diagnostic about a file in memory keeps its position, because that file
	// is the current text.
	a.diagnostics = s.diagnosticsOf(list, file, l, func(span source.Span) source.Span { return elsewhere(a.module, span) })
	return a
}

// checkAlgorithm reports the errors of an algorithm whose translation is in the
// file, because loading does not check the algorithm itself.
func (a *analysis) checkAlgorithm(path string, o *overlay, libraries []string, list *source.List) {
	if a.module.Algorithm == nil || a.module.Translation == nil {
		return
	}
	_, more, err := trans.Translate(o, path, libraries)
	if err != nil {
		return // the file has changed since it was read
	}
	at := a.module.Algorithm.Span()
	for _, d := range more.Sorted() {
		if d.Span.File != nil && d.Span.File.Name == path && d.Span.Start >= at.Start && d.Span.End <= at.End {
			list.Add(d)
			a.broken = a.broken || d.Severity == source.Error
		}
	}
}

// checkConfiguration warns about impossible values of the module's constants in
// the configuration beside the module, if there is one. These are only
// warnings, because the module may be correct and checked with another
// configuration.
func (a *analysis) checkConfiguration(path string, spec *core.Spec, o *overlay, list *source.List) {
	name := strings.TrimSuffix(path, filepath.Ext(path)) + ".cfg"
	text, err := o.ReadFile(name)
	if err != nil {
		return // there is no readable configuration; then no search is possible either
	}
	var wrong source.List
	if cfg := config.Parse(source.NewFile(name, text), &wrong); !wrong.HasErrors() {
		wrong.Append(model.Constants(spec, cfg))
	}
	for _, d := range wrong.Sorted() {
		d.Severity = source.Warning
		list.Add(d)
	}
}

// elsewhere returns the position in a module at which to report an error of
// another module: where the module mentions the other one.
func elsewhere(m *syntax.Module, span source.Span) source.Span {
	if span.File == nil {
		return m.Name.Span()
	}
	name := strings.TrimSuffix(filepath.Base(span.File.Name), ".tla")
	for _, e := range m.Extends {
		if e.Text == name {
			return e.Span()
		}
	}
	at := m.Name.Span()
	syntax.Inspect(m, func(n syntax.Node) bool {
		if i, ok := n.(*syntax.Instance); ok && i.Module.Text == name {
			at = i.Module.Span()
		}
		return true
	})
	return at
}

// diagnosticsOf converts a list to the protocol's diagnostics. For an error in
// another file, home finds a position in the document.
func (s *server) diagnosticsOf(list *source.List, file *source.File, l *lines, home func(source.Span) source.Span) []diagnostic {
	out := []diagnostic{}
	for _, d := range list.Sorted() {
		p := diagnostic{Severity: severityError, Code: string(d.Code), Source: "ashlar", Message: d.Message}
		if d.Severity == source.Warning {
			p.Severity = severityWarning
		}
		if d.Repair != "" {
			p.Message += "\nrepair: " + d.Repair
		}
		if span := d.Span; span.File != nil && span.File.Name == file.Name {
			p.Range = l.rangeOf(span)
		} else {
			at := home(span)
			if at.File != nil {
				p.Range = l.rangeOf(at)
			}
			if span.IsValid() {
				p.Message = span.String() + ": " + p.Message
			}
			p.Related = s.related(p.Related, source.Note{Span: span, Message: "the place"})
		}
		for _, n := range d.Related {
			p.Related = s.related(p.Related, n)
		}
		out = append(out, p)
	}
	return out
}

// related adds a related position if it is in a file that an editor can open.
func (s *server) related(out []relatedInformation, n source.Note) []relatedInformation {
	if loc, ok := s.location(n.Span); ok {
		out = append(out, relatedInformation{loc, n.Message})
	}
	return out
}

// location converts a span for the client.
func (s *server) location(span source.Span) (location, bool) {
	if span.File == nil || !filepath.IsAbs(span.File.Name) {
		return location{}, false
	}
	return location{s.uriOf(span.File.Name), newLines(span.File.Text).rangeOf(span)}, true
}

// library finds the modules of a root that does not load.
type library struct {
	files *overlay
	dirs  []string
	found map[string]*syntax.Module
}

func (l *library) Find(name string) (*syntax.Module, bool, *source.List) {
	path, text, standard := l.read(name)
	if path == "" {
		return nil, false, nil
	}
	if l.found[path] == nil {
		l.found[path], _ = syntax.ParseModule(source.NewFile(path, text))
	}
	return l.found[path], standard, nil
}

// read reads a module; path is "" if there is none.
func (l *library) read(name string) (path string, text []byte, standard bool) {
	for _, dir := range l.dirs {
		path := filepath.Join(dir, name+".tla")
		if text, err := l.files.ReadFile(path); err == nil {
			return path, text, false
		}
	}
	if text, standard = module.Source(name); standard {
		path = name + ".tla"
	}
	return path, text, standard
}

func (l *library) Searched() []string { return nil }
func (l *library) Names() []string    { return nil }

// at returns a request about an offset.
func (s *server) at(method string, d *document, offset int) (any, *failure) {
	a := s.analysis(d)
	o, ok := a.index.at(offset)
	if method == "textDocument/prepareRename" {
		if !ok {
			return nil, fail(codeRequestFailed, "there is no name here")
		}
		if err := s.renamable(d, a, o); err != nil {
			return nil, fail(codeRequestFailed, "%v", err)
		}
		return prepared{d.lines.rangeOf(o.span), o.of.name}, nil
	}
	if !ok {
		return nil, nil
	}
	if method == "textDocument/definition" {
		if loc, ok := s.location(o.of.span); ok {
			return loc, nil
		}
		return nil, nil
	}
	return hover{markup{"markdown", hoverText(d, a, o.of)}, d.lines.rangeOf(o.span)}, nil
}

func hoverText(d *document, a *analysis, e *entity) string {
	lang, mark := "tla", `\*`
	if d.language == dedLanguage {
		lang, mark = "dedalus", "#"
	}
	head := e.kind
	if level, ok := a.levels[e.span]; ok && strings.HasPrefix(e.kind, "operator") {
		head += ", " + levelName(level)
	}
	if t := a.columns[e]; t != "" {
		head += " of type " + t
	}
	text := fmt.Sprintf("`%s`: %s", e.name, head)
	if e.hidden {
		text += ", of the standard modules"
	}
	body := excerpt(e.whole)
	if e.hidden {
		body, _, _ = strings.Cut(body, "==") // the rest is in the tool
		body = strings.TrimSpace(body)
	}
	if body != "" {
		text += "\n\n```" + lang + "\n" + body + "\n```"
	}
	if comment := commentAbove(e.whole, mark); comment != "" {
		text += "\n\n" + comment
	}
	return text
}

func levelName(l core.Level) string {
	switch l {
	case core.ConstantLevel:
		return "constant level"
	case core.StateLevel:
		return "state level"
	case core.ActionLevel:
		return "action level"
	}
	return "temporal level"
}

// whole returns a request about a whole document.
func (s *server) whole(method string, d *document) (any, *failure) {
	a := s.analysis(d)
	switch method {
	case "textDocument/documentSymbol":
		return outline(a, d.lines), nil
	case "textDocument/formatting":
		if d.language != dedLanguage {
			return nil, nil
		}
		var list source.List
		f := ded.Parse(source.NewFile(d.path, d.text), &list)
		if list.HasErrors() {
			return nil, fail(codeRequestFailed, "a program with errors cannot be formatted")
		}
		return replaceAll(d, []byte(ded.Format(f))), nil
	}
	if a.module == nil || a.module.Algorithm == nil {
		return []codeAction{}, nil
	}
	title := "Translate the algorithm " + a.module.Algorithm.Name.Text
	return []codeAction{{title, "source.translate", command{title, translateCommand, []string{d.uri}}}}, nil
}

// replaceAll returns the edits that turn the document into text: none if it is
// equal.
func replaceAll(d *document, text []byte) []textEdit {
	if string(text) == string(d.text) {
		return []textEdit{}
	}
	whole := Range{Position{}, d.lines.position(len(d.text))}
	return []textEdit{{whole, string(text)}}
}

// execute runs a command.
func (s *server) execute(p commandParams) *failure {
	if p.Command != translateCommand {
		return fail(codeParams, "there is no command %q", p.Command)
	}
	var uri string
	if len(p.Arguments) != 1 {
		return fail(codeParams, "%s takes the URI of a document", translateCommand)
	}
	if err := json.Unmarshal(p.Arguments[0], &uri); err != nil {
		return fail(codeParams, "%s takes the URI of a document: %v", translateCommand, err)
	}
	d, f := s.open(uri)
	if f != nil {
		return f
	}
	if d.language != tlaLanguage {
		return fail(codeRequestFailed, "%s is no module", d.path)
	}
	out, list, err := trans.Translate(&overlay{documents: &s.documents, reads: map[string]bool{}}, d.path, s.libraries)
	if err == nil && list.HasErrors() {
		err = errors.New(strings.SplitN(list.Error(), "\n", 2)[0])
	}
	if err != nil {
		return fail(codeRequestFailed, "not translated: %v", err)
	}
	if edits := replaceAll(d, out.Content); len(edits) > 0 {
		s.request("workspace/applyEdit", applyEditParams{"Translate", workspaceEdit{map[string][]textEdit{uri: edits}}})
	}
	return nil
}
