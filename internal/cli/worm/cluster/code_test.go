// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/secure"
	"github.com/ashlar-dev/ashlar/internal/cli/worm/access"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestCodes: the exit codes that docs/lang/exit-codes.md promises, of a command and of
// one below it. An interrupt does not hide what is known of the outcome.
func TestCodes(t *testing.T) {
	_, noDescription := access.Read("")
	for _, c := range []struct {
		err               error
		code, interrupted int
	}{
		{errors.New("the network"), 1, 130},
		{wor.ErrDeadline, 1, 130},
		{usage(errors.New("no such server")), 2, 2},
		{noDescription, 2, 2},
		{secure.Certificates{Cert: "c"}.Check(), 2, 2},
		{worm.ErrRefused, 3, 3},
		{&wor.WrittenError{Value: []byte("other")}, 3, 3},
		{errNotHeld, 3, 3},
		{wor.ErrUnknown, 4, 4},
		{wor.ErrUnwritten, 5, 5},
		{wor.ErrUnallocated, 5, 5},
		{wor.ErrTrimmed, 5, 5},
		{worm.ErrNoKey, 5, 5},
		{nil, 0, 0},
	} {
		for ctx, want := range map[context.Context]int{t.Context(): c.code, ended(t): c.interrupted} {
			for _, path := range [][]string{{"over"}, {"over", "under"}} {
				run := func(*cobra.Command, []string) error {
					if c.err == nil {
						return nil
					}
					return fmt.Errorf("register 1.0: %w", c.err)
				}
				over := &cobra.Command{Use: "over", RunE: run}
				over.AddCommand(&cobra.Command{Use: "under", RunE: run})
				root := &cobra.Command{Use: "root"}
				root.AddCommand(coded(over)...)
				root.SetArgs(path)
				root.SilenceErrors, root.SilenceUsage = true, true
				got, err := 0, root.ExecuteContext(ctx)
				var e *exit.Error
				switch {
				case errors.As(err, &e):
					got = e.Code
				case err != nil:
					t.Fatalf("%v: %v has no exit code", c.err, err)
				}
				if got != want {
					t.Errorf("%v of %v, interrupted: %v: exit code %d, want %d", c.err, path, ctx.Err() != nil, got, want)
				}
				text := fmt.Sprint("register 1.0: ", c.err)
				if want == exit.Interrupted {
					text = "interrupted"
				}
				if err != nil && err.Error() != text {
					t.Errorf("%v is reported as %q, want %q", c.err, err, text)
				}
			}
		}
	}
}

func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
