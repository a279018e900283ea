package offline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-lb/berth/service/view"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// Standings are those of the Services of a cluster.
type Standings struct {
	FormatVersion string           `json:"formatVersion"`
	Services      []view.Service   `json:"services"` // by namespace and name; never nil
	Controller    *view.Controller `json:"controller,omitempty"`
	named         bool
}

// lastEvents is how many events are shown of a Service.
const lastEvents = 5

// Status returns the state of the Services of type LoadBalancer. It reads the cluster alone.
func Status(ctx context.Context, in Input, by Judge) (Standings, error) {
	world, err := Gather(ctx, in)
	if err != nil {
		return Standings{}, err
	}
	return standingsOf(ctx, world, len(in.Names) > 0, by)
}

// standingsOf returns the state of the Services to show. Named Services have their events.
func standingsOf(ctx context.Context, world World, named bool, by Judge) (Standings, error) {
	out := Standings{FormatVersion: plan.FormatVersion, Services: []view.Service{}, named: named}
	for _, item := range world.Items {
		if !item.Asked || item.Service.Spec.Type != corev1.ServiceTypeLoadBalancer {
			continue
		}
		s := newStanding(item)
		if out.named {
			if err := addEvents(ctx, world.live, item.Service, &s); err != nil {
				return out, err
			}
		}
		out.Services = append(out.Services, s)
	}
	err := out.judge(ctx, world, by)
	return out, err
}

// addEvents adds the last events on a Service, or the reason why they are not shown.
func addEvents(ctx context.Context, client kubernetes.Interface, svc *corev1.Service, s *view.Service) (err error) {
	if s.Events, err = eventsOf(ctx, client, svc); apierrors.IsForbidden(err) {
		s.Untold = "there is no right to list events in the namespace " + svc.Namespace
		return nil
	}
	return err
}

func newStanding(item Item) view.Service {
	s := view.Service{Standing: view.Standing{Owner: item.Owner(), Health: status.HealthOf(item.Service)}}
	if class := item.Service.Spec.LoadBalancerClass; class != nil {
		s.Class = *class
	}
	for _, in := range item.Service.Status.LoadBalancer.Ingress {
		s.Addresses = append(s.Addresses, strings.TrimSpace(in.Hostname+" "+in.IP))
	}
	for _, p := range item.Service.Spec.Ports {
		text := fmt.Sprintf("%d/%s", p.Port, p.Protocol)
		if p.NodePort != 0 {
			text += fmt.Sprintf(" -> node port %d", p.NodePort)
		}
		s.Ports = append(s.Ports, text)
	}
	for _, c := range item.Service.Status.Conditions {
		if slices.Contains(status.Types(), c.Type) {
			s.Conditions = append(s.Conditions, c)
		}
	}
	return s
}

// eventsOf are the last events on a Service, without those of one that had its name
// before it.
func eventsOf(ctx context.Context, client kubernetes.Interface, svc *corev1.Service) ([]string, error) {
	list, err := client.CoreV1().Events(svc.Namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=Service,involvedObject.uid=" + string(svc.UID)})
	if err != nil {
		return nil, fmt.Errorf("events of %s/%s: %w", svc.Namespace, svc.Name, err)
	}
	slices.SortStableFunc(list.Items, func(a, b corev1.Event) int { return b.LastTimestamp.Compare(a.LastTimestamp.Time) })
	var out []string
	for _, e := range list.Items[:min(len(list.Items), lastEvents)] {
		out = append(out, fmt.Sprintf("%s %s %s: %s", e.LastTimestamp.UTC().Format(time.RFC3339), e.Type, e.Reason, e.Message))
	}
	return out, nil
}

// ExitCode is plan.ExitChanges if a Service is not as desired according to its conditions
// or to a verdict, else plan.ExitNothing.
func (s Standings) ExitCode() int {
	if slices.ContainsFunc(s.Services, func(one view.Service) bool { return one.Failing() }) {
		return plan.ExitChanges
	}
	return plan.ExitNothing
}

// Formats lists the legal values of Render's format.
func (Standings) Formats() []string { return []string{"human", "json"} }

// Render formats the state of Services: a table, or every detail of the Services that
// were named.
func (s Standings) Render(format string, width int) (string, error) {
	switch {
	case format == "json":
		return encodeJSON(s)
	case format != "human":
		return "", unknownFormat(format, s.Formats())
	case s.named:
		return s.tree(width), nil
	}
	return s.table(), nil
}

func (s Standings) table() string {
	if len(s.Services) == 0 {
		return "No Services of type LoadBalancer.\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	writeRow(w, "SERVICE", "ADDRESS", "ACCEPTED", "PROGRAMMED", "MESSAGE")
	for _, one := range s.Services {
		accepted, programmed := one.Condition(status.TypeAccepted), one.Condition(status.TypeProgrammed)
		address := "<pending>"
		if len(one.Addresses) > 0 {
			address = strings.Join(one.Addresses, ",")
		}
		writeRow(w, one.Owner.String(), address, wordOf(accepted), wordOf(programmed), one.Summarize())
	}
	_ = w.Flush() // a builder takes everything
	return b.String() + s.absent()
}

// absent returns a line that says that no controller seems to run; empty if one does.
func (s Standings) absent() string {
	if s.Controller == nil || s.Controller.Absent == "" {
		return ""
	}
	return s.Controller.Absent + "\n"
}

// wordOf returns the table cell of a condition: True, or its reason.
func wordOf(c metav1.Condition) string {
	switch {
	case c.Type == "":
		return "-"
	case c.Status == metav1.ConditionTrue:
		return "True"
	}
	return c.Reason
}

func (s Standings) tree(width int) string {
	var out strings.Builder
	for _, one := range s.Services {
		writeWrapped(&out, width, "Service "+one.Owner.String())
		for _, a := range one.Addresses {
			writeWrapped(&out, width, "  address "+a)
		}
		for _, p := range one.Ports {
			writeWrapped(&out, width, "  port "+p)
		}
		switch {
		case one.Verdict != "":
			writeWrapped(&out, width, "  "+one.Why)
		case one.Health == status.Unreported:
			writeWrapped(&out, width, "  "+one.Unreported())
		}
		for _, c := range one.Conditions {
			writeWrapped(&out, width, fmt.Sprintf("  %s %s, %s since %s", strings.TrimPrefix(c.Type, status.Prefix), c.Status, c.Reason, c.LastTransitionTime.UTC().Format(time.RFC3339)))
			if c.Message != "" {
				writeWrapped(&out, width, "    "+c.Message)
			}
		}
		for _, b := range one.Balancers {
			writeBranch(&out, width, "  ", b)
		}
		if one.Unseen != "" {
			writeWrapped(&out, width, "  members are not shown: "+one.Unseen)
		}
		if one.Untold != "" {
			writeWrapped(&out, width, "  events are not shown: "+one.Untold)
		}
		for _, e := range one.Events {
			writeWrapped(&out, width, "  event "+e)
		}
	}
	return out.String() + s.absent()
}

// Sync requests a full reconcile of Services from the controller: it reads the cloud and
// corrects every difference, without its cache. Sync writes one annotation.
func Sync(ctx context.Context, in Input, now time.Time) ([]stack.Owner, error) {
	world, err := Gather(ctx, in)
	if err != nil {
		return nil, err
	}
	var out []stack.Owner
	for _, item := range world.Items {
		if !item.Asked {
			continue
		}
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, status.AnnotationLookAgain, now.UTC().Format(time.RFC3339Nano))
		svc := item.Service
		if _, err := world.live.CoreV1().Services(svc.Namespace).Patch(ctx, svc.Name, status.PatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			return out, fmt.Errorf("service %s/%s: %w", svc.Namespace, svc.Name, err)
		}
		out = append(out, item.Owner())
	}
	return out, nil
}
