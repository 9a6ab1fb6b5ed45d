// SPDX-License-Identifier: Apache-2.0

// Package demo is the command worm demo, which shows write-once registers on a cluster
// of processes on this machine.
//
// In: the program ashlard. Out: what happened, step by step. It ends every process that
// it starts, and removes their directories.
package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

type options struct {
	ashlard    string
	keep, json bool
}

// New makes the command worm demo.
func New(t *console.Terminal) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show write-once registers on a local cluster that loses a server",
		Long: `Demo starts a cluster of three servers of write-once registers, each a process with
its own disk in a temporary directory. It writes registers, appends to a shared log,
adds to a number in the key-value store, and reads along. It kills a server with
SIGKILL, continues with two, replaces the dead server by a new one, restarts the old
one, and checks at the end that no acknowledged data is missing. It reports each step.
See docs/worm.md.`,
		Example: `  ashlar worm demo
  ashlar worm demo --keep     # keep the directories, and print how to serve them
  ashlar worm demo --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), t, o) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.ashlard, "ashlard", "", "the `PROGRAM` to start as servers (default: ashlard beside this program, or on the PATH)")
	f.BoolVar(&o.keep, "keep", false, "keep the servers' directories")
	f.BoolVar(&o.json, "json", false, "report what happened as JSON, at the end")
	return cmd
}

// stepReport is something that the demonstration has done.
type stepReport struct {
	Step   string  `json:"step"`
	Text   string  `json:"text"`
	Millis float64 `json:"millis"`
}

// report is the demonstration as JSON.
type report struct {
	Schema    string       `json:"schema"`
	Steps     []stepReport `json:"steps"`
	Registers int          `json:"registers"`
	Entries   int          `json:"entries"`
	Counter   int64        `json:"counter"`
	Missing   int          `json:"missing"`
	Dir       string       `json:"dir,omitempty"`
}

// show is a running demonstration.
type show struct {
	t      *console.Terminal
	o      options
	p      console.Palette
	report report
	fleet  *fleet
	client *worm.Client
	log    *worm.Log
	kv     *worm.KV
	token  *wor.Token

	written  map[uint32]string
	appended map[log.Position]string
	counter  int64
}

// within bounds the duration of the demonstration.
const within = 3 * time.Minute

func run(ctx context.Context, t *console.Terminal, o options) (err error) {
	defer t.End.Over()
	s := &show{t: t, o: o, p: console.NewPalette(t.OutTTY), written: map[uint32]string{}, appended: map[log.Position]string{}}
	s.report.Schema = "ashlar-worm-demo/1"
	dir, err := os.MkdirTemp("", "ashlar-worm-")
	if err != nil {
		return exit.Failed(err)
	}
	if o.keep {
		s.report.Dir = dir
	} else {
		defer func() { err = errors.Join(err, exit.Failed(os.RemoveAll(dir))) }()
	}
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if s.fleet, err = newFleet(dir, o.ashlard); err != nil {
		return exit.Failed(err)
	}
	defer s.fleet.kill()
	defer t.End.InOrder() // from here on, processes and files only go
	err = s.run(bounded)
	if s.client != nil {
		s.client.Close()
	}
	switch {
	case ctx.Err() != nil:
		return exit.Stopped(ctx)
	case err != nil:
		return exit.Failed(err)
	}
	if o.json {
		return t.JSON(s.report)
	}
	if o.keep {
		fmt.Fprintf(t.Out, "\nThe directories are kept. Serve one again with\n  ashlard serve %s/n1 --cluster %s --listen %s\n", dir, s.fleet.cluster, s.fleet.members[0].Addr)
	}
	return nil
}

// run executes the steps.
func (s *show) run(ctx context.Context) error {
	for _, step := range []struct {
		name string
		do   func(context.Context) (string, error)
	}{
		{"start", s.start}, {"write", s.write}, {"write once", s.writeOnce}, {"append", s.append}, {"count", s.count},
		{"kill", s.kill}, {"go on", s.goOn}, {"replace", s.replace}, {"come back", s.comeBack}, {"check", s.check}, {"end", s.end},
	} {
		begun := time.Now()
		text, err := step.do(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		took := time.Since(begun)
		s.report.Steps = append(s.report.Steps, stepReport{step.name, text, float64(took.Microseconds()) / 1000})
		if !s.o.json {
			fmt.Fprintf(s.t.Out, "%s %s\n", s.p.Dim(fmt.Sprintf("%7.0f ms ", float64(took.Microseconds())/1000)), text)
		}
	}
	return nil
}

// segment is the segment that the demonstration writes.
const segment, registers = wor.Segment(1), 1000

func (s *show) start(ctx context.Context) (string, error) {
	for i := range 3 {
		if err := s.fleet.start(ctx, i); err != nil {
			return "", err
		}
	}
	c, err := s.fleet.open()
	if err != nil {
		return "", err
	}
	s.client = c
	if s.log, err = c.Log(ctx, 1, worm.LogOptions{}); err != nil {
		return "", err
	}
	if s.kv, err = c.KV(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("Three servers run, processes %d, %d and %d, each with its own disk; a majority is two.",
		s.fleet.pid(0), s.fleet.pid(1), s.fleet.pid(2)), nil
}

// writeSome writes registers with the token.
func (s *show) writeSome(ctx context.Context, n int) error {
	for range n {
		offset := uint32(len(s.written))
		v := fmt.Sprintf("value %d", offset)
		if err := s.client.Write(ctx, s.token, offset, []byte(v)); err != nil {
			return fmt.Errorf("register %d: %w", offset, err)
		}
		s.written[offset] = v
	}
	return nil
}

func (s *show) capture(ctx context.Context) (err error) {
	s.token, err = s.client.Capture(ctx, wor.Range{Segment: segment, Lo: uint32(len(s.written)), Hi: registers})
	return err
}

func (s *show) write(ctx context.Context) (string, error) {
	if _, err := s.client.Alloc(ctx, segment, wor.Meta{Owner: s.client.Nonce(), Size: registers}); err != nil {
		return "", err
	}
	if err := s.capture(ctx); err != nil {
		return "", err
	}
	if err := s.writeSome(ctx, 100); err != nil {
		return "", err
	}
	return fmt.Sprintf("Segment %d is allocated with %d registers, all captured at once; 100 are written, one after the other, in one round trip each.",
		segment, registers), nil
}

func (s *show) writeOnce(ctx context.Context) (string, error) {
	var other *wor.WrittenError
	err := s.client.Propose(ctx, wor.Addr{Segment: segment, Offset: 7}, []byte("something else"))
	switch {
	case err == nil:
		return "", errors.New("a register is written a second time")
	case !errors.As(err, &other):
		return "", fmt.Errorf("a second write of a register: %w", err)
	}
	return fmt.Sprintf("Another client writes register 7, and learns that it holds %q permanently.", other.Value), nil
}

// appendSome appends entries and counts.
func (s *show) appendSome(ctx context.Context, n int) error {
	for range n {
		v := fmt.Sprintf("entry %d", len(s.appended))
		at, err := s.log.Append(ctx, []byte(v))
		if err != nil {
			return fmt.Errorf("append: %w", err)
		}
		s.appended[at] = v
	}
	return nil
}

func (s *show) append(ctx context.Context) (string, error) {
	following, stop := context.WithCancel(ctx)
	defer stop()
	heard := make(chan error, 1)
	go func() {
		n := 0
		for _, err := range s.log.Follow(following, 0) {
			if n++; err != nil || n == 50 {
				heard <- err
				return
			}
		}
	}()
	if err := s.appendSome(ctx, 50); err != nil {
		return "", err
	}
	if err := <-heard; err != nil {
		return "", fmt.Errorf("follow: %w", err)
	}
	tail, err := s.log.Tail(ctx)
	return fmt.Sprintf("50 entries are appended to a shared log, and a follower receives all of them in order; its tail is %v.", tail), err
}

func (s *show) countSome(ctx context.Context, n int) error {
	for range n {
		v, err := s.kv.Incr(ctx, "visits", 1)
		if err != nil {
			return fmt.Errorf("incr: %w", err)
		}
		if s.counter++; v != s.counter {
			return fmt.Errorf("the counter is %d, want %d", v, s.counter)
		}
	}
	return nil
}

func (s *show) count(ctx context.Context) (string, error) {
	if err := s.countSome(ctx, 25); err != nil {
		return "", err
	}
	return "The key \"visits\" is counted up to 25, each time by a separate transaction.", nil
}

func (s *show) kill(context.Context) (string, error) {
	pid := s.fleet.pid(1)
	s.fleet.servers[1].Kill()
	return s.p.Bad(fmt.Sprintf("kill -9 %d: server n2 is dead.", pid)), nil
}

func (s *show) goOn(ctx context.Context) (string, error) {
	if err := s.writeSome(ctx, 100); err != nil {
		return "", err
	}
	begun := time.Now()
	if err := s.appendSome(ctx, 50); err != nil {
		return "", err
	}
	logs := time.Since(begun)
	begun = time.Now()
	if err := s.countSome(ctx, 25); err != nil {
		return "", err
	}
	return fmt.Sprintf("With two of three servers, 100 registers are written, 50 entries appended (%v), and the counter continues to %d (%v; a partition of n2 first waits for another owner).",
		logs.Round(time.Millisecond), s.counter, time.Since(begun).Round(time.Millisecond)), nil
}

func (s *show) replace(ctx context.Context) (string, error) {
	if err := s.fleet.start(ctx, 3); err != nil {
		return "", err
	}
	fresh := s.fleet.members[3]
	var phases []space.Phase
	for {
		phases = nil
		err := s.client.Replace(ctx, s.fleet.members[1].ID, fresh, func(p space.Progress) {
			if len(phases) == 0 || phases[len(phases)-1] != p.Phase {
				phases = append(phases, p.Phase)
			}
		})
		if err == nil {
			break
		}
		// A server that has just started does not know yet that it is new.
		if state, probed := s.client.Probe(fresh, 0); !errors.Is(err, space.ErrRefused) || probed != nil || state.Standing == wor.StatusOK || ctx.Err() != nil {
			return "", err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	// The tokens of the previous epoch are useless.
	if err := s.capture(ctx); err != nil {
		return "", err
	}
	if err := s.writeSome(ctx, 50); err != nil {
		return "", err
	}
	cfg, err := s.client.Config(0)
	if err != nil {
		return "", err
	}
	return s.p.Good(fmt.Sprintf("A new server, n4, replaces n2, by %v; the cluster is in epoch %d, and 50 more registers are written.", phases, cfg.Epoch)), nil
}

func (s *show) comeBack(ctx context.Context) (string, error) {
	if err := s.fleet.start(ctx, 1); err != nil {
		return "", err
	}
	for {
		state, err := s.client.Probe(s.fleet.members[1], 0)
		switch {
		case err != nil:
			return "", err
		case state.Answers && state.Standing == wor.StatusOK && state.Epoch > 0:
			return "", errors.New("the server that was replaced serves")
		case state.Answers && state.Standing != wor.StatusMute:
			return fmt.Sprintf("The old n2 comes back, with its old disk. It is in epoch %d, which is over: nothing can be decided with it.", state.Epoch), nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return "", fmt.Errorf("the old server: %w", ctx.Err())
		}
	}
}

func (s *show) check(ctx context.Context) (string, error) {
	c, err := s.fleet.open()
	if err != nil {
		return "", err
	}
	defer c.Close()
	for offset, want := range s.written {
		v, err := c.Read(ctx, wor.Addr{Segment: segment, Offset: offset})
		if err != nil {
			return "", fmt.Errorf("register %d: %w", offset, err)
		}
		if string(v) != want {
			return "", fmt.Errorf("register %d holds %q, want %q", offset, v, want)
		}
	}
	tail, err := s.log.Tail(ctx)
	if err != nil {
		return "", err
	}
	found := 0
	for e, err := range s.log.Entries(ctx, 0, tail) {
		if err != nil {
			return "", err
		}
		if s.appended[e.Position] == string(e.Data) {
			found++
		}
	}
	s.report.Registers, s.report.Entries, s.report.Counter = len(s.written), found, s.counter
	if s.report.Missing = len(s.appended) - found; s.report.Missing != 0 {
		return "", fmt.Errorf("%d of %d entries are missing", s.report.Missing, len(s.appended))
	}
	if err := s.countSome(ctx, 1); err != nil {
		return "", err
	}
	s.report.Counter = s.counter
	return s.p.Good(fmt.Sprintf("Another client reads all %d registers and %d entries: nothing is missing. The counter is %d.", len(s.written), found, s.counter)), nil
}

func (s *show) end(context.Context) (string, error) {
	s.log.Close()
	s.kv.Close()
	if err := s.fleet.stop(); err != nil {
		return "", err
	}
	return "All servers have shut down.", nil
}
