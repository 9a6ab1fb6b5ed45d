// SPDX-License-Identifier: Apache-2.0

package rt

// Send appends a message to a node. Its row is what was written since Begin.
func (o *Out) Send(to string, relation int, row Row) {
	o.Sent = append(o.Sent, Sent{To: to, Relation: relation, Row: o.end(row)})
}

// Change appends a change of a durable row.
func (o *Out) Change(relation int, gone bool, row Row) {
	o.Changes = append(o.Changes, Change{Relation: relation, Gone: gone, Row: o.end(row)})
}

// Begin returns an empty row to write to. The caller must pass it to Send or
// Change before the next Begin.
func (o *Out) Begin() Row {
	if cap(o.rows)-len(o.rows) < rowsSpare {
		// Rows in the old buffer stay valid: their slices keep the buffer
		// alive.
		o.rows = make([]byte, 0, max(2*cap(o.rows), rowsMin))
	}
	return Row{bytes: o.rows}
}

// rowsMin is the minimum size of a new buffer for rows. Begin starts a new
// buffer when less than rowsSpare is left.
const (
	rowsMin   = 4096
	rowsSpare = 512
)

// end finishes a row from Begin and returns its bytes.
func (o *Out) end(row Row) []byte {
	at := len(o.rows)
	o.rows = row.bytes
	return row.bytes[at:len(row.bytes):len(row.bytes)]
}

// Empty reports whether nothing was sent and nothing changed.
func (o *Out) Empty() bool { return len(o.Sent) == 0 && len(o.Changes) == 0 }

// Reset empties the Out and invalidates its rows.
func (o *Out) Reset() {
	clear(o.Sent)
	clear(o.Changes)
	o.Sent, o.Changes, o.rows = o.Sent[:0], o.Changes[:0], o.rows[:0]
	if cap(o.rows) > rowsMax {
		o.rows = nil
	}
}

// rowsMax is the largest row buffer that Reset keeps for reuse, in bytes.
const rowsMax = 1 << 20
