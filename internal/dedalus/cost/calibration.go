// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Calibration holds the costs of operations on a machine, in microseconds of
// one core.
type Calibration struct {
	// Machine describes where the numbers were measured.
	Machine string `json:"machine"`
	// Cores is the number of cores that a node can use.
	Cores float64 `json:"cores"`
	// Receive and Send are the costs of a message in a batch; ReceiveByte and SendByte are the
	// costs of each of its bytes.
	Receive     float64 `json:"receive"`
	ReceiveByte float64 `json:"receiveByte"`
	Send        float64 `json:"send"`
	SendByte    float64 `json:"sendByte"`
	// Firing is the cost of a row that a rule derives. Keep, Group and Join are added to it: Keep
	// for a row that is kept and later deleted, Group for one that an aggregate derives, Join for
	// one that joins several rows. Tick is the cost of a tick.
	Firing float64 `json:"firing"`
	Keep   float64 `json:"keep"`
	Group  float64 `json:"group"`
	Join   float64 `json:"join"`
	Tick   float64 `json:"tick"`
	// UnderWay is the number of commands in progress at full load. A profile has fewer, so its
	// ticks and syncs serve fewer commands.
	UnderWay float64 `json:"underWay"`
	// Row and RowByte are the costs of a durable row and of each of its bytes; SyncCPU is the
	// processor time of a disk sync.
	Row     float64 `json:"row"`
	RowByte float64 `json:"rowByte"`
	SyncCPU float64 `json:"syncCPU"`
	// Hop and Sync are the latencies of a message and of a disk sync.
	Hop  float64 `json:"hop"`
	Sync float64 `json:"sync"`
	// Functions has the costs of functions from Go, by import path and name. Call is the cost of
	// all others.
	Functions map[string]float64 `json:"functions"`
	Call      float64            `json:"call"`
	// Up is the fraction of time in which a machine is up.
	Up float64 `json:"up"`
}

// DefaultCalibration returns the costs that ashlar dedalus calibrate --measured found on a
// shared machine of two cores: costs of compiled rules in one thread, all fitted to the
// processor time of nodes in bench/dedalus, for voting, two-phase commit (both) and the
// micro-benchmarks. The mean error that remains is a quarter. Hop is half of the paper's ping.
func DefaultCalibration() *Calibration {
	return &Calibration{Machine: "two shared cores of an AMD EPYC, loopback", Cores: 1,
		Receive: 0.24, ReceiveByte: 0.0044, Send: 0.19, SendByte: 0.0007,
		Firing: 0.125, Keep: 0.37, Group: 0.61, Join: 0.32, Tick: 2, UnderWay: 256,
		Row: 0.56, SyncCPU: 140, Hop: 110, Sync: 450,
		Functions: map[string]float64{}, Call: 1, Up: 0.999}
}

// ReadCalibration reads a calibration from JSON; numbers that are absent have their defaults.
// The error names a number that is out of range.
func ReadCalibration(text []byte) (*Calibration, error) {
	c := DefaultCalibration()
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("read calibration: %w", err)
	}
	numbers := map[string]float64{"receive": c.Receive, "receiveByte": c.ReceiveByte, "send": c.Send, "sendByte": c.SendByte,
		"firing": c.Firing, "keep": c.Keep, "group": c.Group, "join": c.Join, "tick": c.Tick, "row": c.Row, "rowByte": c.RowByte, "syncCPU": c.SyncCPU, "hop": c.Hop, "sync": c.Sync, "call": c.Call}
	for name, f := range c.Functions {
		numbers["functions."+name] = f
	}
	for name, x := range numbers {
		if x < 0 || x > 1e9 || math.IsNaN(x) {
			return nil, fmt.Errorf("read calibration: %s is %v; want microseconds, from 0 to 1e9", name, x)
		}
	}
	if c.Cores <= 0 || c.Cores > 1024 || c.UnderWay < 1 || c.UnderWay > 1e6 || c.Up <= 0 || c.Up > 1 {
		return nil, fmt.Errorf("read calibration: want cores in (0, 1024], underWay in [1, 1e6] and up in (0, 1]; got %v, %v and %v", c.Cores, c.UnderWay, c.Up)
	}
	return c, nil
}

// Parts divides a node's time for one command by the kind of work, in microseconds.
type Parts struct {
	Receive   float64 `json:"receive"`
	Send      float64 `json:"send"`
	Derive    float64 `json:"derive"`
	Functions float64 `json:"functions"`
	Log       float64 `json:"log"`
}

// Total returns the sum of all parts.
func (p Parts) Total() float64 { return p.Receive + p.Send + p.Derive + p.Functions + p.Log }

func (p *Parts) add(q Parts, times float64) {
	p.Receive += q.Receive * times
	p.Send += q.Send * times
	p.Derive += q.Derive * times
	p.Functions += q.Functions * times
	p.Log += q.Log * times
}

// function returns the cost of a call of a function, and whether the cost is known.
func (c *Calibration) function(p *logic.Program, l *Load, name string) (micros float64, known bool) {
	if f, ok := l.Functions[name]; ok && f.Micros >= 0 {
		return f.Micros, true
	}
	f := p.Function(name)
	if m, ok := c.Functions[f.Import+"."+f.Symbol]; ok {
		return m, true
	}
	return c.Call, false
}

// parts returns the cost of a node's work for one command.
func (c *Calibration) parts(p *logic.Program, l *Load, pr *Profile, n *Node) Parts {
	var out Parts
	batch := max(1, c.UnderWay/float64(l.Clients))
	out.Receive = c.Receive*float64(n.Received) + c.ReceiveByte*float64(n.ReceivedBytes)
	out.Send = c.Send*float64(n.Sent) + c.SendByte*float64(n.SentBytes)
	for k, n := range work(p, n) {
		if k == tickWork {
			n /= batch
		}
		out.Derive += n * c.rules()[k]
	}
	for _, f := range slices.Sorted(maps.Keys(n.Calls)) {
		m, _ := c.function(p, l, f)
		out.Functions += m * float64(n.Calls[f])
	}
	out.Log = c.Row*float64(n.Durable) + c.RowByte*float64(n.DurableBytes) + c.SyncCPU*float64(n.Syncs)/batch
	each := Parts{}
	each.add(out, 1/float64(pr.Commands))
	return each
}
