// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGolden: a log that is made and used in a fixed way has the bytes that are in
// testdata, without the zeros. They must not change within a version;
// ASHLAR_GOLDEN=1 writes them for a new one.
func TestGolden(t *testing.T) {
	d, m := newDisk(t), &model{}
	w, err := begin(d, m, 1)
	must(t, err)
	must(t, w.play("mcaksacewacx"))
	var out strings.Builder
	for _, name := range []string{superName, "JOURNAL-00", "JOURNAL-01"} {
		file := content(t, d, func(n string) bool { return n == name })[name]
		for at := 0; at < len(file); at += 32 {
			if line := file[at:min(at+32, len(file))]; len(bytes.Trim(line, "\x00")) > 0 {
				fmt.Fprintf(&out, "%s %6d %s\n", name, at, hex.EncodeToString(line))
			}
		}
	}
	name := filepath.Join("testdata", "log.txt")
	if os.Getenv("ASHLAR_GOLDEN") != "" {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(name, []byte(out.String()), 0o644))
	}
	want, err := os.ReadFile(name)
	must(t, err)
	if got := out.String(); got != string(want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
