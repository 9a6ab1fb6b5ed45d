// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
)

// TestSection: a configuration in the file of a module is read with its
// positions.
func TestSection(t *testing.T) {
	text := "---- MODULE M ----\n====\n---- CONFIG Other ----\nINIT Wrong\n====\n---- CONFIG M ----\r\nINIT A\nNEXT B\nINVARIENT C\n====\nINIT After\n"
	got := config.Section([]byte(text), "M")
	if len(got) != len(text) || strings.Fields(string(got))[0] != "INIT" || strings.Contains(string(got), "After") {
		t.Fatalf("got %q", got)
	}
	var list source.List
	c := config.Parse(source.NewFile("M.tla", got), &list)
	if c.Init.Text != "A" || c.Next.Text != "B" || c.Init.Span.From().Line != 7 {
		t.Errorf("got %+v", c)
	}
	if got := list.Error(); !strings.HasPrefix(got, "M.tla:9:1: ") {
		t.Errorf("got %s", got)
	}
	for _, none := range []string{"", "---- CONFIG N ----\nINIT A\n====", "--- CONFIG M ---\nINIT A\n====", "\\* ---- CONFIG M ----\nINIT A"} {
		if got := config.Section([]byte(none), "M"); got != nil {
			t.Errorf("%q: got %q", none, got)
		}
	}
	if got := string(config.Section([]byte("---- CONFIG M ----\nINIT A"), "M")); strings.TrimSpace(got) != "INIT A" {
		t.Errorf("without an end: got %q", got)
	}
}
