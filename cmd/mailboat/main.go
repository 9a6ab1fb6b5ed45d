// SPDX-License-Identifier: Apache-2.0

// Command mailboat is a mail server: SMTP in, POP3 out, and in between the mail
// store of mail/mailboat, which is proved to lose nothing and to mix nothing up,
// whatever crashes come in between. The protocols around it are tested.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/ending"
	"github.com/ashlar-dev/ashlar/internal/cli/version"
)

// exitInterrupted is the exit code of a command that a signal ended.
const exitInterrupted = 130

func main() {
	ctx, _, stop := ending.Begin(exitInterrupted)
	defer stop()
	if err := newRootCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "mailboat: %v\n", err)
		os.Exit(1)
	}
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "mailboat",
		Short: "A mail server whose mail survives crashes",
		Long: `mailboat receives mail by SMTP and delivers it to users by POP3. Mail that SMTP has
acknowledged is completely on disk, and stays there until POP3 has deleted it.`,
		Example: `  mailboat serve /var/mail/boat
  mailboat password user0 >> passwords
  mailboat serve /var/mail/boat --passwords passwords --smtp 0.0.0.0:25 --pop3 0.0.0.0:110`,
		Version:       version.String(),
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(newServeCommand(), newPasswordCommand())
	return root
}
