// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/store"
)

// The names of keyspaces are printed, and the keys of one are shown as its users know
// them; a name that the store does not have is refused, and not made.
func TestKeyspaces(t *testing.T) {
	dir := t.TempDir()
	disk, err := osenv.OpenDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	world := osenv.New()
	world.Disk = disk
	db, err := store.Open(world, "db", treeOptions)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"users", "two\nlines"} {
		k, e := db.Keyspace(name)
		if err = errors.Join(err, e); err == nil {
			err = k.Put([]byte("ann"), []byte("in "+name))
		}
	}
	if err := errors.Join(err, db.Put([]byte("plain"), nil), db.Close()); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "db")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{0, "\"two\\nlines\"\nusers\n", []string{"keyspaces", at}},
		{0, `{"schema":"ashlar-store-keyspaces/1","keyspaces":["two\nlines","users"]}` + "\n", []string{"keyspaces", "--json", at}},
		{0, `"ann"  8 bytes "in users"`, []string{"dump", at, "--keys", "--keyspace", "users"}},
		{0, "", []string{"dump", at, "--keys", "--keyspace", "users", "b"}},
		{1, "no such keyspace", []string{"dump", at, "--keys", "--keyspace", "absent"}},
		{exit.Usage, "--keyspace without --keys", []string{"dump", at, "--keyspace", "users"}},
		{0, "users\n", []string{"keyspaces", at}},
	} {
		code, out, text := run(t, c.args...)
		if code != 0 {
			out = text
		}
		if code != c.code || !strings.Contains(out, c.want) || c.want == "" && out != "" || strings.Contains(out, "plain") || strings.Contains(out, "absent\n") {
			t.Errorf("%q: exit code %d, %q; want %d, %q", c.args, code, out, c.code, c.want)
		}
	}
	if code, out, _ := run(t, "verify", at); code != 0 || !strings.Contains(out, "sound") {
		t.Errorf("verify: exit code %d, %q", code, out)
	}
}
