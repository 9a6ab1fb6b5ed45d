// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// mainFile is the command that runs a part of the system.
func (g *generator) mainFile() []byte {
	doc, text := mainDoc, mainText
	survives := slices.ContainsFunc(g.alg.Archetypes, func(a *pcal.Archetype) bool { return a.Restart != "" })
	for mark, with := range crashText {
		if !survives {
			with = ""
		}
		doc, text = strings.Replace(doc, mark, with, 1), strings.Replace(text, mark, with, 1)
	}
	names := strings.NewReplacer("NAME", packageName(g.alg.Name), "MODULE", g.spec.Name)
	return g.file(names.Replace(doc), names.Replace(text))
}

// mainDoc is what the command says of itself.
const mainDoc = `// Command NAME runs a part of MODULE: a node of the configuration, or the node
// of one process.
//
//	NAME -config sys.json -node server
//	NAME -config sys.json -archetype AClient -self 2
//CRASHDOC
// The environment variable ASHLAR_TRACE_DIR names a directory for traces.
`

// crashText is what the command has where an archetype survives crashes.
var crashText = map[string]string{
	"//CRASHDOC\n": `//
// A node that survives crashes keeps its durable variables in a directory, which
// is made once, before the node runs first:
//
//	NAME -config sys.json -node server -data server.data -format
//	NAME -config sys.json -node server -data server.data
//
`,
	"CRASHFLAGS": `	data := flag.String("data", "", "the directory for the durable variables of a node that survives crashes")
	format := flag.Bool("format", false, "make that directory's journal, and do nothing else")
`,
	"CRASHARGS":   ", *data, *format",
	"CRASHPARAMS": ", data string, format bool",
	"CRASHRUN": `	if data != "" {
		disk, dir, err := openData(data, format)
		if err != nil {
			return fmt.Errorf("-data: %w", err)
		}
		defer disk.Close()
		tasks := osenv.NewTasks()
		defer tasks.Close()
		options.Env.Disk, options.Data, options.Tasks = disk, dir, tasks
	}
	if format {
		return resource.Format(System(constants), conf, nodeName, options)
	}
`,
	"CRASHOPENED": `	if errors.Is(err, wal.ErrNone) {
		return fmt.Errorf("-data: %w; -format makes it, once, before the node runs first", err)
	}
`,
	"CRASHDATA": `// openData opens the disk on which the directory for the journal is. With -format
// the disk begins at the parent, so that the directory's own name becomes durable
// with what is in it. A node that runs needs no permission to read the parent.
// Only -format makes the directory: to a wrong name no journal belongs.
func openData(dir string, format bool) (*osenv.Disk, string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, "", err
	}
	switch there, err := filepath.EvalSymlinks(dir); {
	case err == nil:
		dir = there
	case !errors.Is(err, fs.ErrNotExist):
		return nil, "", err
	case !format:
		return nil, "", fmt.Errorf("%w; -format makes it, once, before the node runs first", err)
	}
	if !format {
		disk, err := osenv.OpenDisk(dir)
		return disk, "journal", err
	}
	if _, err := os.Stat(filepath.Dir(dir)); err != nil {
		return nil, "", err
	}
	disk, err := osenv.OpenDisk(filepath.Dir(dir))
	return disk, filepath.Base(dir) + "/journal", err
}

`,
}

// mainText is the command, without package clause and imports.
const mainText = `
func main() {
	config := flag.String("config", "sys.json", "the configuration of the system, the same for all nodes")
	nodeName := flag.String("node", "", "the node to run")
	archetype := flag.String("archetype", "", "run the node of the process of this archetype ...")
	self := flag.String("self", "", "... with this identity, a TLA+ value")
	limit := flag.Duration("for", 0, "stop after this time, e.g. 10s; 0: when all processes are done")
CRASHFLAGS	flag.Parse()
	if err := run(*config, *nodeName, *archetype, *self, *limitCRASHARGS); err != nil {
		fmt.Fprintln(os.Stderr, "NAME:", err)
		os.Exit(1)
	}
}

func run(config, nodeName, archetype, self string, limit time.DurationCRASHPARAMS) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	file, err := os.Open(config)
	if err != nil {
		return err
	}
	defer file.Close()
	conf, err := distsys.LoadConfig(file)
	if err != nil {
		return fmt.Errorf("%s: %w", config, err)
	}
	if nodeName == "" {
		if nodeName, err = nodeOf(conf, archetype, self); err != nil {
			return err
		}
	}
	constants, err := NewConstants(conf.ConstantValues())
	if err != nil {
		return fmt.Errorf("%s: %w", config, err)
	}
	world := osenv.New()
	network := osenv.NewNetwork(osenv.NetworkOptions{})
	defer network.Close()
	world.Network = network
	options := resource.Options{Env: world, Print: os.Stdout}
	if dir := os.Getenv(distsys.TraceDir); dir != "" {
		disk, err := osenv.OpenDisk(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", distsys.TraceDir, err)
		}
		defer disk.Close()
		options.Trace = disk
	}
CRASHRUN	n, err := resource.Open(System(constants), conf, nodeName, options)
CRASHOPENED	if err != nil {
		return fmt.Errorf("%s: %w", config, err)
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	fmt.Fprintf(os.Stderr, "running %s of MODULE\n", nodeName)
	err = n.Run(ctx)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil // stopped from outside, between two steps
	}
	return err
}

CRASHDATA// nodeOf finds the node that runs a process.
func nodeOf(conf *distsys.Config, archetype, self string) (string, error) {
	if archetype == "" || self == "" {
		return "", fmt.Errorf("give -node, or -archetype and -self; the nodes are %s", strings.Join(conf.NodeNames(), ", "))
	}
	want, err := value.Parse(self)
	if err != nil {
		return "", fmt.Errorf("-self: %w", err)
	}
	for _, name := range conf.NodeNames() {
		for _, m := range conf.Nodes[name] {
			if m.Archetype == archetype && m.Self.Value.String() == want.String() {
				return name, nil
			}
		}
	}
	return "", fmt.Errorf("no node runs %s(%s)", archetype, self)
}
`
