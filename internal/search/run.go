// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/search/program"
)

// Run runs a program with a job and reports its progress by tell. When ctx ends, the
// program must answer with its results so far; it is killed if it does not end
// within patience. Whatever happens, it has ended when Run returns.
//
// Nothing waits forever: the job is sent while the program's output is read to its end;
// the standard input is closed after that or when ctx has ended, which ends the program
// and the sending; and a program that does not end is killed.
//
// The program asks, through ask, when it is time to check properties of behaviours; if
// ask fails, the program must end.
func Run(ctx context.Context, program string, job program.Job, patience time.Duration, tell func(check.Figures), ask func(check.PeriodicQuery) (check.PeriodicAnswer, error)) (*program.Answer, error) {
	cmd := exec.Command(program)
	cmd.WaitDelay = patience
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	said := &firstBytes{most: 4 << 10}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	over, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-ctx.Done():
		case <-over:
		}
		_ = in.Close() // it may be closed already
	}()
	kill := context.AfterFunc(ctx, func() {
		late := time.NewTimer(patience)
		defer late.Stop()
		select {
		case <-late.C:
			_ = cmd.Process.Kill() // it may have ended
		case <-over:
		}
	})
	defer kill()
	sent := make(chan error, 1)
	encoder := json.NewEncoder(in)
	go func() { sent <- encoder.Encode(job) }()
	answer, err := listen(out, tell, func(at check.PeriodicQuery) error {
		// The program asks when it has read the job, so the encoder is free by then.
		err := <-sent
		sent <- err
		if err != nil {
			return err
		}
		a, err := ask(at)
		if err != nil {
			return err
		}
		if err := encoder.Encode(a); err != nil && ctx.Err() == nil {
			return err
		}
		return nil // if ctx has ended, the program ends too, without the answer
	})
	close(over)
	<-gone
	if sendErr := <-sent; err == nil {
		err = sendErr
	}
	// After an answer only the program's end remains to wait for.
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	if waitErr := cmd.Wait(); err == nil {
		err = waitErr
	} else if waitErr != nil {
		err = waitErr // it explains more than the end of a pipe
	}
	if err != nil {
		return nil, fmt.Errorf("the compiled search: %w %s", err, strings.TrimSpace(string(said.b)))
	}
	return answer, nil
}

// listen reads the messages of a program until its answer.
func listen(out io.Reader, tell func(check.Figures), ask func(check.PeriodicQuery) error) (*program.Answer, error) {
	d := json.NewDecoder(out)
	for {
		var m program.Message
		switch err := d.Decode(&m); {
		case err != nil:
			return nil, err
		case m.Figures != nil:
			tell(*m.Figures)
		case m.Periodic != nil:
			if err := ask(*m.Periodic); err != nil {
				return nil, err
			}
		case m.Answer != nil:
			return m.Answer, nil
		default:
			return nil, errors.New("it says nothing")
		}
	}
}

// firstBytes keeps the first bytes of what is written.
type firstBytes struct {
	b    []byte
	most int
}

func (w *firstBytes) Write(b []byte) (int, error) {
	w.b = append(w.b, b[:min(len(b), w.most-len(w.b))]...)
	return len(b), nil
}
