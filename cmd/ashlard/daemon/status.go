// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"html/template"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ashlar-dev/ashlar/internal/worm/node"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// page serves the status of a server over HTTP.
type page struct {
	addr   string
	server *http.Server
	done   chan struct{}
}

// listenHTTP serves a server's status: / for people, /status.json and /metrics
// for programs, /livez for a supervisor, which may restart the server, and
// /readyz (or /healthz, which is the same) for a load balancer, which may send
// requests to it.
func listenHTTP(addr string, s *served) (*page, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(&collector{s})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /status.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		_ = e.Encode(s.view()) // the client may be gone
	})
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		if err := s.node.Status().Failed; err != nil {
			http.Error(w, "not live: its disk has failed: "+err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
	ready := func(w http.ResponseWriter, _ *http.Request) {
		if v := s.view(); !v.Serving {
			http.Error(w, "not ready: "+v.Unready, http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	}
	mux.HandleFunc("GET /readyz", ready)
	mux.HandleFunc("GET /healthz", ready)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		_ = statusPage().Execute(w, s.view())
	})
	p := &page{addr: l.Addr().String(), done: make(chan struct{}),
		server: &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}}
	go func() {
		defer close(p.done)
		_ = p.server.Serve(l) // it ends by close
	}()
	return p, nil
}

func (p *page) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if errors.Is(p.server.Shutdown(ctx), context.DeadlineExceeded) {
		p.server.Close()
	}
	<-p.done
}

// statusView is a node.Status in the form of the page and of the JSON.
type statusView struct {
	Schema  string `json:"schema"`
	ID      string `json:"id"`
	Name    string `json:"name"`
	Addr    string `json:"addr"`
	Cluster string `json:"cluster"`
	// Serving is set if the server is ready. Unready is the reason if it is
	// not.
	Serving      bool            `json:"serving"`
	Unready      string          `json:"unready,omitempty"`
	Generation   uint64          `json:"generation"`
	Position     uint64          `json:"position"`
	PendingBytes int64           `json:"pendingBytes"`
	Warnings     []string        `json:"warnings"`
	Partitions   []partitionView `json:"partitions"`
	Requests     []requestView   `json:"requests"`
	Connections  int             `json:"connections"`
	Listenings   int             `json:"listenings"`
	StateBytes   int64           `json:"stateBytes"`
	MaxBytes     int64           `json:"maxBytes"`
	Commits      uint64          `json:"commits"`
	Records      uint64          `json:"records"`
	Notes        uint64          `json:"notes"`
	Invokes      uint64          `json:"invokes"`
	TurnedAway   uint64          `json:"turnedAway"`
	Refused      uint64          `json:"refused"`
	Trouble      string          `json:"trouble,omitempty"`
	// Applications is nil with --registers-only, Keys without --kv.
	Applications *appsView  `json:"applications,omitempty"`
	Keys         *frontView `json:"keys,omitempty"`
}

type frontView struct {
	Addr        string `json:"addr"`
	Connections int    `json:"connections"`
	TurnedAway  uint64 `json:"turnedAway"`
}

type partitionView struct {
	Number   wor.Partition `json:"number"`
	Epoch    wor.Epoch     `json:"epoch"`
	Standing string        `json:"standing"`
	Tainted  bool          `json:"tainted"`
	Bytes    int64         `json:"bytes"`
	Members  []memberView  `json:"members"`
}

type memberView struct {
	Name string `json:"name"`
	ID   string `json:"id"`
	Addr string `json:"addr"`
}

type requestView struct {
	Kind   string `json:"kind"`
	Status string `json:"status"`
	Count  uint64 `json:"count"`
}

// view returns the status of the whole server.
func (s *served) view() statusView {
	status := s.node.Status()
	status.Draining = status.Draining || s.leaving.Load()
	v := view(status)
	if s.apps != nil {
		a := s.apps.view()
		v.Applications = &a
	}
	v.Unready = unready(&status, v.Applications)
	v.Serving = v.Unready == ""
	if s.front != nil {
		open, turned := s.front.count()
		v.Keys = &frontView{s.front.addr(), open, turned}
	}
	return v
}

func view(s node.Status) statusView {
	v := statusView{
		Schema: "ashlard-status/1", Partitions: []partitionView{}, Requests: []requestView{},
		ID: s.ID.String(), Name: s.Name, Addr: string(s.Addr), Cluster: wor.ServerID(s.Cluster).String(),
		Generation: s.Generation, Position: s.Position, PendingBytes: s.Pending, Warnings: append([]string{}, s.Warnings...),
		Connections: s.Conns, Listenings: s.Listens, StateBytes: s.Bytes, MaxBytes: s.MaxBytes,
		Commits: s.Counts.Commits, Records: s.Counts.Records, Notes: s.Counts.Notes, Invokes: s.Counts.Invokes,
		TurnedAway: s.Counts.TurnedAway, Refused: s.Counts.Refused, Trouble: s.Trouble,
	}
	for _, p := range s.Partitions {
		standing := p.Standing.String()
		if p.Unsure {
			standing = "asking its peers whether its disk is the newest"
		}
		w := partitionView{Number: p.Partition, Epoch: p.Epoch, Standing: standing, Tainted: p.Tainted, Bytes: p.Bytes}
		for _, m := range p.Members {
			w.Members = append(w.Members, memberView{m.Name, m.ID.String(), m.Addr})
		}
		v.Partitions = append(v.Partitions, w)
	}
	for _, r := range s.Requests {
		v.Requests = append(v.Requests, requestView{r.Kind.String(), r.Status.String(), r.Count})
	}
	return v
}

func statusPage() *template.Template {
	return template.Must(template.New("status").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>ashlard {{.Name}}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; --ink: #1d2330; --dim: #667; --line: #ccd; --bad: #b3261e; --good: #1b7f4b; --panel: #f6f7fa; --page: #fff }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ee; --dim: #99a; --line: #444b5c; --bad: #ff8a80; --good: #7ddca4; --panel: #232834; --page: #171a21 } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.05rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% } th { text-align: left; color: var(--dim); font-weight: normal }
td, th { padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line) } td.n { text-align: right; font-variant-numeric: tabular-nums }
.warning { color: var(--bad); font-weight: 600 } .ok { color: var(--good) } code { background: var(--panel); padding: 0 .2em }
</style></head><body>
<h1>{{.Name}} <code>{{.ID}}</code> {{if .Serving}}<span class="ok">serving</span>{{else}}<span class="warning">not serving: {{.Unready}}</span>{{end}}</h1>
{{range .Warnings}}<p class="warning">{{.}}</p>{{end}}
<p>Cluster <code>{{.Cluster}}</code>, listening on <code>{{.Addr}}</code>.
Generation {{.Generation}}, {{.Position}} records durable, {{.PendingBytes}} bytes under way.</p>
<h2>Partitions</h2>
<table><tr><th>number<th>epoch<th>standing<th>bytes<th>members</tr>
{{range .Partitions}}<tr><td>{{.Number}}<td>{{.Epoch}}{{if .Tainted}} <span class="warning">tainted</span>{{end}}<td>{{.Standing}}<td class="n">{{.Bytes}}<td>{{range .Members}}{{.Name}} <code>{{.Addr}}</code> {{end}}</tr>
{{end}}</table>
{{with .Applications}}<h2>Applications</h2>
{{if .Trouble}}<p class="warning">{{.Trouble}}</p>{{end}}
{{if .Hosting}}<table>
<tr><td>keys<td class="n">{{.Keys}}</tr><tr><td>keys, bytes<td class="n">{{.KeyBytes}}</tr>
<tr><td>partitions of the keys<td class="n">{{range .Partitions}}{{.}} {{else}}none{{end}}</tr>
<tr><td>partitions of the keys that can be reached<td class="n">{{.Reachable}}</tr>
{{range .Logs}}<tr><td>sequencer of log {{.ID}}, next position<td class="n">{{.Next}}</tr>
{{end}}{{with $.Keys}}<tr><td>Redis protocol on <code>{{.Addr}}</code>, connections<td class="n">{{.Connections}}</tr>{{end}}
</table>{{else}}<p>None here: this server is not a member of the cluster yet.</p>{{end}}{{end}}
<h2>Work</h2>
<table>
<tr><td>connections<td class="n">{{.Connections}}</tr><tr><td>listenings<td class="n">{{.Listenings}}</tr>
<tr><td>registers, bytes<td class="n">{{.StateBytes}} of {{.MaxBytes}}</tr>
<tr><td>commits<td class="n">{{.Commits}}</tr><tr><td>records<td class="n">{{.Records}}</tr>
<tr><td>notes<td class="n">{{.Notes}}</tr><tr><td>services asked<td class="n">{{.Invokes}}</tr>
<tr><td>connections turned away<td class="n">{{.TurnedAway}}</tr><tr><td>peers refused<td class="n">{{.Refused}}</tr>
</table>
<h2>Requests</h2>
<table><tr><th>kind<th>answer<th>count</tr>
{{range .Requests}}<tr><td>{{.Kind}}<td>{{.Status}}<td class="n">{{.Count}}</tr>
{{end}}</table>
{{with .Trouble}}<p>A connection was ended last because: {{.}}</p>{{end}}
</body></html>
`))
}

// collector exports a server's status to Prometheus.
type collector struct{ server *served }

// Describe implements prometheus.Collector: it describes the metrics that Collect
// emits.
func (c *collector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	s := c.server.node.Status()
	v := c.server.view()
	send := func(kind prometheus.ValueType, name, help string, value float64, labels ...string) {
		var names, values []string
		for i := 0; i < len(labels); i += 2 {
			names, values = append(names, labels[i]), append(values, labels[i+1])
		}
		ch <- prometheus.MustNewConstMetric(prometheus.NewDesc("ashlard_"+name, help, names, nil), kind, value, values...)
	}
	gauge := func(name, help string, value float64) { send(prometheus.GaugeValue, name, help, value) }
	count := func(name, help string, value uint64) { send(prometheus.CounterValue, name, help, float64(value)) }
	serving := 0.0
	if v.Serving {
		serving = 1
	}
	gauge("serving", "Whether the server is ready: it serves registers, and keys can be reached through it.", serving)
	full := 0.0
	if s.Full {
		full = 1
	}
	gauge("disk_full", "Whether the disk has no room for the log.", full)
	gauge("generation", "How often the server was started on this disk.", float64(s.Generation))
	gauge("position", "Durable records.", float64(s.Position))
	gauge("pending_bytes", "Bytes of records that are not durable yet.", float64(s.Pending))
	gauge("connections", "Open connections.", float64(s.Conns))
	gauge("listenings", "Clients' subscriptions to registers.", float64(s.Listens))
	gauge("load_bytes", "Bytes that wait on all connections.", float64(s.Load))
	gauge("state_bytes", "Memory of the registers.", float64(s.Bytes))
	gauge("state_bytes_max", "The limit of state_bytes.", float64(s.MaxBytes))
	count("commits_total", "Syncs of the log.", s.Counts.Commits)
	count("records_total", "Records of the log.", s.Counts.Records)
	count("record_bytes_total", "Bytes of records.", s.Counts.RecordBytes)
	count("checkpoints_total", "How often the log was rewritten.", s.Counts.Checkpoints)
	count("notes_total", "Notes to listeners.", s.Counts.Notes)
	count("invokes_total", "Services asked.", s.Counts.Invokes)
	count("written_bytes_total", "Bytes written to connections.", s.Counts.BytesWritten)
	count("turned_away_total", "Connections refused because there was no room.", s.Counts.TurnedAway)
	count("refused_total", "Peers that were refused.", s.Counts.Refused)
	if a := v.Applications; a != nil {
		gauge("kv_keys", "Keys in the partitions of the key-value store that this server owns.", float64(a.Keys))
		gauge("kv_bytes", "Memory of these keys and their values.", float64(a.KeyBytes))
		gauge("kv_partitions", "Partitions of the key-value store that this server owns.", float64(len(a.Partitions)))
		gauge("kv_partitions_reachable", "Partitions of the key-value store that are reachable through this server.", float64(a.Reachable))
		gauge("sequencer_logs", "Logs whose sequencer is this server.", float64(len(a.Logs)))
	}
	if k := v.Keys; k != nil {
		gauge("kv_connections", "Open connections of the Redis protocol.", float64(k.Connections))
		count("kv_turned_away_total", "Connections of the Redis protocol refused because there was no room.", k.TurnedAway)
	}
	for _, p := range v.Partitions {
		send(prometheus.GaugeValue, "partition_epoch", "The epoch of a partition.", float64(p.Epoch), "partition", number(p.Number))
		send(prometheus.GaugeValue, "partition_bytes", "Memory of a partition's registers.", float64(p.Bytes), "partition", number(p.Number))
	}
	for _, r := range v.Requests {
		send(prometheus.CounterValue, "requests_total", "Requests by kind and answer.", float64(r.Count), "kind", r.Kind, "status", r.Status)
	}
}

func number(p wor.Partition) string { return strconv.FormatUint(uint64(p), 10) }
