// SPDX-License-Identifier: Apache-2.0

package disk

// TwoBlocks is the storage of two disks.
type TwoBlocks interface {
	// Read reads from disk 0 or 1. False means that the disk has failed; the block
	// is then zero.
	Read(which, a uint64) ([]byte, bool)
	// Write is durable when it returns. On a failed disk it does nothing.
	Write(which, a uint64, b []byte)
	Size() uint64
	Close() error
}

// Two is a pair of disks, 0 and 1, of which one may fail permanently at any
// access. The failure is recorded durably, so it outlives the process.
type Two struct{ blocks TwoBlocks }

// OpenTwo opens two files as disks with that many blocks each. If both are
// absent, it creates them, filled with zeros. If one is absent or unusable,
// that disk has failed; if both are unusable, OpenTwo returns an error. The
// paths should lie on devices that fail independently.
func OpenTwo(path0, path1 string, blocks uint64) (*Two, error) {
	p, err := openPair([2]string{path0, path1}, blocks)
	if err != nil {
		return nil, err
	}
	return NewTwo(p), nil
}

// NewTwo is the pair of disks of these blocks.
func NewTwo(b TwoBlocks) *Two { return &Two{b} }

func checkWhich(which uint64) {
	if which > 1 {
		panic("disk: there are disks 0 and 1 only")
	}
}

// Read returns block a of disk 0 or 1 and true, or a zero block and false if
// that disk has failed.
func (t *Two) Read(which, a uint64) ([]byte, bool) {
	checkWhich(which)
	check(a, t.blocks.Size())
	return t.blocks.Read(which, a)
}

// Write makes b block a of disk 0 or 1, or does nothing if that disk has
// failed. The caller must not change b before it returns.
func (t *Two) Write(which, a uint64, b []byte) {
	checkWhich(which)
	checkWrite(a, t.blocks.Size(), b)
	t.blocks.Write(which, a, b)
}

// Size is the number of blocks of each.
func (t *Two) Size() uint64 { return t.blocks.Size() }

// Close closes the files. No other call may be running, or come after it.
func (t *Two) Close() error { return t.blocks.Close() }
