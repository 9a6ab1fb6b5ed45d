// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// File is a file to be written.
type File struct {
	Name       string
	Text       []byte
	Executable bool
}

// Format is who starts the processes.
type Format string

// The formats.
const (
	Local      Format = "local"
	Systemd    Format = "systemd"
	Compose    Format = "compose"
	Kubernetes Format = "kubernetes"
)

// Formats are all formats.
func Formats() []Format { return []Format{Local, Systemd, Compose, Kubernetes} }

// Options say where the processes are.
type Options struct {
	// Hosts are the machines, for Local and Systemd; default 127.0.0.1.
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
		return fmt.Errorf("image %q; want the name of one", o.Image)
	}
	if !plain(o.Storage, ".") {
		return fmt.Errorf("storage %q; want a size as 10Gi", o.Storage)
	}
	for _, h := range o.Hosts {
		if !plain(h, ".-:") {
			return fmt.Errorf("host %q; want a name or an address", h)
		}
	}
	return nil
}

// Write describes a deployment of a program and writes the files for a format, first
// of them deployment.json. An error says what the format does not allow.
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
		err = w.add("start.sh", localScript, w, true)
	case Systemd:
		err = w.systemd()
	case Compose:
		err = w.add("compose.yaml", composeFile, w, false)
		if err == nil {
			err = w.add("Dockerfile", dockerFile, w, false)
		}
	case Kubernetes:
		err = w.add(name+".yaml", kubernetesFile, w, false)
		if err == nil {
			err = w.add("Dockerfile", dockerFile, w, false)
		}
	default:
		err = fmt.Errorf("format %q; want one of %v", f, Formats())
	}
	return w.files, err
}

// writer is what the templates see.
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
			return fmt.Errorf("components %s and %s would both be called %s; rename one", other, c.Name, l)
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
		host := w.Label(p)
		if f == Kubernetes { // the name of a pod, and of the service that it is found by
			host = fmt.Sprintf("%s-%d.%s", w.Set(p.Component), p.ID, w.Set(p.Component))
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
		return "", fmt.Errorf("%q cannot be made a label; want a letter, then letters and digits, at most %d in all", name, labelMax)
	}
	return l, nil
}

// must is label where it was looked at before.
func must(name string) string { l, _ := label(name); return l }

// Label is the name of a process where only labels are allowed.
func (w *writer) Label(p *Process) string { return fmt.Sprintf("%s-%d", must(p.Component), p.ID) }

// Set is the name of a component beside other programs.
func (w *writer) Set(component string) string {
	return strings.TrimRight(w.Name[:min(len(w.Name), 62-labelMax/2)], "-") + "-" + must(component)
}

// Processes are the processes.
func (w *writer) Processes() []*Process {
	var out []*Process
	for i := range w.d.Processes {
		out = append(out, &w.d.Processes[i])
	}
	return out
}

// Components are the components.
func (w *writer) Components() []*Component {
	var out []*Component
	for i := range w.d.Components {
		out = append(out, &w.d.Components[i])
	}
	return out
}

// Keeps reports whether a process or a component needs a place on a disk.
func (w *writer) Keeps(x any) bool {
	if c, ok := x.(*Component); ok {
		i := slices.IndexFunc(w.d.Processes, func(p Process) bool { return p.Component == c.Name })
		return w.d.Keeps(&w.d.Processes[i])
	}
	return w.d.Keeps(x.(*Process))
}

// Count is how many processes a component has.
func (w *writer) Count(c *Component) int { return c.Instances * c.Partitions }

// Any reports whether any process needs a place on a disk.
func (w *writer) Any() bool {
	return slices.ContainsFunc(w.d.Processes, func(p Process) bool { return w.d.Keeps(&p) })
}

// Indented is the deployment with each line shifted.
func (w *writer) Indented(spaces int) string {
	pad := strings.Repeat(" ", spaces)
	return pad + strings.ReplaceAll(strings.TrimSuffix(w.Deployment, "\n"), "\n", "\n"+pad)
}

// Loopback reports whether all processes are on this machine only.
func (w *writer) Loopback() bool {
	return !slices.ContainsFunc(w.d.Processes, func(p Process) bool { return !strings.HasPrefix(p.Addr, "127.") })
}

func (w *writer) add(name, text string, data any, executable bool) error {
	t, err := template.New(name).Delims("<<", ">>").Parse(text)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return err
	}
	w.files = append(w.files, File{Name: name, Text: b.Bytes(), Executable: executable})
	return nil
}

// unit is what the template of a unit sees.
type unit struct {
	*writer
	*Process
	Keep bool
	Host string
}

// systemd writes a unit for each process, and a target for all.
func (w *writer) systemd() error {
	for i, p := range w.Processes() {
		u := unit{writer: w, Process: p, Keep: w.d.Keeps(p)}
		if len(w.Hosts) > 1 {
			u.Host = w.Hosts[i%len(w.Hosts)]
		}
		if err := w.add(w.Name+"-"+w.Label(p)+".service", systemdUnit, u, false); err != nil {
			return err
		}
	}
	return w.add(w.Name+".target", systemdTarget, w, false)
}
