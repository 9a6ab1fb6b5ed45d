// SPDX-License-Identifier: Apache-2.0

// Package mail measures the mail store as section 9.3 of "Verifying concurrent,
// crash-safe systems with Perennial" (SOSP'19) does: requests for one of 100
// users, half of them deliveries, half of them pickups in which all messages that
// are found are deleted; each core issues its next request when the last has
// returned. Network and protocols are left out.
//
//	go -C bench test -bench . -cpu 1,2 ./mail
//
// Memory is a file system in memory, as in the paper, where a sync costs next to
// nothing. Disk is the file system of the temporary directory, where it does not.
package mail
