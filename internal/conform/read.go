// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
)

// Suffix is the suffix of the names of trace files.
const Suffix = ".jsonl"

// FilesMax is the largest number of trace files in a directory.
const FilesMax = 1000

// errNoTrace is the error of a directory without traces.
var errNoTrace = errors.New("read traces: no file *" + Suffix + " contains a trace")

// OpenDir reads the headers of the trace files of a directory, by name. The
// sections are read later. System is the module to which the files must belong.
// OpenDir omits files of processes that ended before they wrote anything. It
// returns an error if there is no trace.
func OpenDir(dir fs.FS, system string) ([]*Log, error) { return openDir(dir, system, nil) }

func openDir(dir fs.FS, system string, live *Live) ([]*Log, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, fmt.Errorf("read traces: %w", err)
	}
	var logs []*Log
	files := 0
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), Suffix) {
			continue
		}
		if files++; files > FilesMax {
			return nil, fmt.Errorf("read traces: more than %d files", FilesMax)
		}
		l, err := openLog(dir, e.Name(), system, live)
		if err != nil {
			return nil, err
		}
		if l != nil {
			logs = append(logs, l)
		}
	}
	if len(logs) == 0 {
		return nil, errNoTrace
	}
	return logs, nil
}

func openLog(dir fs.FS, name, system string, live *Live) (*Log, error) {
	f, err := open(dir, name, nil)
	if err != nil {
		return nil, err
	}
	defer f.close()
	switch h := f.from.Header(); {
	case h.Format == "":
		return nil, nil // torn before the header was whole
	case h.System != system:
		return nil, fmt.Errorf("%s: a trace of the system %q, not of %q", name, h.System, system)
	default:
		return newLog(path.Base(name), h, func() (events, error) { return open(dir, name, live) })
	}
}

// opened is an open trace file.
type opened struct {
	name string
	file io.Closer
	from *tracelog.Reader
}

func open(dir fs.FS, name string, live *Live) (*opened, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	var text io.Reader = f
	if live != nil {
		text = &tail{f, live}
	}
	from, err := tracelog.NewReader(text)
	if err != nil {
		f.Close()
		return nil, located(name, err)
	}
	return &opened{name, f, from}, nil
}

func (o *opened) next() (*tracelog.Event, int, error) {
	e, err := o.from.Next()
	if err != nil && err != io.EOF && err != errNotYet {
		err = located(o.name, err)
	}
	return e, o.from.Line(), err
}

func (o *opened) close() { o.file.Close() }

// located adds the name of the file to an error in one of its lines.
func located(name string, err error) error {
	var line *tracelog.LineError
	if errors.As(err, &line) {
		return fmt.Errorf("%s:%d: %w", name, line.Line, line.Err)
	}
	return fmt.Errorf("read trace %s: %w", name, err)
}
