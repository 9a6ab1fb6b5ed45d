// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
)

// Suffix is the suffix of the names of trace files.
const Suffix = ".jsonl"

// FilesMax is the largest number of trace files in a directory.
const FilesMax = 1000

// ReadDir reads the trace files of a directory, by name. System is the module
// to which they must belong. ReadDir omits files of processes that ended before
// they wrote anything. It returns an error if there is no trace.
func ReadDir(dir fs.FS, system string) ([]*Log, error) {
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
		l, err := readLog(dir, e.Name(), system)
		if err != nil {
			return nil, err
		}
		if l != nil {
			logs = append(logs, l)
		}
	}
	if len(logs) == 0 {
		return nil, fmt.Errorf("read traces: no file *%s holds a trace", Suffix)
	}
	return logs, nil
}

func readLog(dir fs.FS, name, system string) (*Log, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	defer f.Close()
	file, err := tracelog.Parse(f)
	var line *tracelog.LineError
	switch {
	case errors.As(err, &line):
		return nil, fmt.Errorf("%s:%d: %w", name, line.Line, line.Err)
	case err != nil:
		return nil, fmt.Errorf("read trace %s: %w", name, err)
	case file.Header.Format == "":
		return nil, nil // torn before the header was whole
	case file.Header.System != system:
		return nil, fmt.Errorf("%s: a trace of the system %q, not of %q", name, file.Header.System, system)
	}
	return NewLog(path.Base(name), file.Header, file.Events)
}
