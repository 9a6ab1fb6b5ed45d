// SPDX-License-Identifier: Apache-2.0

// Command worm measures WormSpace against etcd and Redis: three servers of ours,
// three of etcd's and one of Redis', in one run, on this machine's loopback.
//
// In: flags. Out: a report as text, Markdown or JSON. Servers and clients are
// processes of their own; engines take turns within a round, each round beginning
// with another one, and figures are medians and means over the rounds. Every reply
// is asserted, and at the end of each phase everything that was acknowledged is
// read back by a fresh client: count and values. It promises nothing about other
// machines: compare what one run says.
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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ashlar-dev/ashlar/bench/process"
)

// roleServer and roleClient are the first argument of this program as a child.
const (
	roleServer = "-child-server"
	roleClient = "-child-client"
)

func main() {
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case roleServer:
			os.Exit(process.Main(serverMain))
		case roleClient:
			os.Exit(process.Main(clientMain))
		case roleAshlard:
			os.Exit(process.Main(ashlardMain))
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	path, err := os.Executable()
	if err == nil {
		self := func(role string) *exec.Cmd { return exec.Command(path, role) }
		err = command(ctx, os.Args[1:], os.Stdout, os.Stderr, self)
	}
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprintf(os.Stderr, "worm: %v\n", err)
		os.Exit(2)
	default:
		fmt.Fprintf(os.Stderr, "worm: %v\n", err)
		os.Exit(1)
	}
}

// errUsage is within errors that the command line is to blame for.
var errUsage = errors.New("see -help")

// config is what is measured.
type config struct {
	Engines  []string
	Ops      []string
	Modes    []string // memory, durable
	Clients  []int
	Procs    int // client processes of the variant with several; below 2: none
	Rounds   int
	Duration time.Duration // of a phase
	Warm     time.Duration
	Value    int    // bytes of a value
	Dir      string // on a disk
	Memory   string // on a file system in memory
	Extras   bool   // counts, chain against quorum, transactions, the Redis front
	Profile  string // directory for CPU profiles of our processes
}

// output is how the report looks and where it goes.
type output struct {
	JSON, Markdown bool
	File           string
}

// Limits of what can be asked for.
const (
	clientsMax  = 4096
	valueMin    = 16
	valueMax    = 64 << 10
	roundsMax   = 100
	durationMax = time.Minute
	procsMax    = 16
)

const helpText = `worm measures WormSpace beside etcd (three nodes) and Redis (one).

Usage: go -C bench run -tags etcd ./worm [flags]

Examples:
  go -C bench run -tags etcd ./worm -rounds 3 -markdown -o worm.md
        everything; about a quarter of an hour
  go -C bench run ./worm -engines ashlar,redis -ops write,read -modes memory -clients 64
  go -C bench run ./worm -smoke
        a second or two of each, to see that it works

etcd and Redis are the distribution's (Debian: etcd-server, redis-server); what is
not installed is left out, and the report says so.

Operations:
`

// parse reads the command line.
func parse(args []string, out io.Writer) (config, output, error) {
	c, o := config{}, output{}
	set := flag.NewFlagSet("worm", flag.ContinueOnError)
	set.SetOutput(out)
	engines := set.String("engines", "ashlar,etcd,redis", "`list` of engines, by comma")
	ops := set.String("ops", "all", "`list` of operations, by comma")
	modes := set.String("modes", "memory,durable", "`list`: memory, durable")
	clients := set.String("clients", "1,16,64,256", "`list` of how many clients at a time")
	set.IntVar(&c.Procs, "procs", 4, "client `processes` in the variant with several; 0: without it")
	set.IntVar(&c.Rounds, "rounds", 3, "rounds; figures are medians and means over them")
	set.DurationVar(&c.Duration, "duration", time.Second, "how long a phase is measured")
	set.DurationVar(&c.Warm, "warm", 200*time.Millisecond, "how long it runs before")
	set.IntVar(&c.Value, "value", 100, "`bytes` of a value")
	set.StringVar(&c.Dir, "dir", "", "`directory` on the disk to measure; \"\": a temporary one")
	set.StringVar(&c.Memory, "memory", "/dev/shm", "`directory` in memory, for etcd when nothing is durable")
	set.BoolVar(&c.Extras, "extras", true, "messages counted, chain against quorum, transactions, the Redis front")
	set.StringVar(&c.Profile, "profile", "", "`directory` for CPU profiles of our processes")
	smoke := set.Bool("smoke", false, "as short as it can be")
	set.BoolVar(&o.JSON, "json", false, "report as JSON")
	set.BoolVar(&o.Markdown, "markdown", false, "report as Markdown")
	set.StringVar(&o.File, "o", "", "`file` for the report; \"\": standard output")
	set.Usage = func() {
		fmt.Fprint(out, helpText)
		for _, op := range operations() {
			fmt.Fprintf(out, "  %-8s %s\n", op.Name, op.Title)
		}
		fmt.Fprint(out, "\nFlags:\n")
		set.PrintDefaults()
	}
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return c, o, err
		}
		return c, o, fmt.Errorf("%w, %w", err, errUsage)
	}
	if set.NArg() > 0 {
		return c, o, fmt.Errorf("%q is not a flag, %w", set.Arg(0), errUsage)
	}
	c.Engines, c.Modes = strings.Split(*engines, ","), strings.Split(*modes, ",")
	if c.Ops = strings.Split(*ops, ","); *ops == "all" {
		c.Ops = nil
		for _, op := range operations() {
			c.Ops = append(c.Ops, op.Name)
		}
	}
	for _, s := range strings.Split(*clients, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return c, o, fmt.Errorf("-clients %q: not a number, %w", s, errUsage)
		}
		c.Clients = append(c.Clients, n)
	}
	if *smoke {
		c.Rounds, c.Duration, c.Warm, c.Clients, c.Procs = 1, 50*time.Millisecond, 10*time.Millisecond, []int{1, 8}, 2
	}
	if err := c.check(); err != nil {
		return c, o, fmt.Errorf("%w, %w", err, errUsage)
	}
	return c, o, nil
}

// check says what is wrong with the flags.
func (c *config) check() error {
	for _, e := range c.Engines {
		if !slices.Contains([]string{ashlar, etcd, redis}, e) {
			return fmt.Errorf("-engines %q: there are %s, %s and %s", e, ashlar, etcd, redis)
		}
	}
	for _, m := range c.Modes {
		if m != inMemory && m != durable {
			return fmt.Errorf("-modes %q: there are %s and %s", m, inMemory, durable)
		}
	}
	for _, name := range c.Ops {
		if _, ok := operationNamed(name); !ok {
			return fmt.Errorf("-ops %q: there is none of that name", name)
		}
	}
	for _, n := range c.Clients {
		if n < 1 || n > clientsMax {
			return fmt.Errorf("-clients %d: expected 1 to %d", n, clientsMax)
		}
	}
	switch {
	case c.Rounds < 1 || c.Rounds > roundsMax:
		return fmt.Errorf("-rounds %d: expected 1 to %d", c.Rounds, roundsMax)
	case c.Duration <= 0 || c.Duration > durationMax || c.Warm < 0 || c.Warm > durationMax:
		return fmt.Errorf("-duration %v -warm %v: expected at most %v", c.Duration, c.Warm, durationMax)
	case c.Value < valueMin || c.Value > valueMax:
		return fmt.Errorf("-value %d: expected %d to %d", c.Value, valueMin, valueMax)
	case c.Procs < 0 || c.Procs > procsMax:
		return fmt.Errorf("-procs %d: expected 0 to %d", c.Procs, procsMax)
	}
	return nil
}

// command measures and reports.
func command(ctx context.Context, args []string, out, errs io.Writer, self func(role string) *exec.Cmd) error {
	c, o, err := parse(args, errs)
	if err != nil {
		return err
	}
	r, err := measure(ctx, c, self, errs)
	if err != nil {
		return err
	}
	text, err := r.format(o)
	if err != nil {
		return err
	}
	if o.File != "" {
		return os.WriteFile(o.File, []byte(text), 0o644)
	}
	_, err = io.WriteString(out, text)
	return err
}
