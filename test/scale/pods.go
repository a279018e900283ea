package main

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/berth-lb/berth/test/harness"
)

// sliceEndpoints is how many pods Kubernetes puts into an EndpointSlice.
// Source: kube-controller-manager, --max-endpoints-per-slice.
const sliceEndpoints = 100

// manager is the managed-by label of the EndpointSlices of this program.
const manager = "scale"

// createWithPods creates the Services, with EndpointSlices as Kubernetes makes them.
func (s *scale) createWithPods(ctx context.Context, all []corev1.Service) error {
	addresses, err := s.world.Pods()
	if err != nil {
		return err
	}
	if len(addresses) < s.subject.pods {
		return fmt.Errorf("%d addresses of pods exist, want %d", len(addresses), s.subject.pods)
	}
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(clients)
	for _, svc := range all {
		n := 0
		for some := range slices.Chunk(addresses[:s.subject.pods], sliceEndpoints) {
			one := describeEndpoints(harness.ReadyPods(svc, fmt.Sprintf("%s-%d", svc.Name, n), manager, some))
			group.Go(func() error {
				_, err := s.world.Client.DiscoveryV1().EndpointSlices(svc.Namespace).Create(within, one, metav1.CreateOptions{})
				return err
			})
			n++
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return s.create(ctx, all)
}

// describeEndpoints adds to endpoints what Kubernetes adds about pods, because it takes
// memory.
func describeEndpoints(s *discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice {
	zone, ending := "zone-a", false
	for i := range s.Endpoints {
		e := &s.Endpoints[i]
		e.Zone, e.Conditions.Terminating = &zone, &ending
		e.Hints = &discoveryv1.EndpointHints{ForZones: []discoveryv1.ForZone{{Name: zone}}}
		e.TargetRef = &corev1.ObjectReference{
			Kind: "Pod", Namespace: s.Namespace, Name: fmt.Sprintf("%s-6d4cf56db6-%05d", s.Name, i), UID: uuid.NewUUID(),
		}
	}
	return s
}

// leavePods takes a tenth of the pods from every Service.
func (s *scale) leavePods(ctx context.Context) error {
	client := s.world.Client.DiscoveryV1().EndpointSlices(metav1.NamespaceDefault)
	all, err := client.List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelManagedBy + "=" + manager})
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(clients)
	for _, one := range all.Items {
		one.Endpoints = one.Endpoints[len(one.Endpoints)/10:]
		group.Go(func() error {
			_, err := client.Update(ctx, &one, metav1.UpdateOptions{})
			return err
		})
	}
	return group.Wait()
}
