package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/test/harness"
)

// replayGroups has Berth manage the security groups of the nodes, and requests what the live
// load balancer cannot get: another subnet for its members, another subnet or class for itself,
// and another subnet in the configuration of the next process. The members stay in their
// subnet, so the nodes must continue to admit what the load balancer sends from there.
func (w *walker) replayGroups(ctx context.Context) (err error) {
	nodes, err := w.SeedNodes()
	if err != nil {
		return err
	}
	ports, err := w.plugNodes(ctx, nodes)
	defer func() { err = errors.Join(err, w.unplugNodes(ctx, ports)) }()
	if err != nil {
		return err
	}
	if err := w.LeaveNode(ctx, nodes[0].Name); err != nil {
		return err
	}
	other := w.cloud.known["other"]
	sections := []string{"manage-security-groups = true", "[LoadBalancerClass \"other\"]", "subnet-id = " + other}
	if err := w.configure("cluster", sections...); err != nil {
		return err
	}
	if _, err := w.Controller("groups", shortDrift); err != nil {
		return err
	}
	grouped := newService("grouped", nil, nil, newPort(corev1.ProtocolTCP, 80))
	if err := w.Create(ctx, grouped); err != nil {
		return err
	}
	if err := w.become(ctx, map[string][]string{"grouped": {"TCP 80: TCP ROUND_ROBIN, 2 members", "floating IP"}}); err != nil {
		return err
	}
	before := []string{"2 members in cluster", "2 ports of nodes", "tcp from 10.0.0.0/16"}
	if err := w.sameGroups(ctx, before); err != nil {
		return err
	}
	for _, wish := range [][2]string{{"subnet-id", other}, {"class", "other"}, {"member-subnet-id", other}} {
		key := prefix + wish[0]
		mark := w.mark()
		if err := w.Change(ctx, metav1.NamespaceDefault, "grouped", setAnnotation(key, wish[1])); err != nil {
			return err
		}
		if err := w.keepsGroups(ctx, mark, before, "NotApplied", key); err != nil {
			return fmt.Errorf("%s: %w", wish[0], err)
		}
		if wish[0] == "member-subnet-id" {
			continue
		}
		if err := w.Change(ctx, metav1.NamespaceDefault, "grouped", setAnnotation(key, "")); err != nil {
			return err
		}
		if err := harness.Eventually(ctx, patience, w.Programmed(grouped)); err != nil {
			return err
		}
	}
	return w.replayGroupsLater(ctx, nodes[0], sections, before, grouped)
}

// replayGroupsLater lets a node join while other members would get another subnet, and starts a
// process whose configuration has another subnet.
func (w *walker) replayGroupsLater(ctx context.Context, node corev1.Node, sections, before []string, grouped corev1.Service) error {
	if err := w.JoinNode(ctx, &node); err != nil {
		return err
	}
	both := []string{"1 members in other", "2 members in cluster", "3 ports of nodes", "tcp from 10.0.0.0/16", "tcp from 10.1.0.0/24"}
	if err := harness.Eventually(ctx, patience, func(ctx context.Context) error { return w.sameGroups(ctx, both) }); err != nil {
		return fmt.Errorf("a node joins: %w", err)
	}
	if err := w.LeaveNode(ctx, node.Name); err != nil {
		return err
	}
	if err := w.Change(ctx, metav1.NamespaceDefault, "grouped", setAnnotation(prefix+"member-subnet-id", "")); err != nil {
		return err
	}
	settled := func(ctx context.Context) error {
		return errors.Join(w.sameGroups(ctx, before), w.Programmed(grouped)(ctx))
	}
	if err := harness.Eventually(ctx, patience, settled); err != nil {
		return fmt.Errorf("the node leaves: %w", err)
	}
	if err := errors.Join(w.StopControllers(), w.configure("other", sections...)); err != nil {
		return err
	}
	mark := w.mark()
	if _, err := w.Controller("groups", shortDrift); err != nil {
		return err
	}
	if err := w.keepsGroups(ctx, mark, before); err != nil {
		return fmt.Errorf("another subnet in the configuration: %w", err)
	}
	return errors.Join(w.removeAll(ctx, grouped), w.JoinNode(ctx, &node))
}

// keepsGroups waits until the Service reports the texts and Berth has compared the cloud, and
// returns an error if it has written anything since the mark.
func (w *walker) keepsGroups(ctx context.Context, mark int, want []string, texts ...string) error {
	if len(texts) > 0 {
		if err := w.reports(ctx, "grouped", texts...); err != nil {
			return err
		}
	}
	if err := w.compared(ctx, w.mark()); err != nil {
		return err
	}
	return errors.Join(w.unchanged(mark), w.sameGroups(ctx, want))
}

// sameGroups compares what the nodes admit, and where the members are, with the expected lines.
func (w *walker) sameGroups(ctx context.Context, want []string) error {
	got, err := w.listAdmission(ctx)
	if diff := cmp.Diff(want, got); err == nil && diff != "" {
		return fmt.Errorf("the nodes admit otherwise (-want +got):\n%s", diff)
	}
	return err
}

// listAdmission describes the subnets of members, and the rules and ports of the group.
func (w *walker) listAdmission(ctx context.Context) ([]string, error) {
	groups, err := w.cloud.list(ctx, "network", "/security-groups", "security_groups")
	if err != nil {
		return nil, err
	}
	groups = slices.DeleteFunc(groups, func(g any) bool { return !strings.HasPrefix(fmt.Sprint(valueAt(g, "name")), "lb-sg-") })
	if len(groups) != 1 {
		return nil, fmt.Errorf("%d groups", len(groups))
	}
	var out []string
	rules, _ := valueAt(groups[0], "security_group_rules").([]any)
	for _, r := range rules {
		if valueAt(r, "direction") == "ingress" {
			out = append(out, fmt.Sprintf("%v from %v", valueAt(r, "protocol"), valueAt(r, "remote_ip_prefix")))
		}
	}
	ports, err := w.cloud.list(ctx, "network", "/ports?security_groups="+fmt.Sprint(valueAt(groups[0], "id")), "ports")
	if err != nil {
		return nil, err
	}
	out = append(out, fmt.Sprintf("%d ports of nodes", len(ports)))
	pools, err := w.cloud.list(ctx, "load-balancer", "/lbaas/pools", "pools")
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, p := range pools {
		members, err := w.cloud.list(ctx, "load-balancer", "/lbaas/pools/"+fmt.Sprint(valueAt(p, "id"))+"/members", "members")
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			count[w.nameOf(valueAt(m, "subnet_id"))]++
		}
	}
	for subnet, n := range count {
		out = append(out, fmt.Sprintf("%d members in %s", n, subnet))
	}
	slices.Sort(out)
	return out, nil
}

// nameOf returns the name of a subnet of the furnished cloud.
func (w *walker) nameOf(id any) string {
	for _, name := range []string{"cluster", "other"} {
		if w.cloud.known[name] == id {
			return name
		}
	}
	return fmt.Sprint(id)
}

// plugNodes creates the ports of the Nodes' servers, as Nova does.
func (w *walker) plugNodes(ctx context.Context, nodes []corev1.Node) (ports []string, err error) {
	for _, n := range nodes {
		var address string
		for _, a := range n.Status.Addresses {
			if a.Type == corev1.NodeInternalIP {
				address = a.Address
			}
		}
		server := n.Spec.ProviderID[strings.LastIndex(n.Spec.ProviderID, "/")+1:]
		id, err := w.cloud.must(ctx, http.MethodPost, "network", "/ports", document{"port": document{
			"name": n.Name, "network_id": w.cloud.known["cluster-net"], "device_id": server,
			"fixed_ips": []any{document{"subnet_id": w.cloud.known["cluster"], "ip_address": address}},
		}}, "port.id")
		if err != nil {
			return ports, err
		}
		ports = append(ports, id)
	}
	return ports, nil
}

// unplugNodes deletes ports.
func (w *walker) unplugNodes(ctx context.Context, ports []string) (err error) {
	for _, id := range ports {
		_, failed := w.cloud.must(ctx, http.MethodDelete, "network", "/ports/"+url.PathEscape(id), nil, "")
		err = errors.Join(err, failed)
	}
	return err
}
