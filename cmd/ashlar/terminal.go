package main

import (
	"os"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"
)

// terminal is the process's own standard output and error.
func terminal() *term {
	tty := func(f *os.File) bool { return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()) }
	return &term{out: os.Stdout, err: os.Stderr, outTTY: tty(os.Stdout), errTTY: tty(os.Stderr)}
}

// palette colours text, or leaves it as it is.
type palette struct {
	good, bad, warn, dim, bold, change func(a ...any) string
}

// newPalette colours where a person is looking and NO_COLOR is not set.
func newPalette(tty bool) palette {
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
	return palette{
		good:   paint(color.FgGreen, color.Bold),
		bad:    paint(color.FgRed, color.Bold),
		warn:   paint(color.FgYellow, color.Bold),
		dim:    paint(color.Faint),
		bold:   paint(color.Bold),
		change: paint(color.FgCyan),
	}
}
