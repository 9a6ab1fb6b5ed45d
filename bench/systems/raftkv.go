// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/bench/process"
)

// answerWithin is how long a cluster may take until it answers.
const answerWithin = 30 * time.Second

// raftkv is three servers of RaftKV.
type raftkv struct {
	all     []*process.Child
	clients []string
}

func startRaftKV(o options) (_ engine, err error) {
	free, err := ports(2 * servers)
	if err != nil {
		return nil, err
	}
	e := &raftkv{clients: free[:servers]}
	defer func() {
		if err != nil {
			e.end()
		}
	}()
	for i := range servers {
		dir := filepath.Join(o.dir, fmt.Sprint("server", i+1))
		if out, err := exec.Command(o.program, "format", dir).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("format: %w\n%s", err, out)
		}
		cmd := exec.Command(o.program, "serve", dir, "-server", strconv.Itoa(i+1), "-listen", free[i], "-peers", strings.Join(free[servers:], ","))
		c, err := process.Start(fmt.Sprint("raftkv ", i+1), cmd, false)
		if err != nil {
			return nil, err
		}
		e.all = append(e.all, c)
	}
	for i := range servers {
		late := time.Now().Add(answerWithin)
		for {
			c, err := e.connect(i)
			if err == nil {
				c.close()
				break
			}
			if e.all[i].Ended() || time.Now().After(late) {
				return nil, fmt.Errorf("%w%s", err, e.all[i].Said())
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return e, nil
}

// ports are addresses on loopback that were free a moment ago.
func ports(n int) (out []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		out = append(out, l.Addr().String())
	}
	return out, nil
}

func (e *raftkv) name() string               { return "raftkv" }
func (e *raftkv) children() []*process.Child { return e.all }

func (e *raftkv) end() {
	for _, c := range e.all {
		c.End()
	}
}

func (e *raftkv) connect(n int) (client, error) {
	c, err := net.DialTimeout("tcp", e.clients[n%servers], 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &respClient{c, bufio.NewReader(c)}, nil
}

// respClient speaks the Redis protocol.
type respClient struct {
	net net.Conn
	in  *bufio.Reader
}

func (c *respClient) close() { _ = c.net.Close() }

func (c *respClient) send(args ...string) (string, error) {
	b := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	_ = c.net.SetDeadline(time.Now().Add(answerWithin))
	if _, err := c.net.Write(b); err != nil {
		return "", err
	}
	line, err := c.in.ReadString('\n')
	return strings.TrimSuffix(line, "\r\n"), err
}

func (c *respClient) put(_ context.Context, key, value string) error {
	line, err := c.send("SET", key, value)
	if err == nil && line != "+OK" {
		err = fmt.Errorf("SET is answered by %q", line)
	}
	return err
}

func (c *respClient) get(_ context.Context, key string) (string, bool, error) {
	line, err := c.send("GET", key)
	if err != nil || line == "$-1" {
		return "", false, err
	}
	n, err := strconv.Atoi(strings.TrimPrefix(line, "$"))
	if err != nil {
		return "", false, fmt.Errorf("GET is answered by %q", line)
	}
	b := make([]byte, n+2)
	_, err = io.ReadFull(c.in, b)
	return string(b[:n]), true, err
}
