// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// TestUTF16: a UTF-16 file, as some Windows editors save, is distinguished from
// a file without a module.
func TestUTF16(t *testing.T) {
	for _, text := range []string{"\xff\xfe-\x00-\x00", "\xfe\xff\x00-\x00-"} {
		_, errs := ParseModule(source.NewFile("M.tla", []byte(text)))
		var b strings.Builder
		errs.Print(&b)
		if got := b.String(); !strings.Contains(got, "the file is in UTF-16 [ModuleMissing]") || !strings.Contains(got, "save it as UTF-8") {
			t.Errorf("%q: got %s", text, got)
		}
	}
}

// TestHabits checks the messages for beginners' mistakes. The input is the
// content of a module or, for the command `file`, a whole file.
func TestHabits(t *testing.T) {
	datadriven.RunTest(t, "testdata/habits", func(t *testing.T, d *datadriven.TestData) string {
		text := d.Input + "\n"
		if d.Cmd != "file" {
			text = "---- MODULE M ----\n" + text + "====\n"
		}
		_, errs := ParseModule(source.NewFile("M.tla", []byte(text)))
		if errs.Len() == 0 {
			return "it parses\n"
		}
		var b strings.Builder
		errs.Print(&b)
		return b.String()
	})
}
