package alibaba_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/test/props"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
	"github.com/berth-lb/berth/test/sim/rest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// withoutEffect lists fields that the official controller sets and Berth does not, with the reason.
func withoutEffect() map[string]string {
	const tcp, other = "network_listeners a05e04b24473f407e91c7dffd81d7394/k8s.80.TCP.secure.shop.berthdemo: ", "network_listeners a09674950244a4611bc7e110efc05ceb/k8s.80.TCP.secure-more.shop.berthdemo: "
	const plain = "only listeners of TCPSSL have it, and the port is one of TCP"
	return map[string]string{
		"listeners a200c5729e7344b69b028a9f22b763b2/http80: Scheduler ": "a redirect has no servers",
		tcp + "CertificateIds ":     plain,
		other + "CertificateIds ":   plain,
		other + "CaCertificateIds ": plain,
		other + "CaEnabled ":        plain,
		other + "SecurityPolicyId ": plain,
	}
}

// TestSameAsTheController: what Berth creates for the Services of the official controller is, field by field, what that
// controller has created and changed, except for fields without effect. That controller compares its own desired fields
// with these, so it finds nothing to write on the way back.
func TestSameAsTheController(t *testing.T) {
	differ := map[string]bool{}
	for _, state := range []string{officialState, officialNet} {
		virtual.Run(t, state, func(t *testing.T) {
			opt := simalibaba.Options{Gates: "IPv6DualStack=true", Seed: simalibaba.SeedOptions{Nodes: 4, Users: true}}
			theirs := beginWorld(t, opt)
			repeatCalls(t, theirs.Subject, state)
			ours := beginWorld(t, opt)
			ours.Process.SetNodes(ours.Machines[:3])
			endpoints := props.Documents[discoveryv1.EndpointSlice](t, state+"slices.yaml")
			for _, svc := range props.Documents[corev1.Service](t, state+"services.yaml") {
				svc.Labels, svc.Status = nil, corev1.ServiceStatus{}
				ours.Slices = slices.DeleteFunc(slices.Clone(endpoints), func(s *discoveryv1.EndpointSlice) bool {
					return s.Labels[discoveryv1.LabelServiceName] != svc.Name
				})
				ours.Serve(svc)
			}
			before, after := fieldsOf(theirs), fieldsOf(ours)
			if len(before) < 1000 {
				t.Errorf("%d fields", len(before))
			}
			if diff := cmp.Diff(listMissing(before, after, differ), listMissing(after, before, differ)); diff != "" {
				t.Errorf("of %d fields (-official +Berth):\n%s", len(before), diff)
			}
		})
	}
	for field, why := range withoutEffect() {
		if !differ[field] {
			t.Errorf("%q does not differ any more; it was listed because %s", field, why)
		}
	}
}

// listMissing returns the fields that are not among others. Those without effect are noted instead.
func listMissing(all, others []string, differ map[string]bool) (out []string) {
	for _, one := range all {
		listed := false
		_, found := slices.BinarySearch(others, one)
		for field := range withoutEffect() {
			if !found && strings.HasPrefix(one, field) {
				listed, differ[field] = true, true
			}
		}
		if !found && !listed {
			out = append(out, one)
		}
	}
	return out
}

// fieldsOf returns every field of the load balancers of an account and of their parts, with names in place of
// identifiers, and without what the cloud assigns.
func fieldsOf(w *world) []string {
	names := []string{}
	name := map[string]string{}
	kinds := []string{"load_balancers", "network_load_balancers", "vserver_groups", "server_groups", "security_groups", "listeners", "network_listeners", "domain_extensions"}
	for _, kind := range kinds {
		for _, o := range w.Objects(kind) {
			id := o.Text("id")
			name[id] = nameOf(o, name)
			names = append(names, id, name[id])
		}
	}
	identifiers := strings.NewReplacer(names...)
	var out []string
	for _, kind := range kinds {
		for _, o := range w.Objects(kind) {
			for field, value := range o {
				if !slices.Contains([]string{"CreateTime", "CreationTime", "Address", "DNSName", "LoadBalancerAddress"}, field) {
					out = append(out, fmt.Sprintf("%s %s: %s %s", kind, name[o.Text("id")], field, identifiers.Replace(textOf(value))))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// nameOf returns a name of an object that does not depend on the order of creations.
func nameOf(o rest.Object, of map[string]string) string {
	for _, tag := range o.Objects("Tags") {
		if key := tag.Text("Key") + tag.Text("TagKey"); key == "kubernetes.do.not.delete" && o["servers"] == nil {
			return tag.Text("Value") + tag.Text("TagValue")
		}
	}
	parent := of[o.Text("LoadBalancerId")]
	for _, field := range []string{"VServerGroupName", "ServerGroupName", "SecurityGroupName", "ListenerDescription", "Domain"} {
		if text := o.Text(field); text != "" {
			return parent + "/" + text
		}
	}
	if _, isListener := o["ListenerPort"]; isListener {
		return fmt.Sprint(parent, "/", o["ListenerProtocol"], o["ListenerPort"])
	}
	return o.Text("LoadBalancerName")
}

// textOf returns a value as a text, without what the cloud chooses. The order of lists and the case of texts do not count.
func textOf(value any) string {
	var parts []string
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			parts = append(parts, textOf(one))
		}
	case map[string]any:
		for field, one := range v {
			chosen := field == "SecurityGroupRuleId" || field == "PrivateIPv4Address" && strings.HasPrefix(fmt.Sprint(one), "192.168.20")
			if !chosen {
				parts = append(parts, field+"="+textOf(one))
			}
		}
	default:
		return strings.ToLower(fmt.Sprint(value))
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ", ") + "}"
}
