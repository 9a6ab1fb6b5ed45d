// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ashlar-dev/ashlar/bench/dedalus/drive"
	"github.com/ashlar-dev/ashlar/bench/process"
	"github.com/ashlar-dev/ashlar/internal/dedalus/loadgen"
)

// The peers speak frames: four bytes of length, big-endian, and what has that
// length. A command is an id of eight bytes and a value; its answer is the same.

// frameMax bounds a frame, in bytes.
const frameMax = 1 << 20

// bufferSize is of a connection's buffers, in bytes.
const bufferSize = 64 << 10

// wire is one end of a connection. What is written is gathered until flush.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
	mu   sync.Mutex
	out  []byte
	// spare takes turns with out, so that others may write while one flushes.
	spare    []byte
	flushing bool
}

func newWire(c net.Conn) *wire { return &wire{conn: c, in: bufio.NewReaderSize(c, bufferSize)} }

// read reads a frame, which is valid until the next one.
func (w *wire) read(buf []byte) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > frameMax {
		return nil, fmt.Errorf("frame of %d bytes, at most %d", n, frameMax)
	}
	if cap(buf) < int(n) {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	_, err := io.ReadFull(w.in, buf)
	return buf, err
}

// drained reports whether no further frame has come.
func (w *wire) drained() bool { return w.in.Buffered() == 0 }

// write gathers a frame that is made of parts.
func (w *wire) write(parts ...[]byte) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	w.mu.Lock()
	w.out = binary.BigEndian.AppendUint32(w.out, uint32(n))
	for _, p := range parts {
		w.out = append(w.out, p...)
	}
	w.mu.Unlock()
}

// flush sends what was gathered, unless another goroutine is doing that.
func (w *wire) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.flushing {
		return nil
	}
	w.flushing = true
	defer func() { w.flushing = false }()
	for len(w.out) > 0 {
		b := w.out
		w.out, w.spare = w.spare[:0], nil
		w.mu.Unlock()
		_, err := w.conn.Write(b)
		w.mu.Lock()
		w.spare = b[:0]
		if err != nil {
			return err
		}
	}
	return nil
}

// framesJob is the job of a peer's clients.
type framesJob struct {
	Addr    string
	Clients int
	Value   int // bytes
	// Warm and Run are seconds.
	Warm, Run float64
}

// framesMain asks a peer for commands in a closed loop, as package drive does of our
// programs.
func framesMain(port *process.Port) error {
	var job framesJob
	if ok, err := port.Take(&job); !ok || err != nil {
		return err
	}
	conn, err := net.Dial("tcp", job.Addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	l := &framesLoop{w: newWire(conn), value: bytes.Repeat([]byte{'v'}, job.Value), open: map[uint64]time.Time{}, times: hdrhistogram.New(1, 60_000_000, 3)}
	failed := make(chan error, 1)
	go func() { failed <- l.receive() }()
	l.mu.Lock()
	for range job.Clients {
		l.begin()
	}
	l.mu.Unlock()
	if err := l.w.flush(); err != nil {
		return err
	}
	time.Sleep(time.Duration(job.Warm * float64(time.Second)))
	l.set(true, false)
	if err := port.Say("begin"); err != nil {
		return err
	}
	time.Sleep(time.Duration(job.Run * float64(time.Second)))
	l.set(false, true)
	if err := port.Say("end"); err != nil {
		return err
	}
	select {
	case err = <-failed:
	case <-time.After(drive.DrainWithin):
		err = errors.New("the last answers did not come")
	}
	if err != nil {
		return err
	}
	if err := port.Say(l.outcome()); err != nil {
		return err
	}
	var none struct{}
	_, err = port.Take(&none)
	return err
}

// framesLoop is a closed loop over one connection.
type framesLoop struct {
	w     *wire
	value []byte

	mu                 sync.Mutex
	next               uint64
	open               map[uint64]time.Time
	counting, stopping bool
	begun              time.Time
	out                loadgen.Outcome
	times              *hdrhistogram.Histogram
}

// begin asks for the next command. The caller holds l.mu.
func (l *framesLoop) begin() {
	l.open[l.next] = time.Now()
	l.w.write(binary.BigEndian.AppendUint64(nil, l.next), l.value)
	l.next++
}

func (l *framesLoop) set(counting, stopping bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if counting {
		l.begun = time.Now()
	} else {
		l.out.Micros = time.Since(l.begun).Microseconds()
	}
	l.counting, l.stopping = counting, stopping
}

// receive takes answers until no more are to come.
func (l *framesLoop) receive() error {
	var buf []byte
	for {
		b, err := l.w.read(buf)
		if err != nil {
			return err
		}
		buf = b
		over, err := l.answer(b)
		if over || err != nil {
			return err
		}
		if l.w.drained() {
			if err := l.w.flush(); err != nil {
				return err
			}
		}
	}
}

func (l *framesLoop) answer(b []byte) (over bool, err error) {
	now := time.Now()
	if len(b) < 8 || !bytes.Equal(b[8:], l.value) {
		return false, errors.New("an answer with another value")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	id := binary.BigEndian.Uint64(b)
	begun, ok := l.open[id]
	if !ok {
		return false, fmt.Errorf("command %d was answered twice, or never asked for", id)
	}
	delete(l.open, id)
	l.out.All++
	if l.counting {
		l.out.Commands++
		// A histogram takes what is within its range; a minute is more than any answer.
		_ = l.times.RecordValue(max(now.Sub(begun).Microseconds(), 1))
		window := int(now.Sub(l.begun) / time.Second)
		for len(l.out.Windows) <= window {
			l.out.Windows = append(l.out.Windows, 0)
		}
		l.out.Windows[window]++
	}
	if !l.stopping {
		l.begin()
	}
	return l.stopping && len(l.open) == 0, nil
}

func (l *framesLoop) outcome() loadgen.Outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.times.Distribution() {
		if b.Count > 0 {
			l.out.Latencies = append(l.out.Latencies, loadgen.Bar{Micros: b.To, Count: b.Count})
		}
	}
	return l.out
}
