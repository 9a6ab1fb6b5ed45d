package examples

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "compile the specifications anew")

// systems are the directories with compiled code.
var systems = []string{"cart", "loadbalancer", "primarybackup", "raft", "tour", "workqueue"}

// TestCodeIsCurrent compiles the specifications and compares.
func TestCodeIsCurrent(t *testing.T) {
	tmp := t.TempDir()
	ashlar := filepath.Join(tmp, "ashlar")
	run(t, "..", "go", "build", "-o", ashlar, "./cmd/ashlar")
	for _, name := range systems {
		dir := filepath.Join(tmp, name)
		if *update {
			dir = name
		}
		run(t, ".", ashlar, "compile", "-o", dir, filepath.Join("..", "specs", name, name+".tla"))
		for _, file := range []string{name + ".go", "places.go"} {
			want, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join(name, file))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s/%s is not what the compiler writes: run  go test ./examples -run TestCodeIsCurrent -update", name, file)
			}
		}
	}
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}
