// SPDX-License-Identifier: Apache-2.0

package distsys

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// TraceDir is the name of the environment variable that holds the directory for
// trace files. Generated main programs read it.
const TraceDir = "ASHLAR_TRACE_DIR"

// Trace is the trace file of one instance: a Recorder that writes each line at
// once, so that the trace survives the end of the process, but not a crash of
// the machine.
type Trace struct {
	file  env.File
	w     *tracelog.Writer
	start env.Instant
}

var _ Recorder = (*Trace)(nil)

// tracesMax bounds the number of trace files of one instance in one directory.
const tracesMax = 10_000

// OpenTrace creates a file for an instance: trace-ARCHETYPE-SELF.jsonl, or a name
// with a number appended if that file exists. The disk is the directory. The
// journal is that of an instance that survives crashes, and nil for others.
func OpenTrace(d env.Disk, c env.Clock, system, archetype string, self value.Value, j Journal) (*Trace, error) {
	h := tracelog.Header{System: system, Archetype: archetype, Self: self.String()}
	if j != nil {
		h.Life = j.Life()
		if k := j.Recall(archetype + "(" + h.Self + ")"); k != nil {
			h.Kept = &tracelog.Kept{Life: k.Life, N: k.N}
		}
	}
	base := "trace-" + fileName(archetype) + "-" + fileName(h.Self)
	for i := 1; i <= tracesMax; i++ {
		name := base + ".jsonl"
		if i > 1 {
			name = fmt.Sprintf("%s.%d.jsonl", base, i)
		}
		f, err := d.Open(name, false)
		if err == nil {
			f.Close()
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("open trace: %w", err)
		}
		if f, err = d.Open(name, true); err != nil {
			return nil, fmt.Errorf("open trace: %w", err)
		}
		t := &Trace{file: f, start: c.Now()}
		h.Wall = c.Wall().UTC().Format(time.RFC3339Nano)
		if t.w, err = tracelog.NewWriter(f, h); err != nil {
			return nil, errors.Join(fmt.Errorf("write trace: %w", err), f.Close())
		}
		return t, nil
	}
	return nil, fmt.Errorf("open trace: there are already %d files of %s(%s): remove them or use another directory", tracesMax, archetype, h.Self)
}

// fileName keeps only characters that every file system accepts, and shortens
// the result.
func fileName(s string) string {
	const longest = 64
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return -1
	}, s)
	return clean[:min(len(clean), longest)]
}

// Record implements Recorder.
func (t *Trace) Record(e *tracelog.Event) error {
	e.Start -= int64(t.start)
	e.End -= int64(t.start)
	return t.w.Record(e)
}

// Close closes the file.
func (t *Trace) Close() error { return t.file.Close() }
