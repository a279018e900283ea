package offline

import (
	"cmp"
	"errors"
	"fmt"
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
func fromFiles(in Input, live *cluster) (World, error) {
	found := objects{lenient: in.Lenient}
	for _, name := range in.Files {
		if err := found.read(name, in); err != nil {
			return World{}, err
		}
	}
	services := len(found.services)
	for _, name := range in.NodeFiles {
		if err := found.read(name, in); err != nil {
			return World{}, err
		}
	}
	if len(found.services) > services {
		found.notes = append(found.notes, "Services in the files of --nodes are not looked at")
		found.services = found.services[:services]
	}
	w := World{Items: found.services, Nodes: found.nodes, namespaces: found.namespaces, Notes: found.notes, Faults: found.faults, Whole: true}
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
		item.Problems = append(item.Problems, specProblems(item.Service)...)
	}
	return w, nil
}

// unique refuses two Services of one name: whichever is taken, the other one's
// plan would be missing.
func (w *World) unique() error {
	seen := map[string]place{}
	for _, item := range w.Items {
		name := item.Service.Namespace + "/" + item.Service.Name
		if first, twice := seen[name]; twice {
			return fmt.Errorf("service %s is there twice: %s and %s", name, first.positionOf(""), item.at.positionOf(""))
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
			inherit(svc, old)
		}
		ports.take(svc)
	}
	for i := range w.Items {
		svc := w.Items[i].Service
		setDefaults(svc)
		w.Items[i].MadeUp = strings.Join(makeUp(svc, ports), "; ")
		if svc.Spec.IPFamilyPolicy != nil && *svc.Spec.IPFamilyPolicy == corev1.IPFamilyPolicyPreferDualStack && len(svc.Spec.IPFamilies) == 1 {
			w.Items[i].Problems = append(w.Items[i].Problems, plan.Problem{Severity: plan.Warning, Code: string(annotations.CodeFamily), Where: "spec.ipFamilyPolicy",
				Text: "PreferDualStack is up to the cluster; taken as " + string(svc.Spec.IPFamilies[0]) + " alone"})
		}
	}
}

// read takes a file, a folder or, for "-", the standard input.
func (o *objects) read(name string, in Input) error {
	if name == "-" {
		return o.decode("standard input", in.Stdin)
	}
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("file: %w", err)
	}
	if !info.IsDir() {
		return o.readFile(name)
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
			return o.readFile(path)
		}
		return nil
	})
	if err == nil && strict && len(o.faults) > faults {
		return errors.New(o.faults[faults].Position.String() + ": " + o.faults[faults].Text)
	}
	return err
}

// isFile tells whether a path leads to a file, through links as well.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (o *objects) readFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("file: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	return o.decode(name, f)
}
