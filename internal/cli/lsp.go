// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/library"
	"github.com/ashlar-dev/ashlar/internal/lsp"
	"github.com/ashlar-dev/ashlar/internal/specification"
)

var _ lsp.Files = specification.Files{}

func newLSPCommand(t *console.Terminal) *cobra.Command {
	var l library.Dirs
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Serve editors: errors while typing, definitions, renaming",
		Long: `Lsp is a language server for TLA+, with PlusCal and Modular PlusCal inside, and for
programs in the Dedalus dialect. An editor starts it and speaks the Language Server
Protocol with it over standard input and output; docs/lang/lsp.md says how to set
up the common ones.

Exit codes: 0 the editor ended the session; 1 the connection to the editor was lost, or
the editor does not speak the protocol; 130 interrupted.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := lsp.Serve(cmd.Context(), os.Stdin, t.Out, specification.Files{}, l.All())
			switch {
			case cmd.Context().Err() != nil:
				return exit.With(exit.Interrupted, nil)
			case errors.Is(err, io.EOF):
				return exit.Failed(errors.New("the connection to the editor was lost"))
			}
			return exit.Failed(err)
		},
	}
	l.AddTo(cmd)
	return cmd
}
