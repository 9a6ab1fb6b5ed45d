// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/ashlar-dev/ashlar/internal/dedalus/deploy"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/lower"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
	"github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/source"
)

var update = flag.Bool("rewrite", false, "write the golden files anew")

// load reads an example, rewritten by its script where that is asked for.
func load(t testing.TB, name string, rewritten bool) *logic.Program {
	t.Helper()
	text, err := os.ReadFile("../../../examples/dedalus/" + name + ".ded")
	if err != nil {
		t.Fatal(err)
	}
	var diags source.List
	f := syntax.Parse(source.NewFile(name, text), &diags)
	p := lower.Lower(f, &diags)
	if p == nil {
		t.Fatal(diags.Err())
	}
	if !rewritten {
		return p
	}
	steps, err := os.ReadFile("../../../examples/dedalus/" + name + ".steps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(steps)) {
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		s, err := rewrite.ParseStep(line)
		if err != nil {
			t.Fatal(err)
		}
		if p, _, err = rewrite.Apply(p, s); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// cases are what the golden files are of: voting on more machines has partitions and
// nothing to keep but a piece that carries votes; Paxos is durable.
func cases(t testing.TB) map[string]*logic.Program {
	return map[string]*logic.Program{"voting": load(t, "voting", true), "paxos": load(t, "paxos", false)}
}

// TestGolden: what is written, and that it is written again.
func TestGolden(t *testing.T) {
	for name, p := range cases(t) {
		for _, f := range deploy.Formats() {
			files, err := deploy.Write(p, f, deploy.Options{})
			if err != nil {
				t.Fatal(err)
			}
			again, err := deploy.Write(p, f, deploy.Options{})
			if err != nil || !cmp.Equal(files, again) {
				t.Errorf("%s for %s is not written twice alike: %v", name, f, err)
			}
			dir := filepath.Join("testdata", name, string(f))
			if *update {
				if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o777)); err != nil {
					t.Fatal(err)
				}
				for _, file := range files {
					if err := os.WriteFile(filepath.Join(dir, file.Name), file.Text, 0o666); err != nil {
						t.Fatal(err)
					}
				}
			}
			var names []string
			for _, file := range files {
				names = append(names, file.Name)
				want, err := os.ReadFile(filepath.Join(dir, file.Name))
				if err != nil {
					t.Error(err)
				} else if d := cmp.Diff(string(want), string(file.Text)); d != "" {
					t.Errorf("%s/%s:\n%s", dir, file.Name, d)
				}
			}
			there, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range there {
				if !slices.Contains(names, e.Name()) {
					t.Errorf("%s/%s is not written any more", dir, e.Name())
				}
			}
		}
	}
}

// TestNumbers: the processes of a component with partitions, and what is kept.
func TestNumbers(t *testing.T) {
	d := deploy.New(load(t, "voting", true))
	var got []string
	for i := range d.Processes {
		p := &d.Processes[i]
		got = append(got, fmt.Sprintf("%s id %d of %s, partition %d, with %v, keeps %v", p.Node, p.ID, p.Self, p.Partition, d.Pieces(p), d.Keeps(p)))
	}
	want := []string{
		"leader/0 id 0 of leader/0, partition 0, with [collector/0 collector/1 replier/0], keeps false",
		"participant/0 id 0 of participant/0, partition 0, with [participant/1], keeps false",
		"participant/1 id 1 of participant/0, partition 1, with [participant/0], keeps false",
		"participant/2 id 2 of participant/1, partition 0, with [participant/3], keeps false",
		"participant/3 id 3 of participant/1, partition 1, with [participant/2], keeps false",
		"participant/4 id 4 of participant/2, partition 0, with [participant/5], keeps false",
		"participant/5 id 5 of participant/2, partition 1, with [participant/4], keeps false",
		"collector/0 id 0 of leader/0, partition 0, with [leader/0 collector/1 replier/0], keeps true",
		"collector/1 id 1 of leader/0, partition 1, with [leader/0 collector/0 replier/0], keeps true",
		"replier/0 id 0 of leader/0, partition 0, with [leader/0 collector/0 collector/1], keeps false",
	}
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if in, out := d.Component("leader").Inputs, d.Component("replier").Outputs; !slices.Equal(in, []string{"clientIn"}) || !slices.Equal(out, []string{"clientOut"}) {
		t.Errorf("clients have to do with %v and %v", in, out)
	}
	if d := deploy.New(load(t, "paxos", false)); !d.Keeps(d.Process("acceptor/2")) || !d.Component("acceptor").Durable {
		t.Error("an acceptor keeps nothing")
	}
}

// TestRead: what was written is read; what is wrong with one that was changed is said.
func TestRead(t *testing.T) {
	files, err := deploy.Write(load(t, "voting", true), deploy.Local, deploy.Options{Hosts: []string{"10.0.0.1", "10.0.0.2"}})
	if err != nil {
		t.Fatal(err)
	}
	text := string(files[0].Text)
	d, err := deploy.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := d.Append(nil); err != nil || string(again) != text {
		t.Errorf("read and written it is another one: %v", err)
	}
	if a, b := d.Processes[0].Addr, d.Processes[3].Addr; a != "10.0.0.1:7400" || b != "10.0.0.2:7401" {
		t.Errorf("the first is at %s, the fourth at %s", a, b)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"ashlar-dedalus-deployment-1"`, `"other"`, "schema"},
		{`"10.0.0.2:7401"`, `"10.0.0.2:7400"`, "the same address"},
		{`"10.0.0.2:7401"`, `"10.0.0.2"`, "want HOST:PORT"},
		{`"10.0.0.2:7401"`, `""`, "want HOST:PORT"},
		{`"10.0.0.2:7401"`, `":7401"`, "want HOST:PORT"},
		{`"10.0.0.2:7401"`, `"::1:7401"`, "want HOST:PORT"},
		{`"10.0.0.2:7401"`, `"[::1:7401"`, "want HOST:PORT"},
		{`"10.0.0.2:7401"`, `"10.0.0.2:74010"`, "want HOST:PORT"},
		{`"10.0.0.2:7401"`, `"10.0.0.2:0"`, "want HOST:PORT"},
		{`"node": "collector/1"`, `"node": "collector/0"`, "each node once"},
		{`"node": "collector/1"`, `"node": "collector/7"`, "want node collector/1"},
		{`"component": "replier"`, `"component": "nobody"`, "which the deployment does not list"},
		{`"instances": 3`, `"instances": 4`, "the components need"},
		{`"instances": 3`, `"instances": 4000000000`, "want 1 to"},
		{`"partitions": 2`, `"partitions": 0`, "want 1 to"},
		{`"name": "replier"`, `"name": "leader"`, "is listed twice"},
		{`"name": "replier"`, `"name": "a/b"`, "not a valid component name"},
		{`"program"`, `"programm"`, "unknown field"},
	} {
		changed := strings.Replace(text, c.old, c.new, 1)
		if changed == text {
			t.Fatalf("there is no %s", c.old)
		}
		if _, err := deploy.Read([]byte(changed)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: %v, want %q", c.new, c.old, err, c.want)
		}
	}
	if _, err := deploy.Read([]byte(strings.Replace(text, `"10.0.0.2:7401"`, `"[::1]:7401"`, 1))); err != nil {
		t.Error(err)
	}
	if err := d.Place([]string{"::1"}, 7400, true); err != nil || d.Processes[1].Status != "[::1]:7403" || d.Validate() != nil {
		t.Errorf("%v, %+v", err, d.Processes[1])
	}
	if _, err := deploy.Read([]byte(text + "{}")); err == nil {
		t.Error("more behind it is read")
	}
	if _, err := deploy.Read(make([]byte, deploy.BytesMax+1)); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Errorf("a long one: %v", err)
	}
}

// TestRefused: options that would not be what they are in the files.
func TestRefused(t *testing.T) {
	p := load(t, "voting", false)
	for _, o := range []deploy.Options{{Image: `a" b`}, {Storage: "1 Gi"}, {Hosts: []string{"$(x)"}}, {Port: 65535}} {
		if _, err := deploy.Write(p, deploy.Local, o); err == nil {
			t.Errorf("%+v is allowed", o)
		}
	}
	if _, err := deploy.Write(p, "other", deploy.Options{}); err == nil {
		t.Error("a format that there is not")
	}
	q := p.Clone()
	q.Components[0].Name = "Participant"
	if _, err := deploy.Write(q, deploy.Compose, deploy.Options{}); err == nil || !strings.Contains(err.Error(), "rename one") {
		t.Errorf("two components of one label: %v", err)
	}
}

// TestSystemd has systemd look at the units.
func TestSystemd(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	for name, p := range cases(t) {
		files, err := deploy.Write(p, deploy.Systemd, deploy.Options{Hosts: []string{"10.0.0.1", "10.0.0.2"}})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		var units []string
		for _, f := range files[1:] {
			// The program is not installed; any that is there will do.
			text := bytes.ReplaceAll(f.Text, []byte("/usr/local/bin/"+name), []byte("/bin/true"))
			units = append(units, filepath.Join(dir, f.Name))
			if err := os.WriteFile(units[len(units)-1], text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(tool, append([]string{"verify", "--man=no", "--recursive-errors=no"}, units...)...)
		cmd.Env = append(os.Environ(), "SYSTEMD_UNIT_PATH="+dir+":")
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), dir) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// documents reads all YAML documents.
func documents(t *testing.T, text []byte) (out []map[string]any) {
	t.Helper()
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var doc map[string]any
		err := d.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, doc)
	}
}

// at follows keys and numbers in what was read; nil where there is nothing.
func at(v any, path ...any) any {
	for _, k := range path {
		switch k := k.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[k]
		case int:
			l, _ := v.([]any)
			if k >= len(l) {
				return nil
			}
			v = l[k]
		}
	}
	return v
}

func written(t *testing.T, p *logic.Program, f deploy.Format, name string) (*deploy.Description, []byte) {
	t.Helper()
	files, err := deploy.Write(p, f, deploy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := deploy.Read(files[0].Text)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if file.Name == name {
			return d, file.Text
		}
	}
	t.Fatalf("%s has no %s", f, name)
	return nil, nil
}

// TestCompose reads the project as YAML: a service for each process, at the name that
// the deployment has, and all that it refers to.
func TestCompose(t *testing.T) {
	for name, p := range cases(t) {
		d, text := written(t, p, deploy.Compose, "compose.yaml")
		docs := documents(t, text)
		if len(docs) != 1 {
			t.Fatalf("%d documents", len(docs))
		}
		services, _ := docs[0]["services"].(map[string]any)
		if len(services) != len(d.Processes) {
			t.Errorf("%s: %d services for %d processes", name, len(services), len(d.Processes))
		}
		for i := range d.Processes {
			process := &d.Processes[i]
			host, _, _ := strings.Cut(process.Addr, ":")
			s := services[host]
			command := fmt.Sprint(at(s, "command"))
			if !strings.Contains(command, "--node="+process.Node+" ") || at(s, "configs", 0, "source") != "deployment" ||
				at(docs[0], "networks", at(s, "networks", 0)) == nil || at(s, "read_only") != true {
				t.Errorf("%s: service %s is %v", name, host, s)
			}
			volume := at(s, "volumes", 0)
			if d.Keeps(process) != (volume == host+":/data") || d.Keeps(process) != strings.Contains(command, "--data=/data") ||
				d.Keeps(process) == strings.Contains(command, "--volatile") {
				t.Errorf("%s: %s has the volume %v and is started by %s", name, host, volume, command)
			}
			if _, ok := at(docs[0], "volumes").(map[string]any)[host]; ok != d.Keeps(process) {
				t.Errorf("%s: the volume %s is declared: %v", name, host, ok)
			}
		}
	}
}

// TestKubernetes reads the manifests as YAML, and compares what must agree among them
// and with the deployment.
func TestKubernetes(t *testing.T) {
	for name, p := range cases(t) {
		d, text := written(t, p, deploy.Kubernetes, name+".yaml")
		sets, services := map[string]map[string]any{}, map[string]map[string]any{}
		for _, doc := range documents(t, text) {
			key := fmt.Sprint(at(doc, "metadata", "name"))
			switch doc["kind"] {
			case "StatefulSet":
				sets[key] = doc
			case "Service":
				services[key] = doc
			case "ConfigMap":
				inside, err := deploy.Read([]byte(fmt.Sprint(at(doc, "data", "deployment.json"))))
				if err != nil || !cmp.Equal(inside, d) {
					t.Errorf("%s: the deployment within is another one: %v", name, err)
				}
			default:
				t.Errorf("a %v", doc["kind"])
			}
		}
		if len(sets) != len(d.Components) || len(services) != len(d.Components) {
			t.Errorf("%s: %d sets and %d services for %d components", name, len(sets), len(services), len(d.Components))
		}
		for i := range d.Processes {
			process := &d.Processes[i]
			c := d.Component(process.Component)
			host, _, _ := strings.Cut(process.Addr, ":")
			pod, service, _ := strings.Cut(host, ".")
			set := strings.TrimSuffix(pod, fmt.Sprint("-", process.ID))
			s := sets[set]
			labels := at(s, "spec", "template", "metadata", "labels")
			container := at(s, "spec", "template", "spec", "containers", 0)
			args := fmt.Sprint(at(container, "args"))
			switch {
			case services[service] == nil || at(s, "spec", "serviceName") != service:
				t.Errorf("%s: %s is found by no service", name, process.Node)
			case at(s, "spec", "replicas") != c.Instances*c.Partitions:
				t.Errorf("%s: %v replicas of %s", name, at(s, "spec", "replicas"), set)
			case !cmp.Equal(labels, at(s, "spec", "selector", "matchLabels")), !cmp.Equal(labels, at(services[service], "spec", "selector")):
				t.Errorf("%s: %s is not what its service or its set select", name, pod)
			case !strings.Contains(args, "--node="+process.Component+"/$(ORDINAL) "):
				t.Errorf("%s: %s is started by %s", name, pod, args)
			case d.Keeps(process) != (at(s, "spec", "volumeClaimTemplates", 0, "metadata", "name") == "data"),
				d.Keeps(process) != strings.Contains(args, "--data=/data"), d.Keeps(process) == strings.Contains(args, "--volatile"):
				t.Errorf("%s: %s keeps: %v, and is started by %s", name, pod, d.Keeps(process), args)
			}
			for _, m := range at(container, "volumeMounts").([]any) {
				v := at(m, "name")
				if !slices.ContainsFunc(at(s, "spec", "template", "spec", "volumes").([]any), func(x any) bool { return at(x, "name") == v }) &&
					at(s, "spec", "volumeClaimTemplates", 0, "metadata", "name") != v {
					t.Errorf("%s: %s mounts %v, which there is not", name, pod, v)
				}
			}
		}
	}
}

// TestKubernetesFields has kubectl, which knows the fields of each kind, read the
// manifests: a field that it does not know it would leave out.
func TestKubernetesFields(t *testing.T) {
	tool, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not installed")
	}
	// Some kubectl ask the server for its version all the same, to be as old as it is,
	// and without a configuration that is whoever listens on port 8080.
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: %q}}]
contexts: [{name: none, context: {cluster: none}}]
current-context: none
`, server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, p := range cases(t) {
		_, text := written(t, p, deploy.Kubernetes, name+".yaml")
		for _, doc := range documents(t, text) {
			if doc["kind"] != "StatefulSet" {
				continue // the others have too few fields to be wrong
			}
			in, err := yaml.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			// To set a variable it reads the manifest into its types and writes it again;
			// with --local it asks no server.
			cmd := exec.Command(tool, "set", "env", "--local", "-f", "-", "-o", "json", "ADDED=1")
			cmd.Stdin = bytes.NewReader(in)
			cmd.Env = append(os.Environ(), "KUBECONFIG="+config)
			out, err := cmd.Output()
			if err != nil {
				var e *exec.ExitError
				errors.As(err, &e)
				t.Fatalf("%v\n%s", err, e.Stderr)
			}
			var back map[string]any
			if err := json.Unmarshal(out, &back); err != nil {
				t.Fatal(err)
			}
			if lost := missing("", normal(t, doc), back); lost != "" {
				t.Errorf("%s %v: kubectl does not know %s", name, at(doc, "metadata", "name"), lost)
			}
			doc["spec"].(map[string]any)["replica"] = 1
			if lost := missing("", normal(t, doc), back); lost != ".spec.replica" {
				t.Errorf("a field that there is not: %q", lost)
			}
		}
	}
}

// normal is what was read as YAML as if it had been read as JSON.
func normal(t *testing.T, v any) (out any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// missing is the first place of v that w has not, or has otherwise.
func missing(place string, v, w any) string {
	switch v := v.(type) {
	case map[string]any:
		m, ok := w.(map[string]any)
		if !ok {
			return place
		}
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			inner, ok := m[k]
			if !ok {
				return place + "." + k
			}
			if lost := missing(place+"."+k, v[k], inner); lost != "" {
				return lost
			}
		}
		return ""
	case []any:
		l, ok := w.([]any)
		if !ok || len(l) < len(v) {
			return place
		}
		for i := range v {
			if lost := missing(fmt.Sprintf("%s[%d]", place, i), v[i], l[i]); lost != "" {
				return lost
			}
		}
		return ""
	}
	if fmt.Sprint(v) != fmt.Sprint(w) {
		return place
	}
	return ""
}

// TestScript has a shell read the script.
func TestScript(t *testing.T) {
	tool, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	_, text := written(t, load(t, "voting", true), deploy.Local, "start.sh")
	cmd := exec.Command(tool, "-n")
	cmd.Stdin = bytes.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// FuzzRead: whatever is read, it is whole or refused, and written it is read again.
func FuzzRead(f *testing.F) {
	files, err := deploy.Write(load(f, "voting", true), deploy.Systemd, deploy.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(files[0].Text)
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := deploy.Read(text)
		if err != nil {
			return
		}
		again, err := d.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := deploy.Read(again); err != nil {
			t.Fatal(err)
		}
		for i := range d.Processes {
			d.Keeps(&d.Processes[i])
		}
	})
}
