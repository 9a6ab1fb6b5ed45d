// SPDX-License-Identifier: Apache-2.0

// Command mutants, run as `go run ./internal/mutant/cmd/mutants` from the root of
// the repository, runs the tests on every mutant of the table and reports which
// ones they kill. It exits with 1 if one survives, does not build, no longer fits
// the code, or cannot be judged because the tests fail without it. With -write it
// records the results in build/mutants.md. With -list it prints the names and
// their number and runs nothing; with -mend it proposes new texts for the rows
// that no longer fit the code.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/internal/mutant"
)

func main() {
	ok, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// documentPath is the page of fates, relative to the root. It is not part of
// the repository, because every change of the table or of a test would change
// it.
const documentPath = "build/mutants.md"

// options are the flags.
type options struct {
	only     *regexp.Regexp
	parallel int
	timeout  time.Duration
	json     bool
	write    bool
	list     bool
	mend     bool
	verbose  bool
}

func parse(args []string) (options, error) {
	var o options
	var only string
	f := flag.NewFlagSet("mutants", flag.ContinueOnError)
	f.StringVar(&only, "only", "", "run the mutants whose names match this `expression`")
	f.IntVar(&o.parallel, "p", 2, "how many mutants at a time")
	f.DurationVar(&o.timeout, "timeout", 3*time.Minute, "of the tests of one package")
	f.BoolVar(&o.json, "json", false, "print one JSON object instead of a table")
	f.BoolVar(&o.write, "write", false, "note the fates in "+documentPath)
	f.BoolVar(&o.list, "list", false, "print the mutants' names and their number, and run nothing")
	f.BoolVar(&o.mend, "mend", false, "propose new texts for the rows that no longer fit the code, and run nothing")
	f.BoolVar(&o.verbose, "v", false, "print how each mutant dies")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 || o.parallel < 1 || o.timeout <= 0 {
		return o, fmt.Errorf("usage: mutants [-only EXPR] [-p N] [-timeout D] [-json] [-write] [-list] [-mend] [-v]")
	}
	var err error
	o.only, err = regexp.Compile(only)
	return o, err
}

func run(args []string, out io.Writer) (bool, error) {
	o, err := parse(args)
	if err != nil {
		return false, err
	}
	if _, err := os.Stat("go.mod"); err != nil {
		return false, fmt.Errorf("run it from the root of the repository: %w", err)
	}
	var table []mutant.Mutant
	for _, m := range mutant.Table() {
		if o.only.MatchString(m.Name) {
			table = append(table, m)
		}
	}
	if len(table) == 0 {
		return false, fmt.Errorf("no mutant has a name like %s", o.only)
	}
	switch {
	case o.list:
		for _, m := range table {
			fmt.Fprintln(out, m.Name)
		}
		fmt.Fprintf(out, "%d mutants\n", len(table))
		return true, nil
	case o.mend:
		return mend(out, ".", table)
	}
	var failed error
	results, err := newHunt(o).all(table, func(r result) {
		if !o.json {
			printRow(out, r, o.verbose)
		}
		if o.write && failed == nil {
			failed = note(r)
		}
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return false, err
	}
	bad := 0
	for _, r := range results {
		if !r.Outcome.Good() {
			bad++
		}
	}
	if o.json {
		err = printJSON(out, results, bad)
	} else {
		printSummary(out, results, bad)
	}
	return bad == 0, err
}

// printRow prints a mutant's fate as soon as it is known.
func printRow(out io.Writer, r result, verbose bool) {
	by := r.killer()
	if by == "" {
		by = "-"
	}
	fmt.Fprintf(out, "%-18s %5.1fs  %-52s %s\n", r.Outcome, r.Seconds, r.Name, by)
	if r.Detail != "" && (verbose || !r.Outcome.Good()) {
		fmt.Fprintln(out, indent(r.Detail))
	}
}

func printSummary(out io.Writer, results []result, bad int) {
	fmt.Fprintf(out, "\n%d mutants, %d killed", len(results), len(results)-bad)
	if bad > 0 {
		fmt.Fprintf(out, "; these are not:\n")
		for _, r := range results {
			if !r.Outcome.Good() {
				fmt.Fprintf(out, "  %s: %s (%s)\n      %s\n", r.Name, r.Outcome, r.In, r.Breaks)
			}
		}
	}
	fmt.Fprintln(out)
}

func printJSON(out io.Writer, results []result, bad int) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Mutants []result `json:"mutants"`
		Killed  int      `json:"killed"`
		Bad     int      `json:"bad"`
	}{results, len(results) - bad, bad})
}

// note writes a mutant's fate into the document at once, so that an interrupted
// run is useful.
func note(r result) error {
	text, err := os.ReadFile(documentPath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fates := mutant.ReadFates(string(text))
	fates[r.Name] = r.fate()
	if err := os.MkdirAll(filepath.Dir(documentPath), 0o755); err != nil {
		return err
	}
	return os.WriteFile(documentPath, []byte(mutant.Document(mutant.Table(), fates)), 0o644)
}

// indent sets a failure's text off from the table.
func indent(text string) string {
	return "      " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n      ")
}
