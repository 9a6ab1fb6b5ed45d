// SPDX-License-Identifier: Apache-2.0

// Command status runs the commands of all claims, one after the other, and
// writes the result of each, with the date, as Markdown.
//
//	go run ./internal/status/cmd/status -o build/status.md
//	go run ./internal/status/cmd/status -room Store
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"github.com/ashlar-dev/ashlar/internal/status"
)

func main() {
	out := flag.String("o", "build/status.md", "the `FILE` to write")
	room := flag.String("room", "", "only claims whose room contains this `TEXT`")
	limit := flag.Duration("limit", time.Hour, "how long one command may take")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *out, *room, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "status:", err)
		os.Exit(1)
	}
}

// run runs each command once, although several claims may name it.
func run(ctx context.Context, out, room string, limit time.Duration) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Status on %s\n\n| command | outcome | s | claims |\n|---|---|---:|---|\n", time.Now().UTC().Format(time.DateOnly))
	claims := map[string][]string{}
	var order []string
	for _, c := range status.Claims {
		if !strings.Contains(c.Room, room) {
			continue
		}
		for _, command := range c.Commands {
			if claims[command] == nil {
				order = append(order, command)
			}
			claims[command] = append(claims[command], c.Claim)
		}
	}
	failed := 0
	for _, command := range order {
		begin := time.Now()
		err := one(ctx, command, limit)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		outcome := "passes"
		if err != nil {
			failed++
			outcome = "**fails**: " + strings.ReplaceAll(err.Error(), "|", `\|`)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %.0f | %s |\n", strings.ReplaceAll(command, "|", `\|`), outcome, time.Since(begin).Seconds(), strings.Join(claims[command], "; "))
		fmt.Println(command, outcome)
	}
	if err := renameio.WriteFile(out, []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", out, err)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d commands fail; see %s", failed, len(order), out)
	}
	return nil
}

// one runs a command in a process group of its own, which ends with it.
func one(ctx context.Context, command string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	said, err := cmd.CombinedOutput()
	if ctx.Err() == context.DeadlineExceeded {
		return fmt.Errorf("not done after %v", limit)
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(said)), "\n")
		return fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	return nil
}
