package providers

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// Entry is a cloud in the list of all clouds, without an open session.
type Entry struct {
	Name         string // the value of --cloud-provider
	Kinds        []string
	Capabilities []Capability // of the Kinds
	Classes      []string
	Annotations  *annotations.Set
	// Choose returns the kind of load balancer that a Service requests; it needs no cloud.
	Choose func(*corev1.Service) Choice
	// Reach returns the input of a policy for a request. It needs no configuration.
	Reach   func(Request) Reach
	Outputs Outputs
	// Exposed refuses requests for an internal load balancer that only annotations of other
	// clouds express; see Beside. Nil: other clouds are unknown.
	Exposed func(Request) annotations.Problems
	// Open reads the official cloud configuration file (nil: none) and connects.
	// Problems are keys of the file that are unknown or without effect here.
	Open func(ctx context.Context, config io.Reader, env Env) (Bound, annotations.Problems, error)
}

// EntryOf closes a cloud's types.
func EntryOf[C, F any](cloud Cloud[C, F]) Entry {
	return Entry{
		Name:         cloud.Name,
		Kinds:        cloud.Kinds,
		Capabilities: cloud.Capabilities,
		Classes:      cloud.Classes,
		Annotations:  cloud.Annotations,
		Choose:       cloud.Choose,
		Outputs:      cloud.Outputs,
		Reach: func(r Request) Reach {
			return cloud.Reach(Input[C]{Identity: Identity[C]{Owner: r.Owner}, Service: r.Service, Kind: r.Kind, Values: r.Values})
		},
		Open: func(ctx context.Context, file io.Reader, env Env) (Bound, annotations.Problems, error) {
			if !(env.Share >= 0) {
				return Bound{}, nil, fmt.Errorf("%s: the share of API rates is %v; legal: above 0, inf for no limit but the cloud's refusals", cloud.Name, env.Share)
			}
			config, problems, err := cloud.Config(file)
			if err != nil {
				return Bound{}, problems, fmt.Errorf("%s configuration: %w", cloud.Name, err)
			}
			session, config, err := cloud.Open(ctx, config, env)
			if err != nil {
				return Bound{}, problems, fmt.Errorf("%s: %w", cloud.Name, err)
			}
			return Bind(cloud, config, env.Cluster, session), problems, nil
		},
	}
}
