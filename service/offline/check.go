package offline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Checked is what can be said of Services without asking a cloud.
type Checked struct {
	FormatVersion string           `json:"formatVersion"`
	Provider      string           `json:"provider"`
	Services      []CheckedService `json:"services"` // by namespace and name; never nil
	Notes         []string         `json:"-"`
}

// CheckedService is one Service.
type CheckedService struct {
	Owner    stack.Owner    `json:"owner"`
	Left     string         `json:"left,omitempty"` // why it is left alone
	Problems []plan.Problem `json:"problems"`       // never nil
}

// errNoFiles means that there is nothing to check.
var errNoFiles = errors.New("no file is given")

// ExitCode is 1 if a Service has an error, else 0.
func (c Checked) ExitCode() int {
	if slices.ContainsFunc(c.Services, func(s CheckedService) bool { return failed(s.Problems) }) {
		return plan.ExitError
	}
	return plan.ExitNothing
}

// Check judges the Services of files by what they say alone: fields and
// annotations. What the cloud would say, only a plan can tell.
func Check(ctx context.Context, in Input, cloud providers.Entry, classes service.Classes) (Checked, error) {
	if len(in.Files) == 0 {
		return Checked{}, fmt.Errorf("check: %w", errNoFiles)
	}
	in.NodeFiles, in.Kubeconfig = nil, ""
	world, err := Gather(ctx, in)
	if err != nil {
		return Checked{}, err
	}
	out := Checked{FormatVersion: plan.FormatVersion, Provider: cloud.Name, Services: []CheckedService{}, Notes: world.Notes}
	for _, item := range world.Items {
		if item.Asked {
			out.Services = append(out.Services, check(item, cloud, classes))
		}
	}
	return out, nil
}

// check judges one Service as the controller would see it.
func check(item Item, cloud providers.Entry, classes service.Classes) CheckedService {
	out := CheckedService{Owner: item.Owner(), Problems: append([]plan.Problem{}, item.Problems...)}
	job, why := claim(item, classes, cloud.Choose)
	if job == nil || job.Release {
		out.Left = why
		return out
	}
	out.Problems = append(out.Problems, judge(item, cloud.Choose(item.Service).Kind, cloud.Annotations)...)
	return out
}

// judge reads the annotations for one kind of load balancer.
func judge(item Item, kind string, set *annotations.Set) []plan.Problem {
	_, problems := set.Parse(kind, annotations.SourceOf(item.Service))
	return publicProblems(problems)
}
