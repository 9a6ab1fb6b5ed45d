// SPDX-License-Identifier: Apache-2.0

package dedalusd

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ashlar-dev/ashlar/dedalus/rt/host"
)

// page serves the status of an instance over HTTP.
type page struct {
	addr   string
	server *http.Server
	done   chan struct{}
	// host is the host of the current life; nil before the first.
	host atomic.Pointer[host.Host]
}

// httpConnsMax bounds the open status connections, so that file descriptors remain for
// instances and clients.
const httpConnsMax = 64

// few is a listener that bounds the number of open connections. It closes connections
// beyond that.
type few struct {
	net.Listener
	open chan struct{} // has a token for each connection
}

// Accept implements net.Listener.
func (l *few) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.open <- struct{}{}:
			return &fewConn{Conn: c, done: sync.OnceFunc(func() { <-l.open })}, nil
		default:
			c.Close()
		}
	}
}

type fewConn struct {
	net.Conn
	done func()
}

// Close implements net.Conn.
func (c *fewConn) Close() error {
	defer c.done()
	return c.Conn.Close()
}

// listenHTTP serves an instance's status: /status.json and /metrics; /healthz reports
// whether the instance is alive, /readyz whether it accepts inputs.
func listenHTTP(addr string) (*page, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	p := &page{addr: l.Addr().String(), done: make(chan struct{})}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{p})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /status.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		_ = e.Encode(p.view()) // the client may be gone
	})
	answer := func(path, otherwise string, ok func(v view) bool) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			if !ok(p.view()) {
				http.Error(w, otherwise, http.StatusServiceUnavailable)
				return
			}
			_, _ = w.Write([]byte("ok\n"))
		})
	}
	answer("/healthz", "failed", func(v view) bool { return v.Failed == "" })
	answer("/readyz", "not ready", func(v view) bool { return v.Ready })
	p.server = &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	go func() {
		defer close(p.done)
		_ = p.server.Serve(&few{Listener: l, open: make(chan struct{}, httpConnsMax)}) // it ends by close
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

// view is a host.Status in the form of the JSON page.
type view struct {
	Schema        string            `json:"schema"`
	Program       string            `json:"program"`
	Component     string            `json:"component"`
	Node          string            `json:"node"`
	Addr          string            `json:"addr"`
	Ready         bool              `json:"ready"`
	Failed        string            `json:"failed,omitempty"`
	Generation    uint64            `json:"generation"`
	InboxBytes    int               `json:"inboxBytes"`
	InputsWait    bool              `json:"inputsWait"`
	Connections   int               `json:"connections"`
	Clients       int               `json:"clients"`
	ClientsQueued int               `json:"clientsQueuedBytes"`
	Trouble       string            `json:"trouble,omitempty"`
	Peers         []peerView        `json:"peers"`
	Counts        map[string]uint64 `json:"counts"`
}

type peerView struct {
	Node      string `json:"node"`
	Addr      string `json:"addr"`
	Connected bool   `json:"connected"`
	Queued    int    `json:"queuedBytes"`
	Flying    int    `json:"flyingBytes"`
	Trouble   string `json:"trouble,omitempty"`
}

func (p *page) view() view {
	v := view{Schema: "ashlar-dedalus-status-1", Peers: []peerView{}, Counts: map[string]uint64{}}
	h := p.host.Load()
	if h == nil {
		return v
	}
	s := h.Status()
	v.Program, v.Component, v.Node, v.Addr = s.Program, s.Component, s.Node, string(s.Addr)
	v.Ready = s.Failed == nil && !s.Draining
	var newer *host.NewerError
	if s.Failed != nil && !errors.As(s.Failed, &newer) {
		v.Failed = s.Failed.Error()
	}
	v.Generation, v.InboxBytes, v.InputsWait, v.Connections = s.Generation, s.Inbox, s.InputsWait, s.Conns
	v.Clients, v.ClientsQueued, v.Trouble = s.Clients, s.ClientsQueued, s.Trouble
	for _, q := range s.Peers {
		v.Peers = append(v.Peers, peerView{q.Node, string(q.Addr), q.Connected, q.Queued, q.Flying, q.Trouble})
	}
	s.Counts.Each(func(name string, n uint64) { v.Counts[name] = n })
	return v
}

// collector reports the same data to Prometheus.
type collector struct{ p *page }

// Describe implements prometheus.Collector. It sends nothing, because the metrics
// are known only when they are collected.
func (c collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	h := c.p.host.Load()
	if h == nil {
		return
	}
	s := h.Status()
	own := prometheus.Labels{"program": s.Program, "component": s.Component, "node": s.Node}
	tell := func(name, help string, typ prometheus.ValueType, v float64, labels []string, values ...string) {
		ch <- prometheus.MustNewConstMetric(prometheus.NewDesc("ashlar_dedalus_"+name, help, labels, own), typ, v, values...)
	}
	s.Counts.Each(func(name string, n uint64) {
		tell(name+"_total", "Counted since the instance started: "+name+".", prometheus.CounterValue, float64(n), nil)
	})
	gauge := func(name, help string, v float64) { tell(name, help, prometheus.GaugeValue, v, nil) }
	gauge("inbox_bytes", "Messages that wait for a tick.", float64(s.Inbox))
	gauge("inputs_wait", "Whether inputs wait because a peer is overloaded.", truth(s.InputsWait))
	gauge("connections", "Connections from other processes.", float64(s.Conns))
	gauge("clients", "Connected clients.", float64(s.Clients))
	gauge("clients_queued_bytes", "Messages kept for clients.", float64(s.ClientsQueued))
	for _, q := range s.Peers {
		peer := []string{"peer"}
		tell("peer_connected", "Whether another instance is connected.", prometheus.GaugeValue, truth(q.Connected), peer, q.Node)
		tell("peer_queued_bytes", "Messages kept for another instance.", prometheus.GaugeValue, float64(q.Queued), peer, q.Node)
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
