// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/page"
)

// TestDrawingWithoutGraphviz: that nothing can be drawn is said before the
// search, and what to do instead.
func TestDrawingWithoutGraphviz(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out, errs bytes.Buffer
	o := checkOptions{workers: 1, deadlock: true, dump: filepath.Join(t.TempDir(), "g.svg")}
	err := runCheck(context.Background(), &console.Terminal{Out: &out, Err: &errs}, o, "lock.tla", lockSubject(ticketLock{clients: 2}))
	var e *exit.Error
	if !errors.As(err, &e) || e.Code != exit.World || !errors.Is(err, page.ErrNoGraphviz) || out.Len() > 0 {
		t.Fatalf("%v, after %q", err, out.String())
	}
}
