// SPDX-License-Identifier: Apache-2.0

// Package store holds the specification of the store in TLA+. See README.md.
package store
