// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// The user may have changed an algorithm after it was translated. For a plain algorithm
// the checker then checks the old translation. For a modular algorithm it checks the
// algorithm itself, but other tools check the stale translation. So Load translates the
// algorithm once more and compares the two translations. It compares the sets of
// variables and, for each label and each crash, the variables, numbers, strings and
// operators of its action. It compares no more than that, because translators order,
// indent and repeat text differently. A change that uses the same words in other places
// is not detected.

// StaleTranslation (a warning): an algorithm whose label l does x := 2, while
// the action l of its translation does x' = 1
const StaleTranslation source.Code = "StaleTranslation"

// warnStale warns if the translation in the file does not match the algorithm
// of m.
func (l *loader) warnStale(m *syntax.Module) {
	again := &loader{files: l.files, dir: l.dir, file: l.file, further: l.further, options: l.options, diags: new(source.List), found: l.found}
	without, list := syntax.ParseModuleMode(l.file, syntax.SkipTranslation)
	if list.HasErrors() {
		return // `ashlar translate` reports what is wrong with the algorithm
	}
	_, _, t := again.translate(without, true)
	if t.Print == nil {
		return // and this, too
	}
	if what := difference(t, inFile(m)); what != "" {
		l.staleHere(m, "this translation is used, but it does not match the algorithm: "+what)
	}
}

// warnUnused warns if the translation in the file differs from the one that was
// made. Load does not use the one in the file, but other tools check it. whole
// is the module with everything in the file, and list has the errors in it.
func (l *loader) warnUnused(whole *syntax.Module, list *source.List, made Translation) {
	const unused = "the algorithm is used, not this translation, and the two differ: "
	for _, d := range list.Sorted() {
		if d.Severity == source.Error {
			l.staleHere(whole, unused+"the translation does not parse")
			return
		}
	}
	if what := difference(made, inFile(whole)); what != "" {
		l.staleHere(whole, unused+what)
	}
}

func (l *loader) staleHere(m *syntax.Module, message string) {
	l.diags.Add(source.Diagnostic{
		Severity: source.Warning, Code: StaleTranslation, Span: m.Translation.Begin,
		Message: message,
		Repair:  "translate the algorithm again: ashlar translate FILE",
		Related: []source.Note{{Span: m.Algorithm.Name.Span(), Message: "the algorithm"}},
	})
}

// inFile returns the units of the translation in the file of m.
func inFile(m *syntax.Module) []syntax.Unit {
	var units []syntax.Unit
	for _, u := range m.Units {
		if m.Translation.Contains(u.Span()) {
			units = append(units, u)
		}
	}
	return units
}

// difference describes the first relevant difference between two translations,
// or is "".
func difference(made Translation, found []syntax.Unit) string {
	ours, theirs := map[string]bool{}, declared(found)
	for _, v := range made.Declares.Variables {
		ours[v.Name] = true
	}
	for _, v := range slices.Sorted(maps.Keys(ours)) {
		if !theirs[v] {
			return fmt.Sprintf("the variable %s is only in the algorithm", v)
		}
	}
	for _, v := range slices.Sorted(maps.Keys(theirs)) {
		if !ours[v] {
			return fmt.Sprintf("the variable %s is only in the translation", v)
		}
	}
	defs := map[string]syntax.Unit{}
	for _, u := range found {
		if d, ok := u.(*syntax.OperatorDef); ok {
			defs[d.Name.Text] = u
		}
	}
	for _, p := range made.Print() {
		if !p.Compared {
			continue
		}
		if defs[p.Name] == nil {
			return fmt.Sprintf("the translation has no %s", p.Name)
		}
		a, b := says(comment.ReplaceAllString(p.Text, ""), ours), says(syntax.Format(defs[p.Name]), ours)
		if !maps.Equal(a, b) {
			return fmt.Sprintf("%s differs between the two: %s", p.Name, apart(a, b))
		}
	}
	return ""
}

// declared returns the variables of a translation.
func declared(units []syntax.Unit) map[string]bool {
	out := map[string]bool{}
	for _, u := range units {
		if d, ok := u.(*syntax.VariableDecl); ok {
			for _, n := range d.Names {
				out[n.Text] = true
			}
		}
	}
	return out
}

var (
	// comment matches the comment that our translator writes above the
	// variables of a process.
	comment = regexp.MustCompile(`\(\* .* \*\)\n`)
	// unchanged matches the list of variables that an action leaves unchanged.
	unchanged = regexp.MustCompile(`UNCHANGED\s*(?:<<[^>]*>>|\w+)`)
	// kept matches x' = x, another way to leave a variable unchanged. says
	// checks that both names are the same and that the value does not continue
	// on the next line.
	kept = regexp.MustCompile(`(\w+)' = (\w+)[ \t]*(?:\n[ \t]*(\S{0,2})|$)`)
	// brackets are symbols that hold others.
	brackets = regexp.MustCompile(`<<|>>|\|->|->|<-|=>`)
	said     = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[A-Za-z_0-9]+|\\[a-z]+|[-+*%^<>]`)
)

// says returns the symbols of a definition, without the names that it binds and
// without brackets.
func says(text string, variables map[string]bool) map[string]bool {
	text = unchanged.ReplaceAllString(text, "")
	text = kept.ReplaceAllStringFunc(text, func(s string) string {
		m := kept.FindStringSubmatch(s)
		goesOn := len(m[3]) > 0 && strings.Contains("\\-+*%^.:@#=<>|&", m[3][:1]) && m[3] != `\/`
		if m[1] != m[2] || goesOn {
			return s
		}
		return "\n" + m[3]
	})
	out := map[string]bool{}
	for _, w := range said.FindAllString(brackets.ReplaceAllString(text, " "), -1) {
		switch c := w[0]; {
		case strings.HasPrefix(w, `"Failure of assertion`), w == `\in`, w == "pc", w == "stack":
		case c == '"' || '0' <= c && c <= '9' || variables[w] || !isWord(c):
			out[w] = true
		}
	}
	return out
}

func isWord(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// apart returns the first element that is in only one of two sets.
func apart(algorithm, translation map[string]bool) string {
	for _, w := range slices.Sorted(maps.Keys(algorithm)) {
		if !translation[w] {
			return w + " is only in the algorithm"
		}
	}
	for _, w := range slices.Sorted(maps.Keys(translation)) {
		if !algorithm[w] {
			return w + " is only in the translation"
		}
	}
	return ""
}
