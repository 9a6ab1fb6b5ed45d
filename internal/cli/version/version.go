// SPDX-License-Identifier: Apache-2.0

// Package version identifies our programs: the version that --version prints, and the
// module from which they are built.
//
// In: the build information in the program. Out: text.
package version

import "runtime/debug"

// Module is the path of our module. Generated programs import packages of it.
const Module = "github.com/ashlar-dev/ashlar"

// String returns the module's version, or (devel) and the commit from which the
// program was built, and the version of Go.
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
