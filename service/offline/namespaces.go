package offline

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack/plan"
)

// labelsByName are the labels of namespaces, by name.
type labelsByName map[string]map[string]string

// readLabels reads the labels of namespaces. A caller that may not list them may often
// read its own; labels that may not be read are missing.
func readLabels(ctx context.Context, client kubernetes.Interface, names []string) (labelsByName, error) {
	out := labelsByName{}
	for more := ""; ; {
		page, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{Limit: pageSize, Continue: more})
		if apierrors.IsForbidden(err) {
			return readLabelsOf(ctx, client, names)
		}
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			out.put(&page.Items[i])
		}
		if more = page.Continue; more == "" {
			return out, nil
		}
	}
}

func readLabelsOf(ctx context.Context, client kubernetes.Interface, names []string) (labelsByName, error) {
	out := labelsByName{}
	for _, name := range names {
		ns, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out.put(ns)
	}
	return out, nil
}

func (l labelsByName) put(ns *corev1.Namespace) { l[ns.Name] = ns.Labels }

// label gives the Services that are planned the labels of their namespace: those of
// a file, else those of the cluster. A Service whose namespace is not known is
// planned as if it had none, and says so.
func (p *planning) label(ctx context.Context) error {
	var names []string
	for _, t := range p.tasks {
		if ns := t.item.Service.Namespace; t.job != nil && !slices.Contains(names, ns) {
			names = append(names, ns)
		}
	}
	known := labelsByName{}
	if p.world.live != nil {
		found, err := readLabels(ctx, p.world.live, names)
		if err != nil {
			return fmt.Errorf("namespaces of the cluster: %w", err)
		}
		maps.Copy(known, found)
	}
	maps.Copy(known, p.world.namespaces)
	for i := range p.tasks {
		t := &p.tasks[i]
		if t.job == nil || t.job.Release {
			continue
		}
		name := t.item.Service.Namespace
		of, found := known[name]
		t.job.NamespaceLabels = of
		if !found {
			t.item.Problems = append(t.item.Problems, plan.Problem{Severity: plan.Warning, Code: string(annotations.CodeNamespace), Where: "metadata.namespace",
				Text: fmt.Sprintf("the labels of namespace %q decide on the Service and are not known: planned as if it had none but its name (its Namespace object among the files says them)", name)})
		}
	}
	return nil
}
