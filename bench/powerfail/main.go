// SPDX-License-Identifier: Apache-2.0

// Command powerfail lets the power fail below key-value stores, and looks at
// what they make of what is left.
//
// In: flags. Out: a table as text, Markdown or JSON. An engine runs in a
// process of its own on a file system in user space, which holds back what was
// not synced: bytes of files, and names in directories. At an operation drawn
// by chance the power fails: the process is killed at once, and what was not
// synced is lost, kept, or torn to pieces. The engine then opens each of these
// states, and everything it holds is compared with the history of what was
// written and acknowledged.
//
// It promises that the model is no harsher than what POSIX allows a disk that
// writes sectors of 512 bytes whole, and that a state is judged by what any
// such disk can hold. The moments of failure are the same for the same seed,
// but engines have threads, so that states are not. It refuses to run where no
// file system can be mounted: it needs Linux, /dev/fuse and the right to mount.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == childArg {
		os.Exit(childMain(engines(), os.Stdin, os.Stdout))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	err = command(ctx, os.Args[1:], os.Stdout, os.Stderr, func() *exec.Cmd { return exec.Command(path, childArg) })
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprintf(os.Stderr, "powerfail: %v\n", err)
		os.Exit(2)
	default:
		fmt.Fprintf(os.Stderr, "powerfail: %v\n", err)
		os.Exit(1)
	}
}

var (
	// errUsage is within errors that the command line is to blame for.
	errUsage = errors.New("see -help")
	// errFlaws reports that the store of this repository did not hold.
	errFlaws = errors.New("the store of this repository did not keep its promise")
)

// output is where the report goes, and how it looks.
type output struct {
	JSON, Markdown bool
	File           string
}

const helpText = `powerfail lets the power fail below key-value stores and looks at what they make of what is left.

Usage: go -C bench run ./powerfail [flags]

Examples:
  go -C bench run ./powerfail
        the store of this repository, some power failures, below a minute
  go -C bench run -tags rocksdb ./powerfail -engines all -rounds 200 -seed 1 -markdown -o powerfail.md
        every engine, on both kinds of disks
  go -C bench run ./powerfail -engines pebble -disk strict -rounds 50 -keep states
        one of them; states in which something is wrong are kept

It needs Linux, /dev/fuse and the right to mount. It ends with an error when
the store of this repository did not keep its promise.

Flags:
`

// parse reads the command line.
func parse(args []string, list []engine, out io.Writer) (config, output, error) {
	var c config
	var o output
	set := flag.NewFlagSet("powerfail", flag.ContinueOnError)
	set.SetOutput(out)
	names := set.String("engines", "ashlar", "`list` of engines, by comma; all: those of this build")
	disks := set.String("disk", "both", "what the disk promises: strict, journalled or both")
	set.IntVar(&c.Rounds, "rounds", 20, "power failures for each engine and disk")
	set.Uint64Var(&c.Seed, "seed", 1, "of all that is drawn by chance")
	set.Uint64Var(&c.Batches, "batches", 300, "batches that a process writes at most")
	set.IntVar(&c.Every, "every", 8, "one batch in so many waits until it is durable")
	set.DurationVar(&c.Limit, "limit", time.Minute, "a process that takes longer is ended")
	set.DurationVar(&c.Budget, "budget", 0, "stop after this time and say what was not run; 0: never")
	set.IntVar(&c.Parallel, "parallel", runtime.NumCPU(), "engines and disks at a time")
	set.StringVar(&c.Dir, "dir", "", "`directory` for the mounts; \"\": a temporary one")
	set.StringVar(&c.Keep, "keep", "", "`directory` for states in which something is wrong")
	set.BoolVar(&o.JSON, "json", false, "report as JSON")
	set.BoolVar(&o.Markdown, "markdown", false, "report as Markdown")
	set.StringVar(&o.File, "o", "", "`file` for the report; \"\": standard output")
	set.Usage = func() {
		fmt.Fprint(out, helpText)
		set.PrintDefaults()
		fmt.Fprint(out, "\nEngines:\n")
		for _, e := range list {
			about := e.Setup
			if e.Absent != "" {
				about = "not in this build: " + e.Absent
			}
			fmt.Fprintf(out, "  %-13s %s\n", e.Name, about)
		}
	}
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return c, o, err
		}
		return c, o, fmt.Errorf("%w, %w", err, errUsage)
	}
	bad := func(format string, args ...any) (config, output, error) {
		return c, o, fmt.Errorf("%s, %w", fmt.Sprintf(format, args...), errUsage)
	}
	var err error
	if c.Engines, err = enginesNamed(list, strings.Split(*names, ",")); err != nil {
		return bad("%v", err)
	}
	switch *disks {
	case "strict":
		c.Disks = []bool{false}
	case "journalled":
		c.Disks = []bool{true}
	case "both":
		c.Disks = []bool{false, true}
	default:
		return bad("-disk is %q, want strict, journalled or both", *disks)
	}
	switch {
	case set.NArg() > 0:
		return bad("unexpected argument %q", set.Arg(0))
	case c.Rounds < 1 || c.Batches < 1 || c.Parallel < 1 || c.Every < 1:
		return bad("-rounds, -batches, -every and -parallel are at least 1")
	case c.Limit <= 0 || c.Budget < 0:
		return bad("a time is negative")
	case o.JSON && o.Markdown:
		return bad("-json and -markdown exclude each other")
	}
	return c, o, nil
}

// command is the program without its process.
func command(ctx context.Context, args []string, out, progress io.Writer, self func() *exec.Cmd) error {
	c, o, err := parse(args, engines(), progress)
	if err != nil {
		return err
	}
	if c.Keep != "" {
		if err := os.MkdirAll(c.Keep, 0o777); err != nil {
			return err
		}
	}
	r, done, err := newRig(c, self, progress)
	if err != nil {
		return err
	}
	defer done()
	rows, err := r.run(ctx)
	if err := write(newReport(c, strings.Join(append([]string{"go -C bench run ./powerfail"}, args...), " "), rows), o, out); err != nil {
		return err
	}
	for _, row := range rows {
		if err == nil && strings.HasPrefix(row.Engine, "ashlar") && row.flaws() > 0 {
			err = errFlaws
		}
	}
	return err
}

func write(r *report, o output, w io.Writer) error {
	form := r.text
	switch {
	case o.JSON:
		form = r.json
	case o.Markdown:
		form = r.markdown
	}
	if o.File == "" {
		return form(w)
	}
	f, err := os.Create(o.File)
	if err != nil {
		return err
	}
	return errors.Join(form(f), f.Close())
}
