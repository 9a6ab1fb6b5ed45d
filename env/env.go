// Package env is the world outside as small interfaces: clock, randomness,
// network, tracer. Everything that runs takes what it needs of the world from
// here, so that the same code runs on the real one (env/osenv) and in a
// simulator that is one thread, one seed and virtual time.
package env
