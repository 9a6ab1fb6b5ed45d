// SPDX-License-Identifier: Apache-2.0

// Package secure controls access to a program: it reads the certificates that flags name,
// and refuses to listen without them on an address that strangers can reach.
//
// In: the flags --tls-cert, --tls-key, --tls-ca, --public and addresses. Out: settings for
// crypto/tls that authenticate both sides. Refused: some of the files without the others;
// an address reachable from other machines with neither certificates nor --public.
package secure

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/ashlar-dev/ashlar/internal/cli/exit"
)

// Certificates are files in PEM: the certificate of this side with its key, and the
// authority that signs those of the other side. The zero value is no TLS.
type Certificates struct{ Cert, Key, CA string }

// Check refuses a command line that names only some of the files.
func (c Certificates) Check() error {
	if some, all := c.Cert != "" || c.Key != "" || c.CA != "", c.Cert != "" && c.Key != "" && c.CA != ""; some && !all {
		return exit.With(exit.Usage, errors.New("--tls-cert, --tls-key and --tls-ca belong together: each side must prove its identity to the other"))
	}
	return nil
}

// Load reads the files, for both sides of a connection. Without certificates it returns
// nil.
func (c Certificates) Load() (*tls.Config, error) {
	if err := c.Check(); err != nil || c == (Certificates{}) {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert %s, --tls-key %s: %w", c.Cert, c.Key, err)
	}
	text, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, fmt.Errorf("--tls-ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--tls-ca %s: there is no certificate in it", c.CA)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair},
		ClientCAs: pool, RootCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}, nil
}

// Addr refuses an invalid address to listen at. It also refuses an address that other
// machines can reach, unless reachable says that this is intended. with names, for the
// error, what would make the address safe.
func Addr(addr string, reachable bool, with string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return errors.New("want HOST:PORT")
	}
	if ip := net.ParseIP(host); !reachable && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("can be reached from other machines: use TLS (%s), or --public", with)
	}
	return nil
}
