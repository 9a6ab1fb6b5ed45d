// SPDX-License-Identifier: Apache-2.0

package block

import (
	"crypto/sha256"
	"fmt"
)

// Masked is a key as error texts show it. Keys may be secret and error texts go
// into logs, so it shows only the length and a hash, by which two texts about the
// same key can be matched.
//
// It is only for errors about damage, which may concern keys of any client. The text of a
// conflict (ErrConflict) shows the key: one within what the caller's own transaction has
// read, or the lower end of a range delete that touches that.
func Masked(key []byte) string {
	h := sha256.Sum256(key)
	return fmt.Sprintf("#%x (%d bytes)", h[:4], len(key))
}
