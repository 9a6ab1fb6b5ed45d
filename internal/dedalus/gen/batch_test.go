// SPDX-License-Identifier: Apache-2.0

package gen_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/gen"
	// The batch is made of it: the result of a test is not that of before when it
	// has changed.
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	_ "github.com/ashlar-dev/ashlar/internal/evidence/dedalus/lockstep"
	"github.com/ashlar-dev/ashlar/internal/overlay"
)

// A batch is programs that are compiled together with a main program which runs
// each beside the interpreter. The files are laid over the module, in which they
// are not.

// batchMain is the main program. Its arguments are how many seeds, how many ticks,
// and the first seed.
const batchMain = `package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/evidence/dedalus/lockstep"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/examples/dedalus/crypt"
%s)

func bytes(f func([]byte) []byte) func([]logic.Value) (logic.Value, bool) {
	return func(a []logic.Value) (logic.Value, bool) {
		return logic.Value{Kind: logic.Bytes, Str: string(f([]byte(a[0].Str)))}, true
	}
}

func main() {
	functions := interp.Functions{"decrypt": bytes(crypt.Decrypt), "encrypt": bytes(crypt.Encrypt), "sign": bytes(crypt.Sign)}
	seeds, _ := strconv.Atoi(os.Args[1])
	ticks, _ := strconv.Atoi(os.Args[2])
	first, _ := strconv.Atoi(os.Args[3])
	failed := false
	for _, c := range []struct {
		name, text string
		compiled   func() *rt.Program
	}{
%s	} {
		p, errs := given.Read(c.text)
		if p == nil {
			panic(errs)
		}
		for seed := range seeds {
			err := lockstep.Case{Logic: p, Compiled: c.compiled(), Functions: functions}.Shortest(uint64(first + seed), ticks)
			if err != nil {
				fmt.Printf("%%s, seed %%d: %%v\n%%s\n", c.name, first + seed, err, c.text)
				failed = true
				break
			}
		}
	}
	if failed {
		os.Exit(1)
	}
}
`

// named is a program and its name.
type named struct {
	name string
	*logic.Program
}

// build compiles a batch and returns the program that runs it.
func build(t *testing.T, programs []named) string {
	t.Helper()
	dir, files := t.TempDir(), overlay.Files{}
	const at = "internal/dedalus/gen/batch/"
	var imports, cases strings.Builder
	for i, p := range programs {
		pkg := fmt.Sprintf("p%d", i)
		written, err := gen.Generate(p.Program, pkg)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range written {
			files[at+pkg+"/"+f.Name] = f.Text
		}
		fmt.Fprintf(&imports, "\t%q\n", "github.com/ashlar-dev/ashlar/"+at+pkg)
		fmt.Fprintf(&cases, "\t\t{%q, %q, %s.Program},\n", p.name, p.String(), pkg)
	}
	files[at+"main.go"] = fmt.Appendf(nil, batchMain, imports.String(), cases.String())
	over, err := files.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "batch")
	if out, err := exec.Command("go", "build", "-overlay", over, "-o", exe, "./batch").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

// lockstep runs a batch.
func lockstep(t *testing.T, programs []named, seeds, ticks int) {
	t.Helper()
	exe := build(t, programs)
	out, err := exec.Command(exe, strconv.Itoa(seeds), strconv.Itoa(ticks), "0").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
