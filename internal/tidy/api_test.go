// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"flag"
	"fmt"
	"go/doc"
	"go/types"
	"maps"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

var rewrite = flag.Bool("rewrite", false, "write api.txt from the packages")

// users are the directories of programs and of evidence: no package imports theirs.
var users = []string{"bench", "cmd", "docs", "examples", "mail", "proofs", "specs"}

// public lists the packages that a user's program may import: all that are neither
// internal nor programs.
func public(files []goFile) []string {
	var found []string
	for _, f := range files {
		top, _, _ := strings.Cut(f.pkg, "/")
		switch {
		case f.test || f.ast.Name.Name == "main" || slices.Contains(users, top) || slices.Contains(strings.Split(f.pkg, "/"), "internal"):
		default:
			found = append(found, "./"+f.pkg)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// TestAPI compares what public packages export with api.txt, so that a review sees
// every change of it. `go test ./internal/tidy -run TestAPI -rewrite` writes the file.
func TestAPI(t *testing.T) {
	_, files := goFiles(t)
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes, Dir: root}, public(files)...)
	if err != nil || packages.PrintErrors(loaded) > 0 {
		t.Fatal(err)
	}
	var b strings.Builder
	slices.SortFunc(loaded, func(a, b *packages.Package) int { return strings.Compare(a.PkgPath, b.PkgPath) })
	for _, p := range loaded {
		fmt.Fprintf(&b, "package %s\n", p.PkgPath)
		for _, line := range exported(p.Types) {
			fmt.Fprintln(&b, "  "+line)
		}
	}
	if *rewrite {
		if err := os.WriteFile("api.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("api.txt")
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != b.String() {
		t.Errorf("what public packages export has changed; if that is meant, write api.txt with -rewrite:\n%s", firstDifference(string(want), b.String()))
	}
}

// exported lists what a package exports: a line for each name, field and method.
func exported(p *types.Package) []string {
	var lines []string
	short := func(q *types.Package) string {
		if q == p {
			return ""
		}
		if strings.Contains(q.Path(), "/internal/") {
			return strings.TrimPrefix(q.Path(), module+"/") // a user cannot name it: it is in the file
		}
		return q.Name()
	}
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		named, isType := o.Type().(*types.Named)
		if _, ok := o.(*types.TypeName); !ok || !isType {
			lines = append(lines, types.ObjectString(o, short))
			continue
		}
		kind := types.TypeString(named.Underlying(), short)
		if s, ok := named.Underlying().(*types.Struct); ok {
			kind = "struct"
			for f := range s.Fields() {
				if f.Exported() {
					lines = append(lines, fmt.Sprintf("type %s struct, %s %s", name, f.Name(), types.TypeString(f.Type(), short)))
				}
			}
		}
		lines = append(lines, "type "+name+" "+kind)
		for m := range named.Methods() {
			if m.Exported() {
				lines = append(lines, types.ObjectString(m, short))
			}
		}
	}
	sort.Strings(lines)
	return lines
}

// firstDifference shows the first line that two texts do not share.
func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is  %s\nand was  %s", i+1, b[i], a[i])
		}
	}
	return fmt.Sprintf("%d lines, and were %d", len(b), len(a))
}

// withoutExample are public packages that need no Example, and why.
var withoutExample = map[string]string{
	"env":                       "interfaces: the example is in env/osenv",
	"sim/suite":                 "called by tests: the example is in sim",
	"tla/stdlib":                "called by generated code",
	"tla/typed":                 "called by generated code",
	"distsys/cell":              "called by generated code",
	"distsys/resource":          "called by generated code: the example is in distsys",
	"distsys/resource/counter":  "as distsys/resource",
	"distsys/resource/detector": "as distsys/resource",
	"distsys/resource/local":    "as distsys/resource",
	"distsys/resource/mailbox":  "as distsys/resource",
	"distsys/resource/queue":    "as distsys/resource",
	"distsys/resource/timer":    "as distsys/resource",
	"dedalus/rt":                "called by generated code",
	"dedalus/rt/client":         "needs generated code: the example is examples/dedalus/compiled",
	"dedalus/rt/host":           "as dedalus/rt/client",
	"dedalus/rt/wire":           "as dedalus/rt/client",
	"worm/wor":                  "words: the example is in worm",
	"worm/log":                  "clients reach it through worm, which has the example",
	"worm/smr":                  "as worm/log",
	"worm/tx":                   "as worm/log",
	"worm/resp":                 "a protocol: any Redis client is the example",
}

// notRun are the Examples that are compiled only: they need servers with applications,
// which only cmd/ashlard makes.
var notRun = map[string]bool{"worm.Client_Log": true, "worm.Client_KV": true}

// TestPublicPackagesHaveExamples: a package that users import has an Example with its
// output, so that 'go test' runs it.
func TestPublicPackagesHaveExamples(t *testing.T) {
	fset, files := goFiles(t)
	public := public(files)
	has, unrun := map[string]bool{}, maps.Clone(notRun)
	for _, f := range files {
		if !f.test {
			continue
		}
		for _, x := range doc.Examples(f.ast) {
			name, runs := f.pkg+"."+x.Name, x.Output != "" || x.EmptyOutput
			if runs == notRun[name] {
				t.Errorf("%s: Example%s has an '// Output:', so that it is run: %v; it is in notRun: %v", fset.Position(x.Code.Pos()), x.Name, runs, !runs)
			}
			delete(unrun, name)
			has["./"+f.pkg] = true
		}
	}
	for name := range unrun {
		t.Errorf("there is no Example %s: remove it from notRun", name)
	}
	unseen := maps.Clone(withoutExample)
	for _, p := range public {
		delete(unseen, strings.TrimPrefix(p, "./"))
		switch why := withoutExample[strings.TrimPrefix(p, "./")]; {
		case !has[p] && why == "":
			t.Errorf("package %s has no Example", p)
		case has[p] && why != "":
			t.Errorf("package %s has an Example, and need not be in withoutExample", p)
		}
	}
	for p := range unseen {
		t.Errorf("there is no public package %s: remove it from withoutExample", p)
	}
}
