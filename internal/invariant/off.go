// SPDX-License-Identifier: Apache-2.0

//go:build !invariants && !race

package invariant

// Enabled says whether costly checks run: they do under the build tag
// "invariants" and in race builds, so that a release pays nothing.
const Enabled = false
