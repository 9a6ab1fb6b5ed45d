// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"

	"github.com/ashlar-dev/ashlar/bench/process"
	"github.com/ashlar-dev/ashlar/cmd/dedalusd"
	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/host"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
)

// nodeMain runs an instance until its parent ends.
func nodeMain(p *rt.Program, port *process.Port) error {
	var job NodeJob
	if ok, err := port.Take(&job); !ok || err != nil {
		return err
	}
	if job.Component < 0 || job.Component >= len(p.Components) {
		return fmt.Errorf("%s has no component %d", p.Name, job.Component)
	}
	debug.SetGCPercent(dedalusd.GCPercent)
	world, tasks := osenv.New(), osenv.NewTasks()
	defer tasks.Close()
	o := host.Options{
		Env: world, Tasks: tasks, Program: p, Component: job.Component, Who: rt.Identity{Node: job.Node, Self: job.Self},
		Listen: env.Addr(job.Listen), Peers: map[string]env.Addr{}, Pieces: job.Pieces, Incarnation: job.Incarnation,
		Memory: !p.Components[job.Component].Durable,
	}
	for n, a := range job.Peers {
		o.Peers[n] = env.Addr(a)
	}
	disk, err := osenv.OpenDisk(job.Dir)
	if err != nil {
		return err
	}
	defer disk.Close()
	o.Env.Disk = disk
	if !o.Memory {
		o.Dir = "log"
		if err := host.Format(o.Env, o.Dir, p, job.Node); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	network := osenv.NewNetwork(osenv.NetworkOptions{WriteBuffer: WriteBuffer})
	defer network.Close()
	o.Env.Network = network
	failed := make(chan error, 1)
	o.Fatal = func(err error) { failed <- err }
	h, err := host.Open(o)
	if err != nil {
		return err
	}
	defer h.Close()
	return serve(port, job.Profile, failed)
}

// WriteBuffer is how much a connection gathers before it is written, in bytes.
const WriteBuffer = 64 << 10

// serve waits for the end of the parent, or of the instance.
func serve(port *process.Port, profile string, failed <-chan error) error {
	var over error
	err := process.Profiled(profile, func() {
		if over = port.Say("listening"); over != nil {
			return
		}
		ended := make(chan error, 1)
		go func() {
			var none struct{}
			_, err := port.Take(&none)
			ended <- err
		}()
		select {
		case over = <-failed:
		case over = <-ended:
		}
	})
	return errors.Join(err, over)
}
