// SPDX-License-Identifier: Apache-2.0

// Package mutant holds the mutants that the suites which guard safety must
// kill: small wrong edits of our own code that a maintainer could make, each
// with the packages whose tests have to notice.
//
// In: the table, which is data (table_*.go), the text of the packages that it
// names, and what `go test -json` prints. Out: the file that a mutant edits,
// its mutated text, the verdict on a run, the page of fates, and proposals for
// rows that no longer fit. The package runs nothing and writes nothing itself;
// the command cmd/mutants does, through an overlay, so that the sources are
// never touched.
//
// It promises that a mutant counts as killed only where the same tests pass
// without it, and refuses a mutant whose text is not found exactly once: a
// table that has fallen behind the code is an error, not a mutant fewer. A row
// names a package, not a file, so that code can move within its package.
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
	Breaks string // one sentence: what is no longer so
	Kind   Kind
	// In is where the text is: the directory of a package, from the root of the
	// repository, with slashes, whose Go files without the tests are searched; or
	// one file, for what is not in those: a test, the template of a page.
	In string
	// Old occurs exactly once there, within one declaration, and New stands in its
	// place. Where it takes no more than a line to be unique, it is no more than a
	// line.
	Old, New string
	// Packages are those whose tests must notice, in the order in which they
	// run, as directories from the root; the first failure ends the run.
	Packages []string
	// Run, where it is not empty, restricts the tests as `go test -run` does,
	// and Short makes them short.
	Run   string
	Short bool
}

// Kind is what a mutant does to the user.
type Kind string

// The kinds.
const (
	// Unsound: something wrong passes for right; a state, a violation or a
	// forbidden trace is missed.
	Unsound Kind = "unsound"
	// WrongAnswer: a value, a count or a place is wrong, or what is right is
	// called wrong.
	WrongAnswer Kind = "wrong answer"
	// NotAtomic: an effect is lost, doubled, reordered, or outlives the step
	// that should have undone it.
	NotAtomic Kind = "not atomic"
	// Lost: what was promised to be durable is gone after a crash, or nothing
	// can be read any more.
	Lost Kind = "lost"
	// Stuck: something waits that could go on.
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

// Edit finds the text in tree, the repository, and returns the file that it is
// in and what that file becomes. It is an error where Old is not found exactly
// once, where it is New, and where the result is not Go.
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
// contains old, and the file's text. It is an error where old occurs more than
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
