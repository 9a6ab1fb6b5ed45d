// SPDX-License-Identifier: Apache-2.0

package tlc

import (
	"fmt"
	"strings"
)

// flags maps TLC's flags, which have one dash, to their equivalents here, which have
// two. pflag would parse one dash and a word as several short flags and report a
// useless error.
var flags = map[string]string{
	"-config":           "--config FILE",
	"-workers":          "--workers N; without it there is one for each processor, as with auto",
	"-deadlock":         "--deadlock=false, since TLC's flag switches the check off",
	"-simulate":         "the command ashlar simulate",
	"-generate":         "the command ashlar simulate",
	"-depth":            "--depth N, of ashlar simulate",
	"-seed":             "--seed N, of ashlar simulate",
	"-aril":             "--seed N, of ashlar simulate: the number of a walk identifies it",
	"-continue":         "--continue",
	"-dfid":             "--dfid N",
	"-dump":             "--dump FILE.dot, FILE.svg or FILE.json",
	"-dumpTrace":        "--json, which has the trace",
	"-coverage":         "nothing: coverage is always shown, and --profile reports what each expression costs",
	"-lncheck":          "--liveness=final or --liveness=periodic",
	"-checkpoint":       "--checkpoint DIR and --every TIME",
	"-recover":          "--resume DIR",
	"-metadir":          "--temp DIR, and --checkpoint DIR for a search to be resumed",
	"-tool":             "--tlc-output",
	"-view":             "ALIAS in the configuration, for other values in a trace",
	"-difftrace":        "nothing: only what changed is shown",
	"-terse":            "nothing",
	"-nowarning":        "nothing: warnings do not change the exit code",
	"-cleanup":          "nothing: temporary files are removed",
	"-gzip":             "nothing: checkpoints are small",
	"-fp":               "nothing: fingerprints need no seed",
	"-fpbits":           "nothing",
	"-fpmem":            "--memory SIZE",
	"-maxSetSize":       "nothing: sets are enumerated only where necessary",
	"-noTE":             "nothing: no specification is made of a trace",
	"-noGenerateSpecTE": "nothing: no specification is made of a trace",
	"-postCondition":    "POSTCONDITION in the configuration",
	"-userFile":         "the redirection of the standard output",
	"-debugger":         "the command ashlar repl --trace FILE.json",
	"-help":             "--help",
	"-version":          "--version",
}

// CheckFlags returns an error that names the equivalent of a TLC flag among the
// arguments, or nil if there is none.
func CheckFlags(args []string) error {
	if len(args) == 0 || args[0] != "check" && args[0] != "simulate" {
		return nil
	}
	for _, a := range args[1:] {
		if a == "--" {
			return nil
		}
		name, _, _ := strings.Cut(a, "=")
		if instead, ok := flags[name]; ok {
			return fmt.Errorf("%s is a flag of TLC; here it is %s", name, instead)
		}
	}
	return nil
}
