// SPDX-License-Identifier: Apache-2.0

package dedalusd

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// TestStatusOfFew: connections that say nothing keep so many places and no more, are
// gone after a time, and do not keep the page from ending.
func TestStatusOfFew(t *testing.T) {
	p, err := listenHTTP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	var silent []net.Conn
	closed := 0
	for range httpConnsMax + 20 {
		c, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		silent = append(silent, c)
	}
	// Those for which there was no place are closed; the others wait.
	for _, c := range silent[httpConnsMax:] {
		if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err == io.EOF || isReset(err) {
			closed++
		}
	}
	if closed != 20 {
		t.Errorf("%d of 20 were closed", closed)
	}
	for _, c := range silent {
		c.Close()
	}
	client := http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		// A place is free as soon as the server has seen that one has gone.
		r, err := client.Get("http://" + p.addr + "/status.json")
		if err != nil {
			if ne, ok := err.(interface{ Timeout() bool }); ok && ne.Timeout() {
				t.Fatal(err)
			}
			continue
		}
		r.Body.Close()
		if r.StatusCode != http.StatusOK {
			t.Errorf("%v", r.Status)
		}
		return
	}
}

func isReset(err error) bool {
	_, ok := err.(*net.OpError)
	if ne, timeout := err.(net.Error); timeout && ne.Timeout() {
		return false
	}
	return ok
}
