// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
)

// spy is a directory that records what becomes durable.
type spy struct {
	directory
	durable []string
	err     error // of syncing a file
}

type spyFile struct {
	env.File
	spy *spy
}

func (s *spy) Open(name string, create bool) (env.File, error) {
	f, err := s.directory.Open(name, create)
	return spyFile{f, s}, err
}

func (s *spy) SyncDir(dir string) error {
	s.durable = append(s.durable, "names")
	return s.directory.SyncDir(dir)
}

func (f spyFile) Sync() error {
	f.spy.durable = append(f.spy.durable, "blocks")
	return errors.Join(f.spy.err, f.File.Sync())
}

// TestOpenSettles: opening a disk makes its contents durable, because a loss of
// power would undo writes that a killed process left.
func TestOpenSettles(t *testing.T) {
	dir := t.TempDir()
	real, err := osenv.OpenDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close()
	s := &spy{directory: real}
	d := &file{dir: s, name: "disk", size: 2}
	if err := errors.Join(d.make(), d.install()); err != nil {
		t.Fatal(err)
	}
	s.durable = nil
	if err := d.open(); err != nil {
		t.Fatal(err)
	}
	if err := d.f.Close(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"blocks", "names"}; !slices.Equal(s.durable, want) {
		t.Errorf("durable: %q, want %q", s.durable, want)
	}
	s.err = errors.New("no")
	if err := d.open(); !errors.Is(err, s.err) {
		t.Errorf("opened what cannot be made durable: %v", err)
	}
}
