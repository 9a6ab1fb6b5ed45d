// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// The engine runs in a process of its own, which touches the failing disk and
// nothing else. It reads orders, and ends when no process holds the other end
// of its input any more.

// childArg makes a process a child.
const childArg = "powerfail-child"

// orders are the parent's instructions for a child.
type orders struct {
	Engine string
	Dir    string // of the engine
	Check  bool   // look at what is there; otherwise write
	Seed   uint64
	Life   uint64
	// Batches is how many are written at most.
	Batches uint64
	Every   int // one in so many waits until it is durable
}

// childMain is the whole process.
func childMain(list []engine, in io.Reader, out io.Writer) int {
	lines := bufio.NewReader(in)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return 1
	}
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		os.Exit(1)
	}()
	var o orders
	if err := json.Unmarshal(line, &o); err != nil {
		fmt.Fprintf(out, "error %v\n", err)
		return 1
	}
	found, err := enginesNamed(list, []string{o.Engine})
	if err == nil && o.Check {
		err = json.NewEncoder(out).Encode(look(found[0], o.Dir))
	} else if err == nil {
		err = work(found[0], o, out)
	}
	if err != nil {
		fmt.Fprintf(out, "error %s\n", oneLine(err.Error()))
		return 1
	}
	return 0
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func position(s store) (uint64, error) {
	v, err := s.get([]byte(positionKey))
	if err != nil || v == nil {
		return 0, err
	}
	return strconv.ParseUint(string(v), 10, 64)
}

// work writes batches from where the store is on, and waits for its end. It
// reports what it found, what it begins, and what is durable.
func work(e engine, o orders, out io.Writer) error {
	s, err := e.Open(o.Dir)
	if err != nil {
		return err
	}
	at, err := position(s)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "open %d\n", at)
	for range o.Batches {
		at++
		fmt.Fprintf(out, "began %d\n", at)
		sync := syncs(o.Seed, o.Life, at, o.Every)
		if err := s.apply(batch(o.Seed, o.Life, at), sync); err != nil {
			return err
		}
		if sync || e.Each {
			fmt.Fprintf(out, "durable %d\n", at)
		}
	}
	fmt.Fprintln(out, "done")
	select {} // until the power fails
}

// sight is what a child has found in a store.
type sight struct {
	Error    string // it does not open
	Records  map[string]print
	Damage   string // reads that fail, or do not agree
	Unusable string // the engine's check, or what happens when it is used again
}

// look opens a store and reads everything, checks it, and uses it.
func look(e engine, dir string) (found sight) {
	s, err := e.Open(dir)
	if err != nil {
		return sight{Error: err.Error()}
	}
	found.Records = map[string]print{}
	last := ""
	err = s.scan(func(key, value []byte) {
		if string(key) <= last {
			found.Damage = fmt.Sprintf("scan: %q comes after %q", key, last)
		}
		last = string(key)
		found.Records[last] = printOf(value)
	})
	if err != nil {
		found.Damage = "scan: " + err.Error()
	}
	all := []string{positionKey}
	for k := range keys {
		all = append(all, fmt.Sprintf("key%04d", k))
	}
	for _, key := range all {
		v, err := s.get([]byte(key))
		is, present := found.Records[key]
		if err != nil {
			found.Damage = fmt.Sprintf("get %s: %v", key, err)
		} else if present != (v != nil) || present && is != printOf(v) {
			found.Damage = fmt.Sprintf("get %s: %d bytes, and a scan finds %d", key, len(v), is.Len)
		}
	}
	if err := s.verify(); err != nil {
		found.Unusable = "its own check: " + err.Error()
	}
	if err := use(e, s, dir); err != nil && found.Unusable == "" {
		found.Unusable = err.Error()
	}
	return found
}

// use writes to the store, and opens it once more.
func use(e engine, s store, dir string) error {
	probe := change{key: []byte("probe"), value: bytes.Repeat([]byte("p"), 1000)}
	if err := s.apply([]change{probe}, true); err != nil {
		return errors.Join(fmt.Errorf("write: %w", err), s.close())
	}
	if err := s.close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	s, err := e.Open(dir)
	if err != nil {
		return fmt.Errorf("open again: %w", err)
	}
	v, err := s.get(probe.key)
	if err == nil && !bytes.Equal(v, probe.value) {
		err = fmt.Errorf("%d bytes", len(v))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("read again: %w", err), s.close())
	}
	return s.close()
}

// child is a process of this program.
type child struct {
	cmd    *exec.Cmd
	in     io.Closer
	out    *bufio.Reader
	stderr head
	late   bool // it was ended because it took too long
	timer  *time.Timer
	quit   func() bool
}

// head keeps the beginning of what is written to it, which of a panic is the
// reason.
type head struct{ bytes.Buffer }

const headBytes = 4 << 10

func (t *head) Write(b []byte) (int, error) {
	t.Buffer.Write(b[:min(len(b), max(headBytes-t.Len(), 0))])
	return len(b), nil
}

// start starts a child. Before it is given its orders, ready is told how to
// kill it.
func start(ctx context.Context, cmd *exec.Cmd, o orders, limit time.Duration, ready func(kill func())) (*child, error) {
	c := &child{cmd: cmd}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.in, c.out = in, bufio.NewReader(out)
	cmd.Stderr = &c.stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	kill := func() { _ = cmd.Process.Kill() }
	c.timer = time.AfterFunc(limit, kill)
	c.quit = context.AfterFunc(ctx, kill)
	ready(kill)
	b, err := json.Marshal(o)
	if err == nil {
		_, err = in.Write(append(b, '\n'))
	}
	if err != nil {
		kill()
		c.wait()
		return nil, err
	}
	return c, nil
}

// wait returns when the process is gone. Its output must have been read.
func (c *child) wait() {
	_ = c.cmd.Wait()
	c.late = !c.timer.Stop()
	c.quit()
}

// line is the next line of output, as a word and the rest of it; false: there
// are no more.
func (c *child) line() (word, rest string, ok bool) {
	line, err := c.out.ReadString('\n')
	if err != nil {
		return "", "", false // what is left of a line was never said
	}
	word, rest, _ = strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	return word, rest, true
}

// reason is why the process ended, for people.
func (c *child) reason() string {
	text := c.stderr.String()
	if at := strings.Index(text, "panic:"); at > 0 {
		text = text[at:]
	}
	if len(text) > 300 {
		text = text[:300]
	}
	why := c.cmd.ProcessState.String()
	if c.late {
		why = "it took too long"
	}
	return oneLine(why + " " + text)
}
