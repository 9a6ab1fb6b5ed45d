// SPDX-License-Identifier: Apache-2.0

package tlc_test

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/cli"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/tlc"
)

// TestFlagsOfTLC: who writes a flag of TLC is told what it is here, and what is told
// exists.
func TestFlagsOfTLC(t *testing.T) {
	exists := map[string]bool{"--help": true, "--version": true}
	for _, command := range []string{"check", "simulate", "repl"} {
		var help bytes.Buffer
		if code := cli.Run(context.Background(), []string{command, "--help"}, &console.Terminal{Out: &help, Err: &help}); code != exit.OK {
			t.Fatalf("%s: exit code %d: %s", command, code, &help)
		}
		for _, name := range regexp.MustCompile(`--[a-z-]+`).FindAllString(help.String(), -1) {
			exists[name] = true
		}
	}
	for flag, instead := range tlc.Flags {
		for _, name := range regexp.MustCompile(`--[a-z-]+`).FindAllString(instead, -1) {
			if !exists[name] {
				t.Errorf("%s: there is no %s", flag, name)
			}
		}
		var said bytes.Buffer
		code := cli.Run(context.Background(), []string{"check", flag, "x", "M.tla"}, &console.Terminal{Out: &said, Err: &said})
		if code != exit.Usage || !strings.Contains(said.String(), flag+" is a flag of TLC; here it is "+instead) {
			t.Errorf("%s: exit code %d: %s", flag, code, &said)
		}
	}
	for _, args := range [][]string{{"check", "-q", "-w2", "--", "-config"}, {"check", "-c", "x.cfg", "-w", "2"}, {"translate", "-config"}, nil} {
		if err := tlc.CheckFlags(args); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}
