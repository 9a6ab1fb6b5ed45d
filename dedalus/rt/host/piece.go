// SPDX-License-Identifier: Apache-2.0

package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/ashlar-dev/ashlar/env"
)

// NewerError reports that another piece of the same logical node has restarted,
// or missed a message: this piece must restart as well, with that incarnation.
type NewerError struct {
	Piece       string
	Incarnation uint64
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("%s has started anew or misses something: this piece of the same node starts anew, too, as of incarnation %d", e.Piece, e.Incarnation)
}

// incarnation is that of the logical node which this piece belongs to; 0: it has none
// yet, or none at all. No other lock is taken while its lock is held.
type incarnation struct {
	h      *Host
	mu     sync.Mutex
	number uint64
	lost   bool // a message to another piece
}

// towards is the incarnation that another node must know: 0 if it is not a
// piece of the same node.
func (i *incarnation) towards(node string) uint64 {
	if !slices.Contains(i.h.opt.Pieces, node) {
		return 0
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.number
}

// meet compares incarnations with a node that is known for certain. A link's lock may
// be held. Nothing may pass when the other one is older, nor after an error, which must
// be given to yield: then it is newer.
func (i *incarnation) meet(node string, number uint64) (older bool, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch ours := i.number; {
	case number > IncarnationMax:
		return false, fmt.Errorf("%s is of incarnation %d, limit is %d", node, number, uint64(IncarnationMax))
	case !slices.Contains(i.h.opt.Pieces, node) || number == 0 || number == ours:
		return false, nil
	case ours == 0 && i.lost:
		number++ // see lose
	case ours == 0:
		i.number = number // nothing has come from a piece yet
		return false, nil
	case number < ours:
		return true, nil
	}
	return false, &NewerError{Piece: node, Incarnation: number}
}

// yield ends this piece if err is a *NewerError, as soon as the caller has
// released its locks. The other piece must have been refused before: it is to
// read why.
func (i *incarnation) yield(err error) {
	var newer *NewerError
	if errors.As(err, &newer) {
		i.h.mark("dedalus/host piece started anew")
		i.h.opt.Env.Clock.After(0, env.WakeFunc(func() { i.h.shut(err) }))
	}
}

// lose begins the next incarnation, since a message to another piece was dropped
// for want of room. Pieces count on each other: they send batches that are sent
// once. So one that is missing is a crash of the logical node, and no omission.
func (i *incarnation) lose(node string) {
	if i.h.ending.closed() {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.lost {
		return
	}
	i.lost = true
	if i.number > 0 {
		i.yield(&NewerError{Piece: node, Incarnation: i.number + 1})
	}
}

// IncarnationMax is the greatest number of an incarnation, which restarts alone
// never reach.
const IncarnationMax = 1 << 62

// The file of the incarnation, and what it is written to first:
//
//	incarnation  u64, little endian
//	crc          u32, little endian: CRC-32C of it
const (
	incarnationName = "INCARNATION"
	incarnationNew  = "INCARNATION.new"
	incarnationLen  = 12
)

// Incarnation begins the next incarnation of the logical node that a piece belongs to,
// which keeps its number in the directory: the next one, or as of, where that is not 0
// and not less than the last one: a NewerError's. When it returns without an error,
// the number is durable.
func Incarnation(world env.Env, dir string, of uint64) (uint64, error) {
	fail := func(err error) (uint64, error) { return 0, fmt.Errorf("incarnation in %s: %w", dir, err) }
	disk := world.Disk
	if err := disk.MakeDir(dir); err != nil {
		return fail(err)
	}
	last, err := readIncarnation(disk, path.Join(dir, incarnationName))
	if err != nil {
		return fail(err)
	}
	n := last + 1
	if of != 0 && of >= last {
		n = of
	}
	if n > IncarnationMax {
		return fail(fmt.Errorf("incarnation %d would be the next one, limit is %d", n, uint64(IncarnationMax)))
	}
	b := binary.LittleEndian.AppendUint64(nil, n)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	f, err := disk.Open(path.Join(dir, incarnationNew), true)
	if err != nil {
		return fail(err)
	}
	_, err = f.WriteAt(b, 0)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fail(err)
	}
	if err := disk.Rename(path.Join(dir, incarnationNew), path.Join(dir, incarnationName)); err != nil {
		return fail(err)
	}
	// The directory itself may be as new as what is in it.
	if err := errors.Join(disk.SyncDir(dir), disk.SyncDir(path.Dir(dir))); err != nil {
		return fail(err)
	}
	return n, nil
}

func readIncarnation(disk env.Disk, name string) (uint64, error) {
	f, err := disk.Open(name, false)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return 0, err
	}
	if size != incarnationLen {
		return 0, fmt.Errorf("%s is damaged: %d bytes, want %d", name, size, incarnationLen)
	}
	var b [incarnationLen]byte
	if _, err := f.ReadAt(b[:], 0); err != nil {
		return 0, err
	}
	if crc32.Checksum(b[:8], crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(b[8:]) {
		return 0, fmt.Errorf("%s is damaged: wrong checksum", name)
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}
