package cases

import (
	"encoding/json"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/stack"
)

// World is the surroundings of a case: testdata/world.yaml, in which the part cloud.yaml
// of the case replaces whole fields.
type World[F any] struct {
	Config       string                       // text of the cloud configuration
	ClusterName  string                       // --cluster-name
	Nodes        []corev1.Node                // of the cluster
	Facts        F                            // as a read brings them
	Slices       []*discoveryv1.EndpointSlice // of the Service
	Pods         []Pod                        // its endpoints, on every port of it, instead of slices
	Before       *corev1.Service              // what was found is what this Service had wanted
	BeforeSlices []*discoveryv1.EndpointSlice // of that time; nil: the same
	BeforeCfg    string                       // the cloud configuration of that time, if another
	Have         []Thing                      // found besides, or instead
	Gone         []stack.Key                  // not found, although Before wanted it
	Deleted      bool                         // the Service is released
	TakeOver     bool                         // the plan is empty
	NoTags       bool                         // the configuration names no tags of nodes
}

// Pod is an endpoint of the Service.
type Pod struct {
	Node, IP string
	Unready  bool
	Ending   bool // and not serving any more
}

// SlicesOf are EndpointSlices of the pods, on every port of the Service.
func SlicesOf(svc *corev1.Service, pods []Pod) []*discoveryv1.EndpointSlice {
	out := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	for _, p := range svc.Spec.Ports {
		out.Ports = append(out.Ports, discoveryv1.EndpointPort{Name: &p.Name, Port: &p.Port, Protocol: &p.Protocol})
	}
	for _, p := range pods {
		ready := !p.Unready && !p.Ending
		out.Endpoints = append(out.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{p.IP}, NodeName: &p.Node, Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &ready, Terminating: &p.Ending},
			TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: "pod-" + p.IP},
		})
	}
	return []*discoveryv1.EndpointSlice{out}
}

// Thing is a found resource, as a case has it.
type Thing struct {
	Key       stack.Key
	ID        string
	In        stack.Key
	Ownership stack.Ownership
	Slot      string
	Proof     stack.Proof
	State     stack.State
	Spec      json.RawMessage
}

// resource is the thing in the words of the cloud: an example of its kind says its type.
func (h Thing) resource(t testing.TB, examples map[stack.Kind]stack.Spec) stack.Resource {
	t.Helper()
	zero, ok := examples[h.Key.Kind]
	if !ok {
		t.Fatalf("no type for kind %s", h.Key.Kind)
	}
	into := reflect.New(reflect.TypeOf(zero))
	if err := yaml.UnmarshalStrict(h.Spec, into.Interface()); err != nil {
		t.Fatalf("%s: %v", h.Key, err)
	}
	spec, _ := into.Elem().Interface().(stack.Spec)
	return stack.Resource{Key: h.Key, ID: h.ID, In: h.In, Ownership: h.Ownership, Slot: h.Slot, Proof: h.Proof, State: h.State, Spec: spec}
}
