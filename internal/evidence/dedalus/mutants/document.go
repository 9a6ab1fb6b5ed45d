// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"fmt"
	"strings"
)

// Document is the page of the table.
func Document(results []*Result) string {
	var b strings.Builder
	b.WriteString(`# Mistakes in rewrites and protocols

The checks that guard the rewrites are themselves tested: with programs that contain
mistakes a person might make when rewriting by hand, with the mistakes in the published
rules (B1 to B11), and with certificates that do not describe the step. At least one
method finds each mistake. *Certificate*: the checker refuses, with this message.
*Exploration*: a search of all message orders, within bounds, finds that the program
sends what the original never sends (safety), or comes to rest where the original does
not (liveness). *Adversary*: the original cannot explain a run under a random schedule;
the table shows the schedule, shortened. A dash means that the method was not tried.

"passes" is a possible result: the certificate checker does not know the purpose of a
protocol, and a bounded search does not find everything.

` + "This page is written by `ashlar dedalus mutants --markdown`; a test checks that it is up to date.\n\n" +
		"| mistake | certificate | exploration | adversary |\n|---|---|---|---|\n")
	found := 0
	for _, r := range results {
		if r.Found() {
			found++
		}
		fmt.Fprintf(&b, "| **%s.** %s | %s | %s | %s |\n", cell(r.Name), cell(r.About), r.CertificateText(), r.ExploredText(), r.RandomText())
	}
	fmt.Fprintf(&b, "\n%d mistakes, %d found.\n", len(results), found)
	return b.String()
}

func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;", ">", "&gt;").Replace(s)
}

// shown is how much of a text a table has.
const shown = 160

func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > shown {
		s = s[:shown] + "…"
	}
	return s
}

// CertificateText describes what the certificate's checker did.
func (r *Result) CertificateText() string {
	switch {
	case r.Certificate == Untried:
		return "–"
	case r.Refusal == "":
		return "passes"
	}
	return "refused: " + cell(short(r.Refusal))
}

// ExploredText says what exploration found.
func (r *Result) ExploredText() string {
	switch {
	case r.Explored == Untried:
		return "–"
	case r.Stir != nil:
		return fmt.Sprintf("%s (%d states)", cell(short(r.Stir.Error())), r.States)
	case r.Difference == nil:
		return fmt.Sprintf("passes (%d states)", r.States)
	}
	told := r.Difference.Told
	if told == "" {
		told = "nothing"
	}
	return fmt.Sprintf("%s, of %d states: after %d steps it has sent %s", r.Difference.Kind, r.States, len(r.Difference.Steps), cell(short(told)))
}

// RandomText describes what the adversary found.
func (r *Result) RandomText() string {
	switch {
	case r.Random == Untried:
		return "–"
	case r.Verdict == nil:
		return "passes"
	case len(r.Schedule) == 0:
		return fmt.Sprintf("%s, seed %d: without disturbance", r.Verdict.Kind, r.Seed)
	}
	return fmt.Sprintf("%s, seed %d: `%s`", r.Verdict.Kind, r.Seed, short(r.Schedule.String()))
}
