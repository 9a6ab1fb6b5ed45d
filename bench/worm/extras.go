package main

// extras measures what has no peer.
func (r *runner) extras() error { return r.counts() }

// front is a line of redis-benchmark.
type front struct {
	Server, Test string
	Clients      int
	PerSecond    float64
	P50, P99     float64 // ms
}
