// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ashlar-dev/ashlar/internal/cli/memory"
	"github.com/ashlar-dev/ashlar/internal/cli/secure"
	"github.com/ashlar-dev/ashlar/internal/cli/size"
)

// config holds the settings from the command line and the configuration file. A
// flag takes precedence over the file.
type config struct {
	Dir     string `toml:"-"`
	Cluster string `toml:"cluster"`
	Listen  string `toml:"listen"`
	HTTP    string `toml:"http"`
	KV      string `toml:"kv"`
	KVTLS   bool   `toml:"kv-tls"`
	// Bare: no applications, registers only.
	Bare bool `toml:"registers-only"`
	// Volatile: the server stores nothing on the disk.
	Volatile bool `toml:"volatile"`
	Alone    bool `toml:"alone"`
	// Memory bounds the memory for registers, KVMemory that for keys and values, and
	// ConnsMax the number of connections.
	Memory   size.Value    `toml:"memory"`
	KVMemory size.Value    `toml:"kv-memory"`
	ConnsMax int           `toml:"connections-max"`
	Grace    time.Duration `toml:"grace"`
	TLSCert  string        `toml:"tls-cert"`
	TLSKey   string        `toml:"tls-key"`
	TLSCA    string        `toml:"tls-ca"`
	// Public allows listening on addresses other than loopback without TLS.
	Public  bool `toml:"public"`
	Verbose bool `toml:"verbose"`
}

// renamed maps old names of settings, whose values were in megabytes, to the new names.
// One old name is missing because it now has another meaning: memory is what volatile is
// now.
var renamed = map[string]string{"max-mb": "memory", "kv-max-mb": "kv-memory"}

func (c *config) flags(cmd *cobra.Command) (file *string) {
	f := cmd.Flags()
	f.SortFlags = false
	c.Memory = size.Value{Bytes: memoryDefault, Min: memoryMin}
	c.KVMemory = c.Memory
	file = f.String("config", "", "a TOML `FILE` with these settings, named like the flags; flags take precedence")
	f.StringVar(&c.Cluster, "cluster", "", "the cluster's description, `FILE`, from 'ashlard genesis'")
	f.StringVar(&c.Listen, "listen", "127.0.0.1:7420", "where to listen for clients and servers; port 0 is any free port")
	f.StringVar(&c.HTTP, "http", "", "where to serve the status page and /metrics, such as 127.0.0.1:7421")
	f.StringVar(&c.KV, "kv", "", "where to serve the Redis protocol, such as 127.0.0.1:6379")
	f.BoolVar(&c.KVTLS, "kv-tls", false, "require TLS on --kv too, with a client's certificate")
	f.Var(&c.KVMemory, "kv-memory", "at most `SIZE` of keys and values, such as 512M; beyond it writes are refused")
	f.BoolVar(&c.Bare, "registers-only", false, "do not host sequencers of logs or parts of the key-value store")
	f.BoolVar(&c.Volatile, "volatile", false, "store nothing on disk: acknowledged data is lost when the process ends")
	f.BoolVar(&c.Alone, "alone", false, "do not ask other servers whether this disk is the newest; dangerous if a disk was restored from a copy")
	f.Var(&c.Memory, "memory", "at most `SIZE` of registers, such as 512M; beyond it writes are refused until segments are trimmed")
	for old, now := range renamed {
		size.Renamed(cmd, old, fmt.Sprintf("--%[1]s SIZE, such as --%[1]s 4G", now))
	}
	others := cmd.FlagErrorFunc()
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var of interface{ GetFlag() *pflag.Flag }
		if errors.As(err, &of) && of.GetFlag().Name == "memory" {
			err = fmt.Errorf("%w; to store nothing on disk, use --volatile", err)
		}
		return others(cmd, err)
	})
	f.IntVar(&c.ConnsMax, "connections-max", 4096, "at most `N` connections")
	f.DurationVar(&c.Grace, "grace", 5*time.Second, "how long a stop waits for running requests")
	f.StringVar(&c.TLSCert, "tls-cert", "", "this server's certificate, `FILE` in PEM; with --tls-key and --tls-ca: both sides show one")
	f.StringVar(&c.TLSKey, "tls-key", "", "the key of the certificate, `FILE` in PEM")
	f.StringVar(&c.TLSCA, "tls-ca", "", "the authority that signs the other side's certificates, `FILE` in PEM")
	f.BoolVar(&c.Public, "public", false, "listen where other machines can connect without TLS, so that all of them may write")
	f.BoolVarP(&c.Verbose, "verbose", "v", false, "log more")
	return file
}

// read reads the configuration file, if there is one. Settings from the command line
// take precedence. It warns of settings that need more memory than the machine has.
func (c *config) read(cmd *cobra.Command, path string) error {
	if path != "" {
		if err := c.readFile(cmd, path); err != nil {
			return err
		}
	}
	if warning := c.tooMuch(memory.Available()); warning != "" {
		slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)).Warn(warning)
	}
	return nil
}

// kept returns the number of bytes of data that the server may hold in memory.
func (c *config) kept() int64 {
	if c.Bare {
		return c.Memory.Bytes
	}
	return c.Memory.Bytes + c.KVMemory.Bytes
}

// tooMuch returns a warning if the server may need more memory than is available, and
// "" otherwise. A negative available means that the amount is unknown.
func (c *config) tooMuch(available int64) string {
	flags := fmt.Sprintf("--memory %s", &c.Memory)
	if !c.Bare {
		flags = fmt.Sprintf("%s and --kv-memory %s", flags, &c.KVMemory)
	}
	if available < 0 || c.kept() <= available {
		return ""
	}
	return fmt.Sprintf("%s: more than the %d MiB of memory that are available; the system may kill the server before it refuses writes", flags, available>>20)
}

func (c *config) readFile(cmd *cobra.Command, path string) error {
	fromFile := *c
	meta, err := toml.DecodeFile(path, &fromFile)
	if err != nil {
		if at := (toml.ParseError{}); errors.As(err, &at) && at.LastKey == "memory" {
			err = fmt.Errorf("%w; to store nothing on disk, set volatile = true", err)
		}
		return fmt.Errorf("--config %s: %w", path, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		if now, ok := renamed[unknown[0].String()]; ok {
			return fmt.Errorf("%[1]s: the setting %[2]q is now %[3]q, which takes a size: %[3]s = \"4G\"", path, unknown[0].String(), now)
		}
		return fmt.Errorf("%s: there is no setting %q", path, unknown[0].String())
	}
	flags, given := cmd.Flags(), *c
	*c = fromFile
	for name, restore := range map[string]func(){
		"cluster": func() { c.Cluster = given.Cluster }, "listen": func() { c.Listen = given.Listen },
		"http": func() { c.HTTP = given.HTTP }, "kv": func() { c.KV = given.KV },
		"kv-tls": func() { c.KVTLS = given.KVTLS }, "kv-memory": func() { c.KVMemory = given.KVMemory },
		"registers-only": func() { c.Bare = given.Bare },
		"volatile":       func() { c.Volatile = given.Volatile }, "alone": func() { c.Alone = given.Alone },
		"memory": func() { c.Memory = given.Memory }, "connections-max": func() { c.ConnsMax = given.ConnsMax },
		"grace": func() { c.Grace = given.Grace }, "tls-cert": func() { c.TLSCert = given.TLSCert },
		"tls-key": func() { c.TLSKey = given.TLSKey }, "tls-ca": func() { c.TLSCA = given.TLSCA },
		"public": func() { c.Public = given.Public }, "verbose": func() { c.Verbose = given.Verbose },
	} {
		if flags.Changed(name) {
			restore()
		}
	}
	return nil
}

func (c *config) certificates() secure.Certificates {
	return secure.Certificates{Cert: c.TLSCert, Key: c.TLSKey, CA: c.TLSCA}
}

// check validates the settings.
func (c *config) check() error {
	switch {
	case c.ConnsMax < 1 || c.ConnsMax > 1<<20:
		return fmt.Errorf("--connections-max %d: want 1 to %d", c.ConnsMax, 1<<20)
	case c.Grace < 0:
		return fmt.Errorf("--grace %v: want a time that is not negative", c.Grace)
	case c.KV != "" && c.Bare:
		return errors.New("--kv needs the key-value store, which --registers-only leaves out")
	case c.KVTLS && c.TLSCert == "":
		return errors.New("--kv-tls needs --tls-cert, --tls-key and --tls-ca")
	}
	if err := c.certificates().Check(); err != nil {
		return err
	}
	for _, l := range []struct {
		flag, addr string
		secured    bool
	}{{"--listen", c.Listen, c.TLSCert != ""}, {"--http", c.HTTP, false}, {"--kv", c.KV, c.KVTLS}} {
		if l.addr == "" && l.flag != "--listen" {
			continue
		}
		if err := secure.Addr(l.addr, c.Public || l.secured, "--tls-cert and, for --kv, --kv-tls"); err != nil {
			return fmt.Errorf("%s %q: %w", l.flag, l.addr, err)
		}
	}
	return nil
}

// What registers, and keys and values, may take of the memory: where nothing is said, and
// at least.
const (
	memoryDefault = 4 << 30
	memoryMin     = 1 << 20
)
