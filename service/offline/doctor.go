package offline

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/docs/permissions"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/doctor"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
)

// Checkup is the result of all checks of a setup.
type Checkup struct {
	FormatVersion string                `json:"formatVersion"`
	Provider      string                `json:"provider"`
	Results       []providers.Diagnosis `json:"results"` // by code; never nil
	// Verbose shows each result, also of what is as it should be.
	Verbose bool `json:"-"`
}

// Examination is the input of Doctor besides the target.
type Examination struct {
	Release string // of the chart; empty: none was named
	Lease   string // namespace/name; empty: that of the release, else DefaultLease
	Program string // version of this program
	Now     time.Time
}

// Doctor checks the setup of a controller in the cluster and in the cloud. It writes to neither. Without
// a cluster the checks of the cluster are not made, and the nodes are those of the files.
func Doctor(ctx context.Context, in Input, t Target, x Examination) (Checkup, error) {
	out := Checkup{FormatVersion: plan.FormatVersion, Provider: t.Cloud.Name}
	var nodes []*corev1.Node
	var world World
	if in.Kubeconfig != "" || in.hasContext() {
		client, _, err := in.dial(in.Kubeconfig)
		if err != nil {
			return out, err
		}
		found := readSetup(ctx, client, t, x)
		nodes, world = found.Nodes, World{live: client, ids: service.ClusterIDs(client, false)}
		out.Results = doctor.Diagnose(found)
	} else {
		out.Results = doctor.Diagnose(doctor.Absent(errNoCluster))
	}
	if len(in.NodeFiles) > 0 {
		read, err := fromFiles(ctx, Input{NodeFiles: in.NodeFiles}, nil)
		if err != nil {
			return out, err
		}
		nodes = read.Nodes
	}
	world.Nodes = nodes
	out.Results = append(out.Results, diagnoseCloud(ctx, world, t)...)
	// A check that was not reached is never passed over.
	for _, check := range doctor.Checks() {
		if !slices.ContainsFunc(out.Results, func(d providers.Diagnosis) bool { return d.Code == check.Code }) {
			out.Results = append(out.Results, providers.Unchecked(check.Code, t.Cloud.Name, "another check has failed before", "Correct the errors, and run the command again."))
		}
	}
	slices.SortStableFunc(out.Results, func(a, b providers.Diagnosis) int { return strings.Compare(a.Code, b.Code) })
	return out, nil
}

// diagnoseCloud opens the cloud and makes the checks there.
func diagnoseCloud(ctx context.Context, world World, t Target) []providers.Diagnosis {
	out, config := diagnoseConfig(t)
	if slices.ContainsFunc(out, func(d providers.Diagnosis) bool { return d.Result == providers.Faulty }) {
		return out
	}
	bound, problems, err := t.openWith(ctx, config, world.ids, world.live)
	if err != nil {
		return append(out, providers.Diagnosis{Code: providers.CheckCredentials, Result: providers.Faulty, About: t.Cloud.Name, State: "no session can be opened",
			Cause: conditions.OneLine(err), Next: "Set the credentials of the controller in the environment, and correct the cloud configuration file."})
	}
	out = append(out, diagnoseKeys(problems)...)
	if bound.Diagnose == nil {
		for _, code := range []string{providers.CheckCredentials, providers.CheckPermission, providers.CheckQuota} {
			out = append(out, providers.Unchecked(code, t.Cloud.Name, "the provider does not check it", "Compare the role with docs/permissions."))
		}
	} else {
		roles, err := permissions.Of(t.Cloud.Name)
		if err != nil {
			return append(out, providers.Unchecked(providers.CheckPermission, "roles", err.Error(), ""))
		}
		out = append(out, bound.Diagnose(ctx, roles)...)
	}
	return append(out, tryBalancers(ctx, t.Cloud, bound, world)...)
}

// diagnoseConfig reads the cloud configuration; a nil reader: there is none.
func diagnoseConfig(t Target) ([]providers.Diagnosis, io.Reader) {
	fail := func(state string, err error) []providers.Diagnosis {
		return []providers.Diagnosis{{Code: doctor.CodeConfig, Result: providers.Faulty, About: "cloud configuration", State: state, Cause: conditions.OneLine(err), Next: "Correct what the message names, in the file or in the values of the chart."}}
	}
	if t.CloudConfig == "" {
		return nil, nil
	}
	text, err := os.ReadFile(t.CloudConfig)
	if err != nil {
		return fail("the file cannot be read", err), nil
	}
	if _, err := t.Cloud.Parse(bytes.NewReader(text)); err != nil {
		return fail("the controller refuses the file", err), nil
	}
	return nil, bytes.NewReader(text)
}

// idleKey begins the problem of a key of the official file that concerns other controllers, such as
// that of routes. It is no fault.
const idleKey = "has no effect"

// diagnoseKeys returns the results for the keys of the cloud configuration.
func diagnoseKeys(problems annotations.Problems) []providers.Diagnosis {
	out := []providers.Diagnosis{{Code: doctor.CodeConfig, Result: providers.Fine, About: "cloud configuration", State: "it can be read"}}
	for _, p := range problems {
		d := providers.Diagnosis{Code: doctor.CodeConfig, Result: providers.Doubtful, About: "cloud configuration", State: "a key is not used", Cause: p.String(), Next: "Correct or remove the key."}
		if strings.HasPrefix(p.Message, idleKey) {
			d = providers.Diagnosis{Code: doctor.CodeConfig, Result: providers.Fine, About: p.Key, State: idleKey}
		}
		out = append(out, d)
	}
	return out
}

// tryBalancers plans a Service of each kind that an annotation requests, and writes nothing. A kind that
// a new Service cannot have is passed over.
func tryBalancers(ctx context.Context, cloud providers.Entry, bound providers.Bound, world World) []providers.Diagnosis {
	r := reconcile.New(bound, reconcile.Options{})
	r.SetNodes(projectNode(world))
	r.AllKnown()
	var out []providers.Diagnosis
	seen := map[string]bool{}
	for i, c := range append([]providers.Capability{{}}, bound.Capabilities...) {
		svc, ok := trialOf(c, i)
		if !ok {
			continue
		}
		choice := bound.Choose(svc)
		if choice.Kind == "" || choice.Elsewhere != "" || seen[choice.Kind] || isRefused(cloud, svc, choice.Kind) {
			continue
		}
		seen[choice.Kind] = true
		d := providers.Diagnosis{Code: doctor.CodeBalancer, Result: providers.Fine, About: "load balancer of kind " + choice.Kind, State: "a new Service would be served"}
		draft, err := r.Draft(ctx, reconcile.Job{Service: svc, Look: true})
		if cause := whyRefused(draft, err); cause != "" {
			d.Result, d.State, d.Cause, d.Next = providers.Faulty, "a new Service would not be served", cause, nextOf(err)
		} else if kinds := draft.Blind.Kinds(); len(kinds) > 0 {
			d.Result, d.State = providers.Doubtful, "a new Service would be served, and resources of the kind "+string(kinds[0])+" cannot be read"
			d.Cause, d.Next = conditions.OneLine(draft.Blind[kinds[0]]), nextOf(draft.Blind[kinds[0]])
		}
		out = append(out, d)
	}
	return out
}

// isRefused reports whether a new Service is refused whatever the configuration and the cloud.
func isRefused(cloud providers.Entry, svc *corev1.Service, kind string) bool {
	if cloud.Judge == nil {
		return false
	}
	values, _ := cloud.Annotations.Parse(kind, annotations.SourceOf(svc))
	backends := nodeports.BackendsOf(svc, nodeports.NodeSet{}, nil, nodeports.FallbackOf(svc))
	return cloud.Judge(providers.Request{Owner: reconcile.OwnerOf(svc), Service: svc, Kind: kind, Values: values, Backends: backends}).Errors()
}

// trialOf returns a Service that requests the kind by an annotation; false: something else
// requests it. The zero capability requests none.
func trialOf(c providers.Capability, n int) (*corev1.Service, bool) {
	svc := &corev1.Service{}
	svc.Namespace, svc.Name, svc.UID = "default", fmt.Sprintf("berth-doctor-%d", n), types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n))
	svc.Spec.Type = corev1.ServiceTypeLoadBalancer
	svc.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80, NodePort: 30080}}
	setDefaults(svc)
	key, value, found := strings.Cut(c.Asked, ": ")
	switch {
	case c.Kind == "":
	case !found, c.Optional != "", strings.HasPrefix(key, "spec."), strings.Contains(value, " "):
		return nil, false
	default:
		svc.Annotations = map[string]string{key: strings.Trim(value, `"`)}
	}
	return svc, true
}

// whyRefused returns why a draft cannot be carried out; empty: it can.
func whyRefused(d *reconcile.Draft, err error) string {
	if err != nil {
		return conditions.OneLine(err)
	}
	if err := d.Problems.Err(); err != nil {
		return conditions.OneLine(err)
	}
	if len(d.Plan.Blocked) > 0 {
		return d.Plan.Blocked[0].Why
	}
	return ""
}

// nextOf returns the next step after a fault of the trial.
func nextOf(err error) string {
	switch {
	case fault.Is(err, fault.Denied):
		return "Add the permission that the message names to the role of the controller; see docs/permissions."
	case fault.Is(err, fault.Unavailable):
		return "Check the network path and the endpoint of the cloud's API."
	}
	return "Correct what the message names; the page of the cloud in docs/providers lists the required tags and settings."
}
