// SPDX-License-Identifier: Apache-2.0

package child_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/child"
)

// TestServer starts servers that listen and end in order, end early, or write more in a
// line than is read of it.
func TestServer(t *testing.T) {
	sh := func(script string) *exec.Cmd { return exec.Command("sh", "-c", script) }
	s, err := child.Start(t.Context(), "a", sh(`trap 'echo gone >&2; exit 3' TERM; echo listening on nothing; while :; do sleep 0.01; done`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Terminate(); err != nil {
		t.Fatal(err)
	}
	<-s.Ended()
	if err := s.Failed(); err == nil || err.Error() != "a ends with exit code 3: gone" {
		t.Errorf("got %v", err)
	}
	if err := s.Terminate(); err != nil {
		t.Errorf("a server that has ended cannot be told to end: %v", err)
	}

	s, err = child.Start(t.Context(), "b", sh(`echo the cause >&2; exit 1`))
	if s == nil || err == nil || err.Error() != "b has ended with exit code 1: the cause" {
		t.Errorf("got %v", err)
	}

	s, err = child.Start(t.Context(), "c", sh(`echo listening on a; head -c 1000000 /dev/zero; echo; exit 0`))
	if err != nil {
		t.Fatal(err)
	}
	<-s.Ended() // though more was written than anybody reads
	if err := s.Failed(); err != nil {
		t.Error(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err = child.Start(ctx, "d", sh(`exec sleep 300`))
	if s == nil || err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Fatalf("got %v", err)
	}
	s.Kill()
}
