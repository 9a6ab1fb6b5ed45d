// SPDX-License-Identifier: Apache-2.0

package osenv

import (
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	"github.com/ashlar-dev/ashlar/env"
)

// random is ChaCha8, which is suitable for nonces if its seed is secret.
type random struct{ *rand.ChaCha8 }

// NewRandom returns a source seeded by the machine's entropy.
func NewRandom() env.Random {
	var seed [32]byte
	// Read of crypto/rand never fails: it ends the program instead.
	crand.Read(seed[:])
	return random{rand.NewChaCha8(seed)}
}

func (r random) Split(label string) env.Random {
	var parent [8]byte
	binary.LittleEndian.PutUint64(parent[:], r.Uint64())
	var more [24]byte
	for i := 0; i < len(more); i += 8 {
		binary.LittleEndian.PutUint64(more[i:], r.Uint64())
	}
	h := sha256.New()
	h.Write(parent[:])
	h.Write(more[:])
	h.Write([]byte(label))
	return random{rand.NewChaCha8([32]byte(h.Sum(nil)))}
}
