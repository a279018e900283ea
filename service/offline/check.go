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

// Checks are what Services are held against. The zero values of all but Cloud are
// those of a controller without flags.
type Checks struct {
	Cloud   providers.Entry
	Classes service.Classes
	// PolicyConfig is the path of the controller's policy file; empty: none.
	PolicyConfig string
	// AllowedNamespaces are patterns of those whose Services are served; none: all.
	AllowedNamespaces []string
}

// Check judges the Services of files by what they say alone: fields and
// annotations. What the cloud would say, only a plan can tell.
func Check(ctx context.Context, in Input, by Checks) (Checked, error) {
	if len(in.Files) == 0 {
		return Checked{}, fmt.Errorf("check: %w", errNoFiles)
	}
	admission, err := service.AdmissionOf(by.PolicyConfig, by.AllowedNamespaces, by.Cloud.Annotations, by.Cloud.Outputs)
	if err != nil {
		return Checked{}, err
	}
	in.NodeFiles, in.Kubeconfig = nil, ""
	world, err := Gather(ctx, in)
	if err != nil {
		return Checked{}, err
	}
	out := Checked{FormatVersion: plan.FormatVersion, Provider: by.Cloud.Name, Services: []CheckedService{}, Notes: world.Notes}
	for _, item := range world.Items {
		if item.Asked {
			out.Services = append(out.Services, check(item, by, admission))
		}
	}
	return out, nil
}

// check judges one Service as the controller would see it.
func check(item Item, by Checks, admission *service.Admission) CheckedService {
	out := CheckedService{Owner: item.Owner(), Problems: append([]plan.Problem{}, item.Problems...)}
	job, why := claim(item, by.Classes, by.Cloud.Choose)
	if job == nil || job.Release {
		out.Left = why
		return out
	}
	out.Problems = append(out.Problems, hold(item, by.Cloud, admission)...)
	return out
}

// hold reads the annotations and holds the Service against the policy. As in the
// controller, one with a bad value is not: what it asks for is not known.
func hold(item Item, cloud providers.Entry, admission *service.Admission) []plan.Problem {
	kind := cloud.Choose(item.Service).Kind
	bag, problems := cloud.Annotations.Parse(kind, annotations.SourceOf(item.Service))
	if !problems.Errors() {
		reach := cloud.Reach(providers.Request{Owner: item.Owner(), Service: item.Service, Kind: kind, Values: bag})
		problems = append(problems, admission.Judge(item.Service, reach)...)
	}
	return publicProblems(problems)
}

// judge reads the annotations for one kind of load balancer.
func judge(item Item, kind string, set *annotations.Set) []plan.Problem {
	_, problems := set.Parse(kind, annotations.SourceOf(item.Service))
	return publicProblems(problems)
}
