// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// talk is a connection that speaks as a client of Redis does, and knows nothing of
// package resp.
type talk struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

func talkTo(t testing.TB, addr string) *talk {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &talk{t, c, bufio.NewReader(c)}
}

func (k *talk) send(format string, args ...any) {
	k.t.Helper()
	if _, err := fmt.Fprintf(k.conn, format, args...); err != nil {
		k.t.Fatal(err)
	}
}

// reply reads a reply; of a text it is the text, of an array its length.
func (k *talk) reply() string {
	k.t.Helper()
	_ = k.conn.SetReadDeadline(time.Now().Add(time.Minute))
	line, err := k.in.ReadString('\n')
	if err != nil {
		k.t.Fatalf("a reply ends after %q: %v", line, err)
	}
	line = strings.TrimSuffix(line, "\r\n")
	n := 0
	if _, err := fmt.Sscanf(line, "$%d", &n); err != nil || n < 0 {
		return line
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(k.in, b); err != nil {
		k.t.Fatal(err)
	}
	return string(b[:n])
}

func (k *talk) ask(format string, args ...any) string {
	k.t.Helper()
	k.send(format+"\r\n", args...)
	return k.reply()
}

// becomes tries until it is so, for a minute.
func becomes(t testing.TB, what string, f func() (string, bool)) {
	t.Helper()
	last := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		var ok bool
		if last, ok = f(); ok {
			return
		}
	}
	t.Fatalf("%s: not within a minute; last: %s", what, last)
}

// TestDBSizeIsTheClusters: the number of keys is that of all servers, at each of
// them, in the moment in which a write was acknowledged anywhere.
func TestDBSizeIsTheClusters(t *testing.T) {
	f := newFleet(t, 3)
	var at []*talk
	for _, s := range f.servers {
		at = append(at, talkTo(t, s.keys))
	}
	const keys = 120
	for i := range keys {
		if got := at[i%3].ask("SET key:%d %d", i, i); got != "+OK" {
			t.Fatalf("SET: %s", got)
		}
		if got, want := at[(i+1)%3].ask("DBSIZE"), fmt.Sprint(":", i+1); got != want {
			t.Fatalf("after %d keys: DBSIZE %s at the next server, want %s", i+1, got, want)
		}
	}
	// All that was sent before it on the connection counts, nothing that was sent
	// after it.
	at[0].send("SET a 1\r\nSET b 1\r\nDEL key:0\r\nDBSIZE\r\nSET c 1\r\nDBSIZE\r\nMULTI\r\nSET d 1\r\nDBSIZE\r\nEXEC\r\n")
	var got []string
	for range 12 {
		got = append(got, at[0].reply())
	}
	want := fmt.Sprintf("+OK +OK :1 :%d +OK :%d +OK +QUEUED +QUEUED *2 +OK :%d", keys+1, keys+2, keys+3)
	if strings.Join(got, " ") != want {
		t.Errorf("in a row: %q, want %q", got, want)
	}
	for i, k := range at {
		if got, want := k.ask("INFO keyspace"), fmt.Sprintf("db0:keys=%d,", keys+3); !strings.Contains(got, want) || strings.Contains(got, "redis_version") {
			t.Errorf("INFO keyspace at server %d: %q, want %q", i, got, want)
		}
	}
	// Without one server it is said that it cannot be said, or it is right.
	f.servers[2].Kill()
	becomes(t, "DBSIZE without one server", func() (string, bool) {
		got := at[0].ask("DBSIZE")
		if strings.HasPrefix(got, ":") && got != fmt.Sprint(":", keys+3) {
			t.Fatalf("DBSIZE %s, want %d", got, keys+3)
		}
		return got, strings.HasPrefix(got, ":")
	})
}

// page is what a server answers for a path.
func (s *server) page(t testing.TB, path string) (code int, body string) {
	t.Helper()
	c := http.Client{Timeout: 20 * time.Second}
	defer c.CloseIdleConnections()
	r, err := c.Get(s.http + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// standing compares the ways in which a server says whether it is ready.
func (s *server) standing(t testing.TB) (ready bool, why string) {
	t.Helper()
	code, why := s.page(t, "/readyz")
	return code == http.StatusOK, why
}

// agree fails where the ways in which a server says whether it is ready differ.
func (s *server) agree(t testing.TB, ready bool) {
	t.Helper()
	var v struct {
		Serving bool
		Unready string
	}
	code, _ := s.page(t, "/healthz")
	_, text := s.page(t, "/status.json")
	_, metrics := s.page(t, "/metrics")
	if err := json.Unmarshal([]byte(text), &v); err != nil || v.Serving != ready || (v.Unready == "") != ready {
		t.Errorf("/status.json: serving %v, unready %q, %v; want serving %v", v.Serving, v.Unready, err, ready)
	}
	if (code == http.StatusOK) != ready {
		t.Errorf("/healthz is %d, want ready %v", code, ready)
	}
	if want := map[bool]string{true: "ashlard_serving 1", false: "ashlard_serving 0"}[ready]; !strings.Contains(metrics, want) {
		t.Errorf("/metrics has no %q", want)
	}
}

// TestReady: a server that is not a member is live and not ready, and so is one whose
// keys cannot be reached; a member of a cluster that works is ready.
func TestReady(t *testing.T) {
	f := newFleet(t, 4)
	f.start(3)
	for i, s := range f.servers[:3] {
		becomes(t, fmt.Sprint("server ", i), func() (string, bool) { ok, why := s.standing(t); return why, ok })
		s.agree(t, true)
	}
	stranger := f.servers[3]
	if ready, why := stranger.standing(t); ready || !strings.Contains(why, "not a member") {
		t.Errorf("a server that is not a member: ready %v: %s", ready, why)
	}
	stranger.agree(t, false)
	if got := talkTo(t, stranger.keys).ask("GET a"); !strings.Contains(got, "not a member") {
		t.Errorf("a server that is not a member answers %s", got)
	}
	f.servers[0].Kill()
	f.servers[1].Kill()
	left := f.servers[2]
	becomes(t, "one of three", func() (string, bool) { ok, why := left.standing(t); return why, !ok && strings.Contains(why, "keys") })
	left.agree(t, false)
	for _, s := range []*server{stranger, left} {
		if code, body := s.page(t, "/livez"); code != http.StatusOK {
			t.Errorf("/livez is %d: %s", code, body)
		}
	}
	f.start(0)
	becomes(t, "two of three", func() (string, bool) { ok, why := left.standing(t); return why, ok })
}
