// SPDX-License-Identifier: Apache-2.0

package compiled_test

import "github.com/ashlar-dev/ashlar/dedalus/rt"

// linked are the compiled programs by their names: none, until a file that is generated
// is laid over this one.
func linked() map[string]func() *rt.Program { return nil }
