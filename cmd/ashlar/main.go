// SPDX-License-Identifier: Apache-2.0

// Command ashlar checks, translates and compiles specifications written in
// TLA+, PlusCal and Modular PlusCal, and checks the traces of running systems
// against them. Every subcommand explains itself with --help.
//
// Exit codes are part of the interface; docs/lang/exit-codes.md lists them.
package main

import (
	"os"

	"github.com/ashlar-dev/ashlar/internal/cli"
)

func main() {
	os.Exit(cli.Main())
}
