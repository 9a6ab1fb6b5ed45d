// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing/fstest"

	"github.com/ashlar-dev/ashlar/internal/mutant"
)

// mend proposes new texts for the rows that do not fit the repository in root,
// and reports whether all fit. A person must judge the proposals: the mistake
// may now belong elsewhere.
func mend(out io.Writer, root string, table []mutant.Mutant) (bool, error) {
	tree := os.DirFS(root)
	unfit := 0
	for _, m := range table {
		_, _, err := m.Edit(tree)
		if err == nil {
			continue
		}
		unfit++
		fmt.Fprintf(out, "%v\n", err)
		if in, err := elsewhere(tree, m.Old); err != nil {
			return false, err
		} else if in != "" && in != m.In {
			fmt.Fprintf(out, "  the text is in another package now:\n    In:  %q\n", in)
			continue
		}
		if _, err := fs.Stat(tree, m.In); err != nil {
			continue
		}
		declaration := held(root, m)
		p, err := m.Nearest(tree, declaration)
		if p.Place == "" {
			fmt.Fprintf(out, "  %v\n", err)
			continue
		}
		if declaration == "" {
			declaration = "unknown"
		}
		fmt.Fprintf(out, "  it was in %s; nearest now, %s:\n    Old: %q\n", declaration, p.Place, p.Old)
		if p.New != "" {
			fmt.Fprintf(out, "    New: %q\n", p.New)
		}
	}
	fmt.Fprintf(out, "%d mutants, %d do not fit the code\n", len(table), unfit)
	return unfit == 0, nil
}

// elsewhere is the one package of the repository that has the text exactly once,
// or "".
func elsewhere(tree fs.FS, old string) (string, error) {
	found := ""
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case name == "build" || strings.HasPrefix(name, ".") && name != ".":
			return fs.SkipDir
		}
		if _, _, err := mutant.Locate(tree, name, old); err != nil {
			return nil
		}
		if found != "" {
			found = ""
			return fs.SkipAll
		}
		found = name
		return nil
	})
	return found, err
}

// held names the declaration that contained the text when the row last fitted: in
// the last commit, or before the commit that removed the text. Without a history
// it is "".
func held(root string, m mutant.Mutant) string {
	taken, _ := git(root, "log", "-1", "--format=%H^", "-S"+m.Old, "--", m.In)
	for _, revision := range []string{"HEAD", strings.TrimSpace(string(taken))} {
		if revision == "" {
			continue
		}
		packed, err := git(root, "archive", "--format=tar", revision, m.In)
		if err != nil {
			continue
		}
		tree, err := unpack(packed)
		if err != nil {
			continue
		}
		if file, text, err := mutant.Locate(tree, m.In, m.Old); err == nil && path.Ext(file) == ".go" {
			return mutant.Declaration(text, m.Old)
		}
	}
	return ""
}

func git(root string, args ...string) ([]byte, error) {
	return exec.Command("git", append([]string{"-C", root}, args...)...).Output()
}

// unpack reads an archive's files into memory.
func unpack(packed []byte) (fs.FS, error) {
	tree := fstest.MapFS{}
	for r := tar.NewReader(bytes.NewReader(packed)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return tree, nil
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		tree[h.Name] = &fstest.MapFile{Data: text}
	}
}
