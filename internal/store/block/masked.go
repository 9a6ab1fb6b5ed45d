// SPDX-License-Identifier: Apache-2.0

package block

import (
	"crypto/sha256"
	"fmt"
)

// Masked is a key as error texts show it. Keys may be secret, and texts go into
// logs: so only the length is shown, and a hash that identifies two texts about the
// same key.
//
// That is for errors of damage alone, whose keys are anybody's. The text of a conflict
// (ErrConflict) shows the key: one within what the caller's own transaction has read, or the
// lower end of a range delete that touches that.
func Masked(key []byte) string {
	h := sha256.Sum256(key)
	return fmt.Sprintf("#%x (%d bytes)", h[:4], len(key))
}
