// SPDX-License-Identifier: Apache-2.0

package specification

import (
	"fmt"
	"io"
	"os"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/tla/stdlib"
)

// Files gives access to the file system: modules are read from it, and
// specifications may read and write files.
type Files struct{}

var (
	_ load.Files   = Files{}
	_ load.Lister  = Files{}
	_ stdlib.Files = Files{}
)

// ReadFile reads a file that is not larger than source.FileBytesMax.
func (Files) ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, source.FileBytesMax+1))
	if err == nil && len(text) > source.FileBytesMax {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, source.FileBytesMax)
	}
	return text, err
}

// List lists the names in a directory.
func (Files) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// WriteFile is for specifications that write files (IOUtils, Json, CSV).
func (Files) WriteFile(name string, data []byte, appending bool) error {
	mode := os.O_TRUNC
	if appending {
		mode = os.O_APPEND
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|mode, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
