// SPDX-License-Identifier: Apache-2.0

// Package tidy holds the house rules as tests of the repository itself. It
// parses files in-process: a test that asked the go command would be answered
// from the test cache after the sources changed.
//
// The rules: imports only as rooms.txt allows; one package comment per package; no call that
// uses the clock, chance or files outside env/osenv and cmd; generated code in few places; no
// struct over 40 fields without a reason, and parts of a struct reached by their methods
// only; no dependency without a reason; no broken links in documents; no words that do not
// belong in the repository.
package tidy
