package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path"
	"slices"

	"github.com/ashlar-dev/ashlar/env"
)

// NewerError says that another piece of the same logical node has started anew, or was
// lost a message: this one has to start anew as well, as of that incarnation.
type NewerError struct {
	Piece       string
	Incarnation uint64
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("%s has started anew or misses something: this piece of the same node starts anew, too, as of incarnation %d", e.Piece, e.Incarnation)
}

// meetPiece compares incarnations with a node that is known for certain. No lock is
// needed; a link's may be held. Nothing may pass when the other one is older, nor after
// an error: then it is newer.
func (h *Host) meetPiece(node string, incarnation uint64) (older bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch ours := h.incarnation; {
	case incarnation > IncarnationMax:
		return false, fmt.Errorf("%s is of incarnation %d, limit is %d", node, incarnation, uint64(IncarnationMax))
	case !slices.Contains(h.opt.Pieces, node) || incarnation == 0 || incarnation == ours:
		return false, nil
	case ours == 0 && h.lost:
		incarnation++ // see losePiece
	case ours == 0:
		h.incarnation = incarnation // nothing has come from a piece yet
		return false, nil
	case incarnation < ours:
		return true, nil
	}
	return false, h.newer(node, incarnation)
}

// newer ends this piece, as soon as the caller has let go of its locks. The Host's lock
// is held.
func (h *Host) newer(node string, incarnation uint64) error {
	h.mark("dedalus/host piece started anew")
	err := &NewerError{Piece: node, Incarnation: incarnation}
	h.opt.Env.Clock.After(0, env.WakeFunc(func() { h.shut(err) }))
	return err
}

// losePiece begins the next incarnation, since a message to another piece was dropped
// for want of room. Pieces count on each other: they tell in batches that are told
// once. So one that is missing is a crash of the logical node, and no omission.
func (h *Host) losePiece(node string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost || h.closed {
		return
	}
	h.lost = true
	if h.incarnation > 0 {
		_ = h.newer(node, h.incarnation+1) // Fatal is told
	}
}

// IncarnationMax is the greatest number of an incarnation: nobody gets there by
// starting anew.
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
