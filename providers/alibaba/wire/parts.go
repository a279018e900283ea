package wire

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// How many servers one call takes. Source: API of SLB, CreateVServerGroup; kubernetes/cloud-provider-alibaba-cloud, --sg-batch-size.
const (
	serversAtCreation = 20
	serversAtOnce     = 40
)

// createGroup creates a server group with its first servers, and adds the others.
func createGroup(c *change, spec model.VServerGroup) plan.Outcome {
	first := spec.Servers[:min(len(spec.Servers), serversAtCreation)]
	rest := spec.Servers[len(first):]
	var made groupDoc
	create := func(servers []model.Server) error {
		text, err := serverDocs(spec.Name, servers)
		if err != nil {
			return err
		}
		params := url.Values{"LoadBalancerId": {c.Parent()}, "VServerGroupName": {spec.Name}}
		if len(servers) > 0 {
			params.Set("BackendServers", text)
		}
		return writeTo(c, actCreateGroup, params, &made)
	}
	err := create(first)
	if fault.OfMember(err) { // one of them is not possible: each is tried alone below
		rest = spec.Servers
		err = create(nil)
	}
	if err != nil {
		return kit.Failed(err)
	}
	refused, err := c.Session.servers(c, actAddServers, made.ID, spec.Name, rest)
	if err != nil {
		return failedLater(err)
	}
	o := c.Created(made.ID, stack.Derived, spec)
	o.Refused = refused
	return o
}

// servers makes calls of one action for servers of a group, some at a time, and finds the
// servers that are refused.
func (s *Session) servers(c *change, action, group, name string, all []model.Server) ([]plan.Refusal, error) {
	var refused []plan.Refusal
	for part := range slices.Chunk(all, serversAtOnce) {
		not, err := kit.Split(part, nil, func(some []model.Server) error {
			text, err := serverDocs(name, some)
			if err != nil {
				return err
			}
			return writeTo(c, action, url.Values{"VServerGroupId": {group}, "BackendServers": {text}}, nil)
		})
		refused = append(refused, not...)
		if err != nil {
			return refused, err
		}
	}
	return refused, nil
}

// updateServers adds new servers, removes unwanted ones, and sets weights,
// in this order: the group is never empty in between.
func updateServers(c *change, spec model.VServerGroup) plan.Outcome {
	found, _ := c.Step.Found.(model.VServerGroup)
	add, remove, weigh := model.SplitServers(spec.Servers, found.Servers)
	s, id := c.Session, c.ID()
	refused, err := s.servers(c, actAddServers, id, spec.Name, add)
	overfull := fault.Is(err, fault.Quota)
	if err != nil && !overfull {
		return failedAfter(err, len(refused) < len(add) && len(add) > serversAtOnce)
	}
	if _, err := s.servers(c, actRemoveServers, id, spec.Name, remove); err != nil && !fault.Is(err, fault.NotFound) {
		return failedAfter(err, true)
	}
	if overfull && len(remove) > 0 { // the removed ones have made room
		refused, err = s.servers(c, actAddServers, id, spec.Name, add)
	}
	if err != nil {
		return failedAfter(err, len(remove) > 0)
	}
	if _, err := s.servers(c, actSetServers, id, spec.Name, weigh); err != nil {
		return failedAfter(err, len(add)+len(remove) > 0)
	}
	return c.Members(refused, nil)
}

// failedAfter returns the outcome of a refused call; earlier reports whether others of the step
// took effect before.
func failedAfter(err error, earlier bool) plan.Outcome {
	if earlier {
		return failedLater(err)
	}
	return kit.Failed(err)
}

// deleteGroup deletes a server group. From one that has servers of the user only those of the
// Service are removed.
func deleteGroup(c *change) plan.Outcome {
	found, _ := c.Step.Found.(model.VServerGroup)
	if found.Shared {
		_, err := c.Session.servers(c, actRemoveServers, c.ID(), found.Name, found.Servers)
		return kit.Deleted(err)
	}
	return kit.Deleted(writeTo(c, actDeleteGroup, url.Values{"VServerGroupId": {c.ID()}}, nil))
}

// listenerParams returns the parameters that name a listener.
func listenerParams(c *change, l model.Listener) url.Values {
	return url.Values{"LoadBalancerId": {c.Parent()}, "ListenerPort": {strconv.Itoa(int(l.Port))}}
}

// createListener creates a listener and starts it.
func createListener(c *change, spec model.Listener) plan.Outcome {
	params := listenerParams(c, spec)
	params.Set("Description", spec.Description)
	setTarget(c, params, spec)
	for name, value := range spec.Settings {
		params.Set(spellParam(name, spec.Protocol), value)
	}
	if err := writeTo(c, actCreateListener(spec.Protocol), params, nil); err != nil {
		return kit.Failed(err)
	}
	if spec.Running {
		if err := runListener(c, spec); err != nil {
			return failedLater(err)
		}
	}
	return c.Created(listenerID(c.Parent(), spec.Protocol, spec.Port), stack.Derived, spec)
}

// setTarget sets where a listener sends its clients: to a server group, or to another port. The
// latter has none of the other parameters.
func setTarget(c *change, params url.Values, spec model.Listener) {
	if spec.Forward.IsZero() {
		params.Set("VServerGroupId", c.Batch.ID(c.Step, spec.Group))
		return
	}
	port := c.Batch.ID(c.Step, spec.Forward)
	params.Set("ListenerForward", "on")
	params.Set("ForwardPort", port[strings.LastIndex(port, "/")+1:])
	params.Set("StickySession", "off")
	params.Set("HealthCheck", "off")
}

// spellParam returns a parameter as the calls that create listeners of TCP and UDP spell it.
// Source: API of SLB, CreateLoadBalancerTCPListener.
func spellParam(name, protocol string) string {
	if name == "HealthCheckInterval" && (protocol == "tcp" || protocol == "udp") {
		return "healthCheckInterval"
	}
	return name
}

func runListener(c *change, l model.Listener) error {
	params := listenerParams(c, l)
	params.Set("ListenerProtocol", l.Protocol)
	return writeTo(c, actStartListener, params, nil)
}

func startListener(c *change, spec model.Listener) plan.Outcome {
	return c.Updated(spec, runListener(c, spec))
}

// updateListener writes a listener with its observed parameters and the desired ones in their
// place: the API may reset what a call leaves out.
func updateListener(c *change, spec model.Listener) plan.Outcome {
	found, _ := c.Step.Found.(model.Listener)
	all := maps.Clone(found.Settings)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, spec.Settings)
	params := listenerParams(c, spec)
	for name, value := range all {
		if !isFoundOnly(name) {
			params.Set(name, value)
		}
	}
	params.Set("Description", spec.Description)
	if spec.Forward.IsZero() {
		params.Set("VServerGroup", "on")
		params.Set("VServerGroupId", c.Batch.ID(c.Step, spec.Group))
	}
	err := writeTo(c, actSetListener(spec.Protocol), params, nil)
	spec.Settings, spec.Running = all, found.Running
	return c.Updated(spec, err)
}

// isFoundOnly reports whether a setting is in answers alone.
func isFoundOnly(name string) bool {
	return slices.Contains([]string{"ListenerForward", "ForwardPort", "ForwardCode", "MasterSlaveServerGroupId", "MasterSlaveModeEnabled", "MasterServerGroupId", "SlaveServerGroupId", "FailoverThreshold", "FailoverStrategy", "MaxConnection", "QuicVersion", "RedirectPort"}, name)
}

func deleteListener(c *change) plan.Outcome {
	spec, _ := c.Step.Target.Spec.(model.Listener)
	params := listenerParams(c, spec)
	params.Set("ListenerProtocol", spec.Protocol)
	return kit.Deleted(writeTo(c, actDeleteListener, params, nil))
}

func createDomain(c *change, spec model.Domain) plan.Outcome {
	listener := strings.Split(c.Parent(), "/")
	var made domainDoc
	err := writeTo(c, actCreateDomain, url.Values{
		"LoadBalancerId": {listener[0]}, "ListenerPort": {listener[len(listener)-1]}, "Domain": {spec.Name}, "ServerCertificateId": {spec.Certificate},
	}, &made)
	if err != nil {
		return kit.Failed(err)
	}
	return c.Created(made.ID, stack.Derived, spec)
}

func updateDomain(c *change, spec model.Domain) plan.Outcome {
	return c.Updated(spec, writeTo(c, actSetDomain, url.Values{"DomainExtensionId": {c.ID()}, "ServerCertificateId": {spec.Certificate}}, nil))
}

func deleteDomain(c *change) plan.Outcome {
	return kit.Deleted(writeTo(c, actDeleteDomain, url.Values{"DomainExtensionId": {c.ID()}}, nil))
}
