package binaries

import (
	"strings"

	"github.com/berth-lb/berth/test/controlplane"
)

// Component is one program of the control plane.
type Component struct {
	// Name is the name of the program and the beginning of its file name.
	Name string
	// Module is the Go module whose required version is the program's version.
	Module string
	// Package is the main package.
	Package string
	// Own are patterns of the packages that no program but those of the control plane has.
	Own []string
	// Takes says in words how long a cold build takes on two cores.
	Takes string
}

// Etcd is the store of the API server. The server module is itself a main
// package that wraps etcdmain.
func Etcd() Component {
	return Component{
		Name:    "etcd",
		Module:  "go.etcd.io/etcd/server/v3",
		Package: "go.etcd.io/etcd/server/v3",
		Takes:   "half a minute at most",
	}
}

// APIServer is kube-apiserver.
func APIServer() Component {
	return Component{
		Name:    "kube-apiserver",
		Module:  "k8s.io/kubernetes",
		Package: "k8s.io/kubernetes/cmd/kube-apiserver",
		Own:     kubernetesPatterns(),
		Takes:   "1 to 2 minutes",
	}
}

// ControllerManager is kube-controller-manager.
func ControllerManager() Component {
	return Component{
		Name:    "kube-controller-manager",
		Module:  "k8s.io/kubernetes",
		Package: "k8s.io/kubernetes/cmd/kube-controller-manager",
		Own:     kubernetesPatterns(),
		Takes:   "1 minute",
	}
}

// kubernetesPatterns returns patterns of the packages of Kubernetes that are not made
// for other programs.
func kubernetesPatterns() []string {
	return []string{"k8s.io/kubernetes/...", "k8s.io/apiextensions-apiserver/...", "k8s.io/kube-aggregator/..."}
}

// All returns every component, in the order in which a build makes best use of
// the packages compiled before.
func All() []Component {
	return []Component{Etcd(), APIServer(), ControllerManager()}
}

// Version is the version that this module requires, with its leading v.
func (c Component) Version() (string, error) { return controlplane.Version(c.Module) }

// linkerFlags strips the symbol tables, which halves the file, and stamps the
// version into the Kubernetes programs: without the stamp /version answers with a
// placeholder that is not a version (source: k8s.io/component-base/version/base.go).
func (c Component) linkerFlags(version string) string {
	flags := []string{"-s", "-w"}
	if c.Module != "k8s.io/kubernetes" {
		return strings.Join(flags, " ")
	}
	const base = "-X=k8s.io/component-base/version."
	flags = append(flags, base+"gitVersion="+version)
	numbers := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(numbers) == 3 {
		flags = append(flags, base+"gitMajor="+numbers[0], base+"gitMinor="+numbers[1])
	}
	return strings.Join(flags, " ")
}
