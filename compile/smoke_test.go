package compile_test

import (
	"os"
	"testing"

	"github.com/ashlar-dev/ashlar/compile"
)

func TestSmoke(t *testing.T) {
	s := read(t, "testdata/lock.tla")
	p, diags := s.compile(compile.Options{Invariants: []string{"HasLockWhenDone"}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	os.MkdirAll("../build/smoke", 0o755)
	for _, f := range p.Files {
		os.WriteFile("../build/smoke/"+f.Name, f.Text, 0o644)
	}
	for _, l := range p.Explain {
		t.Log(l)
	}
}
