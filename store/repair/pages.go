// SPDX-License-Identifier: Apache-2.0

package repair

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
)

// pages hands out the pages of the new data file, all of which have room on the
// disk. It is a branch.Alloc.
type pages struct {
	file  env.File
	alloc *extent.Allocator
}

// The file grows by a sixteenth, between these bounds, or by what is needed.
const (
	growMin = 16
	growMax = 64 << 20 / extent.PageSize
)

// Alloc returns a run of that many pages.
func (p *pages) Alloc(n uint32) (extent.Run, error) {
	if r, ok := p.alloc.Alloc(n); ok {
		return r, nil
	}
	end := p.alloc.End()
	err := p.lengthen(end, max(n, min(max(end/16, growMin), growMax)))
	if errors.Is(err, env.ErrNoSpace) {
		err = p.lengthen(end, n)
	}
	if err != nil {
		return extent.Run{}, fmt.Errorf("make %s longer: %w", datafile.Repaired, err)
	}
	r, _ := p.alloc.Alloc(n)
	return r, nil
}

func (p *pages) lengthen(end, more uint32) error {
	if uint64(end)+uint64(more) >= 1<<32-1 {
		return fmt.Errorf("the data file has %d pages and cannot have more: %w", end, env.ErrNoSpace)
	}
	from, bytes := int64(end)*extent.PageSize, int64(more)*extent.PageSize
	var err error
	if f, ok := p.file.(env.SpaceFile); ok {
		err = f.Allocate(from, bytes)
	} else {
		err = p.file.Truncate(from + bytes)
	}
	if err == nil {
		p.alloc.Grow(end + more)
	}
	return err
}

// Free frees pages to which nothing refers.
func (p *pages) Free(r extent.Run) { p.alloc.Free(r) }
