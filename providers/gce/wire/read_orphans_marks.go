package wire

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/stack"
)

// described is a thing with its description.
type described struct{ name, text string }

// described lists everything that was listed, by name.
func (w *sweep) described() []described {
	var out []described
	for _, objects := range w.objects {
		for _, o := range objects {
			out = append(out, described{o.GetName(), o.GetDescription()})
		}
	}
	slices.SortFunc(out, func(a, b described) int { return strings.Compare(a.name+a.text, b.name+b.text) })
	return out
}

// serviceIn is the Service that a description names, as namespace/name; "" if none.
func serviceIn(description string) string {
	var found map[string]string
	if json.Unmarshal([]byte(description), &found) != nil {
		return ""
	}
	for _, key := range []string{model.KeyServiceNameV2, model.KeyServiceName} {
		if strings.Count(found[key], "/") == 1 {
			return found[key]
		}
	}
	if found["namespace"] != "" && found["service-name"] != "" { // of an endpoint group
		return found["namespace"] + "/" + found["service-name"]
	}
	return ""
}

// olderNames find the load balancer's name in names of rules, addresses, pools,
// backend services, checks and firewalls.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_loadbalancer_naming.go.
const olderNames = `^(?:k8s-fw-|k8s-)?(a[0-9a-f]{31})(?:-ipv6|-deny|-hc|-http-hc)?$`

// balancers are the things of load balancers with names made of UIDs that no live
// Service has, by those names.
func (w *sweep) balancers() map[string][]described {
	form, out := regexp.MustCompile(olderNames), map[string][]described{}
	for _, d := range w.described() {
		if found := form.FindStringSubmatch(d.name); len(found) > 1 && !w.lbs[found[1]] {
			out[found[1]] = append(out[found[1]], d)
		}
	}
	return out
}

// serviceOf is the Service that all of the things name that name one; "" if none does.
func serviceOf(things []described) string {
	service := ""
	for _, d := range things {
		named := serviceIn(d.text)
		if service != "" && named != "" && named != service {
			return ""
		}
		service = cmp.Or(service, named)
	}
	return service
}

// marked reports whether a load balancer's resources are this cluster's.
func (w *sweep) marked(lb string) (bool, error) {
	for _, name := range []string{lb, lb + model.SuffixIPv6} {
		if r, is := w.listed(model.KindRules, name).(*computepb.ForwardingRule); is && w.refersToOurs(r.GetBackendService()) {
			return true, nil
		}
	}
	if p, is := w.listed(model.KindPool, lb).(*computepb.TargetPool); is && (w.refersToOurs(p.GetHealthChecks()...) || slices.ContainsFunc(p.GetInstances(), w.isNode)) {
		return true, nil
	}
	if b, is := w.listed(model.KindBackend, lb).(*computepb.BackendService); is && w.refersToOurs(append(groupsOf(b), b.GetHealthChecks()...)...) {
		return true, nil
	}
	return w.opensNodes(lb)
}

// refersToOurs reports whether one of the resources has a name that holds the cluster's
// identity.
func (w *sweep) refersToOurs(urls ...string) bool {
	return slices.ContainsFunc(urls, func(url string) bool {
		name := model.LastOf(url)
		if w.config.SystemUID != "" && strings.HasPrefix(name, strings.Join([]string{model.V2Prefix, w.known.ClusterHash(), ""}, "-")) {
			return true
		}
		return w.config.ClusterID != "" && slices.ContainsFunc(model.SharedNames(w.config), func(n model.Name) bool { return n.Name == name })
	})
}

// isNode reports whether an instance is a node of the cluster.
func (w *sweep) isNode(url string) bool {
	parts := strings.Split(model.PathOf(url), "/")
	return len(parts) == 4 && projectOf(url) == w.config.Project && w.machines[parts[1]+"/"+parts[3]]
}

// opensNodes reports whether a load balancer's firewall is for machines that are all
// nodes of this cluster. In a network of another project the owner of the machines
// cannot be read.
func (w *sweep) opensNodes(lb string) (bool, error) {
	if w.config.HostProject() != w.config.Project {
		return false, nil
	}
	for _, n := range model.OwnNames(w.config, ownerOfName(lb)) {
		f, is := w.listed(model.KindFirewall, n.Name).(*computepb.Firewall)
		if !n.OfUID() || !is || len(f.GetTargetTags()) == 0 || model.ProjectPathOf(f.GetNetwork()) != w.config.Network {
			continue
		}
		tags, err := w.ownTags()
		if err != nil {
			return false, err
		}
		if !slices.ContainsFunc(f.GetTargetTags(), func(tag string) bool { return !tags[tag] }) {
			return true, nil
		}
	}
	return false, nil
}

// ownTags are the network tags that nodes of this cluster have and no other machine
// of the project. They are asked for once.
func (w *sweep) ownTags() (map[string]bool, error) {
	if w.tags != nil {
		return w.tags, nil
	}
	tags, others := map[string]bool{}, map[string]bool{}
	lost := ""
	it := beginList(w.ctx, w.Session, w.placeAPI.instances.AggregatedList, &computepb.AggregatedListInstancesRequest{})
	err := walkScopes(it.Next, &it.Response, func(where string) { lost = cmp.Or(lost, where) }, func(p compute.InstancesScopedListPair) (string, *computepb.Warning) {
		for _, i := range p.Value.GetInstances() {
			for _, tag := range i.GetTags().GetItems() {
				tags[tag] = true
				others[tag] = others[tag] || !w.machines[strings.TrimPrefix(p.Key, scopesZones)+"/"+i.GetName()]
			}
		}
		return p.Key, p.Value.GetWarning()
	})
	if err == nil && lost != "" {
		err = fault.New(fault.Unavailable, "%s: its instances cannot be listed", lost)
	}
	if err != nil {
		return nil, err
	}
	for tag, other := range others {
		if other {
			delete(tags, tag)
		}
	}
	w.tags = tags
	return tags, nil
}

// ownerOfName is a Service of which only the name of its load balancer is known. So
// much of the UID as is in the name gives the same name again.
func ownerOfName(lb string) stack.Owner {
	return stack.Owner{Name: lb, UID: strings.TrimPrefix(lb, "a")}
}
