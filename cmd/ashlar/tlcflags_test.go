package main

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"
)

// TestFlagsOfTLC: who writes a flag of TLC is told what it is here, and what is told
// exists.
func TestFlagsOfTLC(t *testing.T) {
	exists := map[string]bool{"--help": true, "--version": true}
	for _, command := range []string{"check", "simulate", "repl"} {
		var help bytes.Buffer
		if code := run(context.Background(), []string{command, "--help"}, &term{out: &help, err: &help}); code != exitOK {
			t.Fatalf("%s: exit code %d: %s", command, code, &help)
		}
		for _, name := range regexp.MustCompile(`--[a-z-]+`).FindAllString(help.String(), -1) {
			exists[name] = true
		}
	}
	for flag, instead := range tlcFlags {
		for _, name := range regexp.MustCompile(`--[a-z-]+`).FindAllString(instead, -1) {
			if !exists[name] {
				t.Errorf("%s: there is no %s", flag, name)
			}
		}
		var said bytes.Buffer
		code := run(context.Background(), []string{"check", flag, "x", "M.tla"}, &term{out: &said, err: &said})
		if code != exitUsage || !strings.Contains(said.String(), flag+" is a flag of TLC; here it is "+instead) {
			t.Errorf("%s: exit code %d: %s", flag, code, &said)
		}
	}
	for _, args := range [][]string{{"check", "-q", "-w2", "--", "-config"}, {"check", "-c", "x.cfg", "-w", "2"}, {"translate", "-config"}, nil} {
		if err := tlcFlagIn(args); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}
