// SPDX-License-Identifier: Apache-2.0

package process

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestAwait: a line that a child says, early or late, is heard; one that ends without
// having said it, and one that says nothing, are told apart.
func TestAwait(t *testing.T) {
	start := func(script string) *Child {
		c, err := Start("child", exec.Command("sh", "-c", script), false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.End)
		return c
	}
	c := start("echo not listening; printf list; echo ening; echo more; exec sleep 60")
	for range 2 { // it may have been said already
		if err := c.Await("listening", 20*time.Second); err != nil {
			t.Error(err)
		}
	}
	if err := start("echo listening to nothing; exit 1").Await("listening", 20*time.Second); err == nil || !strings.Contains(err.Error(), "ended before") {
		t.Error(err)
	}
	if err := start("exec sleep 60").Await("listening", 50*time.Millisecond); err == nil || !strings.Contains(err.Error(), "did not say") {
		t.Error(err)
	}
}
