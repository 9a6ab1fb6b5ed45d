// SPDX-License-Identifier: Apache-2.0

// Package crypt has the functions that the examples call: the work that a node does
// for a message.
//
// In: bytes. Out: other bytes. Promised: the same for the same, and Decrypt undoes
// Encrypt. Refused: secrecy: the keys are in this file.
package crypt

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"

	"github.com/ashlar-dev/ashlar/internal/invariant"
)

func key() []byte { return []byte("sixteen bytes of") }

// Encrypt is AES in counter mode, always from the same counter.
func Encrypt(v []byte) []byte {
	block, err := aes.NewCipher(key())
	invariant.Check(err == nil, "the key has 16 bytes: %v", err)
	out := make([]byte, len(v))
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(out, v)
	return out
}

// Decrypt undoes Encrypt.
func Decrypt(v []byte) []byte { return Encrypt(v) }

// Sign is HMAC-SHA256.
func Sign(v []byte) []byte {
	h := hmac.New(sha256.New, key())
	h.Write(v)
	return h.Sum(nil)
}
