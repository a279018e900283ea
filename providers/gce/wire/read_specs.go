package wire

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"
	raw "google.golang.org/api/compute/v1"

	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/stack"
)

func (v *view) ruleOf(f *computepb.ForwardingRule) model.Rule {
	out := model.Rule{
		Name: f.GetName(), Description: f.GetDescription(), Scheme: cmp.Or(f.GetLoadBalancingScheme(), model.SchemeExternal),
		IPVersion: f.GetIpVersion(), IP: bareIP(f.GetIPAddress()), Protocol: f.GetIPProtocol(), Ports: portsOf(f),
		Target: v.ref(f.GetTarget()), Backend: v.ref(f.GetBackendService()),
		Network: model.ProjectPathOf(f.GetNetwork()), Subnet: model.ProjectPathOf(f.GetSubnetwork()), Tier: f.GetNetworkTier(),
		GlobalAccess: f.GetAllowGlobalAccess(), IPCollection: f.GetIpCollection(),
	}
	out.IPVersion = cmp.Or(out.IPVersion, model.VersionOf(out.IP))
	if out.Scheme == model.SchemeExternal && out.IPVersion == model.VersionIPv4 {
		out.Network, out.Subnet = "", ""
	}
	return out
}

func portsOf(f *computepb.ForwardingRule) model.Ports {
	switch {
	case f.GetAllPorts():
		return model.Ports{All: true}
	case len(f.GetPorts()) > 0:
		return model.Ports{List: byNumber(f.GetPorts())}
	}
	return model.Ports{Range: f.GetPortRange()}
}

// byNumber sorts ports and ranges by their first port.
func byNumber(ports []string) []string {
	first := func(p string) int {
		from, _, _ := strings.Cut(p, "-")
		n, _ := strconv.Atoi(from) // non-numbers sort first
		return n
	}
	out := slices.Clone(ports)
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(a, b)) })
	return out
}

// bareIP is an IP in its canonical form, without a prefix length.
func bareIP(text string) string {
	host, _, _ := strings.Cut(text, "/")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.String()
	}
	return host
}

// rangeOf is a range as it is compared: masked, and one address without length.
func rangeOf(text string) string {
	p, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return bareIP(text)
	case p.IsSingleIP():
		return p.Addr().String()
	}
	return p.Masked().String()
}

func addressOf(a *computepb.Address) model.Address {
	out := model.Address{
		Name: a.GetName(), Description: a.GetDescription(), Type: cmp.Or(a.GetAddressType(), model.SchemeExternal),
		IP: bareIP(a.GetAddress()), Tier: a.GetNetworkTier(), IPCollection: a.GetIpCollection(),
	}
	out.IPVersion = cmp.Or(a.GetIpVersion(), model.VersionOf(out.IP))
	if out.Type == model.SchemeInternal || out.IPVersion == model.VersionIPv6 {
		out.Subnet = model.ProjectPathOf(a.GetSubnetwork())
	}
	return out
}

func reservedOf(a *computepb.Address) model.Reserved {
	spec := addressOf(a)
	out := model.Reserved{Name: spec.Name, IP: spec.IP, IPVersion: spec.IPVersion, Type: spec.Type, Tier: spec.Tier, Subnet: spec.Subnet, IPCollection: spec.IPCollection}
	out.Purpose = a.GetPurpose()
	for _, u := range a.GetUsers() {
		out.Users = append(out.Users, model.ProjectPathOf(u))
	}
	slices.Sort(out.Users)
	return out
}

func (v *view) poolOf(p *computepb.TargetPool) model.Pool {
	out := model.Pool{Name: p.GetName(), Description: p.GetDescription(), Affinity: p.GetSessionAffinity(), Checks: v.refs(p.GetHealthChecks())}
	for _, i := range p.GetInstances() {
		out.Instances = append(out.Instances, model.PathOf(i))
	}
	slices.Sort(out.Instances)
	return out
}

func (v *view) backendOf(b *computepb.BackendService, network string) model.Backend {
	out := model.Backend{
		Name: b.GetName(), Description: b.GetDescription(), Scheme: b.GetLoadBalancingScheme(), Protocol: b.GetProtocol(),
		Affinity: cmp.Or(b.GetSessionAffinity(), model.AffinityNone), Checks: v.refs(b.GetHealthChecks()),
		Draining: int64(b.GetConnectionDraining().GetDrainingTimeoutSec()), Locality: b.GetLocalityLbPolicy(),
		ZoneAffinity: b.GetNetworkPassThroughLbTrafficPolicy().GetZonalAffinity().GetSpillover(),
	}
	if own := model.ProjectPathOf(b.GetNetwork()); own != network {
		out.Network = own
	}
	for _, backend := range b.GetBackends() {
		out.Balancing = cmp.Or(out.Balancing, backend.GetBalancingMode())
	}
	out.Groups = v.refs(groupsOf(b))
	if t := b.GetConnectionTrackingPolicy(); t != nil {
		out.Tracking = &model.Tracking{Mode: t.GetTrackingMode(), Strong: t.GetEnableStrongAffinity(), IdleTimeout: int64(t.GetIdleTimeoutSec())}
	}
	if l := b.GetLogConfig(); l != nil {
		out.Log = &model.Logging{Enable: l.GetEnable(), Rate: asWritten(l.GetSampleRate()), Mode: l.GetOptionalMode(), Fields: slices.Sorted(slices.Values(l.GetOptionalFields()))}
	}
	return out
}

// asWritten is the number that a rate was written as: 0.1 and not 0.10000000149.
func asWritten(rate float32) float64 {
	f, _ := strconv.ParseFloat(strconv.FormatFloat(float64(rate), 'g', -1, 32), 64) // its own output parses
	return f
}

func checkOf(c *computepb.HealthCheck) model.Check {
	http := c.GetHttpHealthCheck()
	return model.Check{
		Name: c.GetName(), Description: c.GetDescription(), Path: http.GetRequestPath(), Port: http.GetPort(),
		Interval: int64(c.GetCheckIntervalSec()), Timeout: int64(c.GetTimeoutSec()),
		Healthy: int64(c.GetHealthyThreshold()), Unhealthy: int64(c.GetUnhealthyThreshold()),
	}
}

func httpCheckOf(c *raw.HttpHealthCheck) model.Check {
	return model.Check{
		Name: c.Name, Description: c.Description, Path: c.RequestPath, Port: int32(c.Port),
		Interval: c.CheckIntervalSec, Timeout: c.TimeoutSec, Healthy: c.HealthyThreshold, Unhealthy: c.UnhealthyThreshold,
	}
}

func firewallOf(f *computepb.Firewall) model.Firewall {
	out := model.Firewall{
		Name: f.GetName(), Description: f.GetDescription(), Network: model.ProjectPathOf(f.GetNetwork()),
		Tags: slices.Sorted(slices.Values(f.GetTargetTags())), Priority: 1000,
	}
	if f.Priority != nil {
		out.Priority = int64(f.GetPriority())
	}
	for _, a := range f.GetAllowed() {
		out.Allowed = append(out.Allowed, model.Allowed{Protocol: strings.ToLower(a.GetIPProtocol()), Ports: byNumber(a.GetPorts())})
	}
	for _, d := range f.GetDenied() {
		out.Denied = append(out.Denied, model.Allowed{Protocol: strings.ToLower(d.GetIPProtocol()), Ports: byNumber(d.GetPorts())})
	}
	byProtocol := func(a, b model.Allowed) int { return cmp.Compare(a.Protocol, b.Protocol) }
	slices.SortStableFunc(out.Allowed, byProtocol)
	slices.SortStableFunc(out.Denied, byProtocol)
	for _, s := range f.GetSourceRanges() {
		out.Sources = append(out.Sources, maskedRange(s))
	}
	slices.Sort(out.Sources)
	var to []string
	for _, d := range f.GetDestinationRanges() {
		to = append(to, rangeOf(d))
	}
	if len(to) > 0 {
		slices.Sort(to)
		out.Destination = stack.RefID(strings.Join(to, ","))
	}
	return out
}

// maskedRange is a source range in the form in which it is compared.
func maskedRange(text string) string {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked().String()
	}
	return text
}

func negOf(g *computepb.NetworkEndpointGroup, endpoints []model.Endpoint) model.NEG {
	return model.NEG{
		Name: g.GetName(), Zone: model.LastOf(g.GetZone()), Description: g.GetDescription(),
		Network: model.ProjectPathOf(g.GetNetwork()), Subnet: model.ProjectPathOf(g.GetSubnetwork()), Endpoints: endpoints,
	}
}
