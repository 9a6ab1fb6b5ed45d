// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"slices"
)

// pageSize is the unit in which contents are kept, and in which a machine
// writes back what was written to its page cache.
const pageSize = 4096

// page is never changed once it is in a content, so that contents share them.
type page [pageSize]byte

// content is the bytes of a file. Pages that are absent are zero.
type content struct {
	size  int64
	pages map[int64]*page
}

func newContent() content { return content{pages: map[int64]*page{}} }

func (c *content) clone() content { return content{c.size, maps.Clone(c.pages)} }

// readAt returns how many bytes there were.
func (c *content) readAt(b []byte, off int64) int {
	if off >= c.size {
		return 0
	}
	b = b[:min(int64(len(b)), c.size-off)]
	for at := 0; at < len(b); {
		n, in := split(off + int64(at))
		end := min(len(b), at+pageSize-in)
		if p := c.pages[n]; p != nil {
			copy(b[at:end], p[in:])
		} else {
			clear(b[at:end])
		}
		at = end
	}
	return len(b)
}

// split is the page of an offset, and the place in it.
func split(off int64) (n int64, in int) { return off / pageSize, int(off % pageSize) }

// writeAt makes the content longer where it must.
func (c *content) writeAt(b []byte, off int64) {
	c.size = max(c.size, off+int64(len(b)))
	for at := 0; at < len(b); {
		n, in := split(off + int64(at))
		fresh := new(page)
		if old := c.pages[n]; old != nil {
			*fresh = *old
		}
		at += copy(fresh[in:], b[at:])
		c.pages[n] = fresh
	}
}

// zero makes the bytes in [off, end) zero, and no byte more.
func (c *content) zero(off, end int64) {
	end = min(end, c.size)
	for off < end {
		n, in := split(off)
		k := min(int64(pageSize-in), end-off)
		if old := c.pages[n]; old != nil && k == pageSize {
			delete(c.pages, n)
		} else if old != nil {
			fresh := *old
			clear(fresh[in : in+int(k)])
			c.pages[n] = &fresh
		}
		off += k
	}
}

// truncate makes the content shorter or longer.
func (c *content) truncate(size int64) {
	if size < c.size {
		n, in := split(size)
		if in > 0 {
			c.zero(size, (n+1)*pageSize)
			n++
		}
		for _, k := range slices.Collect(maps.Keys(c.pages)) {
			if k >= n {
				delete(c.pages, k)
			}
		}
	}
	c.size = size
}
