// Package mutant holds the mutants that the suites which guard safety must
// kill: small wrong edits of our own code that a maintainer could make, each
// with the packages whose tests have to notice.
//
// In: the table, which is data (table_*.go), the text of the files that it
// names, and what `go test -json` prints. Out: the mutated text, the verdict
// on a run, and the document docs/mutants.md. The package runs nothing and
// writes nothing itself; the command cmd/mutants does, through an overlay, so
// that the sources are never touched.
//
// It promises that a mutant counts as killed only where the same tests pass
// without it, and refuses a mutant whose text is not found exactly once: a
// table that has fallen behind the code is an error, not a mutant fewer.
//
// To mend a row, copy the present text of the line into Old and make the same
// mistake in New; `go test ./internal/mutant` says which rows need it.
package mutant

import (
	"fmt"
	"go/parser"
	"go/token"
	"strings"
)

// Mutant is one wrong edit.
type Mutant struct {
	Name   string // area/what-is-wrong, unique
	Breaks string // one sentence: what is no longer so
	Kind   Kind
	File   string // from the root of the repository, with slashes
	// Old occurs exactly once in File, and New stands in its place. Where it
	// takes no more than a line to be unique, it is no more than a line.
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

// Apply makes the edit in text, which is that of m.File. It is an error where
// Old is not found exactly once, where it is New, and where the result is not
// Go.
func (m Mutant) Apply(text string) (string, error) {
	if m.Old == m.New || m.Old == "" {
		return "", fmt.Errorf("%s: the mutant changes nothing", m.Name)
	}
	if n := strings.Count(text, m.Old); n != 1 {
		return "", fmt.Errorf("%s: %q is found %d times in %s, want once", m.Name, m.Old, n, m.File)
	}
	mutated := strings.Replace(text, m.Old, m.New, 1)
	if _, err := parser.ParseFile(token.NewFileSet(), m.File, mutated, parser.SkipObjectResolution); err != nil {
		return "", fmt.Errorf("%s: the mutated file is not Go: %w", m.Name, err)
	}
	return mutated, nil
}

// Table is every mutant, area by area.
func Table() []Mutant {
	var all []Mutant
	for _, part := range [][]Mutant{
		checkMutants(), valueMutants(), nativeMutants(), evalMutants(), compiledSearchMutants(), frontMutants(), readerMutants(), translationMutants(), compilerMutants(),
		runtimeMutants(), mailboxMutants(), traceMutants(), gooseMutants(),
		durabilityMutants(), recoveryMutants(), journalMutants(), spaceMutants(), checksumMutants(), treeMutants(),
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
		strangersAshlardMutants(),
		dedalusEquivalenceMutants(),
		hostMutants(),
		compileMutants(),
		batchMutants(),
		partialMutants(),
		costMutants(),
		attackMutants(),
	} {
		all = append(all, part...)
	}
	return all
}
