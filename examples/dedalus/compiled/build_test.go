// SPDX-License-Identifier: Apache-2.0

package compiled_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/cost"
	"github.com/ashlar-dev/ashlar/internal/dedalus/deploy"
	"github.com/ashlar-dev/ashlar/internal/dedalus/gen"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/overlay"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// variant is an example, as it was written or as a script makes it.
type variant struct {
	// name is that of its package; script has no .steps, and is empty where there is
	// none.
	name, example, script string
	logic                 *logic.Program
}

// variants are all examples with all their scripts.
func variants(t testing.TB) []variant {
	t.Helper()
	paths, err := filepath.Glob("../*.ded")
	if err != nil || len(paths) < 16 {
		t.Fatalf("%v, %v", paths, err)
	}
	var out []variant
	for _, path := range paths {
		example := strings.TrimSuffix(filepath.Base(path), ".ded")
		scripts, err := filepath.Glob("../" + example + "*.steps")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, script := range append([]string{""}, scripts...) {
			script = strings.TrimSuffix(filepath.Base(script), ".steps")
			v := variant{name: example, example: example}
			e := program{source: example + ".ded"}
			if script != "." && script != "" {
				v.script, e.script = script, script+".steps"
				v.name = example + "by" + strings.Map(letters, script)
			}
			v.logic = load(t, e)
			if text := v.logic.String(); !seen[text] { // scripts may have the same steps
				seen[text] = true
				out = append(out, v)
			}
		}
	}
	return out
}

func letters(r rune) rune {
	if r == '-' {
		return -1
	}
	return r
}

// find is the variant of a name.
func find(t testing.TB, name string) variant {
	t.Helper()
	for _, v := range built(t).variants {
		if v.name == name {
			return v
		}
	}
	t.Fatalf("no program %s", name)
	return variant{}
}

// build is all examples in one program, whose first argument says which it is.
type build struct {
	dir, binary string
	variants    []variant
	err         error
}

var (
	buildOnce sync.Once
	buildAll  build
)

// built compiles all examples. The packages are not written into the tree, but laid over
// it; so they always have the same names, and the go command compiles what has changed.
func built(t testing.TB) *build {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds all examples")
	}
	buildOnce.Do(func() {
		b := &buildAll
		b.variants = variants(t)
		if b.dir, b.err = os.MkdirTemp("", "ashlar-examples-"); b.err == nil {
			b.binary = filepath.Join(b.dir, "examples")
			b.err = b.run()
		}
	})
	if buildAll.err != nil {
		t.Fatal(buildAll.err)
	}
	return &buildAll
}

func (b *build) run() error {
	files := overlay.Files{}
	var imports, cases strings.Builder
	for _, v := range b.variants {
		written, err := gen.Generate(v.logic, v.name)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		for _, f := range written {
			files[here+"all/"+v.name+"/"+f.Name] = f.Text
		}
		fmt.Fprintf(&imports, "\t\"github.com/ashlar-dev/ashlar/%sall/%s\"\n", here, v.name)
		fmt.Fprintf(&cases, "\tcase %q:\n\t\tdedalusd.Main(%[1]s.Program())\n", v.name)
	}
	files[here+"all/main.go"] = fmt.Appendf(nil, `package main

import (
	"os"

	"github.com/ashlar-dev/ashlar/cmd/dedalusd"
%s)

func main() {
	name := os.Args[1]
	os.Args = append(os.Args[:1], os.Args[2:]...)
	switch name {
%s	}
	os.Exit(99)
}
`, &imports, &cases)
	over, err := files.Write(b.dir)
	if err != nil {
		return err
	}
	// Symbols are left out: linking takes longer than everything else.
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", over, "-o", b.binary, "./all").CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// fleet starts the processes of a variant; linked has them reach each other through
// links.
func (v variant) fleet(t *testing.T, linked bool) *fleet {
	t.Helper()
	f := &fleet{t: t, program: gen.Outline(v.logic), exe: []string{built(t).binary, v.name}, d: deploy.New(v.logic)}
	if linked {
		f.links = newLinks()
	}
	f.begin()
	return f
}

// load is what clients ask of it.
func (v variant) load(t *testing.T) *cost.Load {
	t.Helper()
	text, err := os.ReadFile("../" + v.example + ".load")
	if err != nil {
		t.Fatal(err)
	}
	var diags source.List
	l := cost.ParseLoad(source.NewFile(v.example+".load", text), v.logic, &diags)
	if l == nil {
		t.Fatal(diags.Err())
	}
	return l
}
