// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// redisSession is Redis, with a connection for each client, as redis-benchmark has.
type redisSession struct {
	job    clientJob
	conns  []*redisConn
	values [][]byte
	last   []string // by client: id of its last append
}

func openRedis(job clientJob) (session, error) {
	s := &redisSession{job: job, last: make([]string, job.Clients)}
	for range job.Clients {
		c, err := dialRedis(job)
		if err != nil {
			s.close()
			return nil, err
		}
		s.conns, s.values = append(s.conns, c), append(s.values, make([]byte, job.Value))
	}
	return s, nil
}

func (s *redisSession) close() {
	for _, c := range s.conns {
		_ = c.conn.Close()
	}
}

func (s *redisSession) key(client, seq int) string {
	return fmt.Sprintf("%04d/%05d/%09d", s.job.Phase, s.job.First+client, seq)
}

func (s *redisSession) stream() string { return fmt.Sprintf("%04d/log", s.job.Phase) }

func (s *redisSession) prepare(context.Context) error {
	if s.job.Op != "read" {
		return nil
	}
	for seq := range decided {
		if err := s.conns[0].expect("OK", "SET", s.key(0, seq), string(fill(s.values[0], 0, seq))); err != nil {
			return err
		}
	}
	return nil
}

func (s *redisSession) do(_ context.Context, client, seq int) error {
	c := s.conns[client]
	switch s.job.Op {
	case "read":
		at := spread(client, seq)
		v, err := c.ask("GET", s.key(0, at))
		if err != nil {
			return err
		}
		return checkValue([]byte(v), s.job.Value, 0, at)
	case "once":
		return c.expect("OK", "SET", s.key(client, seq), string(fill(s.values[client], client, seq)), "NX")
	case "append":
		id, err := c.ask("XADD", s.stream(), "*", "v", string(fill(s.values[client], s.job.First+client, seq)))
		if err == nil && id == s.last[client] {
			err = fmt.Errorf("id %s twice", id)
		}
		s.last[client] = id
		return err
	}
	return c.expect("OK", "SET", s.key(client, seq), string(fill(s.values[client], client, seq)))
}

func (s *redisSession) verify(_ context.Context, done []int) error {
	if s.job.Op == "read" {
		return nil // asserted one by one
	}
	c, err := dialRedis(s.job)
	if err != nil {
		return err
	}
	defer c.conn.Close()
	if s.job.Op == "append" {
		return s.verifyStream(c, done)
	}
	for client, n := range done {
		for seq := range n + 1 {
			v, err := c.ask("GET", s.key(client, seq))
			if seq == n && errors.Is(err, errNil) {
				break // nothing is behind the last one
			}
			if err != nil {
				return err
			}
			if err := checkValue([]byte(v), s.job.Value, client, seq); err != nil {
				return err
			}
		}
	}
	return nil
}

// verifyStream reads a stream to its end: the entries of each client of this
// process are in order, and as many as it has appended.
func (s *redisSession) verifyStream(c *redisConn, done []int) error {
	seen := make([]int, len(done))
	from := "-"
	for {
		entries, err := c.entries(s.stream(), from)
		if err != nil {
			return err
		}
		for _, e := range entries {
			from = "(" + e.id
			if len(e.value) != s.job.Value {
				return fmt.Errorf("%s: a value of %d bytes", e.id, len(e.value))
			}
			client := int(binary.BigEndian.Uint64([]byte(e.value))) - s.job.First
			if client < 0 || client >= len(done) {
				continue // another process's
			}
			if err := checkValue([]byte(e.value), s.job.Value, s.job.First+client, seen[client]); err != nil {
				return fmt.Errorf("%s: %w", e.id, err)
			}
			seen[client]++
		}
		if len(entries) == 0 {
			break
		}
	}
	for client, n := range done {
		if seen[client] != n {
			return fmt.Errorf("client %d: %d entries, want %d", client, seen[client], n)
		}
	}
	return nil
}

// redisConn speaks the Redis protocol, one command at a time.
type redisConn struct {
	conn net.Conn
	r    *bufio.Reader
	buf  []byte
}

var errNil = errors.New("no such key")

func dialRedis(job clientJob) (*redisConn, error) {
	c, err := net.DialTimeout("tcp", job.Where.Endpoints[0], 5*time.Second)
	if err != nil {
		return nil, err
	}
	if err := c.SetDeadline(time.Now().Add(phaseWithin)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &redisConn{conn: c, r: bufio.NewReader(c)}, nil
}

func (c *redisConn) send(args ...string) error {
	b := append(c.buf[:0], '*')
	b = strconv.AppendInt(b, int64(len(args)), 10)
	b = append(b, '\r', '\n')
	for _, a := range args {
		b = append(b, '$')
		b = strconv.AppendInt(b, int64(len(a)), 10)
		b = append(b, '\r', '\n')
		b = append(b, a...)
		b = append(b, '\r', '\n')
	}
	c.buf = b
	_, err := c.conn.Write(b)
	return err
}

// line reads a reply's first line: its kind, and the rest.
func (c *redisConn) line() (byte, string, error) {
	b, err := c.r.ReadSlice('\n')
	if err != nil {
		return 0, "", err
	}
	if len(b) < 3 {
		return 0, "", fmt.Errorf("a reply of %q", b)
	}
	kind, rest := b[0], string(b[1:len(b)-2])
	if kind == '-' {
		return 0, "", errors.New(rest)
	}
	return kind, rest, nil
}

// text reads a reply that is one text.
func (c *redisConn) text() (string, error) {
	kind, rest, err := c.line()
	if err != nil || kind != '$' {
		return rest, err
	}
	n, err := strconv.Atoi(rest)
	if err != nil || n < -1 || n > 2*valueMax {
		return "", fmt.Errorf("a text of %q bytes", rest)
	}
	if n < 0 {
		return "", errNil
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(c.r, b); err != nil {
		return "", err
	}
	return string(b[:n]), nil
}

func (c *redisConn) ask(args ...string) (string, error) {
	if err := c.send(args...); err != nil {
		return "", err
	}
	return c.text()
}

func (c *redisConn) expect(want string, args ...string) error {
	got, err := c.ask(args...)
	if err == nil && got != want {
		err = fmt.Errorf("%s answers %q, want %q", args[0], got, want)
	}
	return err
}

type redisEntry struct{ id, value string }

// list reads the head of a reply that is a list of n, or of any number with n < 0.
func (c *redisConn) list(n int) (int, error) {
	kind, rest, err := c.line()
	if err != nil {
		return 0, err
	}
	got, err := strconv.Atoi(rest)
	if err != nil || kind != '*' || n >= 0 && got != n {
		return 0, fmt.Errorf("a reply of %c%s, want a list of %d", kind, rest, n)
	}
	return got, nil
}

// entries reads a piece of a stream.
func (c *redisConn) entries(stream, from string) ([]redisEntry, error) {
	if err := c.send("XRANGE", stream, from, "+", "COUNT", strconv.Itoa(chunk)); err != nil {
		return nil, err
	}
	n, err := c.list(-1)
	if err != nil {
		return nil, err
	}
	var all []redisEntry
	for range n {
		var e redisEntry
		if _, err := c.list(2); err != nil {
			return nil, err
		}
		if e.id, err = c.text(); err != nil {
			return nil, err
		}
		if _, err := c.list(2); err != nil {
			return nil, err
		}
		if _, err := c.text(); err != nil {
			return nil, err
		}
		if e.value, err = c.text(); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}
