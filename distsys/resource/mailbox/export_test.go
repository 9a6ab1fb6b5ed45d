// SPDX-License-Identifier: Apache-2.0

package mailbox

// Wants is the number of senders that are to be notified of room.
func (m *Mailboxes) Wants() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.here {
		n += len(b.wants)
	}
	return n
}

// KeptBytes is what relaxed messages that are not acknowledged count.
func (m *Mailboxes) KeptBytes() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, out := range m.outlets {
		for _, l := range out.lanes {
			n += l.keptBytes + l.reservedB
		}
	}
	return n
}
