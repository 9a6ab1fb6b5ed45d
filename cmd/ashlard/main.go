// Command ashlard is a server of WormSpace: it keeps write-once registers on its
// disk together with others, and offers what is built on them. Every subcommand
// explains itself with --help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/ashlar-dev/ashlar/cmd/ashlard/daemon"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(daemon.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
