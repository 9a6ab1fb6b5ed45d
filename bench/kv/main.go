// SPDX-License-Identifier: Apache-2.0

// Command kv measures key-value stores against each other: the store of this
// repository and its peers, in one program, with the same operations.
//
// In: flags. Out: a report as text, Markdown or JSON. Every phase of every
// engine runs in a process of its own below a memory limit that counts the
// page cache, pinned to as many CPUs as -cpus says; engines take turns within
// a round, and figures are medians over the rounds. Every value that is read
// is checked byte by byte, with its version; scans check order and count. It
// promises nothing about other machines: compare what one run says.
//
// The workloads are those of YCSB (Cooper et al., SoCC 2010) and some more.
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
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == childArg {
		os.Exit(childMain(os.Stdin, os.Stdout))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	self := func() *exec.Cmd { return exec.Command(os.Args[0], childArg) }
	if path, err := os.Executable(); err == nil {
		self = func() *exec.Cmd { return exec.Command(path, childArg) }
	}
	err := command(ctx, os.Args[1:], os.Stdout, os.Stderr, self)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprintf(os.Stderr, "kv: %v\n", err)
		os.Exit(2)
	default:
		fmt.Fprintf(os.Stderr, "kv: %v\n", err)
		os.Exit(1)
	}
}

// errUsage is within errors that the command line is to blame for.
var errUsage = errors.New("see -help")

// output is where the report goes, and how it looks.
type output struct {
	JSON, Markdown bool
	File           string
	List           bool
}

const helpText = `kv measures key-value stores with the same operations, records and memory.

Usage: go -C bench run ./kv [flags]

Examples:
  go -C bench run ./kv -preset smoke
        every engine of this build, 50,000 records in 64 MiB, below a minute
  go -C bench run -tags rocksdb ./kv -preset S -rounds 5 -markdown -o kv.md
        the configuration that targets are stated for; takes hours
  go -C bench run ./kv -preset S -engines ashlar,pebble -workloads load,A,U -budget 20m
        a part of it, which stops after 20 minutes and says what was not run
  go -C bench run ./kv -records 100000 -ops 20000 -sync each -clients 16 -workloads load
        durable inserts of 16 clients

Workloads:
`

// parse reads the command line.
func parse(args []string, out io.Writer) (config, output, error) {
	c := config{Preset: "smoke"}
	var o output
	set := flag.NewFlagSet("kv", flag.ContinueOnError)
	set.SetOutput(out)
	preset := set.String("preset", "smoke", "`name` of the defaults of what follows: smoke, S or two")
	records := set.Int64("records", 0, "records to load")
	memory := set.String("memory", "", "`size` of everything in memory, such as 512MiB")
	ops := set.Int64("ops", 0, "operations of a phase; workloads take a multiple of it")
	cpus := set.Int("cpus", 0, "CPUs that an engine may use")
	clients := set.Int("clients", 0, "clients at a time")
	limit := set.Duration("limit", 0, "operations of a phase stop after this time")
	rounds := set.Int("rounds", 1, "rounds; figures are medians over them")
	seed := set.Uint64("seed", 1, "of all that is drawn by chance")
	sync := set.String("sync", "end", "when writes become durable: at the `end` of a phase, or each")
	compressible := set.Float64("compressible", 0, "`part` of a value that compresses, 0 to 1")
	names := set.String("engines", "all", "`list` of engines, by comma; all: those of this build")
	loads := set.String("workloads", "all", "`list` of workloads, by comma, in order")
	budget := set.Duration("budget", 0, "stop after this time and say what was not run; 0: never")
	dir := set.String("dir", "", "`directory` for the data, on the device to measure; \"\": a temporary one")
	cgroup := set.String("cgroup", "", "`directory` to make control groups in; \"\": wherever possible, none: not at all")
	set.BoolVar(&o.JSON, "json", false, "report as JSON")
	set.BoolVar(&o.Markdown, "markdown", false, "report as Markdown")
	set.StringVar(&o.File, "o", "", "`file` for the report; \"\": standard output")
	set.BoolVar(&o.List, "list", false, "list engines with their settings, and workloads")
	set.Usage = func() {
		fmt.Fprint(out, helpText)
		for _, w := range workloads() {
			fmt.Fprintf(out, "  %-7s %s\n", w.Name, w.Title)
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
	bad := func(format string, args ...any) (config, output, error) {
		return c, o, fmt.Errorf("%s, %w", fmt.Sprintf(format, args...), errUsage)
	}
	if set.NArg() > 0 {
		return bad("%q is not a flag", set.Arg(0))
	}
	c, ok := presets()[*preset]
	if !ok {
		return bad("-preset %s: there are smoke, S and two", *preset)
	}
	c.Preset = *preset
	override := func(to *int64, with int64) {
		if with != 0 {
			*to, c.Preset = with, ""
		}
	}
	if *memory != "" {
		n, err := parseSize(*memory)
		if err != nil {
			return bad("-memory: %v", err)
		}
		override(&c.Memory, n)
	}
	override(&c.Records, *records)
	override(&c.Ops, *ops)
	if *cpus != 0 {
		c.CPUs, c.Preset = *cpus, ""
	}
	if *clients != 0 {
		c.Clients, c.Preset = *clients, ""
	}
	if *limit != 0 {
		c.Limit = *limit
	}
	if *sync != "end" && *sync != "each" {
		return bad("-sync %s: there are end and each", *sync)
	}
	c.SyncEach = *sync == "each"
	if c.SyncEach {
		c.Preset = ""
	}
	c.Rounds, c.Seed, c.Compressible, c.Budget, c.Dir, c.Cgroup = *rounds, *seed, *compressible, *budget, *dir, *cgroup
	c.Engines, c.Workloads = strings.Split(*names, ","), strings.Split(*loads, ",")
	if err := c.check(); err != nil {
		return bad("%v", err)
	}
	return c, o, nil
}

// presets are the configurations with a name.
func presets() map[string]config {
	return map[string]config{
		"smoke": {Records: 50_000, Memory: 64 << 20, Ops: 2_000, CPUs: 1, Clients: 1, Limit: time.Second},
		"S":     {Records: 2_500_000, Memory: 512 << 20, Ops: 100_000, CPUs: 1, Clients: 1, Limit: 5 * time.Minute},
		"two":   {Records: 2_500_000, Memory: 512 << 20, Ops: 200_000, CPUs: 2, Clients: 2, Limit: 5 * time.Minute},
	}
}

// Limits of what can be asked for.
const (
	recordsMax = 1 << 31
	clientsMax = 1024
	memoryMin  = 32 << 20
)

func (c config) check() error {
	switch {
	case c.Records < 1 || c.Records > recordsMax:
		return fmt.Errorf("-records %d: expected 1 to %d", c.Records, recordsMax)
	case c.Memory < memoryMin:
		return fmt.Errorf("-memory %s: expected %s at least", mib(c.Memory), mib(memoryMin))
	case c.Ops < 1:
		return fmt.Errorf("-ops %d: expected 1 at least", c.Ops)
	case c.CPUs < 1:
		return fmt.Errorf("-cpus %d: expected 1 at least", c.CPUs)
	case c.Clients < 1 || c.Clients > clientsMax:
		return fmt.Errorf("-clients %d: expected 1 to %d", c.Clients, clientsMax)
	case c.Rounds < 1:
		return fmt.Errorf("-rounds %d: expected 1 at least", c.Rounds)
	case c.Compressible < 0 || c.Compressible > 1:
		return fmt.Errorf("-compressible %g: expected 0 to 1", c.Compressible)
	case c.Limit < time.Second:
		return fmt.Errorf("-limit %s: expected 1s at least", c.Limit)
	case c.Budget < 0:
		return fmt.Errorf("-budget %s: expected 0s at least", c.Budget)
	}
	return nil
}

// parseSize reads a number of bytes with an optional KiB, MiB or GiB.
func parseSize(text string) (int64, error) {
	number, shift := text, 0
	for suffix, s := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		if before, ok := strings.CutSuffix(text, suffix); ok {
			number, shift = before, s
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n < 0 || n > 1<<62>>shift {
		return 0, fmt.Errorf("%q: expected a size such as 512MiB", text)
	}
	return n << shift, nil
}

// chosenWorkloads finds workloads by name; every phase but R needs a load
// before it.
func chosenWorkloads(names []string) ([]workload, error) {
	if len(names) == 1 && names[0] == "all" {
		return workloads(), nil
	}
	var list []workload
	loaded := false
	for _, name := range names {
		w, ok := workloadNamed(name)
		if !ok {
			var all []string
			for _, w := range workloads() {
				all = append(all, w.Name)
			}
			return nil, fmt.Errorf("no workload is called %q; there are %s", name, strings.Join(all, ", "))
		}
		for _, l := range list {
			if l.Name == name {
				return nil, fmt.Errorf("workload %s is listed twice", name)
			}
		}
		loaded = loaded || name == "load"
		if !loaded && !w.Recover {
			load, _ := workloadNamed("load")
			list, loaded = append(list, load), true
		}
		list = append(list, w)
	}
	return list, nil
}

// command is the program.
func command(ctx context.Context, args []string, stdout, stderr io.Writer, self func() *exec.Cmd) (err error) {
	c, o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	b := &bench{config: c, self: self}
	if b.workloads, err = chosenWorkloads(c.Workloads); err != nil {
		return fmt.Errorf("%w, %w", err, errUsage)
	}
	if b.engines, err = enginesNamed(c.Engines); err != nil {
		return fmt.Errorf("%w, %w", err, errUsage)
	}
	if o.List {
		list(stdout, c.settings())
		return nil
	}
	terminal := false
	if f, ok := stderr.(*os.File); ok {
		terminal = isatty.IsTerminal(f.Fd())
	}
	b.progress = newProgress(stderr, terminal, time.Now)
	if b.root, err = os.MkdirTemp(c.Dir, "kv-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.root)) }()
	if c.Budget > 0 {
		b.deadline = time.Now().Add(c.Budget)
	}
	b.cages = cages{Why: "none: not asked for"}
	if c.Cgroup != "none" {
		b.cages = findCages(c.Cgroup)
	}
	if err := b.checkSpace(); err != nil {
		return err
	}
	before := b.ambience(ctx)
	b.progress.say("device: %s", before.device)
	if err := b.run(ctx); err != nil {
		return err
	}
	rep := b.report(before, b.ambience(ctx))
	if err := writeReport(rep, o, stdout); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	for _, r := range b.results {
		if r.Error != "" && r.OOMKills == 0 {
			return fmt.Errorf("%s %s: %s", r.Engine, r.Workload, r.Error)
		}
	}
	return nil
}

// checkSpace refuses what would not fit on the disk: three times the records
// for each engine, since compactions write before they remove.
func (b *bench) checkSpace() error {
	need := 3 * int64(len(b.engines)) * b.Records * (keySize + valueSize)
	if free, known := freeSpace(b.root); known && free < need {
		return fmt.Errorf("%d engines with %d records each take up to %d MB for a while, and %s has room for %d MB: see -dir, -engines",
			len(b.engines), b.Records, need/1e6, b.root, free/1e6)
	}
	return nil
}

// ambience is what else goes on where the run is.
type ambience struct {
	device device
	load   string
}

// ambience looks around; a run that was interrupted does not wait for it.
func (b *bench) ambience(ctx context.Context) ambience {
	a := ambience{device: device{Impossible: "interrupted"}, load: loadAverage()}
	if ctx.Err() != nil {
		return a
	}
	a.device = calibrate(b.root, min(2*time.Second, b.Limit/10))
	return a
}

// list prints engines and workloads.
func list(out io.Writer, s settings) {
	for _, e := range engines() {
		fmt.Fprintln(out, e.Name)
		if e.Absent != "" {
			fmt.Fprintln(out, "    not in this build:", e.Absent)
		}
		for _, l := range e.Setup(s) {
			fmt.Fprintln(out, "   ", l)
		}
	}
	for _, w := range workloads() {
		fmt.Fprintf(out, "%-7s %s\n", w.Name, w.Title)
	}
}
