package nodeports

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

const (
	// TaintToBeDeleted is the key of the taint that the cluster autoscaler puts
	// on a node that it is about to remove. Any value and effect counts.
	// Source: kubernetes/cloud-provider:controllers/service/controller.go.
	TaintToBeDeleted = "ToBeDeletedByClusterAutoscaler"

	// labelZoneBeta was the zone label before Kubernetes 1.17; nodes of old
	// kubelets can have no other.
	labelZoneBeta = "failure-domain.beta.kubernetes.io/zone"
)

// Node is the part of a Node that load balancers depend on. A Node event with an
// equal projection changes no load balancer, so that the heartbeats of thousands of
// nodes cost nothing.
type Node struct {
	Name       string
	ProviderID string // empty until the cloud node controller has set it
	Zone       string // empty where the cloud has no zones
	// UID is the one of the Node, BootID the one of the machine's last start. A machine
	// that is recreated under its name has others, even if all other fields are equal.
	UID, BootID string

	Internal []netip.Addr // InternalIP addresses of both families, in the order of the Node
	External []netip.Addr // ExternalIP addresses of both families, in the order of the Node

	Labels    map[string]string      // only labels that a Filter uses; nil when there are none
	TaintKeys []string               // sorted, each key once, whatever its value and effect
	Ready     corev1.ConditionStatus // True, False or Unknown; Unknown when the condition is missing

	Excluded     bool // the exclude label exists and does not parse as false
	ExcludeLabel bool // the exclude label exists, with any value
	Deleting     bool // the Node has a deletion timestamp
}

// Project reduces a Node to the part that load balancers depend on. Labels for which
// keepLabels returns false are left out; a nil keepLabels keeps none. Use
// LabelKeys of the filters in use.
func Project(node *corev1.Node, keepLabels func(key string) bool) Node {
	p := Node{
		Name:       node.Name,
		ProviderID: node.Spec.ProviderID,
		UID:        string(node.UID),
		BootID:     node.Status.NodeInfo.BootID,
		Zone:       cmp.Or(node.Labels[corev1.LabelTopologyZone], node.Labels[labelZoneBeta]),
		Labels:     filterLabels(node.Labels, keepLabels),
		TaintKeys:  taintKeys(node.Spec.Taints),
		Ready:      readyStatus(node.Status.Conditions),
		Deleting:   node.DeletionTimestamp != nil,
	}
	p.Excluded, p.ExcludeLabel = excludeLabel(node.Labels)
	for _, a := range node.Status.Addresses {
		addr, ok := parseAddr(a.Address)
		if !ok {
			// The API does not validate addresses, and lists host names as well: only
			// valid addresses can be addresses of backends.
			continue
		}
		switch a.Type {
		case corev1.NodeInternalIP:
			p.Internal = append(p.Internal, addr)
		case corev1.NodeExternalIP:
			p.External = append(p.External, addr)
		}
	}
	return p
}

// Equal reports whether both are equal for every load balancer.
func (n Node) Equal(o Node) bool {
	return n.Name == o.Name && n.ProviderID == o.ProviderID && n.Zone == o.Zone && n.UID == o.UID && n.BootID == o.BootID &&
		slices.Equal(n.Internal, o.Internal) && slices.Equal(n.External, o.External) &&
		maps.Equal(n.Labels, o.Labels) && slices.Equal(n.TaintKeys, o.TaintKeys) &&
		n.Ready == o.Ready && n.Excluded == o.Excluded &&
		n.ExcludeLabel == o.ExcludeLabel && n.Deleting == o.Deleting
}

// Address returns the address at which a load balancer reaches the node: the
// first internal one of that family, else the first external one. False: the
// node has none of that family.
func (n Node) Address(family corev1.IPFamily) (netip.Addr, bool) {
	for _, list := range [][]netip.Addr{n.Internal, n.External} {
		for _, a := range list {
			if FamilyOf(a) == family {
				return a, true
			}
		}
	}
	return netip.Addr{}, false
}

// Eligible reports whether the node belongs behind load balancers at all: it is
// not being deleted, not excluded by label, and not about to be removed by the
// autoscaler. Readiness, cordoning and other taints do not matter: health
// checks handle those, and deregistering nodes for them cuts connections.
// Source: KEP-3458; kubernetes/cloud-provider:controllers/service/controller.go.
func (n Node) Eligible() bool {
	return !n.Deleting && !n.Excluded && !slices.Contains(n.TaintKeys, TaintToBeDeleted)
}

// CameBack reports whether the node is another machine, or another start of it, than
// before under the same name. Unknown values count as equal.
func (n Node) CameBack(before Node) bool {
	differ := func(a, b string) bool { return a != "" && b != "" && a != b }
	return n.Name == before.Name && (differ(n.UID, before.UID) || differ(n.BootID, before.BootID))
}

// excludeLabel reads the exclude label. Since 2025 a value that parses as false keeps
// the node; before, the mere presence excluded it, and some controllers still do. Hence
// both results. Source: kubernetes/kubernetes#131085.
func excludeLabel(labels map[string]string) (excluded, present bool) {
	value, present := labels[corev1.LabelNodeExcludeBalancers]
	if !present {
		return false, false
	}
	on, err := strconv.ParseBool(value)
	return err != nil || on, true
}

func filterLabels(labels map[string]string, wanted func(string) bool) map[string]string {
	if wanted == nil {
		return nil
	}
	var kept map[string]string
	for k, v := range labels {
		if !wanted(k) {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		kept[k] = v
	}
	return kept
}

func taintKeys(taints []corev1.Taint) []string {
	var keys []string
	for _, t := range taints {
		keys = append(keys, t.Key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func readyStatus(conditions []corev1.NodeCondition) corev1.ConditionStatus {
	for _, c := range conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return corev1.ConditionUnknown
}
