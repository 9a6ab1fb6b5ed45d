// SPDX-License-Identifier: Apache-2.0

// Command dedalus measures compiled Dedalus programs: the examples, as they are
// written and as rewrites make them, and voting beside the same protocol written by
// hand in Go and on Hydro's dataflow runtime, in one run on this machine's loopback.
//
// In: flags. Out: a report as text, Markdown or JSON: commands in a second (mean,
// median and 90th percentile of the seconds), latencies, and the processor time
// of each node for a command. Each instance is a process; clients are another; every
// command is asserted to be answered, with the answer that it must have.
//
// A machine has fewer cores than a program that was divided has nodes. So what
// the divided program would do with a machine for each node is modelled, and
// labelled so: a core of the busiest node, divided by what it uses for a command.
//
// Children end with their parent, and what they wrote is removed.
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
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ashlar-dev/ashlar/bench/process"
)

// The first arguments of this program as a child.
const (
	roleHandLeader      = "-child-hand-leader"
	roleHandParticipant = "-child-hand-participant"
	roleFrames          = "-child-frames"
)

func main() {
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case roleHandLeader:
			os.Exit(process.Main(handLeader))
		case roleHandParticipant:
			os.Exit(process.Main(handParticipant))
		case roleFrames:
			os.Exit(process.Main(framesMain))
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	path, err := os.Executable()
	if err == nil {
		err = command(ctx, os.Args[1:], os.Stdout, os.Stderr, func(role string) *exec.Cmd { return exec.Command(path, role) })
	}
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprintf(os.Stderr, "dedalus: %v\n", err)
		os.Exit(2)
	default:
		fmt.Fprintf(os.Stderr, "dedalus: %v\n", err)
		os.Exit(1)
	}
}

// errUsage is within errors that the command line is to blame for.
var errUsage = errors.New("see -help")

// config is what is measured.
type config struct {
	Programs []string // EXAMPLE or EXAMPLE:SCRIPT
	Peers    []string
	Clients  int
	Rounds   int
	Warm     time.Duration
	Run      time.Duration
	Quota    float64 // percent of a core that a node has, 0 for all
	Value    int     // bytes of a peer's value
	Dir      string  // for what nodes keep
	Profile  string  // directory for CPU profiles of the nodes
	Measured string  // directory for measurements, as ashlar dedalus optimize reads them

	json, markdown bool
	out            string
}

// Limits of what can be asked for.
const (
	clientsMax = 1 << 16
	roundsMax  = 100
	runMax     = 10 * time.Minute
)

// The peers.
const (
	hand  = "hand"
	hydro = "hydro"
)

// programsDefault are the programs of the report. With a number in its name a script
// is what the optimizer chose for so many machines.
var programsDefault = []string{
	"voting", "voting:voting-26", "twophase", "twophase:twophase-12", "paxos", "paxos:paxos-29", "comppaxos",
}

const helpText = `dedalus measures compiled Dedalus programs.

Usage: go -C bench run ./dedalus [flags]

Examples:
  go -C bench run ./dedalus
        all programs, and voting's peers
  go -C bench run ./dedalus -programs voting,voting:voting -peers hand -clients 100
        voting as it is written, as examples/dedalus/voting.steps make it, and by hand
  go -C bench run ./dedalus -smoke
        a second of each, to see that it works

The peer on Hydro's runtime is built by cargo; without it, it is left out, and the
report says so.

Flags:
`

func parse(args []string, errs io.Writer) (config, error) {
	var c config
	var programs, peers string
	var smoke bool
	f := flag.NewFlagSet("dedalus", flag.ContinueOnError)
	f.SetOutput(errs)
	f.Usage = func() {
		_, _ = io.WriteString(errs, helpText)
		f.PrintDefaults()
	}
	f.StringVar(&programs, "programs", strings.Join(programsDefault, ","), "`EXAMPLE[:SCRIPT],...` of examples/dedalus")
	f.StringVar(&peers, "peers", hand+","+hydro, "voting's peers: hand, hydro, or nothing")
	f.IntVar(&c.Clients, "clients", 200, "commands under way at once")
	f.IntVar(&c.Rounds, "rounds", 3, "rounds; systems take turns in each")
	f.DurationVar(&c.Warm, "warm", 2*time.Second, "time before commands count")
	f.DurationVar(&c.Run, "run", 5*time.Second, "time in which commands count")
	f.IntVar(&c.Value, "value", 16, "bytes of a peer's value; a program's load says its own")
	f.Float64Var(&c.Quota, "quota", 0, "give each node of a program so many `percent` of a core, by control groups (Linux, root)")
	f.StringVar(&c.Dir, "dir", "", "`directory` for what nodes keep; default a new one, which is removed")
	f.StringVar(&c.Profile, "profile", "", "`directory` for CPU profiles of the nodes")
	f.StringVar(&c.Measured, "measured", "", "`directory` for measurements, for ashlar dedalus optimize --measured")
	f.BoolVar(&c.json, "json", false, "write the report as JSON")
	f.BoolVar(&c.markdown, "markdown", false, "write the report as Markdown")
	f.StringVar(&c.out, "o", "", "write the report to a `file`")
	f.BoolVar(&smoke, "smoke", false, "one short round of everything")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return c, err
		}
		return c, fmt.Errorf("%w: %w", errUsage, err)
	}
	if smoke {
		c.Rounds, c.Warm, c.Run, c.Clients = 1, 300*time.Millisecond, time.Second, min(c.Clients, 32)
	}
	split := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
	}
	c.Programs, c.Peers = split(programs), split(peers)
	switch {
	case f.NArg() > 0:
		return c, fmt.Errorf("%w: unexpected %q", errUsage, f.Arg(0))
	case c.Clients < 1 || c.Clients > clientsMax:
		return c, fmt.Errorf("%w: -clients %d: want 1 to %d", errUsage, c.Clients, clientsMax)
	case c.Rounds < 1 || c.Rounds > roundsMax:
		return c, fmt.Errorf("%w: -rounds %d: want 1 to %d", errUsage, c.Rounds, roundsMax)
	case c.Run < time.Second || c.Run > runMax || c.Warm < 0 || c.Warm > runMax:
		return c, fmt.Errorf("%w: -run: want a second to %v", errUsage, runMax)
	case c.Quota < 0 || c.Quota > 100:
		return c, fmt.Errorf("%w: -quota %v: want percent of a core", errUsage, c.Quota)
	case c.Value < 8 || c.Value > 1<<16:
		return c, fmt.Errorf("%w: -value %d: want 8 to %d bytes", errUsage, c.Value, 1<<16)
	}
	for _, p := range c.Peers {
		if p != hand && p != hydro {
			return c, fmt.Errorf("%w: -peers %s: want hand, hydro", errUsage, p)
		}
	}
	return c, nil
}

// examplesDir and buildDir are seen from bench, where this runs.
const (
	examplesDir = "../examples/dedalus"
	buildDir    = "build/dedalus"
)

func command(ctx context.Context, args []string, out, errs io.Writer, self func(string) *exec.Cmd) error {
	c, err := parse(args, errs)
	if err != nil {
		return err
	}
	if _, err := os.Stat(examplesDir); err != nil {
		return fmt.Errorf("%w: run it as 'go -C bench run ./dedalus': %w", errUsage, err)
	}
	if c.Dir == "" {
		dir, err := os.MkdirTemp("", "ashlar-bench-dedalus-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		c.Dir = dir
	}
	for _, d := range []string{c.Profile, c.Measured} {
		if d != "" {
			if err := os.MkdirAll(d, 0o755); err != nil {
				return err
			}
		}
	}
	r := &runner{c: c, ctx: ctx, self: self, log: errs, absent: map[string]string{}, samples: map[string][]*sample{}}
	report, err := r.run()
	if err != nil {
		return err
	}
	text, err := report.write(c)
	if err != nil {
		return err
	}
	if c.out != "" {
		return os.WriteFile(filepath.Clean(c.out), text, 0o644)
	}
	_, err = out.Write(text)
	return err
}
