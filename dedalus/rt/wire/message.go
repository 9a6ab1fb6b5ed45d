// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/link"
)

// seqLen is the length of a batch number in bytes.
const seqLen = 8

// Batch checks a whole batch frame and returns its number and its messages.
// Messages.Next cannot fail on them afterwards. The number is never 0, and there are at
// most MessagesMax messages.
func Batch(p []byte) (seq uint64, messages Messages, err error) {
	if len(p) < seqLen {
		return 0, nil, link.Malformed("batch", "%d bytes", len(p))
	}
	if seq = binary.LittleEndian.Uint64(p); seq == 0 {
		return 0, nil, link.Malformed("batch", "the batch has no number")
	}
	count := 0
	for rest := p[seqLen:]; len(rest) > 0; {
		if count++; count > MessagesMax {
			return 0, nil, link.Malformed("batch", "more than %d messages", MessagesMax)
		}
		var ok bool
		if _, _, rest, ok = cut(rest); !ok {
			return 0, nil, link.Malformed("batch", "malformed message, %d bytes before the end", len(rest))
		}
	}
	return seq, Messages(p[seqLen:]), nil
}

// BatchBytes returns the length of a batch's frame, given the length of its
// payload. This length counts against a window.
func BatchBytes(payload int) int { return payload + link.Overhead }

// Messages are the encoded messages of a batch.
type Messages []byte

// Next removes and returns the first message; ok is false when there is none. The
// row shares the memory of the Messages.
func (m *Messages) Next() (relation int, row []byte, ok bool) {
	relation, row, rest, ok := cut(*m)
	*m = rest
	return relation, row, ok
}

// cut splits off the first message of b.
func cut(b []byte) (relation int, row, rest []byte, ok bool) {
	r, n := binary.Uvarint(b)
	if n <= 0 || r >= RelationMax {
		return 0, nil, b, false
	}
	size, m := binary.Uvarint(b[n:])
	if m <= 0 || size > RowMax || size > uint64(len(b)-n-m) {
		return 0, nil, b, false
	}
	row, rest = b[n+m:n+m+int(size)], b[n+m+int(size):]
	return int(r), row, rest, true
}

// AppendMessage appends an encoded message.
func AppendMessage(b []byte, relation int, row []byte) []byte {
	b = binary.AppendUvarint(b, uint64(relation))
	b = binary.AppendUvarint(b, uint64(len(row)))
	return append(b, row...)
}

// AppendAck appends a frame that acknowledges the batches up to number seq.
func AppendAck(b []byte, seq uint64) []byte {
	start := len(b)
	return link.Seal(binary.LittleEndian.AppendUint64(link.Begin(b, TypeAck), seq), start)
}

// DecodeAck decodes the batch number of an acknowledgement.
func DecodeAck(p []byte) (seq uint64, err error) {
	if len(p) != seqLen {
		return 0, link.Malformed("ack", "%d bytes", len(p))
	}
	return binary.LittleEndian.Uint64(p), nil
}
