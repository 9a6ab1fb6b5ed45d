// SPDX-License-Identifier: Apache-2.0

package tlc

// Flags are those of TLC, for tests with the whole command.
var Flags = flags
