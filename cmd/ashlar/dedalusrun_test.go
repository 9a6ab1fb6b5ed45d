// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/cli"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/dedalus/deploy"
)

// until calls a function when a text was written, once.
type until struct {
	text string
	then func()

	mu sync.Mutex
	b  bytes.Buffer
}

func (u *until) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n, err := u.b.Write(p)
	if u.then != nil && strings.Contains(u.b.String(), u.text) {
		u.then()
		u.then = nil
	}
	return n, err
}

// TestDedalusRunInterrupted: an interrupt ends all processes in order, a process that
// ends by itself ends the others, and nothing is left.
func TestDedalusRunInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	work := t.TempDir()
	t.Setenv("GOPROXY", "off")
	args := []string{"dedalus", "run", "../../examples/dedalus/voting.ded", "--ashlar", "../..", "--work", work}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, errs := &until{text: "interrupt to end", then: cancel}, &until{}
	if code := cli.Run(ctx, args, &console.Terminal{Out: out, Err: errs}); code != exit.OK {
		t.Fatalf("exit code %d\n%s%s", code, &out.b, &errs.b)
	}
	for _, node := range []string{"leader/0", "participant/2"} {
		if !strings.Contains(out.b.String(), node+" ") {
			t.Errorf("%s was not told:\n%s", node, &out.b)
		}
	}
	text, err := os.ReadFile(filepath.Join(work, "deployment.json"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := deploy.Read(text); err != nil {
		t.Error(err)
	}

	// The pid is in the JSON; who kills one process has all ended.
	var code int
	out = &until{text: "]\n}\n"}
	out.then = func() {
		_, rest, ok := strings.Cut(out.b.String(), `"pid": `)
		pid := 0
		for _, c := range rest {
			if c < '0' || c > '9' {
				break
			}
			pid = 10*pid + int(c-'0')
		}
		if !ok || pid == 0 {
			t.Errorf("no process in %s", &out.b)
			return
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	errs = &until{}
	if code = cli.Run(context.Background(), append(args, "--json"), &console.Terminal{Out: out, Err: errs}); code != exit.World {
		t.Errorf("exit code %d\n%s", code, &errs.b)
	}
	if !strings.Contains(errs.b.String(), "leader/0 has ended with exit code -1") {
		t.Errorf("it says %s", &errs.b)
	}
}
