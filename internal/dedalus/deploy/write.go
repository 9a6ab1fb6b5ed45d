// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// File is a file to be written.
type File struct {
	Name       string
	Text       []byte
	Executable bool
}

// Format is the system that starts the processes.
type Format string

// The formats.
const (
	Local      Format = "local"
	Systemd    Format = "systemd"
	Compose    Format = "compose"
	Kubernetes Format = "kubernetes"
)

// Formats lists all formats.
func Formats() []Format { return []Format{Local, Systemd, Compose, Kubernetes} }

// Options state where the processes run.
type Options struct {
	// Hosts lists the machines, for Local and Systemd. Default: 127.0.0.1.
	Hosts []string
	// Port is the first port. Default: PortDefault.
	Port int
	// Image is the container image, for Compose and Kubernetes. Default: the program's
	// name.
	Image string
	// Storage is the size of a volume, for Kubernetes. Default: 1Gi.
	Storage string
}

// PortDefault is the first port of a deployment.
const PortDefault = 7400

// ports of a container: for instances and clients, and for status.
const (
	containerPort = 7400
	statusPort    = 7401
)

// check says what is wrong with options that go into files as they are.
func (o *Options) check() error {
	plain := func(s, more string) bool {
		return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(more, r)
		})
	}
	if !plain(o.Image, "._-/:@") {
		return fmt.Errorf("image %q is not a valid image name", o.Image)
	}
	if !plain(o.Storage, ".") {
		return fmt.Errorf("storage %q is not a size; write it as in 10Gi", o.Storage)
	}
	for _, h := range o.Hosts {
		if !plain(h, ".-:") {
			return fmt.Errorf("host %q is neither a name nor an address", h)
		}
	}
	return nil
}

// Write describes a deployment of a program and returns the files for a format. The
// first is deployment.json. An error states what the format does not allow.
func Write(p *logic.Program, f Format, o Options) ([]File, error) {
	if o.Port == 0 {
		o.Port = PortDefault
	}
	name, err := label(p.Name)
	if err != nil {
		return nil, err
	}
	if o.Image == "" {
		o.Image = name + ":latest"
	}
	if o.Storage == "" {
		o.Storage = "1Gi"
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	d := New(p)
	w := &writer{d: d, Name: name, Options: o}
	if err := w.place(f); err != nil {
		return nil, err
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	text, err := d.Append(nil)
	if err != nil {
		return nil, err
	}
	w.Deployment = string(text)
	w.files = []File{{Name: "deployment.json", Text: text}}
	switch f {
	case Local:
		w.local()
	case Systemd:
		w.systemd()
	case Compose:
		w.compose()
	case Kubernetes:
		w.kubernetes()
	default:
		return nil, fmt.Errorf("unknown format %q; want one of %v", f, Formats())
	}
	return w.files, nil
}

// writer collects the files of a deployment.
type writer struct {
	Options
	d          *Description
	Name       string // of the program, as a label
	Deployment string
	files      []File
}

// place gives addresses and looks whether the names of components stay apart.
func (w *writer) place(f Format) error {
	labels := map[string]string{}
	for _, c := range w.d.Components {
		l, err := label(c.Name)
		if err != nil {
			return err
		}
		if other, ok := labels[l]; ok {
			return fmt.Errorf("components %s and %s would both have the label %s; rename one", other, c.Name, l)
		}
		labels[l] = c.Name
	}
	switch f {
	case Local:
		return w.d.Place(w.Hosts, w.Port, false)
	case Systemd:
		return w.d.Place(w.Hosts, w.Port, true)
	}
	for i := range w.d.Processes {
		p := &w.d.Processes[i]
		host := w.label(p)
		if f == Kubernetes { // the name of a pod, and of the service that it is found by
			host = fmt.Sprintf("%s-%d.%s", w.set(p.Component), p.ID, w.set(p.Component))
		}
		p.Addr, p.Status = fmt.Sprintf("%s:%d", host, containerPort), fmt.Sprintf("%s:%d", host, statusPort)
	}
	return nil
}

// labelMax is how long a label may be that something is still added to: 63 is the
// limit of a name in DNS.
const labelMax = 40

// label is a name in lower case, digits and dashes.
func label(name string) (string, error) {
	l := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, name), "-")
	if l == "" || len(l) > labelMax || l[0] >= '0' && l[0] <= '9' {
		return "", fmt.Errorf("component %q has no valid label; its name needs a letter first, then letters and digits, at most %d characters", name, labelMax)
	}
	return l, nil
}

// must is label where it was looked at before.
func must(name string) string { l, _ := label(name); return l }

// label is the name of a process where only labels are allowed.
func (w *writer) label(p *Process) string { return fmt.Sprintf("%s-%d", must(p.Component), p.ID) }

// set is the name of a component beside other programs.
func (w *writer) set(component string) string {
	return strings.TrimRight(w.Name[:min(len(w.Name), 62-labelMax/2)], "-") + "-" + must(component)
}

// keeps reports whether a component needs a place on a disk: whether its processes do.
func (w *writer) keeps(c *Component) bool {
	i := slices.IndexFunc(w.d.Processes, func(p Process) bool { return p.Component == c.Name })
	return w.d.Keeps(&w.d.Processes[i])
}

// data is the argument that says where a process keeps what is durable.
func data(keeps bool) string {
	if keeps {
		return "--data=/data"
	}
	return "--volatile"
}

// loopback reports whether all processes are on this machine only.
func (w *writer) loopback() bool {
	return !slices.ContainsFunc(w.d.Processes, func(p Process) bool { return !strings.HasPrefix(p.Addr, "127.") })
}

// fill fills in the places of a text: the program's name, and what pairs name.
func (w *writer) fill(text string, pairs ...string) string {
	old := []string{"<<name>>", w.Name}
	for i := 0; i < len(pairs); i += 2 {
		old = append(old, "<<"+pairs[i]+">>", pairs[i+1])
	}
	return strings.NewReplacer(old...).Replace(text)
}

// add adds a file: a text with its places filled in.
func (w *writer) add(name, text string, pairs ...string) {
	w.files = append(w.files, File{Name: name, Text: []byte(w.fill(text, pairs...)), Executable: strings.HasSuffix(name, ".sh")})
}

// local writes a script that starts all processes.
func (w *writer) local() {
	var starts strings.Builder
	for i := range w.d.Processes {
		p := &w.d.Processes[i]
		fmt.Fprintf(&starts, "start %s %s\n", p.Node, w.label(p))
	}
	w.add("start.sh", localScript, "processes", starts.String())
}

// systemd writes a unit for each process, and a target for all.
func (w *writer) systemd() {
	public := " --public"
	if w.loopback() {
		public = ""
	}
	var wants strings.Builder
	for i := range w.d.Processes {
		p := &w.d.Processes[i]
		condition := ""
		if len(w.Hosts) > 1 {
			condition = "ConditionHost=" + w.Hosts[i%len(w.Hosts)] + "\n"
		}
		unit := w.Name + "-" + w.label(p) + ".service"
		w.add(unit, systemdUnit, "node", p.Node, "label", w.label(p), "condition", condition, "public", public)
		fmt.Fprintf(&wants, "Wants=%s\n", unit)
	}
	w.add(w.Name+".target", systemdTarget, "processes", wants.String())
}

// compose writes a service for each process, and how its image is built.
func (w *writer) compose() {
	var services, volumes strings.Builder
	for i := range w.d.Processes {
		p := &w.d.Processes[i]
		volume := ""
		if w.d.Keeps(p) {
			if volumes.Len() == 0 {
				volumes.WriteString("volumes:\n")
			}
			volume = "    volumes:\n      - " + w.label(p) + ":/data\n"
			fmt.Fprintf(&volumes, "  %s: {}\n", w.label(p))
		}
		services.WriteString(w.fill(composeService, "label", w.label(p), "image", w.Image, "node", p.Node, "data", data(w.d.Keeps(p)), "volume", volume))
	}
	w.add("compose.yaml", composeFile, "services", services.String(), "volumes", volumes.String())
	w.add("Dockerfile", dockerFile)
}

// kubernetes writes a service and a set of pods for each component, and how their image
// is built.
func (w *writer) kubernetes() {
	const pad = "    "
	text := w.fill(kubernetesFile, "deployment", pad+strings.ReplaceAll(strings.TrimSuffix(w.Deployment, "\n"), "\n", "\n"+pad))
	for i := range w.d.Components {
		c := &w.d.Components[i]
		mount, claim := "", ""
		if w.keeps(c) {
			mount = "            - name: data\n              mountPath: /data\n"
			claim = w.fill(kubernetesClaim, "storage", w.Storage)
		}
		text += w.fill(kubernetesComponent, "component", c.Name, "set", w.set(c.Name), "count", strconv.Itoa(c.Instances*c.Partitions),
			"image", w.Image, "data", data(w.keeps(c)), "mount", mount, "claim", claim)
	}
	w.files = append(w.files, File{Name: w.Name + ".yaml", Text: []byte(text)})
	w.add("Dockerfile", dockerFile)
}
