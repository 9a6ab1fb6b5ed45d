package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ashlar-dev/ashlar"
	"github.com/spf13/cobra"
)

// libraryVariable names the directories of libraries in the environment, as PATH
// names those of commands.
const libraryVariable = "ASHLAR_PATH"

// libraries is the value of --library.
type libraries []string

// addTo adds the flag to a command that reads modules.
func (l *libraries) addTo(cmd *cobra.Command) {
	cmd.Flags().Var(l, "library", "a `DIR` in which modules are looked for that are not beside FILE.tla; may be given again, and goes before those of "+libraryVariable)
}

// Set adds a directory. One that does not exist is an error: it is misspelled.
func (l *libraries) Set(dir string) error {
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

func (l *libraries) String() string { return fmt.Sprint([]string(*l)) }
func (l *libraries) Type() string   { return "DIR" }

// directories are all libraries, in the order in which they are searched.
func (l libraries) directories() []string {
	fromPath := filepath.SplitList(os.Getenv(libraryVariable))
	return slices.Concat(l, slices.DeleteFunc(fromPath, func(dir string) bool { return dir == "" }))
}

// options are those of a command that reads a specification.
func (l libraries) options(config string) ashlar.Options {
	return ashlar.Options{Config: config, Libraries: l.directories(), Environment: environment()}
}
