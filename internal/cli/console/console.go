// SPDX-License-Identifier: Apache-2.0

// Package console connects a command with its terminal: standard output and error,
// the colours and the progress line for people, JSON for programs.
//
// In: the output of a command. Out: text. It writes colours and progress only if the
// output is a terminal.
package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"

	"github.com/ashlar-dev/ashlar/internal/cli/ending"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// Terminal holds the outputs of a command and the way in which its process
// ends.
type Terminal struct {
	Out, Err       io.Writer
	OutTTY, ErrTTY bool // a person is looking
	// End controls how the process ends on a signal; nil in tests.
	End *ending.Ending
}

// Complain prints an error: diagnostics with their source lines.
func (t *Terminal) Complain(err error) {
	var diags *source.List
	if errors.As(err, &diags) {
		diags.Print(t.Err)
		return
	}
	p := NewPalette(t.ErrTTY)
	fmt.Fprintf(t.Err, "%s %v\n", p.Bad("ashlar:"), err)
}

// JSON writes a result for a program to read.
func (t *Terminal) JSON(v any) error {
	e := json.NewEncoder(t.Out)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return exit.Failed(fmt.Errorf("write the result: %w", err))
	}
	return nil
}

// Standard is the process's own standard output and error.
func Standard() *Terminal {
	tty := func(f *os.File) bool { return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()) }
	return &Terminal{Out: os.Stdout, Err: os.Stderr, OutTTY: tty(os.Stdout), ErrTTY: tty(os.Stderr)}
}

// Palette colours text, or leaves it as it is.
type Palette struct {
	Good, Bad, Warn, Dim, Bold, Change func(a ...any) string
}

// NewPalette returns a palette that colours text if tty is set and
// NO_COLOR is not set.
func NewPalette(tty bool) Palette {
	on := tty && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	paint := func(attributes ...color.Attribute) func(a ...any) string {
		c := color.New(attributes...)
		if on {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
		return c.SprintFunc()
	}
	return Palette{
		Good:   paint(color.FgGreen, color.Bold),
		Bad:    paint(color.FgRed, color.Bold),
		Warn:   paint(color.FgYellow, color.Bold),
		Dim:    paint(color.Faint),
		Bold:   paint(color.Bold),
		Change: paint(color.FgCyan),
	}
}
