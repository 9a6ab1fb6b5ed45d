// SPDX-License-Identifier: Apache-2.0

// Package mutant has the mutants that the safety suites must kill: small wrong
// edits of our own code that a maintainer could make, each with the packages
// whose tests must fail.
//
// In: the table, which is data (table_*.go), the text of the packages that it
// names, and the output of `go test -json`. Out: the file that a mutant edits,
// its mutated text, the verdict on a run, the page of fates, and proposals for
// rows that no longer fit. The package runs nothing and writes nothing itself;
// the command cmd/mutants does, through an overlay, so that the sources are
// never touched.
//
// A mutant counts as killed only if the same tests pass without it. A mutant
// whose text is not found exactly once is an error, so that an outdated table
// does not lose mutants silently. A row names a package, not a file, so that
// code can move within its package.
//
// `go test ./internal/mutant` reports the rows that need mending;
// `go run ./internal/mutant/cmd/mutants -mend` proposes their new texts.
package mutant

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// Mutant is one wrong edit.
type Mutant struct {
	Name   string // area/what-is-wrong, unique
	Breaks string // one sentence: the promise that no longer holds
	Kind   Kind
	// In is where the text is: the directory of a package, relative to the root of
	// the repository and with slashes, whose Go files except tests are searched; or
	// one file, for other text, such as a test or the template of a page.
	In string
	// Old occurs exactly once there, within one declaration, and New replaces it.
	// If one line is enough to make it unique, it is at most one line.
	Old, New string
	// Packages have the tests that must fail, as directories relative to the
	// root, in the order in which they run; the first failure ends the run.
	Packages []string
	// Run, if not empty, restricts the tests as `go test -run` does, and Short
	// makes them short.
	Run   string
	Short bool
}

// Kind is the effect of a mutant on the user.
type Kind string

// The kinds.
const (
	// Unsound: something wrong is accepted; a state, a violation or a forbidden
	// trace is missed.
	Unsound Kind = "unsound"
	// WrongAnswer: a value, a count or a place is wrong, or something correct is
	// reported as wrong.
	WrongAnswer Kind = "wrong answer"
	// NotAtomic: an effect is lost, doubled, reordered, or outlives the step
	// that should have undone it.
	NotAtomic Kind = "not atomic"
	// Lost: data that should be durable are gone after a crash, or nothing can be
	// read any more.
	Lost Kind = "lost"
	// Stuck: something waits that could continue.
	Stuck Kind = "stuck"
	// Unguarded: input from outside is believed that should be refused.
	Unguarded Kind = "unguarded"
)

// Area is the part of Name before the last slash.
func (m Mutant) Area() string {
	if i := strings.LastIndexByte(m.Name, '/'); i >= 0 {
		return m.Name[:i]
	}
	return m.Name
}

// Edit finds the text in tree, the repository, and returns its file and the new
// content of that file. It returns an error if Old does not occur exactly once,
// if Old equals New, or if the result is not Go.
func (m Mutant) Edit(tree fs.FS) (file, mutated string, err error) {
	if m.Old == m.New || m.Old == "" {
		return "", "", fmt.Errorf("%s: the mutant changes nothing", m.Name)
	}
	file, text, err := Locate(tree, m.In, m.Old)
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", m.Name, err)
	}
	mutated = strings.Replace(text, m.Old, m.New, 1)
	if path.Ext(file) != ".go" {
		return file, mutated, nil
	}
	if _, err := parser.ParseFile(token.NewFileSet(), file, mutated, parser.SkipObjectResolution); err != nil {
		return "", "", fmt.Errorf("%s: the mutated file is not Go: %w", m.Name, err)
	}
	return file, mutated, nil
}

// Locate returns the one file of in, a package's directory or a file, that
// contains old, and the file's text. It is an error if old occurs more than
// once or not at all.
func Locate(tree fs.FS, in, old string) (file, text string, err error) {
	files, err := sources(tree, in)
	if err != nil {
		return "", "", err
	}
	var places []string
	for _, f := range files {
		bytes, err := fs.ReadFile(tree, f)
		if err != nil {
			return "", "", err
		}
		t := string(bytes)
		for rest, line := t, 1; ; {
			before, after, found := strings.Cut(rest, old)
			if !found {
				break
			}
			line += strings.Count(before, "\n")
			places = append(places, fmt.Sprintf("%s:%d", f, line))
			line += strings.Count(old, "\n")
			file, text, rest = f, t, after
		}
	}
	switch len(places) {
	case 0:
		return "", "", fmt.Errorf("%q is not found in %s", old, in)
	case 1:
		return file, text, nil
	}
	return "", "", fmt.Errorf("%q is found %d times, want once: %s", old, len(places), strings.Join(places, ", "))
}

// sources are the files that in names.
func sources(tree fs.FS, in string) ([]string, error) {
	info, err := fs.Stat(tree, in)
	if err != nil || !info.IsDir() {
		return []string{in}, err
	}
	entries, err := fs.ReadDir(tree, in)
	var files []string
	for _, e := range entries {
		if name := e.Name(); !e.IsDir() && path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
			files = append(files, path.Join(in, name))
		}
	}
	return files, err
}

// Table is every mutant, area by area.
func Table() []Mutant {
	var all []Mutant
	for _, part := range [][]Mutant{
		checkMutants(), valueMutants(), nativeMutants(), evalMutants(), compiledSearchMutants(), frontMutants(), readerMutants(), translationMutants(), compilerMutants(),
		runtimeMutants(), mailboxMutants(), traceMutants(), gooseMutants(),
		durabilityMutants(), recoveryMutants(), iterOptionsMutants(), ingestMutants(), transactionMutants(), operateMutants(), journalMutants(), spaceMutants(), sweepMutants(), tombstoneMutants(), checksumMutants(), treeMutants(), keyspaceMutants(),
		crashMutants(), messageMutants(), simMutants(),
		wormWireMutants(), wormWalMutants(),
		wormGroupMutants(),
		wormPaxosMutants(),
		wormConformMutants(),
		wormRuleMutants(),
		wormSpaceMutants(),
		wormNodeMutants(),
		wormTxMutants(),
		wormAppsMutants(),
		faceMutants(),
		strangersAshlardMutants(),
		strangersWormMutants(),
		strangersForgedMutants(),
		dedalusEquivalenceMutants(),
		dedalusGallinaMutants(),
		dedalusStepMutants(), dedalusRuleMutants(),
		hostMutants(),
		compileMutants(),
		batchMutants(), dedalusRunMutants(),
		partialMutants(),
		costMutants(),
		attackMutants(),
		strangersGooseMutants(),
		strangersStoreMutants(), pagedMutants(),
		copyMutants(),
		strangersMailMutants(),
		strangersMPCalMutants(),
		crashLanguageMutants(),
		crashCompiledMutants(),
		strangersFrontMutants(),
		strangersFormsMutants(),
		strangersGiantsMutants(),
		strangersLevelMutants(),
		strangersReadingMutants(),
		generatedMutants(),
	} {
		all = append(all, part...)
	}
	return all
}
