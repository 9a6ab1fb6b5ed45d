// SPDX-License-Identifier: Apache-2.0

package prove

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// buildOptions are the flags of prove build.
type buildOptions struct {
	dir  string
	jobs int
	json bool
}

const buildHelp = `Build checks the proofs of a development: it runs Coq, in the order of dependencies,
on the files that have changed since they were checked, and on all files that
depend on them. With FILEs it checks only these and their dependencies.

The development is the folder --dir, or the current one, or proofs in the current
module. If a proof fails, build reports the file, the lemma and the reason; files
that do not depend on it are still checked. At the end it lists the slowest files.

Exit codes: 0 everything is checked; 150 a proof fails; 1 files, or Coq is
missing; 2 usage; 130 interrupted.`

// jobsMax is the default bound on concurrent coqc processes: each takes up to a
// gigabyte.
const jobsMax = 4

// slowestMax is the number of files in the list of the slowest ones.
const slowestMax = 10

func newBuildCommand(t *console.Terminal) *cobra.Command {
	var o buildOptions
	cmd := &cobra.Command{
		Use:   "build [FILE...]",
		Short: "Check the proofs",
		Long:  buildHelp,
		Example: `  ashlar prove build
  ashlar prove build -j 2 proofs/wal/proof.v
  ashlar prove build --dir proofs --json`,
		RunE: func(cmd *cobra.Command, args []string) error { return runBuild(cmd.Context(), t, o, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.dir, "dir", "", "folder of the development")
	f.IntVarP(&o.jobs, "jobs", "j", min(jobsMax, runtime.NumCPU()), "how many files to check at a time")
	f.BoolVar(&o.json, "json", false, "write what was done as JSON")
	return cmd
}

// built is what prove build reports to machines.
type built struct {
	Schema   string      `json:"schema"`
	UpToDate int         `json:"upToDate"`
	Checked  []builtFile `json:"checked"`
	Failed   []failure   `json:"failed"`
	// Blocked are the files that depend on a file that failed.
	Blocked  []string `json:"blocked"`
	ExitCode int      `json:"exitCode"`
}

type builtFile struct {
	File    string  `json:"file"`
	Seconds float64 `json:"seconds"`
}

// failure is a proof that Coq rejects.
type failure struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Lemma   string `json:"lemma"`
	Message string `json:"message"`
	span    source.Span
}

func runBuild(ctx context.Context, t *console.Terminal, o buildOptions, args []string) error {
	if o.jobs < 1 {
		return exit.With(exit.Usage, errors.New("--jobs must be at least 1"))
	}
	d, err := findDevelopment(o.dir)
	if err != nil {
		return exit.Failed(err)
	}
	if d.usesCopy() {
		n, err := d.unpackLibrary()
		if err != nil {
			return exit.Failed(err)
		}
		if n > 0 && !o.json {
			fmt.Fprintf(t.Out, "%s: %d files of the library written\n", filepath.Join(d.dir, libraryDir), n)
		}
	}
	b, err := newProofBuild(ctx, d, args)
	if err != nil {
		return exit.Failed(err)
	}
	if !o.json {
		b.tell = func(line string) { fmt.Fprintln(t.Out, line) }
	}
	result, err := b.run(ctx, o.jobs)
	if ctx.Err() != nil {
		return exit.With(exit.Interrupted, errors.New("interrupted"))
	}
	if err != nil {
		return exit.Failed(err)
	}
	return tellBuilt(t, o, result)
}

// proofBuild is a build in progress. Only the goroutine of run accesses it.
type proofBuild struct {
	d     *development
	deps  map[string][]string
	files []string // to be up to date in the end, callees first
	tell  func(line string)
}

// newProofBuild determines what to build: the files named by args, or all of
// the development's own files.
func newProofBuild(ctx context.Context, d *development, args []string) (*proofBuild, error) {
	own, all, err := d.coqFiles()
	if err != nil {
		return nil, err
	}
	if len(own) == 0 {
		return nil, fmt.Errorf("no Coq file in %s", d.dir)
	}
	targets := own
	if len(args) > 0 {
		targets = nil
		for _, a := range args {
			file, err := d.fileOf(a, all)
			if err != nil {
				return nil, err
			}
			targets = append(targets, file)
		}
	}
	deps, err := d.dependencies(ctx, all)
	if err != nil {
		return nil, err
	}
	b := &proofBuild{d: d, deps: deps, tell: func(string) {}}
	seen := map[string]bool{}
	var visit func(file string)
	visit = func(file string) {
		if seen[file] {
			return
		}
		seen[file] = true
		for _, need := range deps[file] {
			visit(need)
		}
		b.files = append(b.files, file)
	}
	for _, f := range targets {
		visit(f)
	}
	return b, nil
}

// fileOf finds a file that the user names, relative to the current directory or
// to the development.
func (d *development) fileOf(arg string, all []string) (string, error) {
	arg = strings.TrimSuffix(strings.TrimSuffix(arg, "o"), ".v") + ".v"
	candidates := []string{filepath.Clean(arg)}
	here, err1 := filepath.Abs(arg)
	root, err2 := filepath.Abs(d.dir)
	if err1 == nil && err2 == nil {
		if rel, err := filepath.Rel(root, here); err == nil {
			candidates = append([]string{rel}, candidates...)
		}
	}
	for _, c := range candidates {
		if slices.Contains(all, c) {
			return c, nil
		}
	}
	return "", fmt.Errorf("%s is not a file of the development in %s", arg, d.dir)
}

// stale reports whether a file must be checked again, given which of its
// dependencies were.
func (b *proofBuild) stale(file string, rebuilt map[string]bool) bool {
	vo, err := os.Stat(b.d.path(file + "o"))
	if err != nil {
		return true
	}
	v, err := os.Stat(b.d.path(file))
	if err != nil || v.ModTime().After(vo.ModTime()) {
		return true
	}
	for _, need := range b.deps[file] {
		info, err := os.Stat(b.d.path(need + "o"))
		if rebuilt[need] || err != nil || info.ModTime().After(vo.ModTime()) {
			return true
		}
	}
	return false
}

// finished is a worker's result for one file.
type finished struct {
	file    string
	seconds float64
	output  string
	err     error
}

// run checks all files that need it, jobs at a time.
func (b *proofBuild) run(ctx context.Context, jobs int) (built, error) {
	result := built{Schema: "ashlar-prove-build-1", Checked: []builtFile{}, Failed: []failure{}, Blocked: []string{}}
	rebuilt, bad := map[string]bool{}, map[string]bool{}
	waiting := append([]string(nil), b.files...)
	done := map[string]bool{}
	events := make(chan finished)
	running := 0
	var world error
	for len(waiting) > 0 || running > 0 {
		var later []string
		for _, file := range waiting {
			ready, blocked := true, false
			for _, need := range b.deps[file] {
				ready = ready && done[need]
				blocked = blocked || bad[need]
			}
			switch {
			case blocked:
				bad[file], done[file] = true, true
				result.Blocked = append(result.Blocked, file)
			case !ready || running >= jobs || ctx.Err() != nil || world != nil:
				later = append(later, file)
			case !b.stale(file, rebuilt):
				done[file] = true
				result.UpToDate++
			default:
				running++
				go func() { events <- b.check(ctx, file) }()
			}
		}
		progressed := len(later) < len(waiting)
		waiting = later
		if running == 0 {
			if !progressed {
				break // interrupted, or the world has failed
			}
			continue
		}
		e := <-events
		running--
		done[e.file] = true
		var status *exec.ExitError
		switch {
		case e.err == nil:
			rebuilt[e.file] = true
			result.Checked = append(result.Checked, builtFile{File: e.file, Seconds: e.seconds})
			b.tell(fmt.Sprintf("[%*d/%d] %6.1f s  %s", digits(len(b.files)), len(done), len(b.files), e.seconds, e.file))
		case errors.As(e.err, &status) && ctx.Err() == nil:
			bad[e.file] = true
			f := b.explain(e)
			result.Failed = append(result.Failed, f)
			b.tell(fmt.Sprintf("[%*d/%d]  failed   %s", digits(len(b.files)), len(done), len(b.files), e.file))
		default:
			world = coqError("coqc", e.err, "")
		}
	}
	if len(result.Failed) > 0 {
		result.ExitCode = exit.Spec
	}
	sort.Slice(result.Failed, func(i, j int) bool { return result.Failed[i].File < result.Failed[j].File })
	return result, world
}

func digits(n int) int { return len(strconv.Itoa(n)) }

// check runs Coq on one file.
func (b *proofBuild) check(ctx context.Context, file string) finished {
	cmd := exec.CommandContext(ctx, "coqc", append(append([]string{"-q", "-w", "none"}, b.d.flags()...), file)...)
	cmd.Dir = b.d.dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err := cmd.Run()
	return finished{file: file, seconds: time.Since(start).Seconds(), output: out.String(), err: err}
}

var (
	coqPlace    = regexp.MustCompile(`(?m)^File "(.*)", line (\d+), characters (\d+)-(\d+):\n`)
	coqSentence = regexp.MustCompile(`^\s*(?:Local |Global |Program |#\[[^\]]*\]\s*)*(Lemma|Theorem|Corollary|Definition|Fixpoint|Instance|Fact|Proposition|Example|Remark)\s+([\w']+)`)
)

// explain extracts a place, the enclosing lemma, and a message from Coq's
// output.
func (b *proofBuild) explain(e finished) failure {
	f := failure{File: e.file, Message: strings.TrimSpace(e.output)}
	// The error is at the last place; earlier places are those of warnings.
	places := coqPlace.FindAllStringSubmatchIndex(e.output, -1)
	if len(places) == 0 {
		return f
	}
	m := places[len(places)-1]
	number := func(i int) int {
		n, _ := strconv.Atoi(e.output[m[2*i]:m[2*i+1]])
		return n
	}
	f.Message = strings.TrimSpace(e.output[m[1]:])
	f.Message = strings.TrimSpace(strings.TrimPrefix(f.Message, "Error:"))
	text, err := os.ReadFile(b.d.path(e.file))
	if err != nil {
		return f
	}
	file := source.NewFile(b.d.path(e.file), text)
	offset := 0
	lines := strings.SplitAfter(string(text), "\n")
	f.Line = number(2)
	for i := 0; i < f.Line-1 && i < len(lines); i++ {
		offset += len(lines[i])
	}
	size := len(text)
	f.span = source.Span{File: file, Start: int32(min(offset+number(3), size)), End: int32(min(offset+number(4), size))}
	f.Column = f.span.From().Column
	for i := min(f.Line, len(lines)) - 1; i >= 0; i-- {
		if s := coqSentence.FindStringSubmatch(lines[i]); s != nil {
			f.Lemma = s[2]
			break
		}
	}
	return f
}

func tellBuilt(t *console.Terminal, o buildOptions, r built) error {
	if o.json {
		if err := t.JSON(r); err != nil {
			return err
		}
	} else {
		for _, f := range r.Failed {
			tellFailure(t, f)
		}
		if len(r.Checked) > 1 {
			tellSlowest(t, r.Checked)
		}
		fmt.Fprintf(t.Out, "%d checked, %d up to date", len(r.Checked), r.UpToDate)
		if len(r.Failed) > 0 {
			fmt.Fprintf(t.Out, ", %d failed, %d not checked because of them", len(r.Failed), len(r.Blocked))
		}
		fmt.Fprintln(t.Out)
	}
	if r.ExitCode != 0 {
		return exit.With(r.ExitCode, nil)
	}
	return nil
}

// failureLinesMax bounds the number of lines of a goal that are shown.
const failureLinesMax = 40

func tellFailure(t *console.Terminal, f failure) {
	first, rest, _ := strings.Cut(f.Message, "\n")
	if f.Lemma != "" {
		first = "in " + f.Lemma + ": " + first
	}
	source.Diagnostic{Code: "ProofFails", Span: f.span, Message: first}.Print(t.Err)
	lines := strings.Split(strings.TrimSpace(rest), "\n")
	for i, line := range lines {
		if i == failureLinesMax {
			fmt.Fprintf(t.Err, "    (%d more lines)\n", len(lines)-i)
			break
		}
		if line != "" {
			fmt.Fprintf(t.Err, "    %s\n", line)
		}
	}
}

func tellSlowest(t *console.Terminal, files []builtFile) {
	files = append([]builtFile(nil), files...)
	sort.SliceStable(files, func(i, j int) bool { return files[i].Seconds > files[j].Seconds })
	fmt.Fprintln(t.Out, "the slowest files:")
	for _, f := range files[:min(len(files), slowestMax)] {
		fmt.Fprintf(t.Out, "%7.1f s  %s\n", f.Seconds, f.File)
	}
}
