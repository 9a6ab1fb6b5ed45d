// SPDX-License-Identifier: Apache-2.0

package child_test

import (
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/child"
)

// parent is the environment variable that makes this program the parent in
// TestChildrenEnd.
const parent = "ASHLAR_TEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(parent) == "" {
		os.Exit(m.Run())
	}
	// The child inherits standard output, writes nothing, and outlives the patience of the test by itself.
	cmd := exec.Command("sleep", "60")
	cmd.Stdout = os.Stdout
	cmd.SysProcAttr = child.Attributes()
	if err := cmd.Start(); err != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString("started\n")
	_ = cmd.Wait()
}

// TestChildrenEnd kills a process that has started another: that one ends too. It is the
// last to hold the pipe, so the pipe ends when it has.
func TestChildrenEnd(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), parent+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("started\n"))); err != nil {
		t.Fatalf("the parent does not start: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, out)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the child is still there")
	}
	_ = cmd.Wait() // it was killed
}
