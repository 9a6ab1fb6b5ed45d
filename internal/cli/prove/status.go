// SPDX-License-Identifier: Apache-2.0

package prove

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/goose"
)

// statusOptions are the flags of prove status.
type statusOptions struct {
	dir  string
	json bool
}

const statusHelp = `Status reports for each translated package:

  translated  whether its translation in gen matches the Go
  built       whether all Coq files about it are checked and up to date
  theorems    the theorems in its file in the folder top, or else in its own folder,
              and whether Coq confirms that they assume nothing
  lines       of its Go, of its specification (spec.v), and of its proof

The Coq files about package a/b/name are those in the folder name, or beside its Go.

Exit codes: 0 everything is up to date, built and proved; 20 something is not;
1 files, or Coq is missing; 2 usage; 130 interrupted.`

func newStatusCommand(t *console.Terminal) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Report what is translated, up to date, built, and proved",
		Long:  statusHelp,
		Example: `  ashlar prove status
  ashlar prove status --dir proofs --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), t, o) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.dir, "dir", "", "folder of the development")
	f.BoolVar(&o.json, "json", false, "write JSON")
	return cmd
}

// status is what prove status reports to machines.
type status struct {
	Schema   string          `json:"schema"`
	Packages []packageStatus `json:"packages"`
	ExitCode int             `json:"exitCode"`
}

type packageStatus struct {
	Path string `json:"path"`
	// Translated is fresh, stale, refused or gone.
	Translated string `json:"translated"`
	// Built counts the package's proof files that are checked and up to date.
	Built      int       `json:"built"`
	Files      int       `json:"files"`
	Theorems   []theorem `json:"theorems"`
	GoLines    int       `json:"goLines"`
	SpecLines  int       `json:"specLines"`
	ProofLines int       `json:"proofLines"`
}

// theorem is a theorem with its assumptions.
type theorem struct {
	Name string `json:"name"`
	File string `json:"file"`
	// State is closed, assumes, or not built.
	State string `json:"state"`
	// Assumes lists the assumptions that Coq reports.
	Assumes string `json:"assumes,omitempty"`
}

func runStatus(ctx context.Context, t *console.Terminal, o statusOptions) error {
	d, err := findDevelopment(o.dir)
	if err != nil {
		return exit.Failed(err)
	}
	s := status{Schema: "ashlar-prove-status-1", Packages: []packageStatus{}}
	s.Packages, err = d.packages(ctx)
	if ctx.Err() != nil {
		return exit.With(exit.Interrupted, errors.New("interrupted"))
	}
	if err != nil {
		return exit.Failed(err)
	}
	for _, p := range s.Packages {
		if !p.complete() {
			s.ExitCode = exit.NotChecked
		}
	}
	if o.json {
		if err := t.JSON(s); err != nil {
			return err
		}
	} else if err := tellStatus(t, s); err != nil {
		return exit.Failed(err)
	}
	if s.ExitCode != 0 {
		return exit.With(s.ExitCode, nil)
	}
	return nil
}

// complete reports whether nothing is left to do for a package that has proofs. A
// package without proofs, such as a test corpus, only has to be translated.
func (p packageStatus) complete() bool {
	for _, th := range p.Theorems {
		if th.State != "closed" {
			return false
		}
	}
	return p.Translated == "fresh" && p.Built == p.Files
}

// packages checks every translated package.
func (d *development) packages(ctx context.Context) ([]packageStatus, error) {
	root, module, err := findModule(d.dir)
	if err != nil {
		return nil, err
	}
	b, err := newProofBuild(ctx, d, nil)
	if err != nil {
		return nil, err
	}
	old := b.allStale()
	var out []packageStatus
	for _, file := range b.files {
		rel, ok := strings.CutPrefix(filepath.ToSlash(file), "gen/")
		if !ok {
			continue
		}
		dir := packageDir(root, module, rel)
		p := packageStatus{Path: path.Join(module, dir), Theorems: []theorem{}}
		p.Translated, p.GoLines, err = d.translated(root, file, dir)
		if err != nil {
			return nil, err
		}
		if err := d.proofsOf(ctx, &p, b.files, file, old); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no translated package in %s; 'ashlar prove translate' writes some", filepath.Join(d.dir, "gen"))
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out, nil
}

// packageDir is the folder of the package that is translated in a file below
// gen. The module's own package is in a file that has the module's name.
func packageDir(root, module, file string) string {
	if file == goose.File(module, module) {
		if _, err := os.Stat(filepath.Join(root, strings.TrimSuffix(file, ".v"))); errors.Is(err, fs.ErrNotExist) {
			return "."
		}
	}
	return strings.TrimSuffix(file, ".v")
}

// allStale returns the files that are unchecked or have changed since their
// check.
func (b *proofBuild) allStale() map[string]bool {
	old := map[string]bool{}
	for _, f := range b.files {
		if b.stale(f, old) {
			old[f] = true
		}
	}
	return old
}

// translated compares the translation in a file with the current Go code.
func (d *development) translated(root, file, dir string) (state string, goLines int, err error) {
	goLines, err = countGo(filepath.Join(root, filepath.FromSlash(dir)))
	if errors.Is(err, fs.ErrNotExist) {
		return "gone", 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	out, diags, err := goose.Translate(goose.Config{Dir: root, Patterns: []string{"./" + dir}, Prefix: d.own + ".gen",
		ReadFile: os.ReadFile, Go: runGo, Show: filepath.Base})
	if err != nil {
		return "", 0, err
	}
	if diags.HasErrors() {
		return "refused", goLines, nil
	}
	have, err := os.ReadFile(d.path(file))
	if err != nil {
		return "", 0, err
	}
	for _, o := range out {
		if filepath.Join("gen", filepath.FromSlash(o.File)) == file && o.Text == string(have) {
			return "fresh", goLines, nil
		}
	}
	return "stale", goLines, nil
}

// proofsOf finds the Coq files about a package, counts their lines, and finds
// the assumptions of their theorems.
func (d *development) proofsOf(ctx context.Context, p *packageStatus, files []string, gen string, old map[string]bool) error {
	rel := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(gen), "gen/"), ".v")
	name := path.Base(rel)
	top := "top/" + name + ".v"
	beside := strings.TrimPrefix(rel, "proofs/")
	if d.own != "" && beside == rel {
		beside = name
	}
	var mine []string
	hasTop := false
	for _, f := range files {
		slash := filepath.ToSlash(f)
		if dir := path.Dir(slash); dir == name || dir == beside || slash == top {
			mine = append(mine, f)
			hasTop = hasTop || slash == top
		}
	}
	for _, f := range append([]string{gen}, mine...) {
		p.Files++
		if !old[f] {
			p.Built++
		}
	}
	for _, f := range mine {
		text, err := os.ReadFile(d.path(f))
		if err != nil {
			return err
		}
		n := bytes.Count(text, []byte("\n"))
		if path.Base(filepath.ToSlash(f)) == "spec.v" {
			p.SpecLines += n
		} else {
			p.ProofLines += n
		}
		if (filepath.ToSlash(f) == top) != hasTop {
			continue
		}
		ths, err := d.theorems(ctx, f, string(text), old[f])
		if err != nil {
			return err
		}
		p.Theorems = append(p.Theorems, ths...)
	}
	return nil
}

var theoremName = regexp.MustCompile(`(?m)^\s*Theorem\s+([\w']+)`)

// theorems runs Coq to find the assumptions of a file's theorems.
func (d *development) theorems(ctx context.Context, file, text string, old bool) ([]theorem, error) {
	var out []theorem
	for _, m := range theoremName.FindAllStringSubmatch(text, -1) {
		th := theorem{Name: m[1], File: file, State: "not built"}
		if !old {
			said, err := d.assumptions(ctx, file, m[1])
			if err != nil {
				return nil, err
			}
			th.State = "closed"
			if said != "Closed under the global context" {
				th.State, th.Assumes = "assumes", said
			}
		}
		out = append(out, th)
	}
	return out, nil
}

// assumptions is what Coq prints for Print Assumptions.
func (d *development) assumptions(ctx context.Context, file, name string) (string, error) {
	logical := d.own + "." + strings.ReplaceAll(strings.TrimSuffix(filepath.ToSlash(file), ".v"), "/", ".")
	dir, err := os.MkdirTemp("", "ashlar-prove-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	ask := filepath.Join(dir, "ask.v")
	if err := os.WriteFile(ask, []byte("Require "+logical+".\nPrint Assumptions "+logical+"."+name+".\n"), 0o644); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "coqc", append(append([]string{"-q", "-w", "none"}, d.flags()...), ask)...)
	cmd.Dir = d.dir
	out, err := cmd.CombinedOutput()
	var status *exec.ExitError
	if errors.As(err, &status) && ctx.Err() == nil {
		return strings.TrimSpace(string(out)), nil // a theorem within a section that is not closed, and the like
	}
	if err != nil {
		return "", coqError("coqc", err, string(out))
	}
	return strings.TrimSpace(string(out)), nil
}

// countGo counts the lines of the Go files of a package, tests left out.
func countGo(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return 0, err
		}
		n += bytes.Count(text, []byte("\n"))
	}
	return n, nil
}

func tellStatus(t *console.Terminal, s status) error {
	p := console.NewPalette(t.OutTTY)
	w := tabwriter.NewWriter(t.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "package\ttranslated\tbuilt\ttheorems\tGo\tspec\tproof")
	for _, k := range s.Packages {
		closed := 0
		for _, th := range k.Theorems {
			if th.State == "closed" {
				closed++
			}
		}
		proved := "none"
		if len(k.Theorems) > 0 {
			proved = fmt.Sprintf("%d of %d closed", closed, len(k.Theorems))
		}
		fmt.Fprintf(w, "%s\t%s\t%d/%d\t%s\t%d\t%d\t%d\n", k.Path, k.Translated, k.Built, k.Files, proved, k.GoLines, k.SpecLines, k.ProofLines)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, k := range s.Packages {
		for _, th := range k.Theorems {
			mark := p.Good(th.State)
			if th.State != "closed" {
				mark = p.Bad(th.State)
			}
			fmt.Fprintf(t.Out, "%s: %s: %s\n", th.File, th.Name, mark)
			if th.Assumes != "" {
				fmt.Fprintf(t.Out, "    %s\n", strings.ReplaceAll(th.Assumes, "\n", "\n    "))
			}
		}
	}
	return nil
}
