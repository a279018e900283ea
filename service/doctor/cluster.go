package doctor

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
)

// Part is a part of a cluster that checks read.
type Part string

// The parts.
const (
	Server    Part = "version of the API server"
	Workloads Part = "Deployments, DaemonSets and pods of kube-system"
	Leases    Part = "Lease of the controller"
	Nodes     Part = "Nodes"
	Proxy     Part = "configuration of kube-proxy"
	Webhooks  Part = "webhook configurations"
	Secrets   Part = "Secret of the webhook"
	Settings  Part = "ConfigMaps of other controllers"
)

// Cluster is the input of the checks.
type Cluster struct {
	Controller
	Now       time.Time
	Program   string // version of this program
	Server    string // version of the API server
	Workloads []Workload
	Lease     *coordinationv1.Lease // nil: there is none
	Nodes     []*corev1.Node
	Proxy     string // configuration of kube-proxy; empty: there is none
	Webhooks  []Webhook
	Secret    map[string][]byte // of the webhook
	Settings  []string          // ConfigMaps of kube-system that hidden controllers read
	Unread    map[Part]error
}

// Controller is the setup of the controller.
type Controller struct {
	Release      string // of the chart; empty: unknown
	Provider     string
	Lease        string // namespace/name
	DefaultClass bool
	Classes      []string
}

// Workload is a Deployment, a DaemonSet or a pod.
type Workload struct {
	Kind, Namespace, Name string
	Labels                map[string]string
	Pod                   corev1.PodSpec
	Wanted, Available     int32
}

// Labels of the chart, and of Helm.
const (
	labelName     = "app.kubernetes.io/name"
	labelInstance = "app.kubernetes.io/instance"
	labelVersion  = "app.kubernetes.io/version"
	programName   = "berth"
)

func (w Workload) String() string { return w.Kind + " " + w.Namespace + "/" + w.Name }

// isBerth reports whether the workload is a controller of this program, by the labels of the chart or
// the name of its image.
func (w Workload) isBerth() bool {
	return w.Labels[labelName] == programName || slices.ContainsFunc(w.Pod.Containers, func(c corev1.Container) bool {
		return strings.Contains(c.Image, "/"+programName+"/") || strings.HasPrefix(path.Base(c.Image), programName+":")
	})
}

// flag returns the last value of a flag of any container; false: it is not set.
func (w Workload) flag(name string) (value string, set bool) {
	for _, c := range w.Pod.Containers {
		args := append(append([]string{}, c.Command...), c.Args...)
		for i, arg := range args {
			key, text, joined := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			switch {
			case key != name || !strings.HasPrefix(arg, "-"):
			case joined:
				value, set = text, true
			case i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
				value, set = args[i+1], true
			default:
				value, set = "true", true
			}
		}
	}
	return value, set
}

// Webhook is a webhook of a configuration of either sort.
type Webhook struct {
	Configuration string
	Release       string // whose the configuration is; empty: of no release of the chart
	Name          string
	Bundle        []byte
	Host          string // by which the API server calls
	Secret        string // namespace/name of the one with its certificate
	Mutates       []string
}

// ReleaseOf returns the release of the chart that has installed an object; empty: none has.
func ReleaseOf(labels map[string]string) string {
	if labels[labelName] != programName {
		return ""
	}
	return labels[labelInstance]
}

// Absent returns the input for a cluster that cannot be read at all.
func Absent(err error) Cluster {
	out := Cluster{Unread: map[Part]error{}}
	for _, p := range []Part{Server, Workloads, Leases, Nodes, Proxy, Webhooks, Secrets, Settings} {
		out.Unread[p] = err
	}
	return out
}

// ours returns the workload of the release; false: none was named, or it is not found.
func (c Cluster) ours() (Workload, bool) {
	for _, w := range c.Workloads {
		if c.Release != "" && w.isBerth() && w.Labels[labelInstance] == c.Release && w.Kind == "Deployment" {
			return w, true
		}
	}
	return Workload{}, false
}

// unreadPart is a part that could not be read, with the cause.
type unreadPart struct {
	part Part
	err  error
}

// unread returns the first part that could not be read; nil: all were.
func (c Cluster) unread(parts []Part) *unreadPart {
	for _, p := range parts {
		if err := c.Unread[p]; err != nil {
			return &unreadPart{p, err}
		}
	}
	return nil
}

func (u unreadPart) diagnosis(check Check) *providers.Diagnosis {
	d := providers.Unchecked(check.Code, string(u.part), u.err.Error(), "Name a cluster whose objects these credentials may list (--kubeconfig, --context).")
	return &d
}

// newFault returns a result that is an error.
func newFault(about, state, cause string, args ...any) providers.Diagnosis {
	return providers.Diagnosis{Result: providers.Faulty, About: about, State: state, Cause: fmt.Sprintf(cause, args...)}
}

func newWarning(about, state, cause string, args ...any) providers.Diagnosis {
	d := newFault(about, state, cause, args...)
	d.Result = providers.Doubtful
	return d
}

func newFine(about, state string) providers.Diagnosis {
	return providers.Diagnosis{Result: providers.Fine, About: about, State: state}
}
