// SPDX-License-Identifier: Apache-2.0

package run

import (
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
)

// TestFailed: a process that dies of the signal to stop has not failed. Others have.
func TestFailed(t *testing.T) {
	s := &system{t: &console.Terminal{Out: io.Discard, Err: io.Discard}}
	for script, want := range map[string]string{
		"exit 0":                     "",
		"kill -TERM $$":              "",
		"kill -KILL $$":              "node a has ended with exit code -1",
		"echo the cause >&2; exit 3": "node a has ended with exit code 3: the cause",
	} {
		p := &process{node: "a", cmd: exec.Command("sh", "-c", script), running: make(chan struct{}), ended: make(chan struct{})}
		if err := p.start(s); err != nil {
			t.Fatal(err)
		}
		<-p.ended
		if err := p.failed(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", script, err)
		}
	}
}
