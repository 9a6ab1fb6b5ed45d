// SPDX-License-Identifier: Apache-2.0

//go:build linux && !race

package slab

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// hugeBytes is the size of a huge page. Mappings of at least hugeBytesMin ask
// for them: they are written from end to end, and a fault for each 4 KiB costs
// more than filling them.
const (
	hugeBytes    = 2 << 20
	hugeBytesMin = 2 * hugeBytes
)

// regionBytes is the address space of the n-th region. It costs nothing until
// it is touched.
func regionBytes(n int) int { return 64 << 20 << min(n, 4) }

// reserve returns zeroed address space. Huge pages are kept out of it: they
// would make more resident than is counted.
func reserve(bytes int) ([]byte, bool) {
	b, ok := mapPages(bytes)
	if ok {
		// A kernel without huge pages refuses, and needs no such advice.
		_ = unix.Madvise(b, unix.MADV_NOHUGEPAGE)
	}
	return b, ok
}

// mapLarge returns zeroed memory that is touched as a whole.
func mapLarge(bytes int) ([]byte, bool) {
	if bytes < hugeBytesMin {
		return mapPages(bytes)
	}
	b, ok := mapPages(bytes + hugeBytes)
	if !ok {
		return nil, false
	}
	// Cut off what is before the first border of huge pages and behind the end.
	head := int(-address(b) & (hugeBytes - 1))
	if head > 0 {
		unmap(b[:head])
	}
	unmap(b[head+bytes:])
	b = b[head : head+bytes : head+bytes]
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // as above
	return b, true
}

func mapPages(bytes int) ([]byte, bool) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(bytes), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return nil, false
	}
	return unsafe.Slice((*byte)(p), bytes), true
}

// discard gives the pages back; the memory stays, and is zero.
func discard(b []byte) bool { return unix.Madvise(b, unix.MADV_DONTNEED) == nil }

func unmap(b []byte) {
	err := unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b)))
	invariant.Check(err == nil, "slab: unmap of %d bytes: %v", len(b), err)
}
