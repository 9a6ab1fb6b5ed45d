// Package examples runs what "ashlar compile" makes of the specifications in
// ../specs. The directories below hold the compiled code; the tests here run
// it in one process, with resources that behave like the specification's
// mapping macros, and hold the traces of each run against the specification.
//
// The lock service is apart: it runs as processes of its own.
package examples
