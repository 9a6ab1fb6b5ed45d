// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"fmt"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/bench/process"
	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/dedalus/loadgen"
)

// DrainWithin is how long the last answers may take.
const DrainWithin = 10 * time.Second

// clientMain runs clients.
func clientMain(p *rt.Program, port *process.Port) error {
	var job ClientJob
	if ok, err := port.Take(&job); !ok || err != nil {
		return err
	}
	world := osenv.New()
	network := osenv.NewNetwork(osenv.NetworkOptions{WriteBuffer: WriteBuffer})
	defer network.Close()
	world.Network = network
	nodes := map[string]env.Addr{}
	for n, a := range job.Nodes {
		nodes[n] = env.Addr(a)
	}
	idle := make(chan struct{})
	over := sync.OnceFunc(func() { close(idle) })
	c, err := loadgen.Open(loadgen.Options{Env: world, Program: p, Name: job.Name, Nodes: nodes, Sends: job.Sends, Waits: job.Waits,
		Clients: job.Clients, Idle: over})
	if err != nil {
		return err
	}
	defer c.Close()
	out, err := run(c, &job, port, idle)
	if err != nil {
		return err
	}
	if err := port.Say(out); err != nil {
		return err
	}
	var none struct{}
	_, err = port.Take(&none)
	return err
}

// run goes through the phases. It says "begin" and "end" when commands begin and end to
// be counted. All that were asked for have to be answered.
func run(c *loadgen.Generator, job *ClientJob, port *process.Port, idle <-chan struct{}) (loadgen.Outcome, error) {
	time.Sleep(seconds(job.Settle)) // a program may have to choose a leader first
	c.Begin()
	time.Sleep(seconds(job.Warm))
	c.Count(true)
	if err := port.Say("begin"); err != nil {
		return loadgen.Outcome{}, err
	}
	time.Sleep(seconds(job.Run))
	c.Count(false)
	c.Stop()
	if err := port.Say("end"); err != nil {
		return loadgen.Outcome{}, err
	}
	late := time.NewTimer(DrainWithin)
	defer late.Stop()
	select {
	case <-idle:
	case <-late.C:
	}
	out, err := c.Outcome()
	if err != nil {
		return out, fmt.Errorf("%v after the end: %w", DrainWithin, err)
	}
	return out, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
