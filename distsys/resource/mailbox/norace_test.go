// SPDX-License-Identifier: Apache-2.0

//go:build !race

package mailbox_test

const raceDetector = false
