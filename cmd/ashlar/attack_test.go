// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
)

// longSearch writes a model that no machine searches in a minute, and returns
// its files.
func longSearch(t *testing.T, dir string) (module, config string) {
	t.Helper()
	module, config = filepath.Join(dir, "Long.tla"), filepath.Join(dir, "Long.cfg")
	for name, text := range map[string]string{
		module: "---- MODULE Long ----\nEXTENDS Integers\nVARIABLES f, n\nInit == f = [i \\in 1..9 |-> 0] /\\ n = 0\n" +
			"Next == \\E i \\in 1..9 : f[i] < 9 /\\ f' = [f EXCEPT ![i] = @ + 1] /\\ n' = (n + i) % 7\nFew == n < 7\n====\n",
		config: "INIT Init NEXT Next INVARIANT Few CHECK_DEADLOCK FALSE\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return module, config
}

// awaitFile waits until there is a file of a name that begins so, below dir.
func awaitFile(t *testing.T, dir, prefix string) {
	t.Helper()
	await(t, "a file "+prefix+"* in "+dir, func() (found bool) {
		filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
			found = found || strings.HasPrefix(filepath.Base(path), prefix) && path != dir
			return nil
		})
		return found
	})
}

// awaitCheckpoint waits until there is a checkpoint with several states.
func awaitCheckpoint(t *testing.T, keep string) {
	t.Helper()
	several := regexp.MustCompile(`"Distinct":\d\d`)
	await(t, "a checkpoint of several states", func() bool {
		text, err := os.ReadFile(filepath.Join(keep, "checkpoint"))
		return err == nil && several.Match(text)
	})
}

// await looks again and again, since nothing tells when another process makes a file.
func await(t *testing.T, what string, there func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !there(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come to be", what)
		}
	}
}

// TestSignalsLeaveNoFiles: a search on disk that is interrupted, ended, or whose
// terminal is closed takes its temporary files with it.
func TestSignalsLeaveNoFiles(t *testing.T) {
	ashlar := asCommand(t)
	module, _ := longSearch(t, t.TempDir())
	// A child ignores what its parent ignores, as tests that nohup began do; what the
	// parent listens to, it does not.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP)
	defer signal.Stop(heard)
	for _, sent := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		temp := t.TempDir()
		cmd := exec.Command(ashlar, "check", "--quiet", "--native=never", "--memory", "1MiB", "--temp", temp, module)
		p := procs.Start(t, cmd)
		awaitFile(t, temp, "run-")
		p.Signal(sent)
		if code := p.Wait(); code != exit.Interrupted {
			t.Errorf("%v: exit code %d", sent, code)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%v: left behind: %v, %v", sent, left, err)
		}
	}
}

// TestTemporaryFilesAreTakenAway: a search whose directory is removed under it
// does not say that all is well.
func TestTemporaryFilesAreTakenAway(t *testing.T) {
	ashlar := asCommand(t)
	module, _ := longSearch(t, t.TempDir())
	temp := t.TempDir()
	cmd := exec.Command(ashlar, "check", "--quiet", "--native=never", "--memory", "1MiB", "--temp", temp, module)
	p := procs.Start(t, cmd)
	awaitFile(t, temp, "run-")
	dirs, err := os.ReadDir(temp)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		// The search may make a file while its directory is being removed.
		for err = os.RemoveAll(filepath.Join(temp, d.Name())); err != nil; {
			err = os.RemoveAll(filepath.Join(temp, d.Name()))
		}
	}
	if code := p.Wait(); code != exit.World || !strings.Contains(p.Out()+p.Errs(), "no such file") {
		t.Errorf("exit code %d", code)
	}
}

// TestKeptSearchIsGuarded: a checkpoint has one user at a time, is not written
// over, and is resumed with the same program, modules, configuration and flags
// only, by any number of workers.
func TestKeptSearchIsGuarded(t *testing.T) {
	ashlar := asCommand(t)
	dir := t.TempDir()
	module, config := longSearch(t, dir)
	keep := filepath.Join(dir, "kept")
	args := []string{"check", "--quiet", "--native=never", "--checkpoint", keep, "--every", "5ms", "--workers", "2", module}
	cmd := exec.Command(ashlar, args...)
	p := procs.Start(t, cmd)
	awaitCheckpoint(t, keep)
	refused := func(want string, program string, more ...string) {
		t.Helper()
		_, out, errs := procs.Run(t, exec.Command(program, append([]string{"check", "--quiet", "--native=never"}, more...)...))
		if !strings.Contains(out+errs, want) {
			t.Errorf("%v: %s%s, want %q", more, out, errs, want)
		}
	}
	refused("locked by another process", ashlar, "--checkpoint", keep, module)
	refused("locked by another process", ashlar, "--resume", keep, module)
	p.Signal(os.Interrupt)
	if code := p.Wait(); code != exit.Interrupted || !strings.Contains(p.Out()+p.Errs(), "--resume "+keep) {
		t.Errorf("exit code %d", code)
	}
	before, err := os.ReadDir(keep)
	if err != nil {
		t.Fatal(err)
	}
	refused("there is a checkpoint already", ashlar, "--checkpoint", keep, module)
	refused("por=false", ashlar, "--resume", keep, "--por", module)
	refused("whether deadlock is reported", ashlar, "--resume", keep, "--deadlock=false", module)
	refused("whether the search continues", ashlar, "--resume", keep, "--continue", module)
	refused("reference=false", ashlar, "--resume", keep, "--reference", module)
	other := filepath.Join(t.TempDir(), "ashlar")
	text, err := os.ReadFile(ashlar)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, append(text, 'x'), 0o777); err != nil {
		t.Fatal(err)
	}
	refused("this program was", other, "--resume", keep, module)
	for _, change := range []struct{ name, want string }{{module, "Long.tla was"}, {config, "the configuration was"}} {
		text, err := os.ReadFile(change.name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(change.name, append(slices.Clone(text), '\n'), 0o666); err != nil {
			t.Fatal(err)
		}
		refused(change.want, ashlar, "--resume", keep, module)
		if err := os.WriteFile(change.name, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	after, err := os.ReadDir(keep)
	if err != nil || len(after) != len(before) {
		t.Fatalf("%v became %v: %v", before, after, err)
	}
	// What is resumed goes on, and does not begin again.
	_, result, _ := procs.Run(t, exec.Command(ashlar, "check", "--quiet", "--json", "--native=never", "--resume", keep, "--workers", "3", "--max-states", "1", module))
	var d struct{ Statistics struct{ Distinct int64 } }
	if err := json.Unmarshal([]byte(result), &d); err != nil || d.Statistics.Distinct < 10 {
		t.Errorf("%v: %s", err, result)
	}
}
