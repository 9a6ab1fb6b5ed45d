// SPDX-License-Identifier: Apache-2.0

//go:build race

package mailbox_test

// The race detector takes memory out of pools at random.
const raceDetector = true
