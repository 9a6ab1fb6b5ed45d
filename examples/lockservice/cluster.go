// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/internal/evidence/ports"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// clients is how many clients a cluster has: NumClients of the configurations.
const clients = 3

// cluster is a lock service of several processes.
type cluster struct {
	program, dir, traces string
	run                  time.Duration
	clients              int
	hosts                []host // of the nodes in their order; none: all on loopback

	processes []*process
}

// host is a network namespace with an address.
type host struct{ namespace, address string }

// port is where nodes on hosts of their own listen.
const port = "7100"

// process is one node of the cluster.
type process struct {
	node   string
	cmd    *exec.Cmd
	stderr bytes.Buffer
	killed bool
}

// start writes the configuration and starts the server and the clients.
func (c *cluster) start(ctx context.Context) error {
	conf, err := c.configuration()
	if err != nil {
		return err
	}
	file := filepath.Join(c.dir, "sys.json")
	if err := writeConfig(file, conf); err != nil {
		return err
	}
	for i, node := range nodes(c.clients) {
		p := &process{node: node}
		command := []string{c.program, "-config", file, "-node", node, "-for", c.run.String()}
		if c.hosts != nil {
			command = append([]string{"ip", "netns", "exec", c.hosts[i].namespace}, command...)
		}
		p.cmd = exec.CommandContext(ctx, command[0], command[1:]...)
		p.cmd.Env = append(os.Environ(), distsys.TraceDir+"="+c.traces)
		p.cmd.Stderr = &p.stderr
		p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
		p.cmd.WaitDelay = 5 * time.Second
		if err := p.cmd.Start(); err != nil {
			return fmt.Errorf("start %s: %w", node, err)
		}
		c.processes = append(c.processes, p)
	}
	return nil
}

// wait waits until all processes have ended.
func (c *cluster) wait() error {
	var failed error
	for _, p := range c.processes {
		if err := p.cmd.Wait(); err != nil && !p.killed && failed == nil {
			failed = fmt.Errorf("node %s: %w\n%s", p.node, err, p.stderr.Bytes())
		}
	}
	return failed
}

// sections counts the lines of the traces, but for their headers.
func (c *cluster) sections() int {
	n := 0
	files, _ := filepath.Glob(filepath.Join(c.traces, "*.jsonl"))
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil {
			n += max(bytes.Count(text, []byte("\n"))-1, 0)
		}
	}
	return n
}

// nodes are the names of the nodes, the server's first.
func nodes(clients int) []string {
	out := []string{"server"}
	for i := range clients {
		out = append(out, fmt.Sprintf("client%d", i+1))
	}
	return out
}

// configuration finds addresses for the nodes. Hosts are reachable by each
// other only, so peers need not prove who they are.
func (c *cluster) configuration() (*distsys.Config, error) {
	if c.hosts == nil {
		addresses, err := ports.Free(c.clients + 1)
		return configuration(c.clients, addresses), err
	}
	var addresses []string
	for _, h := range c.hosts {
		addresses = append(addresses, net.JoinHostPort(h.address, port))
	}
	conf := configuration(c.clients, addresses)
	conf.TrustNetwork = true
	return conf, nil
}

// configuration is the cluster with a node for each process, in the order of
// nodes; it needs an address for each.
func configuration(clients int, addresses []string) *distsys.Config {
	if len(addresses) <= clients {
		return nil
	}
	text := func(i int) distsys.Text { return distsys.TextOf(value.Int(int32(i))) }
	network := distsys.Supply{Kind: distsys.KindMailboxes, Mode: distsys.ModeStrict}
	c := &distsys.Config{System: "lockservice", Constants: map[string]distsys.Text{"NumClients": text(clients)}, Nodes: map[string][]distsys.Member{}}
	for i, node := range nodes(clients) {
		network.At = append(network.At, distsys.Site{Node: node, Address: addresses[i], Indices: []distsys.Text{text(i)}})
		archetype := "AClient"
		if i == 0 {
			archetype = "AServer"
		}
		c.Nodes[node] = []distsys.Member{{Archetype: archetype, Self: text(i), Refs: map[string]string{"network": "network"}}}
	}
	c.Resources = map[string]distsys.Supply{"network": network}
	return c
}

func writeConfig(file string, c *distsys.Config) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
