// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"os/exec"

	"github.com/ashlar-dev/ashlar/internal/compile"
)

// counterBench measures generated code from inside its package.
const counterBench = `package counter

import (
	"context"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func BenchmarkSection(b *testing.B) {
	c, err := NewConstants(nil)
	if err != nil {
		b.Fatal(err)
	}
	t, err := System(c).Template("Counter")
	if err != nil {
		b.Fatal(err)
	}
	p, err := t.Spawn(distsys.Spawn{Self: value.Int(1), Values: map[string]value.Value{"limit": value.Int(int32(b.N))}, Options: distsys.Options{Env: osenv.New()}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := p.Run(context.Background()); err != nil {
		b.Fatal(err)
	}
}
`

// BenchmarkCountingSection compiles a loop that only counts and reports what
// one critical section of the generated code costs.
func BenchmarkCountingSection(b *testing.B) {
	s := read(b, "testdata/counter.tla")
	p, diags := s.compile(compile.Options{})
	if diags.HasErrors() {
		b.Fatal(diags)
	}
	d := newBundle(b)
	d.add(b, "counter", p)
	if err := os.WriteFile(filepath.Join(d.dir, "counter", "counter_test.go"), []byte(counterBench), 0o644); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", ".", "-benchtime", "1s", "./build/"+filepath.Base(d.dir)+"/counter")
	cmd.Dir = rootDir
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	m := regexp.MustCompile(`([\d.]+) ns/op\s+(\d+) B/op\s+(\d+) allocs/op`).FindSubmatch(out)
	if m == nil {
		b.Fatalf("no result in\n%s", out)
	}
	for i, unit := range []string{"ns/section", "B/section", "allocs/section"} {
		x, err := strconv.ParseFloat(string(m[i+1]), 64)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(x, unit)
	}
	b.ReportMetric(0, "ns/op")
}
