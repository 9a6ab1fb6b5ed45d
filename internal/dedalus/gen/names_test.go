// SPDX-License-Identifier: Apache-2.0

package gen_test

import (
	"bytes"
	"fmt"
	gobuild "go/build"
	"io"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/gen"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
)

// TestNames runs a program whose names are words of Go or of what is generated, or
// with an ending what is generated for others, with relations of no columns that are
// carried, and sets of sets.
func TestNames(t *testing.T) {
	p := given.Program(t, `program type
component program {
  input len(type: u64, chan: node)
  static rt(c: node) = nodes func
  table map(type: u64, range: text)
  var sets(a: set<set<u64>>)
  sync map(x, "a\"b\\n") <- len(x, _)
  sync flag() <- len(_, _)
  next go() <- flag()
  next iota() <- flag()
  next iota() <- iota()
  sync mapRow(x) <- map(x, _)
  sync rule1Group(x) <- mapRow(x)
  sync mapHead(x) <- rule1Group(x)
  sync s1(collect<x>) <- map(x, _), mapHead(x)
  sync sets(collect<s>) <- s1(s)
  async append@d(x) <- map(x, _), go(), iota(), rt(d)
  async init@d(s) <- sets(s), rt(d)
}
component func {
  output error(x: u64)
  output nil(x: set<set<u64>>)
  async error@node "c"(x) <- append(x)
  async nil@node "c"(x) <- init(x)
}
deploy { program: 1, func: 1 }
`)
	lockstep(t, []named{{"names", p}}, 4, 60)
}

// TestFiles: whatever a component is called, Go builds its file here and elsewhere.
func TestFiles(t *testing.T) {
	text := "program files\n"
	names := []string{"a", "A", "_a", "c_a", "a_test", "a_test_c", "leader_linux", "leader_windows", "x_arm64", "y_linux_amd64", "linux", "test", "program", "a_program"}
	for i, name := range names {
		text += fmt.Sprintf("component %s {\n  input i%d()\n  output o%d()\n  async o%d@node \"c\"() <- i%d()\n}\n", name, i, i, i, i)
	}
	files, err := gen.Generate(given.Program(t, text), "files")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range files {
		lower := strings.ToLower(f.Name)
		if seen[lower] {
			t.Errorf("two files %s", f.Name)
		}
		seen[lower] = true
		for _, goos := range []string{"linux", "darwin", "windows"} {
			for _, arch := range []string{"amd64", "arm64"} {
				c := gobuild.Default
				c.GOOS, c.GOARCH = goos, arch
				c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.Text)), nil }
				ok, err := c.MatchFile("dir", f.Name)
				if err != nil || !ok || strings.HasSuffix(f.Name, "_test.go") {
					t.Errorf("%s is not built for %s/%s: %v", f.Name, goos, arch, err)
				}
			}
		}
	}
	if len(files) != len(names)+1 {
		t.Errorf("%d files of %d components", len(files), len(names))
	}
}
