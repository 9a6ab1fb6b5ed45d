// SPDX-License-Identifier: Apache-2.0

package crashtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
	"github.com/ashlar-dev/ashlar/goose/primitive/mem"
	"github.com/ashlar-dev/ashlar/internal/evidence/crashtest"
)

// brokenVar makes the tests of broken packages run, and fail.
const brokenVar = "ASHLAR_CRASHTEST_BROKEN"

// reader has the operations that all disks have.
type reader interface {
	Read(uint64) []byte
	Write(uint64, []byte)
}

// pair is two blocks that should change atomically, and are just written.
func pair(d reader) crashtest.Do[crashtest.Access, []uint64] {
	return func(a crashtest.Access) []uint64 {
		if a.Write {
			d.Write(0, crashtest.Block(a.Numbers[0]))
			d.Write(1, crashtest.Block(a.Numbers[1]))
			return nil
		}
		return []uint64{crashtest.Number(d.Read(0)), crashtest.Number(d.Read(1))}
	}
}

func pairSystem(clients int) crashtest.System[[]uint64, crashtest.Access, []uint64] {
	both := []uint64{0, 1}
	return crashtest.System[[]uint64, crashtest.Access, []uint64]{
		Name: "broken", Spec: crashtest.Atomic(2), Clients: clients,
		Client: func(r env.Random, _ int, do crashtest.Do[crashtest.Access, []uint64]) {
			do(crashtest.Access{Write: true, Addrs: both, Numbers: []uint64{r.Uint64(), r.Uint64()}})
		},
		Observe: func(do crashtest.Do[crashtest.Access, []uint64]) { do(crashtest.Access{Addrs: both}) },
		Build: func(m *mem.Machine) func(*mem.Life) crashtest.Do[crashtest.Access, []uint64] {
			d := m.NewDisk(2)
			return func(l *mem.Life) crashtest.Do[crashtest.Access, []uint64] { return pair(d.Open(l)) }
		},
		Open: func(dir string) (crashtest.Do[crashtest.Access, []uint64], error) {
			d, err := disk.Open(filepath.Join(dir, "disk"), 2)
			if err != nil {
				return nil, err
			}
			return pair(d), nil
		},
	}
}

func TestBrokenSimulated(t *testing.T) {
	if os.Getenv(brokenVar) == "" {
		t.Skip("it fails: TestBrokenIsFoundOut runs it")
	}
	crashtest.Simulate(t, pairSystem(1), crashtest.Effort{Losses: -1})
}

func TestBrokenKilled(t *testing.T) {
	if os.Getenv(brokenVar) == "" {
		t.Skip("it fails: TestBrokenIsFoundOut runs it")
	}
	crashtest.Kill(t, pairSystem(1), 60, 1)
}

// TestBrokenAlone ends by itself if it is not killed.
func TestBrokenAlone(t *testing.T) {
	if os.Getenv(brokenVar) == "" {
		t.Skip("it fails: TestBrokenIsFoundOut runs it")
	}
	s := pairSystem(1)
	s.Client = func(env.Random, int, crashtest.Do[crashtest.Access, []uint64]) { panic("an error of the package") }
	crashtest.Kill(t, s, 1, 1)
}

// TestBrokenTogether makes clients interfere with each other.
func TestBrokenTogether(t *testing.T) {
	if os.Getenv(brokenVar) == "" {
		t.Skip("it fails: TestBrokenIsFoundOut runs it")
	}
	s := pairSystem(3)
	write := s.Client
	s.Client = func(r env.Random, client int, do crashtest.Do[crashtest.Access, []uint64]) {
		write(r, client, do)
		s.Observe(do)
	}
	for seed := range uint64(3) {
		crashtest.Together(t, s, 300, seed)
	}
}

// TestBrokenIsFoundOut: the harness fails tests of broken packages.
func TestBrokenIsFoundOut(t *testing.T) {
	for name, want := range map[string]string{
		"TestBrokenSimulated": "has no explanation",
		"TestBrokenKilled":    "has no explanation",
		"TestBrokenTogether":  "has no explanation",
		"TestBrokenAlone":     "an error of the package",
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^"+name+"$")
			cmd.Env = append(os.Environ(), brokenVar+"=1")
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), want) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
