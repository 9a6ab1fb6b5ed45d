// SPDX-License-Identifier: Apache-2.0

// Package extent allocates runs of pages of the data file: which pages are
// free, which are in use, and which are in use only by superblocks that have
// been replaced.
//
// In: requests for runs of a given length, freed runs, and at recovery the runs
// in use. Out: runs. Promised: a page belongs to one holder at a time; the
// smallest free run that suffices is taken, of equal ones the lowest; free
// neighbours are one run. The same calls give the same runs. Refused: files and
// bytes; what the allocator knows is rebuilt from what the table refers to and
// is never written ("likes" and allocation units of VeriBetrKV's later designs,
// without their log).
//
// An Allocator and a Likes are for one goroutine at a time.
package extent

import "fmt"

// PageSize is the unit of the data file in bytes.
const PageSize = 4096

// Run is Pages pages of the data file from page Page on.
type Run struct{ Page, Pages uint32 }

// End is the page after the run's last one.
func (r Run) End() uint64 { return uint64(r.Page) + uint64(r.Pages) }

// Addr is the run's first byte in the data file.
func (r Run) Addr() int64 { return int64(r.Page) * PageSize }

// Bytes is the run's length in bytes.
func (r Run) Bytes() int64 { return int64(r.Pages) * PageSize }

// RunOf is the run of pages that holds n bytes from addr on.
func RunOf(addr, n int64) Run {
	return Run{Page: uint32(addr / PageSize), Pages: uint32((n + PageSize - 1) / PageSize)}
}

func (r Run) String() string { return fmt.Sprintf("pages %d to %d", r.Page, r.End()) }
