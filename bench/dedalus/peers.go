// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/ashlar-dev/ashlar/bench/process"
)

// participants is how many of them vote, as in the example.
const participants = 3

// startHand starts voting as written by hand.
func startHand(c config, self func(string) *exec.Cmd) (_ *cluster, err error) {
	free, err := addresses(participants + 1)
	if err != nil {
		return nil, err
	}
	all := &cluster{}
	defer func() {
		if err != nil {
			all.end()
		}
	}()
	for i := range participants + 1 {
		role, name, job := roleHandParticipant, fmt.Sprintf("participant/%d", i), handJob{Listen: free[i], Self: byte(i)}
		if i == participants {
			role, name, job.Participants = roleHandLeader, "leader/0", free[:participants]
		}
		x, err := process.Start(name, self(role), true)
		if err != nil {
			return nil, err
		}
		all.nodes = append(all.nodes, x)
		var said string
		if err := errors.Join(x.Tell(job), x.Hear(&said, answerWithin)); err != nil {
			return nil, err
		}
	}
	return all, all.askFrames(c, free[participants], self)
}

// hydroDir is where the peer's source is, hydroTarget where cargo builds it.
const (
	hydroDir    = "dedalus/hydro"
	hydroTarget = "build/dedalus/hydro"
)

// buildHydro builds voting on Hydro's runtime.
func buildHydro(ctx context.Context) error {
	target, err := filepath.Abs(hydroTarget)
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", filepath.Join(hydroDir, "Cargo.toml"),
		"--target-dir", target).CombinedOutput()
	if err != nil && len(out) > 0 {
		return fmt.Errorf("%w: %s", err, out)
	}
	return err
}

// startHydro starts it.
func startHydro(c config, self func(string) *exec.Cmd) (_ *cluster, err error) {
	free, err := addresses(participants + 1)
	if err != nil {
		return nil, err
	}
	all := &cluster{}
	defer func() {
		if err != nil {
			all.end()
		}
	}()
	for i := range participants + 1 {
		name, args := fmt.Sprintf("participant/%d", i), []string{"participant", free[i], fmt.Sprint(i)}
		if i == participants {
			name, args = "leader/0", append([]string{"leader", free[participants]}, free[:participants]...)
		}
		x, err := process.Start(name, exec.Command(filepath.Join(hydroTarget, "release", "voting"), args...), false)
		if err != nil {
			return nil, err
		}
		all.nodes = append(all.nodes, x)
		if err := x.Await("listening", answerWithin); err != nil {
			return nil, err
		}
	}
	return all, all.askFrames(c, free[participants], self)
}

// askFrames starts the clients of a peer.
func (a *cluster) askFrames(c config, at string, self func(string) *exec.Cmd) (err error) {
	if a.ask, err = process.Start("clients", self(roleFrames), true); err != nil {
		return err
	}
	return a.ask.Tell(framesJob{Addr: at, Clients: c.Clients, Value: c.Value, Warm: c.Warm.Seconds(), Run: c.Run.Seconds()})
}
