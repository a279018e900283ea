package offline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack/plan"
)

// fromFiles reads the files and makes their Services what the API server would
// make of them. live is the cluster that they are meant for, if it is known.
func fromFiles(ctx context.Context, in Input, live *cluster) (World, error) {
	found := objects{lenient: in.Lenient}
	for _, name := range in.Files {
		if err := found.read(ctx, name, in); err != nil {
			return World{}, err
		}
	}
	for _, s := range in.Sources {
		if err := found.decode(s.Name, bytes.NewReader(s.Body), s.InFolder); err != nil {
			return World{}, err
		}
	}
	services := len(found.services)
	for _, name := range in.NodeFiles {
		if err := found.read(ctx, name, in); err != nil {
			return World{}, err
		}
	}
	if len(found.services) > services {
		found.notes = append(found.notes, "Services in the files of --nodes are not looked at")
		found.services = found.services[:services]
	}
	w := World{Items: found.services, Nodes: found.nodes, namespaces: found.namespaces, Notes: append(found.notes, found.passed.notes()...), Passed: found.passed.list, Faults: found.faults, Whole: true}
	namespace := cmp.Or(in.Namespace, live.defaultNamespace(), corev1.NamespaceDefault)
	for i := range w.Items {
		if svc := w.Items[i].Service; svc.Namespace == "" {
			svc.Namespace = namespace
		}
	}
	w.slices = slicesByService{}
	for _, e := range found.slices {
		e.Namespace = cmp.Or(e.Namespace, namespace)
		w.slices.put(e)
	}
	if err := w.unique(); err != nil && !in.Lenient {
		return World{}, err
	}
	w.complete(live)
	for i := range w.Items {
		item := &w.Items[i]
		item.Problems = append(item.Problems, withoutAssigned(specProblems(item.Service), live.get(item.Service.Namespace, item.Service.Name))...)
	}
	return w, nil
}

// withoutAssigned leaves out problems of node ports that the cluster itself has assigned.
func withoutAssigned(problems []plan.Problem, live *corev1.Service) []plan.Problem {
	if live == nil {
		return problems
	}
	return slices.DeleteFunc(problems, func(p plan.Problem) bool {
		return p.Code == string(annotations.CodeNodePortRange) && slices.ContainsFunc(live.Spec.Ports, func(port corev1.ServicePort) bool {
			return strings.HasPrefix(p.Text, fmt.Sprintf("%d ", port.NodePort))
		})
	})
}

// unique refuses two Services of one name: whichever is taken, the other one's
// plan would be missing.
func (w *World) unique() error {
	seen := map[string]place{}
	for _, item := range w.Items {
		name := item.Service.Namespace + "/" + item.Service.Name
		if first, twice := seen[name]; twice {
			return fmt.Errorf("service %s is defined twice: %s and %s", name, first.positionOf(""), item.at.positionOf(""))
		}
		seen[name] = item.at
	}
	return nil
}

// complete gives the Services what a cluster would assign: of the live Service
// of the same name if there is one, else made up.
func (w *World) complete(live *cluster) {
	slices.SortStableFunc(w.Items, func(a, b Item) int { return a.Owner().Compare(b.Owner()) })
	ports := newNodePorts(live.everyService())
	for i := range w.Items {
		svc := w.Items[i].Service
		if old := live.get(svc.Namespace, svc.Name); old != nil {
			inheritAssigned(svc, old)
		}
		ports.take(svc)
	}
	for i := range w.Items {
		svc := w.Items[i].Service
		setDefaults(svc)
		w.Items[i].MadeUp = strings.Join(makeUp(svc, ports), "; ")
		if svc.Spec.IPFamilyPolicy != nil && *svc.Spec.IPFamilyPolicy == corev1.IPFamilyPolicyPreferDualStack && len(svc.Spec.IPFamilies) == 1 {
			const preferred = "PreferDualStack depends on the cluster: taken as "
			w.Items[i].Assumed = preferred + string(svc.Spec.IPFamilies[0]) + " alone"
		}
	}
}

// read takes a file, a folder or, for "-", the standard input.
func (o *objects) read(ctx context.Context, name string, in Input) error {
	if name == "-" {
		return o.readStream(ctx, "standard input", func() (io.ReadCloser, error) { return io.NopCloser(in.Stdin), nil }, false)
	}
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("file: %w", err)
	}
	if !info.IsDir() {
		return o.readFile(ctx, name, false)
	}
	strict := !o.lenient
	o.lenient = true
	defer func() { o.lenient = !strict }()
	faults := len(o.faults)
	err = filepath.WalkDir(name, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("folder: %w", err)
		case e.IsDir() && path != name && strings.HasPrefix(e.Name(), "."):
			return filepath.SkipDir
		case e.IsDir() || !isFile(path):
			return nil
		}
		switch strings.ToLower(filepath.Ext(path)) {
		case ".yaml", ".yml", ".json":
			return o.readFile(ctx, path, true)
		}
		return nil
	})
	if err == nil && strict && len(o.faults) > faults {
		return errors.New(o.faults[faults].Position.String() + ": " + o.faults[faults].Text)
	}
	return err
}

// isFile reports whether a path leads to a file, through links as well.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (o *objects) readFile(ctx context.Context, name string, inFolder bool) error {
	return o.readStream(ctx, name, func() (io.ReadCloser, error) { return os.Open(name) }, inFolder)
}

// readStream reads a file or pipe to its end. To open a pipe blocks until it has a
// writer, and to read it until that ends; neither outlives the context.
func (o *objects) readStream(ctx context.Context, name string, open func() (io.ReadCloser, error), inFolder bool) error {
	type content struct {
		body []byte
		err  error
	}
	done := make(chan content, 1)
	go func() {
		f, err := open()
		if err != nil {
			done <- content{err: fmt.Errorf("file: %w", err)}
			return
		}
		defer func() { _ = f.Close() }() // it was only read
		body, err := io.ReadAll(f)
		done <- content{body, err}
	}()
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", name, ctx.Err())
	case c := <-done:
		if c.err != nil {
			return c.err
		}
		return o.decode(name, bytes.NewReader(c.body), inFolder)
	}
}
