// SPDX-License-Identifier: Apache-2.0

package table

import "encoding/binary"

// Probe says whether a table page may begin with the page b, and of which store.
// It does not compare the checksum, which may be of more than the page.
func Probe(b []byte) (uuid [16]byte, ok bool) {
	if len(b) < pageHeader || string(b[:len(chunkMagic)]) != chunkMagic || binary.LittleEndian.Uint16(b[pageVersion:]) != Version ||
		b[pageKind] != chunkFull && b[pageKind] != chunkDelta {
		return uuid, false
	}
	return [16]byte(b[pageUUID:]), true
}
