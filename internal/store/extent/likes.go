// SPDX-License-Identifier: Apache-2.0

package extent

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// Likes counts the references to runs that several branches may share: a large
// value lives until the last reference is gone. The zero Likes has no
// references.
type Likes struct {
	runs map[uint32]liked // by first page
}

type liked struct{ pages, count uint32 }

// Like counts one more reference to a run; first says that it is the only one,
// so that recovery knows which runs to Reserve. A run that starts where another
// known one does but has another length is an error, and nothing has changed:
// the table that says so is corrupt.
func (l *Likes) Like(r Run) (first bool, err error) {
	if l.runs == nil {
		l.runs = map[uint32]liked{}
	}
	known := l.runs[r.Page]
	if known.count > 0 && known.pages != r.Pages {
		return false, fmt.Errorf("shared run at page %d: want %d pages, found %d", r.Page, known.pages, r.Pages)
	}
	l.runs[r.Page] = liked{pages: r.Pages, count: known.count + 1}
	return known.count == 0, nil
}

// Unlike removes one reference; dead means that it was the last one and that
// the caller must free the run.
func (l *Likes) Unlike(r Run) (dead bool) {
	known := l.runs[r.Page]
	if known.count == 0 || known.pages != r.Pages {
		invariant.Check(false, "%v: no such reference to take back; there are %d references to %d pages", r, known.count, known.pages)
	}
	if known.count == 1 {
		delete(l.runs, r.Page)
		return true
	}
	l.runs[r.Page] = liked{pages: known.pages, count: known.count - 1}
	return false
}

// Count is the number of references to the run that starts at a page.
func (l *Likes) Count(page uint32) int { return int(l.runs[page].count) }

// Len is the number of runs that are referred to.
func (l *Likes) Len() int { return len(l.runs) }
