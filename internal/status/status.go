// SPDX-License-Identifier: Apache-2.0

// Package status has the claims that the documents make about the project, each
// with the commands that show it.
//
// In: the table in claims.go. Out: docs/status.md, written by go test
// ./internal/status -rewrite, and, by cmd/status, a report of the results of
// the last run of the commands.
//
// Promised: the document matches the table; each command names packages, tests,
// make targets and directories that exist.
package status

import (
	"fmt"
	"strings"
)

// How is the kind of evidence that the commands of a claim give.
type How string

const (
	// Proved: Coq has checked a theorem about every execution.
	Proved How = "proved"
	// Checked: every case within stated bounds was enumerated.
	Checked How = "checked"
	// Tested: samples were drawn, by hand or at random.
	Tested How = "tested"
	// Measured: a benchmark asserts its output and prints figures.
	Measured How = "measured"
)

// A Claim is one sentence about the project.
type Claim struct {
	Room     string // the heading above it
	Claim    string // Markdown
	How      []How
	Shown    string   // what the commands examine, Markdown
	Commands []string // run from the root of the repository
	Not      string   // what they do not show; may be empty
}

// Document is docs/status.md.
func Document(claims []Claim) string {
	var b strings.Builder
	b.WriteString(preamble)
	room := ""
	for _, c := range claims {
		if c.Room != room {
			room = c.Room
			fmt.Fprintf(&b, "\n## %s\n\n| claim | how | what the commands examine | what they do not show |\n|---|---|---|---|\n", room)
		}
		hows := make([]string, len(c.How))
		for i, h := range c.How {
			hows[i] = string(h)
		}
		commands := make([]string, len(c.Commands))
		for i, command := range c.Commands {
			commands[i] = "`" + strings.ReplaceAll(command, "|", `\|`) + "`"
		}
		shown := strings.Join(commands, ", ")
		if c.Shown != "" {
			shown = c.Shown + ": " + shown
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.Claim, strings.Join(hows, ", "), shown, c.Not)
	}
	return b.String()
}

const preamble = `# Status: what is claimed, and the commands that show it

Four words with four meanings. *Proved*: a theorem about every execution, checked by Coq. *Checked*: every case within
stated bounds was enumerated. *Tested*: samples were tried, chosen by hand or at random. *Measured*: a benchmark whose output is asserted.

This page is the table in ` + "`internal/status/claims.go`" + `; ` + "`go test ./internal/status -rewrite`" + ` writes it. ` + "`make status`" + ` runs every
command and writes the output of each, with the date, to ` + "`build/status.md`" + `.
`
