// SPDX-License-Identifier: Apache-2.0

package datafile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// HistoryPrefix begins the names of the files of a history, each of which has the changes of a
// memtable, or a part of an archive.
const HistoryPrefix = "HISTORY-"

// HistoryName is the name of the file with the changes first to last of a store.
func HistoryName(store uint64, first, last message.Seq) string {
	return fmt.Sprintf("%s%016x-%016x-%016x", HistoryPrefix, store, uint64(first), uint64(last))
}

// ParseHistoryName parses a name that HistoryName made; false means that it is
// not one.
func ParseHistoryName(name string) (store uint64, first, last message.Seq, ok bool) {
	parts := strings.Split(strings.TrimPrefix(name, HistoryPrefix), "-")
	if !strings.HasPrefix(name, HistoryPrefix) || len(parts) != 3 {
		return 0, 0, 0, false
	}
	var n [3]uint64
	for i, p := range parts {
		var err error
		if n[i], err = strconv.ParseUint(p, 16, 64); err != nil || len(p) != 16 {
			return 0, 0, 0, false
		}
	}
	first, last = message.Seq(n[1]), message.Seq(n[2])
	return n[0], first, last, first >= 1 && first <= last
}
