// SPDX-License-Identifier: Apache-2.0

package mutant

import (
	"fmt"
	"strconv"
	"strings"
)

// Fate is the outcome of a mutant when it was last tried.
type Fate struct {
	Outcome Outcome // "" if it was not tried
	// By is a package's directory, a dot, and the test function; only the
	// directory if no test is to blame.
	By      string
	Seconds int // the time of its tests, building included
}

// Fates are the fates of mutants, by name.
type Fates map[string]Fate

// Document is the page of fates.
func Document(table []Mutant, fates Fates) string {
	var b strings.Builder
	killed, tried, seconds := 0, 0, 0
	var bad []string
	for _, m := range table {
		f := fates[m.Name]
		seconds += f.Seconds
		if f.Outcome != "" {
			tried++
		}
		if f.Outcome.Good() {
			killed++
		} else if f.Outcome != "" {
			bad = append(bad, m.Name)
		}
	}
	fmt.Fprintf(&b, preamble, len(table), tried, killed, len(bad), (seconds+30)/60)
	for _, name := range bad {
		fmt.Fprintf(&b, "\n- `%s`", name)
	}
	if len(bad) > 0 {
		b.WriteString("\n")
	}
	area := ""
	for _, m := range table {
		if m.Area() != area {
			area = m.Area()
			fmt.Fprintf(&b, "\n## %s\n\n| mutant | kind | in | what it breaks | fate | s |\n|---|---|---|---|---|---|\n", area)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", strings.TrimPrefix(m.Name, area+"/"), m.Kind, m.In, cell(m.Breaks), fates[m.Name])
	}
	return b.String()
}

const preamble = `# Mutants

The suites that guard safety are tested themselves: by wrong edits of our own
code that a maintainer could make, each of which some test must notice.
` + "`make mutants`" + ` makes each edit in turn, in a copy that the compiler is shown
through ` + "`go test -overlay`" + `, runs the tests of the packages that ought to notice,
and fails if they all pass; ` + "`make mutants ASHLAR_MUTANTS=store/`" + ` tries those whose
names match. The edits are in ` + "`internal/mutant/table_*.go`" + `; a test checks that every
edit still fits the code. This page is written by
` + "`go run ./internal/mutant/cmd/mutants -write`" + `, whole or for those that -only names,
and says what the last run of each has found.

*Unsound*: something wrong passes for right. *Wrong answer*: a value or a count is
wrong, or what is right is called wrong. *Not atomic*: an effect is doubled,
reordered or not undone. *Lost*: what was promised to be durable is gone after a
crash, or nothing can be read any more. *Stuck*: something waits that could go on.
*Unguarded*: input is believed that should be refused. The fate is the first test
that fails, as dir.Test for ` + "`go test -run Test ./dir`" + `; others may as well. The
crash suite, internal/evidence/store/explore.TestCrashes, runs with -short. An edit that does not
compile is no mutant. Seconds, building included, are of the last run, on a loaded
machine.

%d mutants, %d tried: %d killed, %d not. All together took about %d minutes.
`

// String is a row's last cells.
func (f Fate) String() string {
	outcome := string(f.Outcome)
	if outcome == "" {
		return notTried + " |"
	}
	if f.By != "" {
		outcome += " by `" + f.By + "`"
	}
	return fmt.Sprintf("%s | %d", outcome, f.Seconds)
}

const notTried = "not tried"

// cell keeps a sentence within its cell of the table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// ReadFates takes the fates out of a document.
func ReadFates(document string) Fates {
	fates := Fates{}
	area := ""
	for _, line := range strings.Split(document, "\n") {
		if rest, ok := strings.CutPrefix(line, "## "); ok {
			area = rest
		}
		row, ok := strings.CutPrefix(strings.ReplaceAll(line, `\|`, ""), "| ")
		cells := strings.Split(strings.TrimSuffix(row, " |"), " | ")
		if !ok || len(cells) != 6 || area == "" {
			continue
		}
		seconds, err := strconv.Atoi(cells[5])
		if err != nil {
			continue
		}
		f := Fate{Seconds: seconds}
		outcome, by, _ := strings.Cut(cells[4], " by `")
		f.Outcome, f.By = Outcome(outcome), strings.TrimSuffix(by, "`")
		fates[area+"/"+cells[0]] = f
	}
	return fates
}
