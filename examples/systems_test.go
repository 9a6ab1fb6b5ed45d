// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	// Systems are compiled by the command; what it does is part of what this test is made
	// of, so that the result of an earlier one is not taken for its own.
	"github.com/ashlar-dev/ashlar/distsys"
	_ "github.com/ashlar-dev/ashlar/internal/compile"
	"github.com/ashlar-dev/ashlar/internal/overlay"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// newSystem makes a system from the values of its constants.
type newSystem func(constants map[string]value.Value) (*distsys.System, error)

// system is the compiled system of that name.
func system(t *testing.T, name string, constants map[string]value.Value) *distsys.System {
	t.Helper()
	s, err := linked()[name](constants)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMain(m *testing.M) {
	if linked() == nil {
		fmt.Fprintln(os.Stderr, overlay.Again(generated))
		os.Exit(1)
	}
	code := m.Run()
	if err := overlay.End(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// systems are the specifications that are compiled, each in the folder of its name.
var systems = []string{"cart", "loadbalancer", "primarybackup", "raft", "restart", "tour", "vote", "workqueue"}

// kept is the one of them of which the code is in the tree, for readers.
const kept = "cart"

// compiled are the files that the command writes for a system, by their names.
func compiled(ashlar, dir, name string) (map[string][]byte, error) {
	dir = filepath.Join(dir, name)
	if err := command(".", ashlar, "compile", "-o", dir, filepath.Join("..", "specs", name, name+".tla")); err != nil {
		return nil, err
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, f := range list {
		if files[f.Name()], err = os.ReadFile(filepath.Join(dir, f.Name())); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// generated are the packages of all systems, and the file that has this test import
// them.
func generated() (overlay.Files, error) {
	dir, err := os.MkdirTemp("", "ashlar-systems-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	ashlar := filepath.Join(dir, "ashlar")
	if err := command("..", "go", "build", "-o", ashlar, "./cmd/ashlar"); err != nil {
		return nil, err
	}
	files := overlay.Files{}
	var imports, entries strings.Builder
	for _, name := range systems {
		written, err := compiled(ashlar, dir, name)
		if err != nil {
			return nil, err
		}
		for file, text := range written {
			files["examples/"+name+"/"+file] = text
		}
		fmt.Fprintf(&imports, "\t\"github.com/ashlar-dev/ashlar/examples/%s\"\n", name)
		fmt.Fprintf(&entries, `		%q: func(values map[string]value.Value) (*distsys.System, error) {
			c, err := %[1]s.NewConstants(values)
			if err != nil {
				return nil, err
			}
			return %[1]s.System(c), nil
		},
`, name)
	}
	files["examples/linked_test.go"] = fmt.Appendf(nil, `package examples

import (
	"github.com/ashlar-dev/ashlar/distsys"
%s	"github.com/ashlar-dev/ashlar/tla/value"
)

func linked() map[string]newSystem {
	return map[string]newSystem{
%s	}
}
`, &imports, &entries)
	return files, nil
}

func command(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}
