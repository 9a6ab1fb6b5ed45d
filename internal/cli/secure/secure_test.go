// SPDX-License-Identifier: Apache-2.0

package secure_test

import (
	"testing"

	"github.com/ashlar-dev/ashlar/internal/cli/secure"
)

func TestAddr(t *testing.T) {
	for addr, private := range map[string]bool{
		"127.0.0.1:7400": true, "127.9.9.9:7400": true, "[::1]:7400": true, "localhost:7400": true,
		":7400": false, "0.0.0.0:7400": false, "[::]:7400": false, "192.0.2.1:7400": false, "localhost.example:7400": false, "127.0.0.1.example:7400": false,
		// An address of this machine, written so that it need not be taken for one.
		"[::ffff:127.0.0.1]:7400": true,
	} {
		if err := secure.Addr(addr, false, "--tls-cert"); (err == nil) != private {
			t.Errorf("%s without certificates: %v; want a refusal: %v", addr, err, !private)
		}
		if err := secure.Addr(addr, true, "--tls-cert"); err != nil {
			t.Errorf("%s where it is meant: %v", addr, err)
		}
	}
	if secure.Addr("127.0.0.1", true, "") == nil {
		t.Error("an address without a port was taken")
	}
}

func TestCertificatesBelongTogether(t *testing.T) {
	for _, c := range []secure.Certificates{{Cert: "c"}, {Key: "k"}, {CA: "a"}, {Cert: "c", Key: "k"}, {Cert: "c", CA: "a"}, {Key: "k", CA: "a"}} {
		if c.Check() == nil {
			t.Errorf("%+v was taken", c)
		}
		if _, err := c.Load(); err == nil {
			t.Errorf("%+v was loaded", c)
		}
	}
	if config, err := (secure.Certificates{}).Load(); err != nil || config != nil {
		t.Errorf("no certificates: %v, %v", config, err)
	}
}
