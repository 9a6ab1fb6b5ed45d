// SPDX-License-Identifier: Apache-2.0

package primitive_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
)

const haltVar = "ASHLAR_HALT_DIR"

// TestErrorsEndTheProcess: also one that recovers from panics.
func TestErrorsEndTheProcess(t *testing.T) {
	if dir := os.Getenv(haltVar); dir != "" {
		fails(dir)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestErrorsEndTheProcess$")
	child.Env = append(os.Environ(), haltVar+"="+t.TempDir())
	out, err := child.CombinedOutput()
	if err == nil || strings.Contains(string(out), "still here") || strings.Contains(string(out), "before that") ||
		!strings.Contains(string(out), "the process ends here, as in a crash") {
		t.Errorf("%v\n%s", err, out)
	}
}

func fails(dir string) {
	path := filepath.Join(dir, "disk")
	d, err := disk.Open(path, 2)
	if err == nil {
		err = os.Truncate(path, 0)
	}
	if err != nil {
		fmt.Println("before that:", err)
		os.Exit(0)
	}
	func() {
		defer func() {
			if recover() != nil {
				fmt.Println("still here")
			}
		}()
		d.Read(1)
	}()
	fmt.Println("still here")
	os.Exit(0)
}
