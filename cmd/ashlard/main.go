// SPDX-License-Identifier: Apache-2.0

// Command ashlard is a server of WormSpace: together with other servers it
// stores write-once registers on its disk, and it runs the services built on
// them. Every subcommand explains itself with --help.
package main

import (
	"os"

	"github.com/ashlar-dev/ashlar/cmd/ashlard/daemon"
	"github.com/ashlar-dev/ashlar/internal/cli/ending"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
)

func main() {
	ctx, _, stop := ending.Begin(exit.Interrupted)
	defer stop()
	os.Exit(daemon.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
