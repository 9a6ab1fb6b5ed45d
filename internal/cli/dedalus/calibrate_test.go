// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/dedalus/cost"
)

// TestCalibrate compiles a program and measures it: what is written is read again, has
// what was measured, and the functions of the program; the errors are told.
func TestCalibrate(t *testing.T) {
	t.Chdir(".") // the go command must find this module
	file := filepath.Join(t.TempDir(), "costs.json")
	var out, errs bytes.Buffer
	measured := t.TempDir()
	if err := os.WriteFile(filepath.Join(measured, "mutual.json"), []byte(`{"where": "a desk", "nodes": {"leader/0": 20, "replica/0": 2}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	err := runCalibrate(t.Context(), &console.Terminal{Out: &out, Err: &errs}, []string{"../../../examples/dedalus/mutual.ded"},
		calibrateOptions{out: file, where: "a test", measured: measured, underWay: 100})
	if err != nil {
		t.Fatalf("calibrate: %v\n%s", err, &errs)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := cost.ReadCalibration(text)
	if err != nil {
		t.Fatal(err)
	}
	was := cost.DefaultCalibration()
	if c.Machine != "a test, fitted to measurements" || c.UnderWay != 100 || c.Send == was.Send || c.Receive == was.Receive || c.Firing == was.Firing || c.Sync == was.Sync {
		t.Errorf("these are the defaults: %+v", c)
	}
	for _, f := range []string{"Decrypt", "Encrypt"} {
		if us := c.Functions["github.com/ashlar-dev/ashlar/examples/dedalus/crypt."+f]; us <= 0.01 || us > 1000 {
			t.Errorf("%s takes %v us", f, us)
		}
	}
	if !regexp.MustCompile(`(?m)^mutual [a-z]+/[0-9]: [0-9.]+ us a command without connections, predicted .*\n(.*\n)*mean error \d+% over \d+ nodes$`).Match(errs.Bytes()) {
		t.Errorf("the errors are not told:\n%s", &errs)
	}
	if !bytes.Contains(errs.Bytes(), []byte("measured on a desk:\n  mutual leader: 20.00 us; predicted ")) {
		t.Errorf("the fit is not told:\n%s", &errs)
	}
	if left, _ := filepath.Glob(".ashlar-calibrate-*"); left != nil {
		t.Errorf("left behind: %v", left)
	}
}
