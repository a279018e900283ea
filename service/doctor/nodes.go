package doctor

import (
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/providers"
)

// named bounds how many names a message lists.
const named = 3

// listNames returns the first names and the number of the others.
func listNames(names []string) string {
	if len(names) <= named {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:named], ", "), len(names)-named)
}

func checkNodes(c Cluster) []providers.Diagnosis {
	var without, excluded, able []string
	for _, n := range c.Nodes {
		_, out := n.Labels[corev1.LabelNodeExcludeBalancers]
		switch {
		case n.Spec.ProviderID == "":
			without = append(without, n.Name)
		case out:
			excluded = append(excluded, n.Name)
		default:
			able = append(able, n.Name)
		}
	}
	var out []providers.Diagnosis
	if len(without) > 0 {
		out = append(out, newFault("Nodes "+listNames(without), "they are behind no load balancer", "spec.providerID is not set"))
	}
	if len(able) == 0 && len(without) == 0 {
		cause := "the cluster has no Node"
		if len(excluded) > 0 {
			cause = fmt.Sprintf("the label %s is on all %d", corev1.LabelNodeExcludeBalancers, len(excluded))
		}
		out = append(out, newFault("Nodes", "none can be behind a load balancer", "%s", cause))
	}
	if len(out) == 0 {
		out = append(out, newFine("Nodes", fmt.Sprintf("%d can be behind load balancers, %d are excluded by a label", len(able), len(excluded))))
	}
	return out
}

func checkNodePorts(c Cluster) []providers.Diagnosis {
	about := "kube-proxy"
	if c.Proxy == "" {
		return []providers.Diagnosis{providers.Unchecked(CodeNodePorts, about, "there is no ConfigMap kube-system/kube-proxy with config.conf", "Look at --nodeport-addresses of the program that serves node ports.")}
	}
	var config struct {
		NodePortAddresses []string `json:"nodePortAddresses"`
	}
	if err := yaml.Unmarshal([]byte(c.Proxy), &config); err != nil {
		return []providers.Diagnosis{newWarning(about, "its configuration cannot be read", "%v", err)}
	}
	state := "node ports are served on " + strings.Join(config.NodePortAddresses, ", ")
	switch {
	case len(config.NodePortAddresses) == 0:
		return []providers.Diagnosis{newFine(about, "node ports are served on all addresses")}
	case c.servedSomewhere(config.NodePortAddresses):
		return []providers.Diagnosis{newFine(about, state)}
	}
	return []providers.Diagnosis{newFault(about, state, "no address of a Node is in these ranges, so load balancers reach no backend")}
}

// servedSomewhere reports whether an internal address of a Node is in one of the ranges.
func (c Cluster) servedSomewhere(ranges []string) bool {
	for _, text := range ranges {
		if text == "primary" {
			return true
		}
		within, err := netip.ParsePrefix(text)
		for _, n := range c.Nodes {
			for _, a := range n.Status.Addresses {
				addr, bad := netip.ParseAddr(a.Address)
				if err == nil && bad == nil && a.Type == corev1.NodeInternalIP && within.Contains(addr) {
					return true
				}
			}
		}
	}
	return false
}
