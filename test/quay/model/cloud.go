package model

import (
	"encoding/json"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// Kind is the one kind of load balancer.
const Kind = "balancer"

// Config is the cloud configuration file, as JSON.
type Config struct {
	Endpoint string `json:"endpoint"` // URL of the API
	// ByName has load balancers found by namespace and name, without the UID.
	ByName bool `json:"byName"`
}

// Input is the input of functions about one Service.
type Input = providers.Input[Config]

// Cloud returns the provider without the session.
func Cloud() providers.Cloud[Config, struct{}] {
	return providers.Cloud[Config, struct{}]{
		Traits: providers.Traits{
			Name:         "quay",
			Kinds:        []string{Kind},
			Capabilities: []providers.Capability{Capability()},
			FoundByName:  FoundByName,
			// A found resource already has the key of the desired one: the key follows from the name.
			MatchFound: func(_, have *stack.Stack) *stack.Stack { return have },
			Rules:      Rules(),
			Flows:      Flows,
			Outputs:    providers.Outputs{Labels: []string{LabelID}},
		},
		Annotations: Annotations(),
		Setup: providers.Setup[Config]{
			Config: ReadConfig,
		},
		RequestFuncs: providers.RequestFuncs[Config]{
			Choose: func(*corev1.Service) providers.Choice { return providers.Choice{Kind: Kind} },
			Reach: func(in Input) providers.Reach {
				return providers.Reach{Kind: in.Kind, Size: providers.SizeOf(Capability(), in.Service)}
			},
			Select: func(Input) nodeports.Filter { return nodeports.Filter{} },
			Refers: Refers,
		},
		PlaceFuncs: providers.PlaceFuncs[Config]{
			OwnedScope: OwnedScope,
			Scope:      func(in Input) (providers.Scope, error) { return OwnedScope(in.Identity), nil },
		},
		StackFuncs: providers.StackFuncs[Config, struct{}]{
			Build:       Build,
			KeepServing: KeepServing,
			// A Service that cannot be built may want any opening.
			MayWant: func(_ providers.Identity[Config], r stack.Resource) bool { return r.Ownership == stack.Shared },
			Status:  Addresses,
		},
	}
}

// Capability returns what the API can do: validation, `berth check` and the table of
// kinds follow from it.
func Capability() providers.Capability {
	return providers.Capability{
		Kind: Kind, Doc: "forwards ports to the node ports of machines",
		Protocols: []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP}, Mixed: true,
		Families: []corev1.IPFamily{corev1.IPv4Protocol}, NodePorts: true, Limits: providers.Limits{Ports: 20},
	}
}

// ReadConfig reads the configuration file. The error names the part that is malformed.
func ReadConfig(file io.Reader) (Config, annotations.Problems, error) {
	var c Config
	if file == nil {
		return c, nil, fmt.Errorf("there is no file; want one with the endpoint")
	}
	if err := json.NewDecoder(file).Decode(&c); err != nil {
		return c, nil, fmt.Errorf("malformed JSON: %w", err)
	}
	return c, nil, nil
}

// OwnedScope returns where the resources of a Service can be: at the load balancers that
// carry its mark, and at the openings of its cluster. It depends on no field that the user
// has written.
func OwnedScope(id providers.Identity[Config]) providers.Scope {
	return providers.Scope{Owner: id.Owner, Own: []providers.Lookup{
		{Kind: KindBalancer, By: "owner", Value: MarkOf(id.Config, id.Cluster, id.Owner)}, {Kind: KindOpening, By: "cluster", Value: id.Cluster},
	}}
}

// LabelID is the label in which other programs find the identifier of the load balancer.
const LabelID = "quay.example/balancer-id"

// HostOf returns the host name of a load balancer.
func HostOf(id string) string { return id + ".quay.example" }

// Addresses returns the host name that clients use, once the load balancer has one.
func Addresses(_ Input, have *stack.Stack) status.Result {
	r, ok := have.Get(BalancerKey())
	if !ok || r.ID == "" {
		return status.Result{}
	}
	return status.Result{Ingress: []corev1.LoadBalancerIngress{status.Hostname(HostOf(r.ID))}, Labels: map[string]string{LabelID: r.ID}}
}
