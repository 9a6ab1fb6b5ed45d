// SPDX-License-Identifier: Apache-2.0

package dedalusd

import (
	"bytes"
	"fmt"
	"os"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/host"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/cli/secure"
	"github.com/ashlar-dev/ashlar/internal/dedalus/deploy"
)

// keyMin and keyMax bound the length of a key, in bytes.
const (
	keyMin = 16
	keyMax = 4 << 10
)

// find reads the deployment and looks up this process in it.
func (x *process) find() error {
	switch {
	case x.deployment == "":
		return usage("--deployment is required")
	case x.node == "":
		return usage("--node is required")
	case x.grace < 0:
		return usage("--grace %v: want a time that is not negative", x.grace)
	}
	text, err := os.ReadFile(x.deployment)
	if err != nil {
		return err
	}
	if x.d, err = deploy.Read(text); err != nil {
		return usage("%s: %w", x.deployment, err)
	}
	if x.self = x.d.Process(x.node); x.self == nil {
		return usage("--node %s: the deployment has no such process; it has %s to %s", x.node, x.d.Processes[0].Node, x.d.Processes[len(x.d.Processes)-1].Node)
	}
	x.opt = host.Options{Program: x.program, Who: rt.Identity{Node: x.self.Node, Self: x.self.Self}, Peers: map[string]env.Addr{},
		Pieces: x.d.Pieces(x.self), Memory: x.memory, DrainWithin: max(x.grace, 1)}
	for i := range x.d.Processes {
		x.opt.Peers[x.d.Processes[i].Node] = env.Addr(x.d.Processes[i].Addr)
	}
	if err := x.match(); err != nil {
		return usage("%s is not a deployment of this program: %w", x.deployment, err)
	}
	if x.opt.Static, err = statics(x.program, x.d.Static); err != nil {
		return usage("%s: %w", x.deployment, err)
	}
	typ := &x.program.Components[x.opt.Component]
	needs := typ.Durable || x.d.Component(x.self.Component).Carries && len(x.opt.Pieces) > 0
	if needs && (x.data == "") != x.memory {
		return usage("%s has durable state: use either --data DIR or --volatile", x.node)
	}
	x.keeps, x.bumps = typ.Durable && !x.memory, needs && !x.memory && len(x.opt.Pieces) > 0
	if x.keeps {
		x.opt.Dir = logDir
	}
	return x.where()
}

// match checks that the deployment belongs to the program.
func (x *process) match() error {
	if x.d.Program != x.program.Name || len(x.d.Components) != len(x.program.Components) {
		return fmt.Errorf("it is for %s with %d components, and this program is %s with %d", x.d.Program, len(x.d.Components), x.program.Name, len(x.program.Components))
	}
	for i, c := range x.d.Components {
		t := &x.program.Components[i]
		if c.Name != t.Name || c.Of != t.Of || c.Instances != t.Instances || c.Partitions != t.Partitions {
			return fmt.Errorf("component %s of %s, %d times %d, and in the program it is %s of %s, %d times %d", c.Name, c.Of, c.Instances, c.Partitions,
				t.Name, t.Of, t.Instances, t.Partitions)
		}
		if c.Name == x.self.Component {
			x.opt.Component = i
		}
	}
	return nil
}

// where checks the addresses and reads the key.
func (x *process) where() error {
	if x.listen == "" {
		x.listen = x.self.Addr
	}
	if x.http == "" {
		x.http = x.self.Status
	}
	if err := x.certificates.Check(); err != nil {
		return usage("%w", err)
	}
	if err := secure.Addr(x.listen, x.public || x.certificates.Cert != "", tlsFlags); err != nil {
		return usage("--listen %q: %w", x.listen, err)
	}
	if x.http != "" {
		if err := secure.Addr(x.http, x.public, tlsFlags); err != nil {
			return usage("--http %q: %w", x.http, err)
		}
	}
	x.opt.Listen = env.Addr(x.listen)
	if x.key == "" {
		return nil
	}
	key, err := os.ReadFile(x.key)
	if err != nil {
		return fmt.Errorf("--key: %w", err)
	}
	if key = bytes.TrimSpace(key); len(key) < keyMin || len(key) > keyMax {
		return usage("--key %s: %d bytes; want %d to %d", x.key, len(key), keyMin, keyMax)
	}
	x.opt.Key = key
	return nil
}

// tlsFlags are the flags that secure an address that other machines can reach.
const tlsFlags = "--tls-cert, --tls-key, --tls-ca"
