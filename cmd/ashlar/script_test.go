// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ashlar-dev/ashlar/cmd/ashlard/daemon"
	"github.com/ashlar-dev/ashlar/internal/cli/ending"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ashlar": main, "ashlard": serverMain, "mkstore": makeStore, "damage": damageFile, "signal": signalSpent})
}

// serverMain is the program ashlard, which 'ashlar worm demo' starts.
func serverMain() {
	ctx, _, stop := ending.Begin(exit.Interrupted)
	defer stop()
	os.Exit(daemon.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// TestScripts runs the sessions in testdata/script. Beyond what testscript
// knows there is "exits CODE COMMAND ...", which wants that exit code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			// prove translate runs the go command, which wants its cache.
			cache, err := goPlace("GOCACHE")
			if err != nil {
				return err
			}
			e.Setenv("GOCACHE", cache)
			// Programs are built as users build them, with what this module needs.
			modules, err := goPlace("GOMODCACHE")
			e.Setenv("GOMODCACHE", modules)
			e.Setenv("GOPROXY", "off")
			e.Setenv("LIBRARY", library())
			e.Setenv("SOURCES", sources())
			return err
		},
		Condition: func(name string) (bool, error) {
			if name == "library" {
				return libraryBuilt(), nil
			}
			return false, fmt.Errorf("unknown condition %s", name)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": func(ts *testscript.TestScript, neg bool, args []string) {
				if len(args) < 2 || neg {
					ts.Fatalf("usage: exits CODE COMMAND ...")
				}
				want, err := strconv.Atoi(args[0])
				if err != nil {
					ts.Fatalf("exits: %v", err)
				}
				got := 0
				err = ts.Exec(args[1], args[2:]...)
				var e *exec.ExitError
				switch {
				case errors.As(err, &e):
					got = e.ExitCode()
				case err != nil:
					ts.Fatalf("%v", err)
				}
				if got != want {
					ts.Fatalf("exit code %d, want %d", got, want)
				}
			},
		},
	})
}

// goPlace is where the go command keeps what it has built, or what it has downloaded.
func goPlace(name string) (string, error) {
	out, err := exec.Command("go", "env", name).Output()
	return strings.TrimSpace(string(out)), err
}

// library is the folder with the Coq library of this repository.
func library() string {
	dir, err := filepath.Abs("../../proofs")
	if err != nil {
		return "../../proofs"
	}
	return dir
}

// sources is the folder of this module, which compiled programs need.
func sources() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		return "../.."
	}
	return dir
}

// libraryBuilt reports whether what the proofs of a session need is built and up to
// date: building it takes longer than a session may.
func libraryBuilt() bool {
	return exec.Command("make", "-s", "-q", "-C", library(), "logic/tactics.vo", "trusted/primitive.vo").Run() == nil
}
