// SPDX-License-Identifier: Apache-2.0

package tracelog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
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

// Reader reads a trace file record by record, in memory that the longest line
// bounds. It checks what it reads: the header comes first; committed events are
// numbered from 1 without a gap; clocks are sorted and never decrease, and the
// instance's own entry equals the event's number; times are in order.
type Reader struct {
	br     *bufio.Reader
	header Header
	actor  string
	line   int // that was read last
	torn   bool
	err    error // of all further calls

	partial []byte // of a line whose end was not there yet
	fast    scanner
	event   Event
	started bool  // there was an event
	start   int64 // of the event before
	last    Event // the committed event before: its number, next label and clock
}

// NewReader reads the header. A file without a complete header line counts as
// empty and torn: its Header has no Format.
func NewReader(r io.Reader) (*Reader, error) {
	out := &Reader{br: bufio.NewReaderSize(r, 64<<10)}
	line, err := out.readLine()
	if err == io.EOF {
		out.torn, out.err = true, io.EOF
		return out, nil
	}
	if err == nil {
		err = out.readHeader(line)
	}
	if err != nil {
		return nil, &LineError{out.line, err}
	}
	out.actor = out.header.Actor()
	return out, nil
}

// Header returns the header.
func (r *Reader) Header() Header { return r.header }

// Line returns the number of the line that the last event was on, from 1.
func (r *Reader) Line() int { return r.line }

// Torn reports whether the file ended within a line, which is left out: the
// instance ended while it was writing. The section of that line may or may not
// have taken effect. It is known once Next has returned io.EOF.
func (r *Reader) Torn() bool { return r.torn }

// Next returns the next event, which is valid until the following call; its
// strings stay valid. At the end of the file the error is io.EOF. An error of the
// file is returned unchanged, and the following call continues where this one
// stopped. Any other error is a *LineError, and later calls return it again.
func (r *Reader) Next() (*Event, error) {
	if r.err != nil {
		return nil, r.err
	}
	line, err := r.readLine()
	switch {
	case err == io.EOF:
		r.torn, r.err = len(line) > 0, io.EOF
		return nil, io.EOF
	case err != nil && err != errLong:
		r.partial = line
		r.line--
		return nil, err
	case err == nil:
		err = r.readEvent(line)
	}
	if err != nil {
		r.err = &LineError{r.line, err}
		return nil, r.err
	}
	return &r.event, nil
}

// Parse reads a whole file into memory, as a Reader does.
func Parse(r io.Reader) (*File, error) {
	from, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	f := &File{Header: from.header}
	for {
		e, err := from.Next()
		if err == io.EOF {
			f.Torn = from.torn
			return f, nil
		}
		if err != nil {
			return nil, err
		}
		f.Events = append(f.Events, e.clone())
	}
}

// clone copies an event with its slices.
func (e *Event) clone() Event {
	out := *e
	out.Elements = slices.Clone(e.Elements)
	for i := range out.Elements {
		out.Elements[i].Indices = slices.Clone(out.Elements[i].Indices)
	}
	out.Vars, out.Clock = slices.Clone(e.Vars), slices.Clone(e.Clock)
	return out
}

var errLong = fmt.Errorf("longer than %d bytes", LineMax)

// readLine returns a line without its end. At the end of the file it returns
// io.EOF and the part of a line that it has read.
func (r *Reader) readLine() ([]byte, error) {
	r.line++
	line, err := r.br.ReadSlice('\n')
	if err == nil && len(r.partial) == 0 {
		return line[:len(line)-1], nil
	}
	line = append(r.partial, line...)
	r.partial = nil
	for errors.Is(err, bufio.ErrBufferFull) && len(line) <= LineMax {
		var part []byte
		part, err = r.br.ReadSlice('\n')
		line = append(line, part...)
	}
	switch {
	case len(line) > LineMax:
		return nil, errLong
	case err != nil:
		return line, err
	}
	return line[:len(line)-1], nil
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

func (r *Reader) readHeader(line []byte) error {
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
	if err := decode(line, &r.header); err != nil {
		return err
	}
	if r.header.Archetype == "" || r.header.Self == "" {
		return errors.New("the header does not name the instance")
	}
	return nil
}

func (r *Reader) readEvent(line []byte) error {
	e := &r.event
	if !r.fast.event(line, e) {
		*e = Event{}
		if err := decode(line, e); err != nil {
			return err
		}
	}
	if err := e.check(); err != nil {
		return err
	}
	last := &r.last
	if e.N != last.N+1 {
		return fmt.Errorf("event %d after event %d", e.N, last.N)
	}
	if r.started && e.Start < r.start {
		return fmt.Errorf("starts at %d, before the previous event", e.Start)
	}
	r.started, r.start = true, e.Start
	if e.Aborted != "" {
		return nil
	}
	if got := e.Clock.Of(r.actor); got != e.N {
		return fmt.Errorf("event %d has the clock %d", e.N, got)
	}
	if last.N > 0 && !last.Clock.LessEq(e.Clock) {
		return errors.New("the clock goes back")
	}
	if last.N > 0 && last.Next != e.Label {
		return fmt.Errorf("starts at label %q, but the previous event went to %q", e.Label, last.Next)
	}
	last.N, last.Next = e.N, e.Next
	last.Clock = append(last.Clock[:0], e.Clock...)
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
