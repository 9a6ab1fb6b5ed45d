// SPDX-License-Identifier: Apache-2.0

package prove

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/ashlar-dev/ashlar/proofs"
)

// A development is a folder of Coq files with a file _CoqProject, which editors
// also read. Its lines "-Q FOLDER NAME" map folders to logical names.
const (
	coqProject = "_CoqProject"
	// libraryDir is the folder in which a development stores its copy of the
	// library. Coq does not search folders with such a name.
	libraryDir = ".ashlar"
)

// coqRoot is a -Q line: the logical names of files in dir begin with name.
type coqRoot struct{ dir, name string }

// development is a folder of proofs.
type development struct {
	dir   string
	roots []coqRoot
	// own is the logical name of the folder itself.
	own string
}

// findDevelopment finds the development that a command uses: dir, or the
// current folder, or the folder proofs of the enclosing module.
func findDevelopment(dir string) (*development, error) {
	if dir != "" {
		return readDevelopment(dir)
	}
	if _, err := os.Stat(coqProject); err == nil {
		return readDevelopment(".")
	}
	root, _, err := findModule(".")
	if err != nil {
		return nil, err
	}
	wd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return readDevelopment(relative(wd, filepath.Join(root, "proofs")))
}

func readDevelopment(dir string) (*development, error) {
	text, err := os.ReadFile(filepath.Join(dir, coqProject))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no proof development in %s: there is no file %s; 'ashlar prove init' begins one", dir, coqProject)
	}
	if err != nil {
		return nil, err
	}
	d := &development{dir: dir}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 3 && (f[0] == "-Q" || f[0] == "-R") {
			d.roots = append(d.roots, coqRoot{dir: f[1], name: f[2]})
			if f[1] == "." {
				d.own = f[2]
			}
		}
	}
	if d.own == "" {
		return nil, fmt.Errorf("%s: no line '-Q . NAME'", filepath.Join(dir, coqProject))
	}
	return d, nil
}

// findModule walks up to the folder with go.mod, and reads the module's path.
func findModule(dir string) (root, path string, err error) {
	root, err = filepath.Abs(dir)
	if err != nil {
		return "", "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(root, "go.mod"))
		if err == nil {
			for line := range strings.Lines(string(text)) {
				if f := strings.Fields(line); len(f) >= 2 && f[0] == "module" {
					return root, strings.Trim(f[1], `"`), nil
				}
			}
			return "", "", fmt.Errorf("%s does not name a module", filepath.Join(root, "go.mod"))
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", "", err
		}
		if filepath.Dir(root) == root {
			return "", "", errors.New("not in a Go module: there is no go.mod in this folder or above it")
		}
		root = filepath.Dir(root)
	}
}

// flags returns the flags for coqc and coqdep.
func (d *development) flags() []string {
	var out []string
	for _, r := range d.roots {
		out = append(out, "-Q", r.dir, r.name)
	}
	return out
}

// coqFiles returns the files of the development and of its libraries, with paths
// relative to its folder.
func (d *development) coqFiles() (own, all []string, err error) {
	for _, r := range d.roots {
		base := filepath.Join(d.dir, r.dir)
		if filepath.IsAbs(r.dir) {
			base = r.dir
		}
		err := filepath.WalkDir(base, func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			hidden := strings.HasPrefix(entry.Name(), ".") && name != base
			switch {
			case entry.IsDir() && (hidden || entry.Name() == "build"):
				return filepath.SkipDir
			case entry.IsDir() || hidden || filepath.Ext(name) != ".v":
				return nil
			}
			rel, err := filepath.Rel(base, name)
			if err != nil {
				return err
			}
			if !coqNamed(rel) {
				return nil
			}
			file := filepath.Join(r.dir, rel)
			all = append(all, file)
			if r.dir == "." {
				own = append(own, file)
			}
			return nil
		})
		if err != nil {
			return nil, nil, fmt.Errorf("find proofs: %w", err)
		}
	}
	sort.Strings(own)
	sort.Strings(all)
	return own, slices.Compact(all), nil
}

// coqNamed reports whether the file's name is a valid module name in Coq.
func coqNamed(file string) bool {
	for _, e := range strings.Split(strings.TrimSuffix(filepath.ToSlash(file), ".v"), "/") {
		if e == "" || strings.ContainsAny(e, ".- ") {
			return false
		}
	}
	return true
}

// dependencies runs coqdep to find the dependencies of every file, as paths of
// .v files.
func (d *development) dependencies(ctx context.Context, files []string) (map[string][]string, error) {
	cmd := exec.CommandContext(ctx, "coqdep", append(d.flags(), files...)...)
	cmd.Dir = d.dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, coqError("coqdep", err, stderr.String())
	}
	deps := map[string][]string{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		targets, needs, ok := strings.Cut(lines.Text(), ":")
		target := strings.Fields(targets)
		if !ok || len(target) == 0 || !strings.HasSuffix(target[0], ".vo") {
			continue
		}
		file := filepath.Clean(strings.TrimSuffix(target[0], "o"))
		for _, need := range strings.Fields(needs) {
			if strings.HasSuffix(need, ".vo") {
				deps[file] = append(deps[file], filepath.Clean(strings.TrimSuffix(need, "o")))
			}
		}
	}
	return deps, lines.Err()
}

// coqError explains why a program of Coq did not run.
func coqError(program string, err error, said string) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s: %w; the proofs need Coq 8.16 with Iris 4.0 (packages coq and libcoq-iris)", program, err)
	}
	if said = strings.TrimSpace(said); said != "" {
		return fmt.Errorf("%s: %w\n%s", program, err, said)
	}
	return fmt.Errorf("%s: %w", program, err)
}

// path is the place of a file of the development for this process.
func (d *development) path(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(d.dir, file)
}

// usesCopy reports whether the development contains its own copy of the library.
func (d *development) usesCopy() bool {
	return slices.ContainsFunc(d.roots, func(r coqRoot) bool { return r.dir == libraryDir })
}

// unpackLibrary writes this program's library into a development. It writes
// only the files that differ and returns their number.
func (d *development) unpackLibrary() (int, error) {
	written := 0
	err := fs.WalkDir(proofs.Library, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := proofs.Library.ReadFile(name)
		if err != nil {
			return err
		}
		changed, err := writeChanged(filepath.Join(d.dir, libraryDir, filepath.FromSlash(name)), text, false)
		if changed {
			written++
		}
		return err
	})
	if err != nil {
		return written, fmt.Errorf("unpack the library: %w", err)
	}
	return written, nil
}
