// SPDX-License-Identifier: Apache-2.0

package table

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layouts reads from the document, for each of its tables of offsets, the
// offsets and the sizes. A size of -1 is one that varies.
func layouts(t *testing.T) (tables [][][2]int) {
	t.Helper()
	b, err := os.ReadFile("../../../docs/format/store.md")
	if err != nil {
		t.Fatal(err)
	}
	in := false
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(line, "|")
		switch {
		case strings.HasPrefix(line, "| offset | size |"):
			in = true
			tables = append(tables, nil)
		case !strings.HasPrefix(line, "|"):
			in = false
		case in && !strings.HasPrefix(line, "|---"):
			offset, err := strconv.Atoi(strings.TrimSpace(cells[1]))
			if err != nil {
				t.Fatalf("offset of %q: %v", line, err)
			}
			size := -1
			if cell := strings.TrimSpace(cells[2]); cell != "…" {
				if size, err = strconv.Atoi(cell); err != nil {
					t.Fatalf("size of %q: %v", line, err)
				}
			}
			last := &tables[len(tables)-1]
			*last = append(*last, [2]int{offset, size})
		}
	}
	return tables
}

// TestTheDocumentTellsOfEveryByte checks that no table of the document leaves a
// gap, and that those of this package have the offsets of the code.
func TestTheDocumentTellsOfEveryByte(t *testing.T) {
	tables := layouts(t)
	totals := []int{SuperSize, superChunkSize, 4096, pageHeader, entryHeader, 40, 144, 16, 4096, 64, 24, 16}
	if len(tables) != len(totals) {
		t.Fatalf("%d tables of offsets, want %d", len(tables), len(totals))
	}
	for i, rows := range tables {
		at := 0
		for _, row := range rows {
			if row[0] != at {
				t.Errorf("table %d: offset %d, want %d", i, row[0], at)
			}
			at += max(row[1], 0)
		}
		if at != totals[i] {
			t.Errorf("table %d ends at %d, want %d", i, at, totals[i])
		}
	}
	for i, want := range [][]int{
		{
			0, superCRC, superVersion, superUUID, superSeq, superCut, superSegment, superSession, superPrev, superPages, superNextID,
			superEpoch, superClean, superMergerLen, superChunks, superPageSize, superMerger, superTable, superFeatures, superRest,
		},
		{0, 8, 16, 20, 24, 25},
		nil, // the witness, which is datafile's
		{
			0, pageCRC, pageVersion, pageKind, pageKind + 1, pageUsed, pageUUID, pageSeq, pageNumber, pageCount, pageEntries,
			pagePrevCRC, pagePrevSeq,
		},
		{0, entryEpoch, entryLen, entryKind, entryKind + 1, entryHeader},
	} {
		if want == nil {
			continue
		}
		var got []int
		for _, row := range tables[i] {
			got = append(got, row[0])
		}
		if !slices.Equal(got, want) {
			t.Errorf("table %d has offsets %v, the code %v", i, got, want)
		}
	}
}
