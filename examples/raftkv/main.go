// SPDX-License-Identifier: Apache-2.0

// Command raftkv is a replicated key-value store: specs/raftkv, compiled, with the
// Redis protocol in front. It keeps its data over kill -9 of any server, and answers
// while a majority runs.
//
//	go run ./examples/raftkv build build/raftkv   compile the specification and build the service
//	build/raftkv cluster DIR                      run three servers on loopback, until it is interrupted
//	build/raftkv format DIR                       make the directory of a server
//	build/raftkv key FILE                         make a key with which servers authenticate each other
//	build/raftkv serve DIR -server 1 -listen ADDRESS -peers ADDRESS,ADDRESS,ADDRESS -key FILE
//
// docs/raftkv.md describes it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/cli/ending"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
)

const usage = `usage:
  raftkv build PROGRAM
  raftkv format DIR
  raftkv key FILE
  raftkv serve DIR -server N -listen ADDRESS -peers ADDRESS,... [-key FILE] [-public] [-profile FILE]
  raftkv cluster DIR [-listen HOST:PORT] [-peers HOST:PORT]

Try: go run ./examples/raftkv build build/raftkv && build/raftkv cluster /tmp/raftkv
and then: redis-cli -p 6401 set greeting hello; redis-cli -p 6402 get greeting
`

func main() {
	// A server that is still reading its journal does not heed the context; it is ended
	// all the same. Its journal bears that as it bears any crash.
	ctx, _, stop := ending.Begin(exit.Interrupted)
	defer stop()
	err := run(ctx, os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
	case errors.Is(err, errUsage):
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "raftkv:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage")

func run(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] == "-h" || args[0] == "--help" || args[0] == "help" {
		return flag.ErrHelp
	}
	if len(args) < 2 {
		return errUsage
	}
	dir, rest := args[1], args[2:]
	flags := flag.NewFlagSet("raftkv", flag.ContinueOnError)
	flags.Usage = func() {}
	switch args[0] {
	case "build":
		return build(ctx, dir)
	case "format":
		return format(dir)
	case "key":
		return makeKey(dir)
	case "serve":
		o := options{dir: dir}
		flags.IntVar(&o.server, "server", 0, "")
		flags.StringVar(&o.listen, "listen", "", "")
		peers := flags.String("peers", "", "")
		flags.StringVar(&o.key, "key", "", "")
		flags.BoolVar(&o.public, "public", false, "")
		flags.StringVar(&o.profile, "profile", "", "")
		if err := flags.Parse(rest); err != nil || flags.NArg() > 0 {
			return errors.Join(err, errUsage)
		}
		if o.peers = strings.Split(*peers, ","); *peers == "" || o.server < 1 || o.server > len(o.peers) || o.listen == "" {
			return errUsage
		}
		return serve(ctx, o)
	case "cluster":
		listen := flags.String("listen", "127.0.0.1:6401", "")
		peers := flags.String("peers", "127.0.0.1:7401", "")
		if err := flags.Parse(rest); err != nil || flags.NArg() > 0 {
			return errors.Join(err, errUsage)
		}
		dir, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		return cluster(ctx, dir, *listen, *peers)
	}
	return errUsage
}
