// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"
)

// report is what a run has found.
type report struct {
	Command string
	Machine string
	Seed    uint64
	Engines []about
	Rows    []*row
}

// about states what an engine is.
type about struct{ Name, Version, Setup, Promise string }

func newReport(c config, command string, rows []*row) *report {
	r := &report{
		Command: command, Seed: c.Seed, Rows: rows,
		Machine: fmt.Sprintf("%s %s/%s, file system in user space, disk in memory", runtime.Version(), runtime.GOOS, runtime.GOARCH),
	}
	for _, e := range c.Engines {
		r.Engines = append(r.Engines, about{e.Name, version(e.Module), e.Setup, e.Promise})
	}
	return r
}

// version is that of the module in this program.
func version(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok || module == "" {
		return "of this build"
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return m.Version
		}
	}
	return "unknown"
}

// columns of the table, and the cells of a row.
func columns() []string {
	head := []string{"engine", "disk", "power failures", "states", "opened", "ahead"}
	for f := findings - 1; f > fine; f-- {
		head = append(head, f.String())
	}
	return head
}

func (r *row) cells() []string {
	cells := []string{r.Engine, r.Disk, fmt.Sprint(r.Failures), fmt.Sprint(r.States), fmt.Sprint(r.Opened), fmt.Sprint(r.Ahead)}
	for f := findings - 1; f > fine; f-- {
		cells = append(cells, fmt.Sprint(r.bad(f)))
	}
	return cells
}

func (r *report) json(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

const legend = `Each power failure makes up to six states of the disk: of what was not synced, nothing is kept, everything, all up to a moment,
the same with the last write torn, and pages or sectors of any age. "strict" is what POSIX has: a name is durable when its directory was
synced, and nothing has an order. "journalled" is as ext4 and XFS are: names are durable with the next sync of anything, in their order,
and a file does not become longer before the bytes are there. "ahead": states with more than what was acknowledged, which is allowed. A
state is counted under the worst that is wrong with it.
`

func (r *report) text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(columns(), "\t"))
	for _, row := range r.Rows {
		fmt.Fprintln(t, strings.Join(row.cells(), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s\n", legend)
	for _, e := range r.Engines {
		fmt.Fprintf(w, "%s (%s): %s.\n  promises: %s\n", e.Name, e.Version, e.Setup, e.Promise)
	}
	for _, row := range r.Rows {
		for _, x := range row.Examples {
			fmt.Fprintf(w, "%s, %s: %s\n", row.Engine, row.Disk, x)
		}
		if row.Cut != "" {
			fmt.Fprintf(w, "%s, %s: not all was run: %s\n", row.Engine, row.Disk, row.Cut)
		}
	}
	_, err := fmt.Fprintf(w, "\nseed %d; %s\n", r.Seed, r.Machine)
	return err
}

func (r *report) markdown(w io.Writer) error {
	head := columns()
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, row := range r.Rows {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row.cells(), " | "))
	}
	fmt.Fprintf(w, "\n%s\n| engine | version | as it was set up | what it promises |\n|---|---|---|---|\n", legend)
	for _, e := range r.Engines {
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", e.Name, e.Version, e.Setup, e.Promise)
	}
	fmt.Fprintln(w)
	fmt.Fprint(w, "| engine | disk | failures while opening | batches acknowledged | syncs of the disk | not durable at a failure: writes, names (mean) |\n|---|---|---|---|---|---|\n")
	for _, row := range r.Rows {
		fmt.Fprintf(w, "| %s | %s | %d | %d | %d | %.1f, %.1f |\n", row.Engine, row.Disk, row.Recoveries, row.Batches, row.Syncs, row.Writes, row.Names)
	}
	fmt.Fprintln(w)
	for _, row := range r.Rows {
		for _, x := range row.Examples {
			fmt.Fprintf(w, "- %s, %s: %s\n", row.Engine, row.Disk, x)
		}
		if row.Cut != "" {
			fmt.Fprintf(w, "- %s, %s: not all was run: %s\n", row.Engine, row.Disk, row.Cut)
		}
	}
	_, err := fmt.Fprintf(w, "\n`%s`; %s.\n", r.Command, r.Machine)
	return err
}
