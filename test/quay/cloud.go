package quay

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

// kind is the one kind of load balancer.
const kind = "balancer"

// Config is the cloud configuration file, as JSON.
type Config struct {
	Endpoint string `json:"endpoint"` // URL of the API
	// ByName has load balancers found by namespace and name, without the UID.
	ByName bool `json:"byName"`
}

// Cloud returns the table of contents: everything the program asks of Quay.
func Cloud() providers.Cloud[Config, struct{}] {
	return providers.Cloud[Config, struct{}]{
		Name: "quay", Kinds: []string{kind}, Capabilities: []providers.Capability{capability()},
		Annotations: declared(),
		Config:      readConfig,
		Choose:      func(*corev1.Service) providers.Choice { return providers.Choice{Kind: kind} },
		Reach: func(in providers.Input[Config]) providers.Reach {
			return providers.Reach{Kind: in.Kind, Size: providers.SizeOf(capability(), in.Service)}
		},
		Select:      func(providers.Input[Config]) nodeports.Filter { return nodeports.Filter{} },
		OwnedScope:  ownedScope,
		FoundByName: foundByName,
		Scope:       func(in providers.Input[Config]) (providers.Scope, error) { return ownedScope(in.Identity), nil },
		Build:       build,
		KeepServing: keepServing,
		// A found resource already has the key of the desired one: the key follows from the name.
		MatchFound: func(_, have *stack.Stack) *stack.Stack { return have },
		// A Service that cannot be built may want any opening.
		MayWant: func(_ providers.Identity[Config], r stack.Resource) bool { return r.Ownership == stack.Shared },
		Rules:   rules(),
		Flows:   computeFlows,
		Status:  show,
		Outputs: providers.Outputs{Labels: []string{labelID}},
		Open:    open,
	}
}

// capability says what the API can do: validation, `berth check` and the table of
// kinds follow from it.
func capability() providers.Capability {
	return providers.Capability{
		Kind: kind, Doc: "forwards ports to the node ports of machines",
		Protocols: []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP}, Mixed: true,
		Families: []corev1.IPFamily{corev1.IPv4Protocol}, NodePorts: true, Limits: providers.Limits{Ports: 20},
	}
}

// internalKey is the only annotation. Values are looked up by the key that was declared, so
// that there is one.
var internalKey = &annotations.Key[bool]{
	Name: "quay.example/internal", Group: "Network", Doc: "Whether the load balancer has a private address.",
	Forms: []annotations.Form[bool]{{Kinds: []string{kind}, Type: annotations.Bool(), Default: false}},
}

func declared() *annotations.Set {
	set, err := annotations.NewSet("quay", []string{"quay.example/"}, internalKey)
	if err != nil {
		panic(err) // a mistake in the declarations above; a test of the package sees it
	}
	return set
}

func readConfig(file io.Reader) (Config, annotations.Problems, error) {
	var c Config
	if file == nil {
		return c, nil, fmt.Errorf("there is no file; want one with the endpoint")
	}
	if err := json.NewDecoder(file).Decode(&c); err != nil {
		return c, nil, fmt.Errorf("malformed JSON: %w", err)
	}
	return c, nil, nil
}

// ownedScope returns where the resources of a Service can be: at the load balancers that
// carry its mark, and at the openings of its cluster. It depends on no field that the user
// has written.
func ownedScope(id providers.Identity[Config]) providers.Scope {
	return providers.Scope{Owner: id.Owner, Own: []providers.Lookup{
		{Kind: kindBalancer, By: "owner", Value: markOf(id.Config, id.Cluster, id.Owner)}, {Kind: kindOpening, By: "cluster", Value: id.Cluster},
	}}
}

// labelID is the label in which other programs find the identifier of the load balancer.
const labelID = "quay.example/balancer-id"

// hostOf returns the host name of a load balancer.
func hostOf(id string) string { return id + ".quay.example" }

// show gives clients the address, once the load balancer has one.
func show(_ providers.Input[Config], have *stack.Stack) status.Result {
	r, ok := have.Get(balancerKey())
	if !ok {
		return status.Result{}
	}
	return status.Result{Ingress: []corev1.LoadBalancerIngress{status.Hostname(hostOf(r.ID))}, Labels: map[string]string{labelID: r.ID}}
}
