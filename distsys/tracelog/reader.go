// SPDX-License-Identifier: Apache-2.0

package tracelog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// File is a trace file that has been read.
type File struct {
	Header Header
	Events []Event
	// Torn reports that the file ended within a line, which was left out: the
	// instance ended while it was writing. The section of that line may or may
	// not have taken effect.
	Torn bool
}

// LineError states which line of a file is wrong, and why.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

// Parse reads and checks a whole file: the header comes first; committed events
// are numbered from 1 without a gap; clocks are sorted and never decrease, and
// the instance's own entry equals the event's number; times are in order. A
// file without a complete header line counts as empty and torn.
func Parse(r io.Reader) (*File, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	f := &File{}
	p := parser{f: f, last: -1}
	for n := 1; ; n++ {
		line, err := readLine(br)
		switch {
		case err == io.EOF:
			f.Torn = f.Torn || len(line) > 0 || n == 1
			return f, nil
		case err != nil:
			return nil, &LineError{n, err}
		}
		if n == 1 {
			err = p.header(line)
		} else {
			err = p.event(line)
		}
		if err != nil {
			return nil, &LineError{n, err}
		}
	}
}

var errLong = fmt.Errorf("longer than %d bytes", LineMax)

// readLine returns a line without its end. At the end of the file it returns
// io.EOF and the part of a line that it has read.
func readLine(br *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > LineMax:
			return nil, errLong
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

// decode is json.Unmarshal that refuses unknown fields and trailing text.
func decode(line []byte, x any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(x); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one value")
	}
	return nil
}

type parser struct {
	f    *File
	last int // index of the last committed event, or -1
}

func (p *parser) header(line []byte) error {
	f := p.f
	var named struct {
		Format  string
		Version int
	}
	// The version determines which other fields are allowed.
	if err := json.Unmarshal(line, &named); err != nil {
		return err
	}
	if named.Format != Format {
		return fmt.Errorf("format %q, want %q", named.Format, Format)
	}
	if named.Version != Version {
		return fmt.Errorf("version %d, want %d", named.Version, Version)
	}
	if err := decode(line, &f.Header); err != nil {
		return err
	}
	if f.Header.Archetype == "" || f.Header.Self == "" {
		return errors.New("the header does not say which instance it is")
	}
	return nil
}

func (p *parser) event(line []byte) error {
	f := p.f
	var e Event
	if err := decode(line, &e); err != nil {
		return err
	}
	if err := e.check(); err != nil {
		return err
	}
	committed := uint64(0)
	var last *Event
	if p.last >= 0 {
		last = &f.Events[p.last]
		committed = last.N
	}
	if e.N != committed+1 {
		return fmt.Errorf("event %d after event %d", e.N, committed)
	}
	if n := len(f.Events); n > 0 && e.Start < f.Events[n-1].Start {
		return fmt.Errorf("starts at %d, before the event in front of it", e.Start)
	}
	if e.Aborted == "" {
		if got := e.Clock.Of(f.Header.Actor()); got != e.N {
			return fmt.Errorf("event %d has the clock %d", e.N, got)
		}
		if last != nil && !last.Clock.LessEq(e.Clock) {
			return errors.New("the clock goes back")
		}
		if last != nil && last.Next != e.Label {
			return fmt.Errorf("is at %q; the event before goes to %q", e.Label, last.Next)
		}
	}
	if e.Aborted == "" {
		p.last = len(f.Events)
	}
	f.Events = append(f.Events, e)
	return nil
}

// check validates the parts of an event that do not depend on other events.
func (e *Event) check() error {
	if e.End < e.Start {
		return fmt.Errorf("ends at %d, before it starts at %d", e.End, e.Start)
	}
	for i, t := range e.Clock {
		if t.N == 0 || i > 0 && e.Clock[i-1].Actor >= t.Actor {
			return errors.New("the clock is not sorted, or has a zero")
		}
	}
	for _, el := range e.Elements {
		if el.Op != Read && el.Op != Write {
			return fmt.Errorf("element %q: want %q or %q", el.Op, Read, Write)
		}
		if el.Name == "" || el.Value == "" {
			return errors.New("an element without name or value")
		}
	}
	for _, v := range e.Vars {
		if v.Name == "" || v.Value == "" {
			return errors.New("a variable without name or value")
		}
	}
	return nil
}
