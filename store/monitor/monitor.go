// SPDX-License-Identifier: Apache-2.0

// Package monitor shows an open store to Prometheus.
//
// In: a store.DB. Out: a prometheus.Collector, or an http.Handler that answers in the text
// format.
//
// Promised: each scrape reads DB.Metrics and DB.Histograms once, and asks nothing of the
// disk. It works beside all other calls, and after Close, when it shows the last values. The names,
// which docs/store.md lists, have their unit at the end and are kept from version to version.
//
// Refused: nothing. The handler has no limits of its own: give the http.Server timeouts.
package monitor

import (
	"math/bits"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ashlar-dev/ashlar/store"
)

// Handler answers with the metrics of a store alone.
func Handler(db *store.DB) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(Collector(db, nil))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// Collector is for programs with their own registry. The labels, such as the name of
// the store, distinguish several stores.
func Collector(db *store.DB, labels map[string]string) prometheus.Collector {
	c := &collector{db: db}
	desc := func(name, help string, variable ...string) *prometheus.Desc {
		return prometheus.NewDesc("ashlar_store_"+name, help, variable, labels)
	}
	for _, v := range values {
		c.values = append(c.values, desc(v.name, v.help))
	}
	c.latency = desc("operation_duration_seconds", "How long operations take. Of get, change and seek about one in 16 is counted.", "operation")
	c.size = desc("operation_size", "How large operations are: bytes, and for seek keys of an iterator.", "operation")
	return c
}

// value is one number of a store.
type value struct {
	name, help string
	kind       prometheus.ValueType
	of         func(m *store.Metrics, db *store.DB) float64
}

func count(name, help string, of func(m *store.Metrics) int64) value {
	return value{name, help, prometheus.CounterValue, func(m *store.Metrics, _ *store.DB) float64 { return float64(of(m)) }}
}

func gauge(name, help string, of func(m *store.Metrics) int64) value {
	return value{name, help, prometheus.GaugeValue, func(m *store.Metrics, _ *store.DB) float64 { return float64(of(m)) }}
}

func seconds(name, help string, of func(m *store.Metrics) float64) value {
	return value{name, help, prometheus.CounterValue, func(m *store.Metrics, _ *store.DB) float64 { return of(m) }}
}

// values are all numbers but the histograms.
var values = []value{
	count("puts_total", "Puts.", func(m *store.Metrics) int64 { return m.Puts }),
	count("deletes_total", "Deletes of one key.", func(m *store.Metrics) int64 { return m.Deletes }),
	count("merges_total", "Merges.", func(m *store.Metrics) int64 { return m.Merges }),
	count("range_deletes_total", "Deletes of ranges.", func(m *store.Metrics) int64 { return m.RangeDeletes }),
	count("gets_total", "Gets.", func(m *store.Metrics) int64 { return m.Gets }),
	count("iterators_total", "Iterators that were made.", func(m *store.Metrics) int64 { return m.Iterators }),
	count("transactions_total", "Transactions that were begun.", func(m *store.Metrics) int64 { return m.Transactions }),
	count("transaction_conflicts_total", "Transactions that ended with a conflict.", func(m *store.Metrics) int64 { return m.Conflicts }),
	count("user_bytes_total", "Bytes of keys and values that were written.", func(m *store.Metrics) int64 { return m.UserBytes }),
	count("journal_written_bytes_total", "Bytes written to the journal.", func(m *store.Metrics) int64 { return m.JournalBytes }),
	count("branch_written_bytes_total", "Bytes written as branches, by flushes and merges.", func(m *store.Metrics) int64 { return m.BranchBytes }),
	count("table_written_bytes_total", "Bytes of the table written by checkpoints.", func(m *store.Metrics) int64 { return m.TableBytes }),
	count("large_value_written_bytes_total", "Bytes of large values written.", func(m *store.Metrics) int64 { return m.BlobBytes }),
	count("compaction_read_bytes_total", "Bytes read for merges.", func(m *store.Metrics) int64 { return m.CompactionBytes }),
	count("flushes_total", "Memtables that became branches.", func(m *store.Metrics) int64 { return m.Memtables }),
	count("compactions_total", "Merges of branches.", func(m *store.Metrics) int64 { return m.Compactions }),
	count("checkpoints_total", "Superblocks written.", func(m *store.Metrics) int64 { return m.Checkpoints }),
	count("syncs_total", "Syncs of the journal.", func(m *store.Metrics) int64 { return m.Syncs }),
	count("stalls_total", "Changes that waited for a memtable.", func(m *store.Metrics) int64 { return m.Stalls }),
	seconds("stalled_seconds_total", "How long changes waited for a memtable.", func(m *store.Metrics) float64 { return m.Stalled.Seconds() }),
	seconds("paced_seconds_total", "How long changes were slowed down.", func(m *store.Metrics) float64 { return m.Paced.Seconds() }),
	count("record_cache_hits_total", "Gets that the record cache answered.", func(m *store.Metrics) int64 { return m.RecordHits }),
	count("block_probes_total", "Blocks that gets looked into.", func(m *store.Metrics) int64 { return m.Probes }),
	{"events_lost_total", "Events that Options.Notify was too slow for.", prometheus.CounterValue, func(_ *store.Metrics, db *store.DB) float64 { return float64(db.EventsLost()) }},
	{"history_missing_changes_total", "Changes that the history could not keep.", prometheus.CounterValue, func(_ *store.Metrics, db *store.DB) float64 { return float64(db.History().Missing) }},
	gauge("file_bytes", "The length of the data file.", func(m *store.Metrics) int64 { return m.FileBytes }),
	gauge("free_bytes", "Free bytes of the data file.", func(m *store.Metrics) int64 { return m.FreeBytes }),
	gauge("retired_bytes", "Bytes of the data file that the next superblocks make free.", func(m *store.Metrics) int64 { return m.RetiredBytes }),
	gauge("reserve_bytes", "Free bytes that puts leave to deletes and to the background.", func(m *store.Metrics) int64 { return m.ReserveBytes }),
	gauge("memory_bytes", "Memory in use outside of the Go heap.", func(m *store.Metrics) int64 { return m.MemoryBytes }),
	gauge("memory_limit_bytes", "The bound on that memory.", func(m *store.Metrics) int64 { return m.MemoryLimit }),
	gauge("tombstone_bytes", "Memory of the range deletes of branches.", func(m *store.Metrics) int64 { return m.TombstoneBytes }),
	gauge("index_bytes", "Memory of the indexes of branches.", func(m *store.Metrics) int64 { return m.IndexBytes }),
	gauge("compaction_debt_bytes", "Bytes that merges must read until all partitions are within their limits.", func(m *store.Metrics) int64 { return m.Debt }),
	gauge("runs", "Branches that a read may have to search.", func(m *store.Metrics) int64 { return int64(m.Runs) }),
	gauge("branches", "Branches of the tree.", func(m *store.Metrics) int64 { return int64(m.Branches) }),
	gauge("height", "Levels of the tree.", func(m *store.Metrics) int64 { return int64(m.Height) }),
}

type collector struct {
	db            *store.DB
	values        []*prometheus.Desc
	latency, size *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.values {
		ch <- d
	}
	ch <- c.latency
	ch <- c.size
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	m, h := c.db.Metrics(), c.db.Histograms()
	for i, v := range values {
		ch <- prometheus.MustNewConstMetric(c.values[i], v.kind, v.of(&m, c.db))
	}
	for _, o := range []struct {
		name string
		store.Operation
	}{
		{"get", h.Get}, {"change", h.Change}, {"sync", h.Sync}, {"seek", h.Seek},
		{"flush", h.Flush}, {"compaction", h.Compaction}, {"checkpoint", h.Checkpoint},
	} {
		ch <- histogram(c.latency, o.Latency, 1e9, 10, 34, o.name) // 1 µs to 17 s
		ch <- histogram(c.size, o.Size, 1, 4, 34, o.name)
	}
}

// histogram has buckets that end below powers of two, from 2^first to 2^last, in units of which
// there are so many in the unit that is shown.
func histogram(desc *prometheus.Desc, h store.Histogram, unit float64, first, last int, operation string) prometheus.Metric {
	at := make([]uint64, last+1)
	var all uint64
	for greatest, n := range h.Buckets() {
		all += uint64(n)
		if power := max(bits.Len64(uint64(greatest)), first); power <= last {
			at[power] += uint64(n)
		}
	}
	buckets := map[float64]uint64{}
	var sum uint64
	for power := first; power <= last; power++ {
		sum += at[power]
		buckets[float64(uint64(1)<<power-1)/unit] = sum
	}
	return prometheus.MustNewConstHistogram(desc, all, float64(h.Sum())/unit, buckets, operation)
}
