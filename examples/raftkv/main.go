// SPDX-License-Identifier: Apache-2.0

// Command raftkv is a replicated key-value store: specs/raftkv, compiled, with the
// Redis protocol in front. It keeps its data over kill -9 of any server, and answers
// while a majority runs.
//
//	go run ./examples/raftkv build build/raftkv   compile the specification and build the service
//	build/raftkv cluster DIR                      run three servers on loopback, until it is interrupted
//	build/raftkv format DIR                       make the directory of a server
//	build/raftkv serve DIR -server 1 -listen ADDRESS -peers ADDRESS,ADDRESS,ADDRESS
//
// docs/raftkv.md describes it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

const usage = `usage:
  raftkv build PROGRAM
  raftkv format DIR
  raftkv serve DIR -server N -listen ADDRESS -peers ADDRESS,... [-profile FILE]
  raftkv cluster DIR [-listen HOST:PORT] [-peers HOST:PORT]

Try: go run ./examples/raftkv build build/raftkv && build/raftkv cluster /tmp/raftkv
and then: redis-cli -p 6401 set greeting hello; redis-cli -p 6402 get greeting
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
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
	case "serve":
		o := options{dir: dir}
		flags.IntVar(&o.server, "server", 0, "")
		flags.StringVar(&o.listen, "listen", "", "")
		peers := flags.String("peers", "", "")
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
