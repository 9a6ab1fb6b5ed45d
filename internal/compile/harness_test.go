// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/compile"
)

// bundle is a directory of generated packages with one driver that runs any of
// them, so that they are built together.
type bundle struct {
	dir  string
	pkgs []string
	bin  string
}

const rootDir = "../.."

// newBundle makes a directory inside the module, where generated packages find
// distsys, and removes it at the end.
func newBundle(t testing.TB) *bundle {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(rootDir, "build"), 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(filepath.Join(rootDir, "build"), "_compile")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &bundle{dir: dir}
}

// add writes a generated package.
func (b *bundle) add(t testing.TB, name string, p *compile.Package) {
	t.Helper()
	dir := filepath.Join(b.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.pkgs = append(b.pkgs, name)
}

// build vets the packages and builds the driver.
func (b *bundle) build(t testing.TB) {
	t.Helper()
	sort.Strings(b.pkgs)
	var imports, table strings.Builder
	base := "github.com/ashlar-dev/ashlar/build/" + filepath.Base(b.dir) + "/"
	for i, p := range b.pkgs {
		fmt.Fprintf(&imports, "p%d %q\n", i, base+p)
		fmt.Fprintf(&table, "%q: func(v map[string]value.Value) (*distsys.System, error) {\nc, err := p%d.NewConstants(v)\nif err != nil {\nreturn nil, err\n}\nreturn p%d.System(c), nil\n},\n", p, i, i)
	}
	text := strings.NewReplacer("IMPORTS", imports.String(), "TABLE", table.String()).Replace(driver)
	if err := os.MkdirAll(filepath.Join(b.dir, "driver"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "driver", "main.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	b.bin = filepath.Join(b.dir, "run")
	rel := func(p string) string { return "./build/" + filepath.Base(b.dir) + "/" + p }
	args := []string{"vet"}
	for _, p := range b.pkgs {
		args = append(args, rel(p))
	}
	goTool(t, args...)
	goTool(t, "build", "-o", rel("run"), rel("driver"))
}

// goTool runs the go command at the root of the module.
func goTool(t testing.TB, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = rootDir
	defer func(start time.Time) { t.Logf("go %s: %v", args[0], time.Since(start)) }(time.Now())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// scenario is a run of instances of one package; values are TLA+ text.
type scenario struct {
	Pkg       string
	Constants map[string]string
	Shared    map[string]string
	Instances []instance
}

type instance struct {
	Archetype, Self string
	Values          map[string]string
	Refs            map[string]string // names of Shared
}

// outcome is what a run left behind.
type outcome struct {
	Vars    map[string]map[string]string // by "Archetype(self)"
	Shared  map[string]string
	Printed []string
	Err     string
}

// run executes scenarios, each on its own.
func (b *bundle) run(t testing.TB, list []scenario) []outcome {
	t.Helper()
	in, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(b.bin)
	cmd.Stdin = bytes.NewReader(in)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	defer func(start time.Time) { t.Logf("driver: %v", time.Since(start)) }(time.Now())
	if err := cmd.Run(); err != nil {
		t.Fatalf("driver: %v\n%s", err, stderr.String())
	}
	var out []outcome
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

const driver = `package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/tla/value"
	IMPORTS
)

var systems = map[string]func(map[string]value.Value) (*distsys.System, error){
	TABLE
}

type scenario struct {
	Pkg       string
	Constants map[string]string
	Shared    map[string]string
	Instances []instance
}

type instance struct {
	Archetype, Self string
	Values          map[string]string
	Refs            map[string]string
}

type outcome struct {
	Vars    map[string]map[string]string
	Shared  map[string]string
	Printed []string
	Err     string
}

// recorder keeps the last value of each variable.
type recorder struct {
	mu   sync.Mutex
	vars map[string]string
}

func (r *recorder) Record(e *tracelog.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range e.Vars {
		r.vars[v.Name] = v.Value
	}
	return nil
}

func parse(text string) value.Value {
	v, err := value.Parse(text)
	if err != nil {
		panic(fmt.Sprintf("%q: %v", text, err))
	}
	return v
}

func parseAll(m map[string]string) map[string]value.Value {
	out := map[string]value.Value{}
	for k, v := range m {
		out[k] = parse(v)
	}
	return out
}

func execute(s scenario) (out outcome) {
	out = outcome{Vars: map[string]map[string]string{}, Shared: map[string]string{}}
	sys, err := systems[s.Pkg](parseAll(s.Constants))
	if err != nil {
		out.Err = err.Error()
		return out
	}
	shared := map[string]*local.Shared{}
	for name, v := range s.Shared {
		shared[name] = local.NewShared(parse(v))
	}
	var print bytes.Buffer
	var procs []distsys.Process
	recorders := map[string]*recorder{}
	for _, in := range s.Instances {
		t, err := sys.Template(in.Archetype)
		if err != nil {
			out.Err = err.Error()
			return out
		}
		refs := map[string]distsys.Resource{}
		for p, name := range in.Refs {
			refs[p] = shared[name]
		}
		r := &recorder{vars: map[string]string{}}
		recorders[in.Archetype+"("+in.Self+")"] = r
		p, err := t.Spawn(distsys.Spawn{Self: parse(in.Self), Values: parseAll(in.Values), Refs: refs,
			Options: distsys.Options{Env: osenv.New(), Print: &print, Recorder: r}})
		if err != nil {
			out.Err = err.Error()
			return out
		}
		procs = append(procs, p)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := distsys.Run(ctx, procs...); err != nil {
		out.Err = err.Error()
	}
	for name, r := range recorders {
		out.Vars[name] = r.vars
	}
	for name, v := range shared {
		out.Shared[name] = v.Value().String()
	}
	out.Printed = strings.Split(strings.TrimSuffix(print.String(), "\n"), "\n")
	return out
}

func main() {
	var list []scenario
	if err := json.NewDecoder(os.Stdin).Decode(&list); err != nil {
		panic(err)
	}
	out := make([]outcome, len(list))
	for i, s := range list {
		out[i] = execute(s)
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
}
`
