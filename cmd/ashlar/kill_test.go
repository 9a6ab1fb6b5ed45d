// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
)

// asCommand is the test's own program, which acts as ashlar under that name.
func asCommand(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "ashlar")
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	return name
}

// outcomeOf is what of a result does not depend on time and place.
func outcomeOf(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var d map[string]any
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, of := range []string{"bytes", "diskBytes", "bytesPerState", "seconds", "generatedPerSecond", "workers", "native"} {
		delete(d["statistics"].(map[string]any), of)
	}
	return d
}

// TestKilledSearches kills searches at random moments, again and again, and
// resumes them: in the end the result is that of one that was not killed.
func TestKilledSearches(t *testing.T) {
	ashlar := asCommand(t)
	specs, err := filepath.Abs("../../specs")
	if err != nil {
		t.Fatal(err)
	}
	six := filepath.Join(t.TempDir(), "six.cfg")
	text, err := os.ReadFile(filepath.Join(specs, "twophase", "twophase8.cfg"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(six, bytes.Replace(text, []byte(", r7, r8"), nil, 1), 0o666); err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, args := range [][]string{
		{"--config", six, filepath.Join(specs, "twophase", "twophase.tla")},
		{"--continue", filepath.Join(specs, "diehard", "diehard.tla")},
		{filepath.Join(specs, "raft", "raft.tla"), "--config", filepath.Join(specs, "raft", "forgetful.cfg")},
		{filepath.Join(specs, "queue", "queue.tla")},
	} {
		run := func(more ...string) *procs.Process {
			return procs.Start(t, exec.Command(ashlar, append(append([]string{"check", "--json"}, args...), more...)...))
		}
		start := time.Now()
		p := run("--workers", "2")
		p.Wait()
		whole := time.Since(start)
		want := outcomeOf(t, []byte(p.Out()))
		for kills := range 2 {
			keep := t.TempDir()
			killed := 0
			for {
				how := []string{"--checkpoint", keep, "--every", "1ms", "--workers", []string{"1", "2"}[rand.IntN(2)]}
				if _, err := os.Stat(filepath.Join(keep, "checkpoint")); err == nil {
					how[0] = "--resume"
				}
				if rand.IntN(2) == 0 {
					how = append(how, "--memory", "1MiB")
				}
				p := run(how...)
				if killed < 4*kills {
					timer := time.AfterFunc(rand.N(whole), p.Kill)
					p.Wait()
					timer.Stop()
				}
				if p.State().ExitCode() < 0 {
					killed++
					continue
				}
				if diff := cmp.Diff(want, outcomeOf(t, []byte(p.Out()))); diff != "" {
					t.Fatalf("%v after %d kills (-whole +resumed):\n%s", args, killed, diff)
				}
				break
			}
			all += killed
		}
	}
	if all == 0 {
		t.Error("no search was killed in time")
	}
	t.Logf("%d searches were killed", all)
}
