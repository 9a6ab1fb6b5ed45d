// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// The file SUPER has two copies of the same, so that one may be damaged: who the
// log is, written once, and the superblock, which says where recovery begins. A
// superblock is one sector, so that a crash leaves it old or new.
//
// Each superblock is written to one copy and synced, and then to the other, and
// only then anything happens that relies on it. So the copies differ only after
// a crash in between, by one superblock, and neither is relied on by anybody
// then. That makes it harmless to go by the copy that is left when the other
// one is damaged.
const (
	identityOffset = 0
	identitySize   = 8192
	superOffset    = identityOffset + identitySize
	superSize      = 512
	copyOffset     = 64 << 10 // the second copy's
	superFileSize  = copyOffset + superOffset + 4096

	superMagic    = "ASHWORMS"
	identityMagic = "ASHWORMI"
	version       = 1
	identityHead  = 64
)

// IdentityMax is the longest identity, in bytes.
const IdentityMax = 4096

// generationMax is the highest generation.
const generationMax = 1<<32 - 1

// super is a superblock.
type super struct {
	// log is the log's own number, drawn when it was made.
	log uint64
	// number counts superblocks.
	number uint64
	// generation counts the times that the log was opened.
	generation uint64
	// checkpoint is the number of the checkpoint whose state is behind chain;
	// 0 is none.
	checkpoint uint64
	// records is how many records were appended before chain.
	records uint64
	// chain is where recovery begins.
	chain journal.ChainState
	// safe is the number of a message of the journal: it and all before it
	// were synced once.
	safe message.Seq
}

func checksumBut4(b []byte, at int) uint32 {
	t := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Update(0, t, b[:at]), t, b[at+4:])
}

func putChecksum(b []byte) { binary.LittleEndian.PutUint32(b[8:], checksumBut4(b, 8)) }

func (s *super) encode() []byte {
	invariant.Check(s.generation <= generationMax, "generation %d", s.generation)
	b := make([]byte, superSize)
	copy(b, superMagic)
	le := binary.LittleEndian
	le.PutUint32(b[12:], version)
	le.PutUint64(b[16:], s.log)
	le.PutUint64(b[24:], s.number)
	le.PutUint64(b[32:], s.generation)
	le.PutUint64(b[40:], s.checkpoint)
	le.PutUint64(b[48:], s.records)
	le.PutUint64(b[56:], s.chain.Segment)
	le.PutUint64(b[64:], s.chain.Session)
	le.PutUint32(b[72:], s.chain.Prev)
	le.PutUint64(b[80:], uint64(s.chain.Next))
	le.PutUint64(b[88:], uint64(s.safe))
	putChecksum(b)
	return b
}

// VersionError reports that a later version of the program has written the log.
type VersionError struct{ Found, Known uint32 }

func (e *VersionError) Error() string {
	return fmt.Sprintf("log of version %d; this program reads version %d", e.Found, e.Known)
}

// check looks at what superblocks and identities begin with.
func check(b []byte, magic string) error {
	if string(b[:len(magic)]) != magic {
		return fmt.Errorf("want %q, found %q", magic, b[:len(magic)])
	}
	if want, found := checksumBut4(b, 8), binary.LittleEndian.Uint32(b[8:]); want != found {
		return fmt.Errorf("want checksum %#08x, found %#08x", want, found)
	}
	if v := binary.LittleEndian.Uint32(b[12:]); v != version {
		return &VersionError{v, version}
	}
	return nil
}

func decodeSuper(b []byte) (super, error) {
	if err := check(b, superMagic); err != nil {
		return super{}, err
	}
	le := binary.LittleEndian
	return super{
		log: le.Uint64(b[16:]), number: le.Uint64(b[24:]), generation: le.Uint64(b[32:]),
		checkpoint: le.Uint64(b[40:]), records: le.Uint64(b[48:]),
		chain: journal.ChainState{Segment: le.Uint64(b[56:]), Session: le.Uint64(b[64:]), Prev: le.Uint32(b[72:]), Next: message.Seq(le.Uint64(b[80:]))},
		safe:  message.Seq(le.Uint64(b[88:])),
	}, nil
}

func encodeIdentity(log uint64, identity []byte) []byte {
	b := make([]byte, identitySize)
	copy(b, identityMagic)
	le := binary.LittleEndian
	le.PutUint32(b[12:], version)
	le.PutUint64(b[16:], log)
	le.PutUint32(b[24:], uint32(len(identity)))
	copy(b[identityHead:], identity)
	putChecksum(b)
	return b
}

func decodeIdentity(b []byte) (log uint64, identity []byte, err error) {
	if err := check(b, identityMagic); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(b[24:])
	if n > IdentityMax {
		return 0, nil, fmt.Errorf("want an identity of at most %d bytes, found %d", IdentityMax, n)
	}
	return binary.LittleEndian.Uint64(b[16:]), b[identityHead : identityHead+n : identityHead+n], nil
}

// superFile is the file SUPER, open.
type superFile struct {
	file     env.File
	identity []byte
	super    super // the one that counts
	first    int   // the copy that is written first: the older or the damaged one
	mend     bool  // it is damaged
}

// writeNew fills a new file.
func writeNew(f env.File, s super, identity []byte) error {
	b := make([]byte, superFileSize)
	for _, at := range []int{0, copyOffset} {
		copy(b[at+identityOffset:], encodeIdentity(s.log, identity))
		copy(b[at+superOffset:], s.encode())
	}
	if err := writeAt(f, b, 0); err != nil {
		return err
	}
	return f.Sync()
}

func writeAt(f env.File, b []byte, off int64) error {
	n, err := f.WriteAt(b, off)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return err
}

// read reads both copies and decides which one counts.
func (s *superFile) read() error {
	var supers [2]super
	var flaws [2]error
	for i := range supers {
		var identity []byte
		var err error
		supers[i], identity, err = s.readCopy(i)
		var damage *damage
		switch {
		case errors.As(err, &damage):
			flaws[i] = err
		case err != nil:
			return err
		default:
			s.identity = identity
		}
	}
	a, b := supers[0], supers[1]
	switch {
	case flaws[0] != nil && flaws[1] != nil:
		return fmt.Errorf("%w: no superblock is valid: %w; %w", ErrCorrupt, flaws[0], flaws[1])
	case flaws[0] != nil:
		s.super, s.first, s.mend = b, 0, true
	case flaws[1] != nil:
		s.super, s.first, s.mend = a, 1, true
	case a.log != b.log:
		return fmt.Errorf("%w: %s has the superblocks of two logs, %#x and %#x", ErrCorrupt, superName, a.log, b.log)
	case a.number == b.number && a != b:
		return fmt.Errorf("%w: %s has two superblocks %d that differ", ErrCorrupt, superName, a.number)
	case a.number < b.number:
		s.super, s.first = b, 0
	default:
		s.super, s.first = a, 1
	}
	return nil
}

// damage is why a copy does not count.
type damage struct {
	offset int
	flaw   error
}

func (d *damage) Error() string { return fmt.Sprintf("%s at byte %d: %v", superName, d.offset, d.flaw) }
func (d *damage) Unwrap() error { return d.flaw }

func (s *superFile) readCopy(i int) (super, []byte, error) {
	at := i * copyOffset
	b := make([]byte, superOffset+superSize)
	n, err := s.file.ReadAt(b, int64(at))
	if err != nil && err != io.EOF {
		return super{}, nil, fmt.Errorf("read %s: %w", superName, err)
	}
	clear(b[n:])
	found, err := decodeSuper(b[superOffset:])
	if err != nil {
		return super{}, nil, wrapDamage(at+superOffset, err)
	}
	log, identity, err := decodeIdentity(b[identityOffset : identityOffset+identitySize])
	if err == nil && log != found.log {
		err = fmt.Errorf("want log %#x, found %#x", found.log, log)
	}
	if err != nil {
		return super{}, nil, wrapDamage(at+identityOffset, err)
	}
	return found, identity, nil
}

// wrapDamage leaves a later version what it is: that copy may be the newer one.
func wrapDamage(at int, err error) error {
	var later *VersionError
	if errors.As(err, &later) {
		return err
	}
	return &damage{at, err}
}

// put makes next the superblock. When it returns, both copies are durable.
func (s *superFile) put(next super) error {
	next.number = s.super.number + 1
	invariant.Check(next.log == s.super.log && next.generation >= s.super.generation && next.checkpoint >= s.super.checkpoint,
		"superblock %+v follows %+v", next, s.super)
	for _, i := range []int{s.first, 1 - s.first} {
		b, at := next.encode(), int64(i*copyOffset+superOffset)
		if i == s.first && s.mend {
			b, at = append(encodeIdentity(next.log, s.identity), b...), int64(i*copyOffset)
		}
		if err := writeAt(s.file, b, at); err != nil {
			return fmt.Errorf("write %s: %w", superName, err)
		}
		if err := s.file.Sync(); err != nil {
			return fmt.Errorf("sync %s: %w", superName, err)
		}
	}
	s.super, s.mend = next, false
	return nil
}
