// SPDX-License-Identifier: Apache-2.0

// Package overlay builds packages with files that are not in the tree: code that tests
// generate from a specification or from rules.
//
// In: files, by their paths in this module. Out: a description of them as the go command
// takes it with -overlay, or the test that runs, built again with them.
//
// Promised: nothing is written into the tree. Files that GOFLAGS lays over the tree stay
// where they are: a mutant of the runtime is in what is built with generated code, too.
//
// Refused: to keep what was built. The go command's cache does that.
package overlay

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

// Files are texts, by their paths in this module, with slashes.
type Files map[string][]byte

// Write writes the files and their description below dir, and returns the path of the
// description.
func (f Files) Write(dir string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	replace, err := inherited(os.Getenv("GOFLAGS"))
	if err != nil {
		return "", err
	}
	for name, text := range f {
		file := filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(file, text, 0o666); err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(name))] = file
	}
	text, err := json.Marshal(description{Replace: replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o666)
}

// description is what the go command reads.
type description struct{ Replace map[string]string }

// inherited is what the flags in GOFLAGS lay over the tree. A further -overlay on the
// command line takes the place of theirs.
func inherited(flags string) (map[string]string, error) {
	all := description{Replace: map[string]string{}}
	for _, flag := range strings.Fields(flags) {
		path, ok := strings.CutPrefix(strings.TrimLeft(flag, "-"), "overlay=")
		if !ok {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &all); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return all.Replace, nil
}

// Root is the module's directory, of which the working directory is part.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = above
	}
}

// built names the directory of a test that Again has built.
const built = "ASHLAR_TEST_BUILT_AGAIN"

// Again builds the test of the package in the working directory once more, with files
// laid over the tree, and has it take the place of this process, with its arguments,
// its output and its exit code. TestMain calls it where the generated code is missing,
// and End before it exits where it is there. Again returns only if it has failed.
func Again(generated func() (Files, error)) error {
	if os.Getenv(built) != "" {
		return errors.New("the generated code is missing in a test that was built with it")
	}
	files, err := generated()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ashlar-test-")
	if err != nil {
		return err
	}
	binary := filepath.Join(dir, "again.test")
	if err = again(dir, binary, files); err == nil {
		err = syscall.Exec(binary, append([]string{binary}, os.Args[1:]...), append(os.Environ(), built+"="+dir))
	}
	return errors.Join(err, os.RemoveAll(dir))
}

func again(dir, binary string, files Files) error {
	path, err := files.Write(dir)
	if err != nil {
		return err
	}
	args := []string{"test", "-c", "-vet=off", "-ldflags=-w", "-overlay", path, "-o", binary}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-race" && s.Value == "true" {
				args = append(args, "-race")
			}
		}
	}
	command := exec.Command("go", append(args, ".")...)
	command.Env = append(os.Environ(), "GOGC=400") // the compiler's: docs/decisions/tests-time.md
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// End removes what Again has built.
func End() error {
	dir := os.Getenv(built)
	if dir == "" {
		return nil
	}
	return os.RemoveAll(dir)
}
