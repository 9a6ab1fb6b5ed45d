// SPDX-License-Identifier: Apache-2.0

package stdlib

// Cases is the table of calls, for the external test that runs them through the
// definitions in TLA+.
const Cases = cases
