// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"bufio"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rule is a line of rooms.txt.
type rule struct {
	room    string
	subtree bool // the line covers the packages below room as well
	allowed []string
}

func readRules(t *testing.T) []rule {
	t.Helper()
	f, err := os.Open("rooms.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rules []rule
	lists := map[string][]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if name, list, ok := strings.Cut(line, " = "); ok {
			lists[name] = strings.Fields(list)
			continue
		}
		name, right, ok := strings.Cut(line, ":")
		if !ok {
			t.Fatalf("rooms.txt: no colon in %q", line)
		}
		room, subtree := strings.CutSuffix(name, "/...")
		var allowed []string
		for _, a := range strings.Fields(right) {
			if list, ok := lists[a]; ok {
				allowed = append(allowed, list...)
			} else {
				allowed = append(allowed, a)
			}
		}
		rules = append(rules, rule{room: room, subtree: subtree, allowed: allowed})
	}
	return rules
}

// covers reports whether pattern (a package, or a tree ending in /...) names pkg.
func covers(pattern, pkg string) bool {
	tree, subtree := strings.CutSuffix(pattern, "...")
	if !subtree {
		return pattern == pkg
	}
	return tree == "" || strings.HasPrefix(pkg+"/", tree)
}

// ruleFor finds the most specific rule that covers pkg.
func ruleFor(rules []rule, pkg string) *rule {
	var best *rule
	for i, r := range rules {
		if r.room == pkg || r.subtree && strings.HasPrefix(pkg, r.room+"/") {
			if best == nil || len(r.room) > len(best.room) {
				best = &rules[i]
			}
		}
	}
	return best
}

// breach returns why pkg may not import imported, or "".
func breach(rules []rule, pkg, imported string) string {
	if imported == "internal/source" || imported == "internal/invariant" {
		return ""
	}
	r := ruleFor(rules, pkg)
	if r == nil {
		return "has no line in rooms.txt"
	}
	for _, a := range r.allowed {
		if covers(a, imported) {
			return ""
		}
	}
	return "may not import " + imported
}

// ourPackage is the directory of a package of this module, "." for the root's.
func ourPackage(imported string) (dir string, ours bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

func TestImportsFollowTheRooms(t *testing.T) {
	rules := readRules(t)
	_, files := goFiles(t)
	for _, f := range files {
		if f.test {
			continue
		}
		for _, spec := range f.ast.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			if imported, ours := ourPackage(p); ours {
				if why := breach(rules, f.pkg, imported); why != "" {
					t.Errorf("%s: package %s %s", f.path, f.pkg, why)
				}
			}
		}
	}
}

// TestTheRoomsRuleBites shows that the test above can fail.
func TestTheRoomsRuleBites(t *testing.T) {
	rules := readRules(t)
	for _, c := range []struct {
		pkg, imported string
		refused       bool
	}{
		{"internal/tla/syntax", "internal/source", false},
		{"internal/tla/syntax", "internal/model", true},
		{"internal/check", "tla/value", true},
		{"internal/check", ".", true},
		{"internal/cli/trace", ".", false},
		{"internal/check", "internal/check/fpset", false},
		{"distsys", "internal/conform", true},
		{"cmd/ashlar", "internal/check", false},
		{"internal/model/tree", "internal/model/closure", true},
		{"internal/model/closure", "internal/model/tree", true},
		{"internal/dedalus/certificate", "internal/dedalus/rewrite", true},
		{"internal/dedalus/explore", "internal/dedalus/rewrite", true},
		{"internal/dedalus/rewrite", "internal/dedalus/certificate", false},
		{"internal/store/journal", "internal/store/branch", true},
		{"internal/cli/check", "internal/cli/report", false},
		{"internal/cli/check", "internal/cli/store", true},
		{"newroom", "internal/check", true},
	} {
		imported, ours := ourPackage(path.Join(module, c.imported))
		if !ours || imported != c.imported {
			t.Errorf("%s is package %s, ours: %v", c.imported, imported, ours)
		}
		if got := breach(rules, c.pkg, imported) != ""; got != c.refused {
			t.Errorf("%s importing %s: refused %v, want %v", c.pkg, c.imported, got, c.refused)
		}
	}
}

// TestAshlarHasNoServer: the client program of a cluster has no status page, no metrics
// and no configuration files.
func TestAshlarHasNoServer(t *testing.T) {
	_, files := goFiles(t)
	imports := map[string]map[string]bool{}
	for _, f := range files {
		if f.test {
			continue
		}
		if imports[f.pkg] == nil {
			imports[f.pkg] = map[string]bool{}
		}
		for _, spec := range f.ast.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			imports[f.pkg][p] = true
		}
	}
	reached := func(program string) (of map[string]bool) {
		of = map[string]bool{}
		for todo := []string{path.Join(module, program)}; len(todo) > 0; todo = todo[1:] {
			if of[todo[0]] {
				continue
			}
			of[todo[0]] = true
			if dir, ours := ourPackage(todo[0]); ours {
				todo = append(todo, slices.Collect(maps.Keys(imports[dir]))...)
			}
		}
		return of
	}
	ashlar, ashlard := reached("cmd/ashlar"), reached("cmd/ashlard")
	for _, p := range []string{module + "/cmd/ashlard/daemon", "github.com/prometheus/client_golang/prometheus", "github.com/BurntSushi/toml"} {
		if ashlar[p] || !ashlard[p] {
			t.Errorf("%s is in ashlar: %v, in ashlard: %v; want ashlard alone", p, ashlar[p], ashlard[p])
		}
	}
	// These look methods up by name, so that the linker keeps every exported one: 2 MB.
	for _, p := range []string{"text/template", "html/template"} {
		if ashlar[p] {
			t.Errorf("a package of ashlar imports %s; see docs/decisions/commands.md, the size of the program", p)
		}
	}
}
