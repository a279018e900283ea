package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// slicesByService are EndpointSlices by namespace/name of their Service.
type slicesByService map[string][]*discoveryv1.EndpointSlice

func (s slicesByService) put(e *discoveryv1.EndpointSlice) {
	if name := e.Labels[discoveryv1.LabelServiceName]; name != "" {
		s[e.Namespace+"/"+name] = append(s[e.Namespace+"/"+name], e)
	}
}

// endpointSlice takes an EndpointSlice; some load balancers send to pods.
func (o *objects) endpointSlice(where string, body []byte) error {
	e := &discoveryv1.EndpointSlice{}
	if err := json.Unmarshal(body, e); err != nil {
		return fmt.Errorf("%s: endpoint slice: %w", where, err)
	}
	if e.Name == "" {
		return fmt.Errorf("%s: endpoint slice: metadata.name is missing", where)
	}
	o.slices = append(o.slices, e)
	return nil
}

// readSlices reads the EndpointSlices of the cluster, or of the namespaces for a caller
// without the right to read all.
func readSlices(ctx context.Context, client kubernetes.Interface, namespaces []string) (slicesByService, error) {
	out := slicesByService{}
	err := out.list(ctx, client, metav1.NamespaceAll)
	if !apierrors.IsForbidden(err) {
		return out, err
	}
	for _, ns := range namespaces {
		if err := out.list(ctx, client, ns); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s slicesByService) list(ctx context.Context, client kubernetes.Interface, namespace string) error {
	for more := ""; ; {
		page, err := client.DiscoveryV1().EndpointSlices(namespace).List(ctx, metav1.ListOptions{Limit: pageSize, Continue: more})
		if err != nil {
			return err
		}
		for i := range page.Items {
			s.put(&page.Items[i])
		}
		if more = page.Continue; more == "" {
			return nil
		}
	}
}

// point gives the Services that follow pods their endpoints: from files, else from the
// cluster. If there are none, their pods are unknown, which is reported.
func (p *planning) point(ctx context.Context) error {
	var namespaces []string
	follow := 0
	for _, t := range p.tasks {
		if t.job == nil || t.job.Release || !p.reconciler.FollowsEndpoints(t.item.Service) {
			continue
		}
		follow++
		namespaces = append(namespaces, t.item.Service.Namespace)
	}
	if follow == 0 {
		return nil
	}
	known := slicesByService{}
	slices.Sort(namespaces)
	if p.world.live != nil {
		found, err := readSlices(ctx, p.world.live, slices.Compact(namespaces))
		if err != nil {
			return fmt.Errorf("endpoint slices of the cluster: %w", err)
		}
		maps.Copy(known, found)
	}
	maps.Copy(known, p.world.slices)
	if p.world.live == nil && len(known) == 0 {
		p.world.note("no pods are known (EndpointSlices among the files say them): load balancers that follow pods are planned as if there were none")
	}
	kept, err := p.byPods(ctx, slices.Compact(namespaces))
	if err != nil {
		return err
	}
	p.slices, p.pods = known, kept
	for i := range p.tasks {
		if t := &p.tasks[i]; t.job != nil && !t.job.Release {
			t.job.Slices, t.job.Unmatched = kept(t.item.Service.Namespace, known[t.item.Service.Namespace+"/"+t.item.Service.Name])
		}
	}
	return nil
}
