// SPDX-License-Identifier: Apache-2.0

package ports_test

import (
	"net/netip"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/evidence/ports"
)

// TestFree: the addresses differ, and are not among those that the system assigns.
func TestFree(t *testing.T) {
	addrs, err := ports.Free(200)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[netip.AddrPort]bool{}
	for _, text := range addrs {
		a, err := netip.ParseAddrPort(text)
		if err != nil {
			t.Fatal(err)
		}
		if seen[a] || !a.Addr().IsLoopback() || a.Port() < 1024 || a.Port() >= 32768 {
			t.Errorf("%s; found before: %t", text, seen[a])
		}
		seen[a] = true
	}
	if len(seen) != 200 {
		t.Errorf("%d addresses", len(seen))
	}
}
