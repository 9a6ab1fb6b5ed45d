package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"
)

// TestDrawingWithoutGraphviz: that nothing can be drawn is said before the
// search, and what to do instead.
func TestDrawingWithoutGraphviz(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out, errs bytes.Buffer
	o := checkOptions{workers: 1, deadlock: true, dump: filepath.Join(t.TempDir(), "g.svg")}
	err := runCheck(context.Background(), &term{out: &out, err: &errs}, o, "lock.tla", lockSubject(ticketLock{clients: 2}))
	var e *exit
	if !errors.As(err, &e) || e.code != exitWorld || !errors.Is(err, errNoGraphviz) || out.Len() > 0 {
		t.Fatalf("%v, after %q", err, out.String())
	}
}
