package plugin

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws"
)

// viewOf returns a view of the Services in a store.
func viewOf(t *testing.T, services ...*corev1.Service) (*view, cache.Indexer) {
	t.Helper()
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, svc := range services {
		svc.UID = types.UID("uid-" + svc.Name)
		if err := store.Add(svc); err != nil {
			t.Fatal(err)
		}
	}
	return &view{services: corelisters.NewServiceLister(store)}, store
}

// TestPlanned: shared things may go when all Services are known that will ever
// come, whatever the others have become meanwhile.
func TestPlanned(t *testing.T) {
	a, b, c := balancerOf("a"), balancerOf("b"), balancerOf("c")
	plain := balancerOf("plain", func(svc *corev1.Service) { svc.Spec.Type = corev1.ServiceTypeClusterIP })
	theirs := balancerOf("theirs", func(svc *corev1.Service) { svc.Spec.LoadBalancerClass = new("example.com/theirs") })
	type step struct {
		known *corev1.Service
		gone  *corev1.Service // before
		want  bool
	}
	for name, steps := range map[string][]step{
		"one after the other":         {{known: a}, {known: b}, {known: c, want: true}},
		"the same again":              {{known: a}, {known: a}, {known: a}},
		"the last one is gone":        {{known: a}, {known: b}, {gone: c, known: a, want: true}},
		"all others are gone at once": {{known: a}, {gone: b}, {gone: c, known: a, want: true}},
		"and it stays so":             {{known: a}, {known: b}, {known: c, want: true}, {known: b, want: true}},
	} {
		t.Run(name, func(t *testing.T) {
			v, store := viewOf(t, a, b, c, plain, theirs)
			for i, s := range steps {
				if s.gone != nil {
					if err := store.Delete(s.gone); err != nil {
						t.Fatal(err)
					}
				}
				if s.known == nil {
					continue
				}
				got, err := v.planned(s.known, isServed)
				if err != nil || got != s.want {
					t.Errorf("step %d: %v, %v, want %v", i, got, err, s.want)
				}
			}
		})
	}
}

func TestNewest(t *testing.T) {
	v, _ := viewOf(t, balancerOf("a"))
	old := balancerOf("a")
	if _, there := v.newest(old); there {
		t.Error("a Service of the same name and another UID is taken for it")
	}
	old.UID = "uid-a"
	if _, there := v.newest(old); !there {
		t.Error("the Service is not found")
	}
}

// TestFromEnvironment reads the options of a program without flags.
func TestFromEnvironment(t *testing.T) {
	t.Setenv(EnvPolicyConfig, "/etc/policy.yaml")
	t.Setenv(EnvAllowedNamespaces, "shop, team-*,")
	want := Options{PolicyConfig: "/etc/policy.yaml", AllowedNamespaces: []string{"shop", "team-*"}}
	if diff := cmp.Diff(want, FromEnvironment()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNew: a missing policy file is an error, not a policy that allows everything, and
// only load balancers are provided.
func TestNew(t *testing.T) {
	entry := providers.EntryOf(aws.Cloud())
	if _, err := New(entry, nil, Options{PolicyConfig: t.TempDir() + "/none.yaml"}); err == nil || !strings.Contains(err.Error(), EnvPolicyConfig) {
		t.Errorf("a missing policy file: %v", err)
	}
	cloud, err := New(entry, strings.NewReader("[Global]\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, instances := cloud.Instances()
	_, instancesV2 := cloud.InstancesV2()
	_, zones := cloud.Zones()
	_, routes := cloud.Routes()
	_, clusters := cloud.Clusters()
	if instances || instancesV2 || zones || routes || clusters {
		t.Error("something is provided that is not")
	}
	balancers, ok := cloud.LoadBalancer()
	if !ok || cloud.ProviderName() != "aws" {
		t.Errorf("provider %s, load balancers %v", cloud.ProviderName(), ok)
	}
	svc := balancerOf("a", func(svc *corev1.Service) { svc.UID = "11111111-2222-3333-4444-555555555555" })
	if got := balancers.GetLoadBalancerName(context.Background(), "kubernetes", svc); got != "a1111111122223333444455555555555" {
		t.Errorf("name %s", got)
	}
	if _, _, err := balancers.GetLoadBalancer(context.Background(), "kubernetes", svc); err == nil {
		t.Error("a program without informers gets an answer")
	}
}

// TestOwnPodsFromTheEnvironment: what is neither on nor off is taken as on, since it can
// only forbid.
func TestOwnPodsFromTheEnvironment(t *testing.T) {
	for value, on := range map[string]bool{"": false, "false": false, "0": false, "true": true, "1": true, "yes": true} {
		t.Setenv(EnvOwnPods, value)
		if got := FromEnvironment().OwnPods; got != on {
			t.Errorf("%s=%q: %t", EnvOwnPods, value, got)
		}
	}
}
