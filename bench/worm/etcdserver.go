// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/bench/process"
)

// startEtcd starts etcd's three servers with their data below dir: on a disk, or
// in memory, where a sync costs nothing.
func startEtcd(dir string) (_ *cluster, err error) {
	path, err := exec.LookPath("etcd")
	if err != nil {
		return nil, fmt.Errorf("%w (Debian: etcd-server)", err)
	}
	free, err := ports(2 * servers)
	if err != nil {
		return nil, err
	}
	c := &cluster{where: where{Engine: etcd}}
	defer func() {
		if err != nil {
			c.end()
		}
	}()
	url := func(port int) string { return fmt.Sprint("http://127.0.0.1:", port) }
	var peers []string
	for i := range servers {
		peers = append(peers, fmt.Sprint("n", i, "=", url(free[i])))
	}
	for i := range servers {
		name := fmt.Sprint("n", i)
		cmd := exec.Command(path, "--name", name, "--data-dir", filepath.Join(dir, "etcd-"+name),
			"--listen-peer-urls", url(free[i]), "--initial-advertise-peer-urls", url(free[i]),
			"--listen-client-urls", url(free[servers+i]), "--advertise-client-urls", url(free[servers+i]),
			"--initial-cluster", strings.Join(peers, ","), "--initial-cluster-state", "new",
			"--initial-cluster-token", filepath.Base(dir), "--logger", "zap", "--log-level", "error",
			"--quota-backend-bytes", fmt.Sprint(int64(8)<<30))
		cmd.Dir = dir
		x, err := process.Start("etcd "+name, cmd, false)
		if err != nil {
			return nil, err
		}
		c.children = append(c.children, x)
		c.where.Endpoints = append(c.where.Endpoints, fmt.Sprint("127.0.0.1:", free[servers+i]))
	}
	return c, c.reachable()
}

// reachable waits until all servers take connections.
func (c *cluster) reachable() error {
	late := time.Now().Add(answerWithin)
	for i, x := range c.children {
		for {
			conn, err := net.DialTimeout("tcp", c.where.Endpoints[i], time.Second)
			if err == nil {
				conn.Close()
				break
			}
			if x.Ended() || time.Now().After(late) {
				return fmt.Errorf("%s: %w%s", x.Name, err, x.Said())
			}
			time.Sleep(10 * time.Millisecond) // it says nothing when it is ready
		}
	}
	return nil
}

// startRedis starts one server of Redis; durable: each write is synced.
func startRedis(dir string, synced bool) (_ *cluster, err error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("%w (Debian: redis-server)", err)
	}
	free, err := ports(1)
	if err != nil {
		return nil, err
	}
	args := []string{"--port", fmt.Sprint(free[0]), "--bind", "127.0.0.1", "--save", "", "--dir", dir, "--daemonize", "no"}
	if synced {
		args = append(args, "--appendonly", "yes", "--appendfsync", "always")
	} else {
		args = append(args, "--appendonly", "no")
	}
	x, err := process.Start("redis", exec.Command(path, args...), false)
	if err != nil {
		return nil, err
	}
	c := &cluster{children: []*process.Child{x}, where: where{Engine: redis, Endpoints: []string{fmt.Sprint("127.0.0.1:", free[0])}}}
	if err := c.reachable(); err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}
