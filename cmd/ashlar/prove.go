package main

import (
	"github.com/spf13/cobra"
)

const proveHelp = `Prove is about programs whose code is proved: packages of a subset of Go that are
translated to Coq, and the theorems about them.

  translate   write the Coq of Go packages, or say what is outside the subset
  init        begin a proof development in a module of your own
  build       check the proofs
  status      what is translated, up to date, built, and proved

The subset is described in docs/lang/goose.md.`

func newProveCommand(t *term) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prove",
		Short: "Translate Go to Coq and check proofs about it",
		Long:  proveHelp,
		Example: `  ashlar prove translate ./mail/mailboat
  ashlar prove build
  ashlar prove status`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newProveTranslateCommand(t), newProveInitCommand(t), newProveBuildCommand(t), newProveStatusCommand(t))
	return cmd
}
