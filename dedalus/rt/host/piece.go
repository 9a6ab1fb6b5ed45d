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

// NewerError reports that another piece of the same logical node has restarted
// or missed a message. This piece must restart as well, with the given
// incarnation.
type NewerError struct {
	Piece       string
	Incarnation uint64
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("%s has restarted or missed a message: this piece of the same node restarts as well, with incarnation %d", e.Piece, e.Incarnation)
}

// incarnation tracks the incarnation of the logical node to which this piece belongs;
// 0 means none yet, or none at all. No other lock is taken while its lock is held.
type incarnation struct {
	h      *Host
	mu     sync.Mutex
	number uint64
	lost   bool // a message to another piece
}

// towards returns the incarnation to send to another node: 0 unless that node
// is a piece of the same logical node.
func (i *incarnation) towards(node string) uint64 {
	if !slices.Contains(i.h.opt.Pieces, node) {
		return 0
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.number
}

// meet compares incarnations with a node whose identity is proved. If older is true,
// the other node is older; if err is not nil, it is newer, and the caller must pass err
// to yield. In both cases no message may pass. The lock of a link may be held.
func (i *incarnation) meet(node string, number uint64) (older bool, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch ours := i.number; {
	case number > IncarnationMax:
		return false, fmt.Errorf("%s has incarnation %d; the limit is %d", node, number, uint64(IncarnationMax))
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

// yield ends this piece if err is a *NewerError, once the caller has released
// its locks. The caller must have refused the other piece before, so that the
// refusal still carries the reason.
func (i *incarnation) yield(err error) {
	var newer *NewerError
	if errors.As(err, &newer) {
		i.h.mark("dedalus/host piece started anew")
		i.h.opt.Env.Clock.After(0, env.WakeFunc(func() { i.h.shut(err) }))
	}
}

// lose begins the next incarnation because the queue to another piece was full
// and a message was dropped. Pieces rely on each other: they send some batches
// only once. So a lost message counts as a crash of the logical node, not as an
// omission of the network.
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

// IncarnationMax is the maximum incarnation. Restarts alone never reach it.
const IncarnationMax = 1 << 62

// The file of the incarnation, and the temporary file that is renamed to it:
//
//	incarnation  u64, little endian
//	crc          u32, little endian: CRC-32C of it
const (
	incarnationName = "INCARNATION"
	incarnationNew  = "INCARNATION.new"
	incarnationLen  = 12
)

// Incarnation begins the next incarnation of the logical node of a piece, and stores
// its number in the directory. The number is the stored one plus 1, or of, if of is
// not 0 and not less than the stored one; of comes from a NewerError. When Incarnation
// returns without an error, the number is durable.
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
		return fail(fmt.Errorf("the next incarnation would be %d; the limit is %d", n, uint64(IncarnationMax)))
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
	// The directory itself may be new, so its parent is synced too.
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
