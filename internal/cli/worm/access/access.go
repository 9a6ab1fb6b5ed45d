// SPDX-License-Identifier: Apache-2.0

// Package access reads and writes the description of a cluster, with which a
// client or a server connects to it.
//
// In: files, as the flag --cluster names them, and servers in the notation
// NAME=ID@ADDR. Out: a description with the newest known configurations. Promised:
// Write replaces a file atomically. Refused: unusable descriptions, with the
// reason.
package access

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/file"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Read reads a cluster's description. An empty path is an error of the command
// line.
func Read(path string) (*wor.Genesis, error) {
	if path == "" {
		return nil, exit.With(exit.Usage, errors.New("--cluster is missing: name the file that 'ashlard genesis' has written"))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	g, err := worm.ReadGenesis(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return g, nil
}

// Write writes a description to a file. An existing file keeps its mode.
func Write(path string, g *wor.Genesis) error {
	var b bytes.Buffer
	if err := worm.WriteGenesis(&b, g); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return file.Write(path, b.Bytes(), 0o600)
}

// Remember adds later configurations to a description, and reports whether any were
// new.
func Remember(g *wor.Genesis, more []wor.Config) (changed bool) {
	for _, c := range more {
		if c.Epoch == 0 || uint64(c.Partition) >= uint64(len(g.Partitions)) {
			continue
		}
		i := slices.IndexFunc(g.Known, func(k wor.Config) bool { return k.Partition == c.Partition })
		switch {
		case i < 0:
			g.Known = append(g.Known, c)
		case g.Known[i].Epoch < c.Epoch:
			g.Known[i] = c
		default:
			continue
		}
		changed = true
	}
	return changed
}

// ParseMember reads NAME=ID@ADDR.
func ParseMember(s string) (wor.Member, error) {
	name, rest, ok := strings.Cut(s, "=")
	hex, addr, ok2 := strings.Cut(rest, "@")
	id, err := strconv.ParseUint(hex, 16, 64)
	if !ok || !ok2 || name == "" || addr == "" || err != nil || id == 0 {
		return wor.Member{}, fmt.Errorf("server %q: want NAME=ID@ADDR, as 'ashlard format' prints it", s)
	}
	return wor.Member{ID: wor.ServerID(id), Name: name, Addr: addr}, nil
}
