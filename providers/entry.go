package providers

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack/plan"
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
	// Judge returns the problems of a new Service by its annotations and fields alone; see Judge of
	// a cloud. Nil: there are none.
	Judge func(Request) annotations.Problems
	// Open reads the official cloud configuration file (nil: none) and connects.
	// Problems are keys of the file that are unknown or without effect here.
	Open func(ctx context.Context, config io.Reader, env Env) (Bound, annotations.Problems, error)
	// Parse reads the configuration like Open and connects to nothing. Every read and write of
	// the result fails.
	Parse func(config io.Reader) (Bound, error)
}

// closedSession is the session of a cloud without a connection.
type closedSession[F any] struct{}

func (closedSession[F]) Read(_ context.Context, scopes []Scope) []Found[F] {
	out := make([]Found[F], len(scopes))
	for i := range out {
		out[i].Err = fault.New(fault.Internal, "no session is open")
	}
	return out
}

func (closedSession[F]) Apply(_ context.Context, b plan.Batch) []plan.Outcome {
	out := make([]plan.Outcome, len(b.Steps))
	for i := range out {
		out[i] = plan.Outcome{Err: fault.New(fault.Internal, "no session is open"), Sent: plan.NotSent}
	}
	return out
}

// judgeOf is the function Judge of a cloud.
func judgeOf[C, F any](cloud Cloud[C, F]) func(Request) annotations.Problems {
	if cloud.Judge == nil {
		return nil
	}
	return func(r Request) annotations.Problems {
		return cloud.Judge(Input[C]{Identity: Identity[C]{Owner: r.Owner}, Service: r.Service, Kind: r.Kind, Values: r.Values, Backends: r.Backends})
	}
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
		Judge:        judgeOf(cloud),
		Reach: func(r Request) Reach {
			return cloud.Reach(Input[C]{Identity: Identity[C]{Owner: r.Owner}, Service: r.Service, Kind: r.Kind, Values: r.Values})
		},
		Parse: func(file io.Reader) (Bound, error) {
			config, _, err := cloud.Config(file)
			if err != nil {
				return Bound{}, fmt.Errorf("%s configuration: %w", cloud.Name, err)
			}
			return Bind(cloud, config, "", closedSession[F]{}), nil
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
