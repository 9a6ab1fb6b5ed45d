// SPDX-License-Identifier: Apache-2.0

// Package prove is the command prove, for developments whose Go code is proved in Coq.
//
// In: Go packages of the subset, and proofs. Out: their Coq, what is built, what is
// proved, and what is outside of the subset.
package prove

import (
	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
)

const help = `Prove works on programs whose code is proved: it translates packages in a subset of Go
to Coq, and checks theorems about them.

  translate   write the Coq of Go packages, or report what is outside the subset
  init        begin a proof development in your own module
  build       check the proofs
  status      what is translated, up to date, built, and proved

The subset is described in docs/lang/goose.md.`

// New makes the command prove.
func New(t *console.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prove",
		Short: "Translate Go to Coq and check proofs about it",
		Long:  help,
		Example: `  ashlar prove translate ./mail/mailboat
  ashlar prove build
  ashlar prove status`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTranslateCommand(t), newInitCommand(t), newBuildCommand(t), newStatusCommand(t))
	return cmd
}
