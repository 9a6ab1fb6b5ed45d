// SPDX-License-Identifier: Apache-2.0

package tracelog

import (
	"encoding/json"
	"fmt"
)

// Appender receives the lines. The Writer writes each line with one call.
type Appender interface {
	Append(b []byte) error
}

// Format is the Header's Format.
const Format = "ashlar-trace"

// Writer writes the log of one instance. Only one goroutine may use it.
type Writer struct {
	to Appender
}

// NewWriter writes the header. It sets Format and Version.
func NewWriter(to Appender, h Header) (*Writer, error) {
	h.Format, h.Version = Format, Version
	w := &Writer{to: to}
	return w, w.line(h)
}

// Record writes an event with one call of the Appender.
func (w *Writer) Record(e *Event) error { return w.line(e) }

func (w *Writer) line(x any) error {
	b, err := json.Marshal(x)
	if err != nil {
		return err
	}
	if len(b) >= LineMax {
		return fmt.Errorf("a trace line of %d bytes is over the limit of %d", len(b), LineMax)
	}
	return w.to.Append(append(b, '\n'))
}
