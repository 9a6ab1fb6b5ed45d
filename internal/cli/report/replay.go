// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"errors"
	"io"

	"github.com/ashlar-dev/ashlar"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
)

// Replayed ends the check of traces for a command: it writes errors in the input to w,
// and returns the exit code of the verdict, or an error with its exit
// code. ctx is that of the check: an undecided check that it interrupted has the exit
// code of an interrupt.
func Replayed(ctx context.Context, w io.Writer, r *ashlar.Replayed, err error) (code int, failed error) {
	var wrong *ashlar.InputError
	var none *ashlar.NoValueError
	switch {
	case errors.As(err, &wrong):
		wrong.Print(w)
		return 0, exit.With(exit.Input(wrong.Configuration), nil)
	case errors.As(err, &none):
		return 0, exit.With(exit.Eval, err)
	case err != nil:
		return 0, exit.Failed(err)
	}
	switch {
	case r.Verdict == ashlar.Accepted:
		return exit.OK, nil
	case r.Verdict != ashlar.Undecided: // rejected or violated
		return exit.Safety, nil
	case ctx.Err() != nil:
		return exit.Interrupted, nil
	}
	return exit.NotChecked, nil
}
