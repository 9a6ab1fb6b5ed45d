// SPDX-License-Identifier: Apache-2.0

package prove

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/goose"
)

// initOptions are the flags of prove init.
type initOptions struct {
	proofs string
}

const initHelp = `Init begins a proof development in the current Go module, in its folder proofs:

  proofs/_CoqProject         the paths of files, for Coq and for editors
  proofs/Makefile            'make' builds the proofs
  proofs/.gitignore          the files that Coq generates
  proofs/example/example.go  a Go function,
  proofs/gen/...             its translation,
  proofs/example/proof.v     and a theorem about it

PACKAGEs are translated as well. The Coq library that proofs use is written to
proofs/.ashlar, and 'ashlar prove build' keeps it up to date. Instead, --proofs may
name a folder that already has it.

Existing files are not changed.

Exit codes: 0 done; 150 a package is outside the subset; 1 files; 2 usage.`

func newInitCommand(t *console.Terminal) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init [PACKAGE...]",
		Short: "Begin a proof development in the current module",
		Long:  initHelp,
		Example: `  ashlar prove init
  ashlar prove init ./bank
  ashlar prove init --proofs ../ashlar/proofs`,
		RunE: func(_ *cobra.Command, args []string) error { return runInit(t, o, args) },
	}
	cmd.Flags().StringVar(&o.proofs, "proofs", "", "use the library in this folder instead of a copy")
	return cmd
}

const exampleGo = `// Package example has a function to begin proofs with: proof.v beside this file
// has a theorem about it.
package example

// Max is the larger of two numbers.
func Max(a, b uint64) uint64 {
	if a < b {
		return b
	}
	return a
}
`

// exampleProof is the theorem; NAME is the logical name of the development.
const exampleProof = `(** * The larger of two numbers

    [Max] is Go: example.go beside this file, and its translation in the folder
    gen. The theorem is about any thread of any boot [b]: called with numbers x
    and y, [Max] does not panic, and if it returns, then the larger of the two. *)
From iris.proofmode Require Import proofmode.
From ashlar.logic Require Import tactics.
From NAME.gen.proofs Require Import example.

Section proof.
  Context ` + "`{!golangGS Σ}" + `.
  Implicit Types (b : boot) (x y : Z).

  Theorem wp_Max b E x y :
    {{{ True }}} Max #(u64 x) #(u64 y) @ b; E {{{ RET #(u64 (x ` + "`max`" + ` y)); True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_pures. case_bool_decide; wp_pures.
    - rewrite Z.max_r; [|lia]. by iApply "HΦ".
    - rewrite Z.max_l; [|lia]. by iApply "HΦ".
  Qed.
End proof.
`

const makefile = `# Translates the packages in gen and checks the proofs; 'make status' reports what is proved.
.PHONY: all status
all:
	ashlar prove build --dir .
status:
	ashlar prove status --dir .
`

const ignore = `*.vo
*.vok
*.vos
*.glob
.*.aux
.lia.cache
.nia.cache
/.ashlar/
`

func runInit(t *console.Terminal, o initOptions, packages []string) error {
	root, module, err := findModule(".")
	if err != nil {
		return exit.Failed(err)
	}
	dir := filepath.Join(root, "proofs")
	prefix := goose.Prefix(module)
	name := strings.TrimSuffix(prefix, ".gen")
	if name == "ashlar" {
		return exit.With(exit.Usage, errors.New("the proofs of this module would be named ashlar, like the library: rename the module"))
	}
	library := libraryDir
	if o.proofs != "" {
		if library, err = libraryFrom(dir, o.proofs); err != nil {
			return exit.Failed(err)
		}
	}
	for _, f := range []struct{ name, text string }{
		{coqProject, "-Q . " + name + "\n-Q " + library + " ashlar\n"},
		{"Makefile", makefile},
		{".gitignore", ignore},
		{"example/example.go", exampleGo},
		{"example/proof.v", strings.ReplaceAll(exampleProof, "NAME", name)},
	} {
		if err := scaffold(t, filepath.Join(dir, filepath.FromSlash(f.name)), f.text); err != nil {
			return exit.Failed(err)
		}
	}
	d, err := readDevelopment(dir)
	if err != nil {
		return exit.Failed(err)
	}
	if d.usesCopy() {
		n, err := d.unpackLibrary()
		if err != nil {
			return exit.Failed(err)
		}
		fmt.Fprintf(t.Out, "%s: %d files of the library written\n", show(filepath.Join(dir, libraryDir)), n)
	}
	example := show(filepath.Join(dir, "example"))
	if !filepath.IsAbs(example) {
		example = "./" + example
	}
	return runTranslate(t, translateOptions{}, append([]string{example}, packages...))
}

// libraryFrom returns the path of the library's folder as seen from a
// development in dir, or unchanged if it is absolute. The folder must contain
// the library.
func libraryFrom(dir, given string) (string, error) {
	if _, err := os.Stat(filepath.Join(given, "lang", "golib.v")); err != nil {
		return "", fmt.Errorf("%s does not have the library: %w", given, err)
	}
	abs, err := filepath.Abs(given)
	if err != nil {
		return "", err
	}
	if filepath.IsAbs(given) {
		return given, nil
	}
	return filepath.Rel(dir, abs)
}

// scaffold writes a file unless it exists.
func scaffold(t *console.Terminal, name, text string) error {
	if _, err := os.Stat(name); err == nil {
		fmt.Fprintf(t.Out, "%s: exists\n", show(name))
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := writeChanged(name, []byte(text), false); err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "%s: written\n", show(name))
	return nil
}

// show returns a path relative to the current folder.
func show(name string) string {
	wd, err := os.Getwd()
	if err != nil {
		return name
	}
	return relative(wd, name)
}
