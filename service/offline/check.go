package offline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// Checked is what can be said of Services without asking a cloud.
type Checked struct {
	FormatVersion string           `json:"formatVersion"`
	Provider      string           `json:"provider,omitempty"` // empty: each Service has its own
	Services      []CheckedService `json:"services"`           // by namespace and name; never nil
	Files         []Finding        `json:"files,omitempty"`    // what could not be read
	Notes         []string         `json:"-"`
	// Passed lists each document that was passed over; Notes counts them.
	Passed []string `json:"-"`
	// Version is that of the program, for reports.
	Version string `json:"-"`
	// Verbose shows Services without problems as well.
	Verbose bool `json:"-"`
	// Quiet leaves out the totals.
	Quiet bool `json:"-"`
}

// CheckedService is one Service.
type CheckedService struct {
	Owner    stack.Owner `json:"owner"`
	Provider string      `json:"provider,omitempty"` // empty: unknown
	Position
	Left     string    `json:"left,omitempty"` // why it is left alone
	Problems []Finding `json:"problems"`       // never nil
}

// Finding is a problem and where in a file it is.
type Finding struct {
	plan.Problem
	Position
}

// errNoFiles means that there is nothing to check.
var errNoFiles = errors.New("no file is given")

// The values of FailOn: the least severity that makes a check fail.
const (
	FailOnError   = "error"
	FailOnWarning = "warning"
	FailNever     = "never"
)

// FailOns lists the values of FailOn.
func FailOns() []string { return []string{FailOnError, FailOnWarning, FailNever} }

// ExitCode is 1 if something is found of the severity that failOn names or of a
// worse one, else 0.
func (c Checked) ExitCode(failOn string) int {
	errs, warnings := c.Count()
	if failOn != FailNever && (errs > 0 || failOn == FailOnWarning && warnings > 0) {
		return plan.ExitError
	}
	return plan.ExitNothing
}

// Count says how many errors and warnings there are.
func (c Checked) Count() (errs, warnings int) {
	for _, f := range c.Findings() {
		if f.Severity == plan.Error {
			errs++
		} else {
			warnings++
		}
	}
	return errs, warnings
}

// Findings are all problems: of the files and then of the Services.
func (c Checked) Findings() []Finding {
	out := slices.Clone(c.Files)
	for _, s := range c.Services {
		out = append(out, s.Problems...)
	}
	return out
}

// Checks are what Services are held against. The zero values of all but Cloud and
// Clouds are those of a controller without flags.
type Checks struct {
	// Cloud is the one that all Services are for. Without a name, each Service's own
	// annotations tell which of the Clouds it is for.
	Cloud   providers.Entry
	Clouds  []providers.Entry
	Classes service.Classes
	// AnyOwnClass serves every class of the program's own domain besides Classes.
	AnyOwnClass bool
	// PolicyConfig is the path of the controller's policy file; empty: none.
	PolicyConfig string
	// AllowedNamespaces are patterns of those whose Services are served; none: all.
	AllowedNamespaces []string
}

// Check judges the Services of files by their fields and annotations alone. Only a
// plan shows what the cloud would answer. Files that cannot be read and duplicate
// Services do not end it; an error means that there is no result.
func Check(ctx context.Context, in Input, by Checks) (Checked, error) {
	if len(in.Files) == 0 {
		return Checked{}, fmt.Errorf("check: %w", errNoFiles)
	}
	in.NodeFiles, in.Kubeconfig, in.Offline, in.Lenient = nil, "", true, true
	world, err := Gather(ctx, in)
	if err != nil {
		return Checked{}, err
	}
	out := Checked{FormatVersion: plan.FormatVersion, Provider: by.Cloud.Name, Services: []CheckedService{}, Files: world.Faults, Notes: world.Notes, Passed: world.Passed}
	run := checking{by: by, world: world, admissions: map[string]*service.Admission{}, optional: map[string]int{}}
	for _, item := range world.Items {
		if !item.Asked {
			continue
		}
		checked, err := run.check(item)
		if err != nil {
			return Checked{}, err
		}
		out.Services = append(out.Services, checked)
		if item.Assumed != "" && item.Service.Spec.Type == "LoadBalancer" {
			run.optional["with ipFamilyPolicy PreferDualStack, which depends on the cluster: checked as single-stack"]++
		}
	}
	out.Notes = append(out.Notes, run.notes()...)
	return out, nil
}

// notes are what is to be known of the result besides the problems.
func (c *checking) notes() []string {
	var out []string
	for _, text := range slices.Sorted(maps.Keys(c.optional)) {
		out = append(out, countOf(c.optional[text], "Service")+" "+text)
	}
	if c.untold > 0 {
		out = append(out, fmt.Sprintf("%s without an annotation or class of a cloud that Berth serves: judged by the fields alone; --provider says what else holds", countOf(c.untold, "Service")))
	}
	return out
}

// checking is one run of Check.
type checking struct {
	by         Checks
	world      World
	admissions map[string]*service.Admission // by cloud
	untold     int                           // Services of which no cloud is known
	optional   map[string]int                // Services of a kind that is not served everywhere, by what is to be known of it
}

// check judges one Service as the controller would see it. An error is that of the
// policy file.
func (c *checking) check(item Item) (CheckedService, error) {
	out := CheckedService{Owner: item.Owner(), Position: item.at.positionOf("")}
	problems := slices.Clone(item.Problems)
	cloud, known := c.cloudOf(item)
	out.Provider = cloud.Name
	if known {
		job, why := claimItem(item, c.classes(item, cloud), cloud.Choose, cloud.Outputs)
		if job == nil || job.Release {
			out.Left = why
		} else {
			held, err := c.judge(item, cloud)
			if err != nil {
				return out, err
			}
			problems = append(problems, held...)
		}
	} else if item.Service.Spec.Type == "LoadBalancer" {
		c.untold++
		_, unknown := providers.NoCloud(c.by.Clouds).Parse("", annotations.SourceOf(item.Service))
		problems = append(problems, service.PublicProblems(unknown)...)
	}
	out.Problems = item.locate(problems)
	return out, nil
}

// locate says where in the file the problems of a Service are, errors first.
func (i Item) locate(problems []plan.Problem) []Finding {
	out := make([]Finding, 0, len(problems))
	for _, p := range problems {
		out = append(out, Finding{Problem: p, Position: i.at.positionOf(p.Where)})
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return rankProblem(a.Problem) - rankProblem(b.Problem) })
	return out
}

// cloudOf returns the cloud that a Service is for: the given one, else the one with
// most annotations on it, or whose class it has. False: unknown.
func (c *checking) cloudOf(item Item) (providers.Entry, bool) {
	if c.by.Cloud.Name != "" {
		return c.by.Cloud, true
	}
	sets := make([]*annotations.Set, 0, len(c.by.Clouds))
	for _, e := range c.by.Clouds {
		sets = append(sets, e.Annotations)
	}
	var best providers.Entry
	most := 0
	for _, e := range c.by.Clouds {
		n := e.Annotations.Claims(annotations.SourceOf(item.Service), sets)
		if class := item.Service.Spec.LoadBalancerClass; class != nil && slices.Contains(e.Classes, *class) {
			n += len(item.Service.Annotations) + 1 // a class leaves no doubt
		}
		if n > most {
			best, most = e, n
		}
	}
	return best, most > 0
}

// classes returns the served classes for one Service.
func (c *checking) classes(item Item, cloud providers.Entry) service.Classes {
	out := c.by.Classes
	if out.Default {
		out.Names = append(slices.Clone(out.Names), cloud.Classes...)
	}
	class := item.Service.Spec.LoadBalancerClass
	if c.by.AnyOwnClass && class != nil && strings.HasPrefix(*class, status.Prefix) {
		out.Names = append(slices.Clone(out.Names), *class)
	}
	return out
}

// judge judges a Service as the controller would. An error is that of the policy file.
func (c *checking) judge(item Item, cloud providers.Entry) ([]plan.Problem, error) {
	admission, err := c.admission(cloud)
	if err != nil {
		return nil, err
	}
	judged := service.JudgeFields(item.Service, item.Owner(), cloud, admission)
	if judged.Optional != "" {
		c.optional["of kind "+judged.Kind+" on "+cloud.Name+", which is served only "+judged.Optional]++
	}
	return service.PublicProblems(judged.Problems), nil
}

// admission is what the policy of a controller for the cloud allows.
func (c *checking) admission(cloud providers.Entry) (*service.Admission, error) {
	if known, ok := c.admissions[cloud.Name]; ok {
		return known, nil
	}
	admission, err := service.AdmissionOf(c.by.PolicyConfig, c.by.AllowedNamespaces, cloud.Annotations, cloud.Outputs)
	if err != nil {
		return nil, err
	}
	admission.Beside(c.world.in)
	c.admissions[cloud.Name] = admission
	return admission, nil
}

// parseKind parses the annotations for one kind of load balancer.
func parseKind(item Item, kind string, set *annotations.Set) []plan.Problem {
	_, problems := set.Parse(kind, annotations.SourceOf(item.Service))
	return service.PublicProblems(problems)
}
