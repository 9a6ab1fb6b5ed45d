// SPDX-License-Identifier: Apache-2.0

// Package version is what our programs answer to --version.
package version

import "runtime/debug"

// String is the module's version, or (devel) and the commit that the program was built
// from, and the version of Go.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v += " " + s.Value[:min(12, len(s.Value))]
		}
	}
	return v + " " + info.GoVersion
}
