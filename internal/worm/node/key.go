// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/binary"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Key proves a server's identity: an Ed25519 key, whose digest is the identity.
// A ServerID is all that is needed to check a server's signature: no shared
// secret, no certificate. The key never leaves the server's directory.
type Key struct{ private ed25519.PrivateKey }

// NewKey draws a key.
func NewKey(random env.Random) Key {
	for {
		seed := make([]byte, 0, ed25519.SeedSize)
		for len(seed) < ed25519.SeedSize {
			seed = binary.LittleEndian.AppendUint64(seed, random.Uint64())
		}
		if k := (Key{ed25519.NewKeyFromSeed(seed)}); k.ID() != 0 {
			return k
		}
	}
}

// ID is the identity of the server that has the key.
func (k Key) ID() wor.ServerID { return identityOf(k.public()) }

func (k Key) public() ed25519.PublicKey { return k.private.Public().(ed25519.PublicKey) }

// identityOf is the beginning of a digest of a public key.
func identityOf(public ed25519.PublicKey) wor.ServerID {
	sum := sha512.Sum512_256(public)
	return wor.ServerID(binary.LittleEndian.Uint64(sum[:]))
}

// proofLen is the length that signing adds to a text.
const proofLen = ed25519.PublicKeySize + ed25519.SignatureSize

// sign appends the public key and a signature to a text. The signature covers
// the purpose of the text and the cluster, so that it is valid for nothing
// else.
func (k Key) sign(purpose string, cluster uint64, text []byte) []byte {
	return append(bytes.Clone(text), k.prove(purpose, cluster, text)...)
}

// prove returns the public key and the signature that sign appends.
func (k Key) prove(purpose string, cluster uint64, text []byte) []byte {
	return append(bytes.Clone(k.public()), ed25519.Sign(k.private, toSign(purpose, cluster, text))...)
}

// welcomePurpose is the purpose of the proof in a welcome, by which a client
// knows that it reached the server and not a program that has taken over its
// address.
const welcomePurpose = "ashlar worm welcome"

// welcomeText is what a server signs in a welcome: what the other side has
// drawn for this connection, and the server's position.
func welcomeText(c *wire.Challenge, w *wire.Welcome) []byte {
	b := bytes.Clone(c[:])
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, w.Generation), w.Position)
}

// signer returns the identity that the output of sign claims, without verifying
// it; 0 if there is none.
func signer(b []byte) wor.ServerID {
	if len(b) < proofLen {
		return 0
	}
	return identityOf(ed25519.PublicKey(b[len(b)-proofLen:][:ed25519.PublicKeySize]))
}

// signed verifies and splits the output of sign, and returns the signer.
func signed(purpose string, cluster uint64, b []byte) (from wor.ServerID, text []byte, err error) {
	if len(b) < proofLen {
		return 0, nil, fmt.Errorf("%w: %d bytes are too short for a signature", errRecord, len(b))
	}
	text, proof := b[:len(b)-proofLen], b[len(b)-proofLen:]
	public, signature := ed25519.PublicKey(proof[:ed25519.PublicKeySize]), proof[ed25519.PublicKeySize:]
	if !ed25519.Verify(public, toSign(purpose, cluster, text), signature) {
		return 0, nil, fmt.Errorf("%w: the signature is wrong", errRecord)
	}
	return identityOf(public), text, nil
}

func toSign(purpose string, cluster uint64, text []byte) []byte {
	return append(binary.LittleEndian.AppendUint64([]byte(purpose), cluster), text...)
}
