// SPDX-License-Identifier: Apache-2.0

// Package proofs has the mutants of proved programs: a bug is put into a
// program, and its proof must then fail to build, at the lemma that the table
// names.
//
// In: the tables proofs/mutants/NAME.txt, program texts, and the output of coqc.
// Out: rows, the file that a row edits and its mutated text, and the lemma at
// which a build has stopped. The package runs nothing; cmd/proofmutants does, in
// a copy of the repository.
//
// A row whose text is not found exactly once is an error.
package proofs

import (
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/mutant"
)

// Mutant is one bug in one proved program.
type Mutant struct {
	Proof    string // its table: the program's name, as in proofs/top/NAME.v
	Name     string // what is wrong, unique in the table
	In       string // from the root of the repository: a Go package's directory, or a Coq file if the bug is not in Go
	Old, New string // Old occurs exactly once there
	// Lemma is where the proof must stop building.
	Lemma string
}

// Parse reads a table: a row on each line, `name | in | old | new | lemma`,
// where \n in a text means a line break and \t a tab; empty lines and lines
// that begin with # are skipped.
func Parse(proof, text string) ([]Mutant, error) {
	var table []Mutant
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, " | ")
		if len(cells) != 5 {
			return nil, fmt.Errorf("%s.txt:%d: %d cells, want `name | in | old | new | lemma`", proof, i+1, len(cells))
		}
		unescape := strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace
		m := Mutant{
			Proof: proof, Name: strings.TrimSpace(cells[0]), In: strings.TrimSpace(cells[1]),
			Old: unescape(cells[2]), New: unescape(cells[3]), Lemma: strings.TrimSpace(cells[4]),
		}
		if m.Name == "" || m.Lemma == "" || seen[m.Name] {
			return nil, fmt.Errorf("%s.txt:%d: want a name that is used once and a lemma", proof, i+1)
		}
		seen[m.Name] = true
		table = append(table, m)
	}
	return table, nil
}

// Edit finds the text in tree, the repository, and returns its file and the new
// content of that file.
func (m Mutant) Edit(tree fs.FS) (file, mutated string, err error) {
	if m.Old == m.New || m.Old == "" {
		return "", "", fmt.Errorf("%s/%s: the mutant changes nothing", m.Proof, m.Name)
	}
	file, text, err := mutant.Locate(tree, m.In, m.Old)
	if err != nil {
		return "", "", fmt.Errorf("%s/%s: %w", m.Proof, m.Name, err)
	}
	return file, strings.Replace(text, m.Old, m.New, 1), nil
}

var (
	errorPlace = regexp.MustCompile(`(?m)^File "\.?/?([^"]+)", line (\d+), characters`)
	statement  = regexp.MustCompile(`^\s*(?:Local |Global |Program )*(?:Lemma|Theorem|Definition|Instance|Record|Fixpoint|Corollary)\s+([A-Za-z0-9_']+)`)
)

// Place finds the file and line of the error in the output of coqc.
func Place(output string) (file string, line int, found bool) {
	match := errorPlace.FindStringSubmatch(output)
	if match == nil {
		return "", 0, false
	}
	line, err := strconv.Atoi(match[2])
	return match[1], line, err == nil
}

// Lemma names the statement of a Coq text that line (from 1) belongs to, or "".
func Lemma(text string, line int) string {
	name := ""
	for i, l := range strings.Split(text, "\n") {
		if i >= line {
			break
		}
		if match := statement.FindStringSubmatch(l); match != nil {
			name = match[1]
		}
	}
	return name
}
