// SPDX-License-Identifier: Apache-2.0

// Package library finds the modules that a specification extends: the flag --library
// and the environment variable ASHLAR_PATH.
//
// In: the command line and the environment. Out: directories in the order in which they
// are searched. Refused: a directory that does not exist.
package library

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar"
)

// libraryVariable is the environment variable that lists library directories, in
// the format of PATH.
const libraryVariable = "ASHLAR_PATH"

// Dirs is the value of --library.
type Dirs []string

// AddTo adds the flag to a command that reads modules.
func (l *Dirs) AddTo(cmd *cobra.Command) {
	cmd.Flags().Var(l, "library", "a `DIR` to search for modules that are not beside FILE.tla; may be given again, and goes before those of "+libraryVariable)
}

// Set adds a directory. A directory that does not exist is an error, because
// its name is probably misspelled.
func (l *Dirs) Set(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	*l = append(*l, dir)
	return nil
}

func (l *Dirs) String() string { return fmt.Sprint([]string(*l)) }
func (l *Dirs) Type() string   { return "DIR" }

// All returns all library directories, in the order in which they are searched.
func (l Dirs) All() []string {
	fromPath := filepath.SplitList(os.Getenv(libraryVariable))
	return slices.Concat(l, slices.DeleteFunc(fromPath, func(dir string) bool { return dir == "" }))
}

// Options returns the options of a command that reads a specification.
func (l Dirs) Options(config string) ashlar.Options {
	return ashlar.Options{Config: config, Libraries: l.All(), Environment: Environment()}
}

// Environment is the process's own, for IOEnv.
func Environment() map[string]string {
	out := map[string]string{}
	for _, e := range os.Environ() {
		if name, v, ok := strings.Cut(e, "="); ok {
			out[name] = v
		}
	}
	return out
}
