// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stores so small that one sees what is wrong with them: the rig has to find
// the broken ones, and nothing in the others.

// toys are a log of batches in files, and a file that is replaced by another.
func toys() []engine {
	log := func(name string, o toyLog) engine {
		return engine{Name: name, Open: func(dir string) (store, error) { return openToyLog(dir, o) }}
	}
	whole := func(name string, sync bool) engine {
		return engine{Name: name, Open: func(dir string) (store, error) { return openToyFile(dir, sync) }}
	}
	return []engine{
		log("toy", toyLog{}),
		log("toy-direct", toyLog{flags: unix.O_DIRECT | unix.O_DSYNC, noSync: true}),
		log("toy-mapped", toyLog{mapped: true}),
		log("toy-allocated", toyLog{allocated: true}),
		log("toy-hasty", toyLog{noSync: true}),
		log("toy-mapped-hasty", toyLog{mapped: true, noSync: true}),
		log("toy-nameless", toyLog{noNames: true}),
		log("toy-trusting", toyLog{noSum: true}),
		log("toy-piecemeal", toyLog{piecemeal: true}),
		whole("toy-file", true),
		whole("toy-file-hasty", false),
	}
}

// toyLog appends each batch as a record: length, checksum, changes. A record
// fills whole sectors. A file holds so many records.
type toyLog struct {
	flags                  int
	mapped, allocated      bool
	noSync, noNames, noSum bool
	piecemeal              bool // each change is a record of its own
	dir                    string
	f                      *os.File
	number                 int
	memory                 []byte // of the file
	end                    int64
	records                int
	named                  bool // the directory has been synced since the file was made
	state                  map[string][]byte
}

const (
	toyFileBytes = 1 << 20
	toyRecords   = 12
	toyHeader    = 8
)

// errNoRecord says that a record is not there, or not whole.
var errNoRecord = errors.New("no record")

func openToyLog(dir string, o toyLog) (store, error) {
	t := &o
	t.dir, t.state = dir, map[string][]byte{}
	for {
		err := t.openFile(false)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		for t.replay() == nil {
		}
		if t.records < toyRecords {
			break
		}
		t.closeFile()
		t.number++
	}
	if t.f == nil {
		return t, t.openFile(true)
	}
	// What is behind the last record must not follow the next one.
	rest := make([]byte, toyFileBytes-t.end)
	if err := t.write(rest, t.end); err != nil {
		return nil, err
	}
	t.drop()
	return t, t.sync()
}

// drop removes files behind this one: what they hold is not wanted any more.
func (t *toyLog) drop() {
	for n := t.number + 1; os.Remove(t.name(n)) == nil; n++ {
		t.named = false
	}
}

func (t *toyLog) name(n int) string { return filepath.Join(t.dir, fmt.Sprintf("log%04d", n)) }

func (t *toyLog) openFile(create bool) error {
	flags := os.O_RDWR | t.flags
	if create {
		flags |= os.O_CREATE | os.O_EXCL
	}
	f, err := os.OpenFile(t.name(t.number), flags, 0o666)
	if err != nil {
		return err
	}
	t.f, t.end, t.records, t.named = f, 0, 0, false
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if t.allocated {
		err = unix.Fallocate(int(f.Fd()), 0, 0, toyFileBytes)
	} else {
		err = f.Truncate(toyFileBytes)
	}
	if err == nil && t.mapped {
		t.memory, err = unix.Mmap(int(f.Fd()), 0, toyFileBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	return err
}

func (t *toyLog) closeFile() error {
	if t.f == nil {
		return nil
	}
	if t.memory != nil {
		_ = unix.Munmap(t.memory)
		t.memory = nil
	}
	err := t.f.Close()
	t.f = nil
	return err
}

// sectors is a buffer that direct access takes.
func sectors(n int) []byte {
	b := make([]byte, n+2*pageSize)
	skip := pageSize - int(uintptr(unsafe.Pointer(&b[0]))%pageSize)
	return b[skip : skip+(n+sectorSize-1)/sectorSize*sectorSize]
}

func (t *toyLog) read(n int, off int64) ([]byte, error) {
	b := sectors(n)
	if off+int64(len(b)) > toyFileBytes {
		return nil, errNoRecord
	}
	if t.memory != nil {
		copy(b, t.memory[off:])
		return b, nil
	}
	_, err := t.f.ReadAt(b, off)
	return b, err
}

func (t *toyLog) write(b []byte, off int64) error {
	full := sectors(len(b))
	copy(full, b)
	if t.memory != nil {
		copy(t.memory[off:], full)
		return nil
	}
	if t.allocated && len(bytes.Trim(b, "\x00")) == 0 {
		return unix.Fallocate(int(t.f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, int64(len(full)))
	}
	_, err := t.f.WriteAt(full, off)
	return err
}

// replay reads the next record, if there is one.
func (t *toyLog) replay() error {
	head, err := t.read(toyHeader, t.end)
	if err != nil {
		return err
	}
	n := int(binary.LittleEndian.Uint32(head))
	if n == 0 || n > toyFileBytes {
		return errNoRecord
	}
	b, err := t.read(toyHeader+n, t.end)
	if err != nil {
		return err
	}
	body := b[toyHeader : toyHeader+n]
	if !t.noSum && crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(head[4:]) {
		return errNoRecord
	}
	for len(body) >= 6 {
		kn, vn := int(binary.LittleEndian.Uint16(body)), int(binary.LittleEndian.Uint32(body[2:]))
		body = body[6:]
		if vn == 1<<32-1 {
			delete(t.state, string(body[:min(kn, len(body))]))
			body = body[min(kn, len(body)):]
			continue
		}
		if kn+vn > len(body) {
			break
		}
		t.state[string(body[:kn])] = bytes.Clone(body[kn : kn+vn])
		body = body[kn+vn:]
	}
	t.end += int64(len(b))
	t.records++
	return nil
}

func (t *toyLog) apply(changes []change, sync bool) error {
	if t.piecemeal {
		for _, c := range changes[:len(changes)-1] {
			if err := t.record([]change{c}); err != nil {
				return err
			}
		}
		changes = changes[len(changes)-1:]
	}
	if err := t.record(changes); err != nil || !sync {
		return err
	}
	return t.sync()
}

func (t *toyLog) record(changes []change) error {
	if t.records == toyRecords {
		if err := errors.Join(t.sync(), t.closeFile()); err != nil {
			return err
		}
		t.number++
		if err := t.openFile(true); err != nil {
			return err
		}
	}
	b := make([]byte, toyHeader)
	for _, c := range changes {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(c.key)))
		n := uint32(len(c.value))
		if c.value == nil {
			n = 1<<32 - 1
		}
		b = binary.LittleEndian.AppendUint32(b, n)
		b = append(append(b, c.key...), c.value...)
		t.state[string(c.key)] = bytes.Clone(c.value)
		if c.value == nil {
			delete(t.state, string(c.key))
		}
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-toyHeader))
	binary.LittleEndian.PutUint32(b[4:], crc32.ChecksumIEEE(b[toyHeader:]))
	err := t.write(b, t.end)
	t.end += int64(len(sectors(len(b))))
	t.records++
	return err
}

func (t *toyLog) sync() error {
	if !t.noSync {
		err := unix.Fdatasync(int(t.f.Fd()))
		if t.memory != nil {
			err = unix.Msync(t.memory, unix.MS_SYNC)
		}
		if err != nil {
			return err
		}
	}
	if t.noNames || t.named {
		return nil
	}
	t.named = true
	return syncDir(t.dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (t *toyLog) get(key []byte) ([]byte, error) { return t.state[string(key)], nil }

func (t *toyLog) scan(visit func(key, value []byte)) error {
	for _, key := range slices.Sorted(maps.Keys(t.state)) {
		visit([]byte(key), t.state[key])
	}
	return nil
}

func (t *toyLog) verify() error { return nil }

func (t *toyLog) close() error { return t.closeFile() }

// toyFile writes all it has to a new file, which takes the place of the old
// one by its name.
type toyFile struct {
	dir     string
	careful bool
	state   map[string][]byte
}

func openToyFile(dir string, careful bool) (store, error) {
	t := &toyFile{dir, careful, map[string][]byte{}}
	b, err := os.ReadFile(filepath.Join(dir, "state"))
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(b)).Decode(&t.state)
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the file is empty")
	}
	return t, err
}

func (t *toyFile) apply(changes []change, sync bool) error {
	for _, c := range changes {
		t.state[string(c.key)] = c.value
		if c.value == nil {
			delete(t.state, string(c.key))
		}
	}
	if !sync {
		return nil
	}
	b, err := json.Marshal(t.state)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(t.dir, "state.new"), os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil && t.careful {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(t.dir, "state.new"), filepath.Join(t.dir, "state")); err != nil {
		return err
	}
	return syncDir(t.dir)
}

func (t *toyFile) get(key []byte) ([]byte, error) { return t.state[string(key)], nil }

func (t *toyFile) scan(visit func(key, value []byte)) error {
	for _, key := range slices.Sorted(maps.Keys(t.state)) {
		visit([]byte(key), t.state[key])
	}
	return nil
}

func (t *toyFile) verify() error { return nil }

func (t *toyFile) close() error { return nil }
