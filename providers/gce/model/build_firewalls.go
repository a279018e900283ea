package model

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// Priorities: a lower number is stronger. With a firewall that denies everything
// else, the one that allows has to be stronger than it.
const (
	allowPriority     = 1000
	allowOverPriority = 999
	denyPriority      = 1000
)

// clientFirewalls lets clients in on the ports, at the load balancer's IPs, and
// closes the rest of them if that is configured.
func (b *builder) clientFirewalls() {
	if b.in.Config.NoFirewall && isNewer(b.in.Kind) {
		b.keepFirewalls()
		return
	}
	if b.hasIPv4() {
		b.clientFirewall(VersionIPv4)
	}
	if b.hasIPv6() {
		b.clientFirewall(VersionIPv6)
	}
}

// keepFirewalls leaves firewalls that let clients in as they are: a user that creates
// their own can delete these once the others exist. They are deleted with the Service.
func (b *builder) keepFirewalls() {
	for _, kind := range []stack.Kind{KindFirewall, KindDeny} {
		for _, r := range b.have.Of(kind) {
			if r.Proof != stack.None && r.Key.Name != keyLegacy {
				b.put(r.Key, r.Spec)
			}
		}
	}
}

// clientFirewall is for one family. A family of which the user names no range is closed:
// the official controller opens it to all clients.
func (b *builder) clientFirewall(version string) {
	everybody := "0.0.0.0/0"
	if version == VersionIPv6 {
		everybody = "::/0"
	}
	key, name := b.firewallName(version)
	f := Firewall{
		Name: name, Description: b.firewallDescription(version), Network: b.facts.Network,
		Allowed: b.allowed(), Sources: sourcesOf(b.in.Service, version), Tags: b.tags, Priority: allowPriority,
	}
	dest := b.destination(version)
	if b.in.Config.DenyFirewall && b.scheme == SchemeExternal {
		f.Priority = allowOverPriority
		denied, _ := b.denyName(version)
		b.put(stack.Key{Kind: KindDeny, Name: key}, Firewall{
			Name: denied, Description: f.Description, Network: f.Network, Denied: []Allowed{{Protocol: "all"}},
			Sources: []string{everybody}, Destination: dest, Tags: b.tags, Priority: denyPriority,
		})
	}
	if !isNewer(b.in.Kind) || !b.in.Config.NoPinhole {
		f.Destination = dest
	}
	if len(f.Sources) == 0 {
		if _, _, err := nodeports.SourceRanges(b.in.Service); err != nil {
			return // validate reports it
		}
		family := string(ipFamily(version))
		b.report(annotations.ProblemOf("source ranges", "", "name no range of "+family+", so no client may connect by "+family, "", annotations.Warning))
		return
	}
	b.put(stack.Key{Kind: KindFirewall, Name: key}, f)
}

func (b *builder) firewallName(version string) (key, name string) {
	switch {
	case !isNewer(b.in.Kind):
		return keyLegacy, "k8s-fw-" + b.names.lb
	case version == VersionIPv6:
		return keyV2IPv6, addSuffix(b.names.v2(0), SuffixIPv6)
	}
	return keyV2, b.names.v2(0)
}

func (b *builder) denyName(version string) (name, suffix string) {
	switch {
	case !isNewer(b.in.Kind):
		return "k8s-fw-" + b.names.lb + suffixDeny, suffixDeny
	case version == VersionIPv6:
		suffix = suffixDenyIPv6
	default:
		suffix = suffixDeny
	}
	return b.names.v2(len(suffix)) + suffix, suffix
}

// firewallDescription: the older kinds write the IP that the load balancer has,
// external ones of the newer kinds the one that the user asked for, internal ones
// none. Source: kubernetes/ingress-gce:pkg/l4/resources/{l4,l4netlb}.go.
func (b *builder) firewallDescription(version string) string {
	if !isNewer(b.in.Kind) {
		ip := b.ips[version].ip
		if b.destination(version).ID == "" {
			ip = laterIP
		}
		return legacyIPDescription(b.in.Owner, ip)
	}
	d := v2Description{ServiceName: ServiceName(b.in.Owner), APIVersion: apiVersionGA}
	if b.scheme == SchemeExternal {
		d.ServiceIP = b.in.Service.Spec.LoadBalancerIP
	}
	return d.String()
}

// destination is the IP of the family if it is sure already, else a reference to
// the rule that will have it. An IP that is only asked for is not sure: it can be
// that of another Service, whose clients this firewall would let in before the
// rule is refused. Official controllers make the firewall after the rule as well,
// except for target pools: there it waits only if something else has the IP.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_loadbalancer_{external,internal}.go,
// kubernetes/ingress-gce:pkg/l4/resources/{l4,l4netlb}.go.
func (b *builder) destination(version string) stack.Ref {
	for _, r := range b.out.Of(RuleKind(b.scheme)) {
		rule, _ := r.Spec.(Rule)
		if rule.IPVersion != version {
			continue
		}
		if rule.IP == "" || rule.Wish || !b.sure(version, rule.IP) {
			return stack.RefTo(r.Key)
		}
		if version == VersionIPv6 && b.scheme == SchemeExternal {
			return stack.RefID(rule.IP + ExternalRange)
		}
		return stack.RefID(rule.IP)
	}
	return stack.Ref{}
}

// sure reports whether the Service has the IP, or no other owner can have it.
func (b *builder) sure(version, ip string) bool {
	if b.liveIP(version) == ip {
		return true
	}
	r, ok := b.facts.reserved(func(r Reserved) bool { return r.IP == ip })
	return b.in.Kind == TargetPool && ok && !slices.ContainsFunc(r.Users, func(path string) bool { return LastOf(path) != b.names.rule(ruleIPv4) })
}

// sourcesOf returns the source ranges of one IP version; empty: no client is admitted. Invalid
// ranges are reported by validate.
func sourcesOf(svc *corev1.Service, version string) []string {
	prefixes, source, err := nodeports.SourceRanges(svc)
	if err != nil {
		return nil
	}
	prefixes = nodeports.RangesFor(prefixes, source, []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol})
	return prefixTexts(nodeports.OfFamily(prefixes, ipFamily(version)))
}

func prefixTexts(prefixes []netip.Prefix) []string {
	var out []string
	for _, p := range prefixes {
		out = append(out, p.String())
	}
	slices.Sort(out)
	return out
}

// allowed lists the ports by protocol.
func (b *builder) allowed() []Allowed {
	var out []Allowed
	for _, protocol := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP} {
		if ports := b.portsOf(protocol); len(ports) > 0 {
			out = append(out, Allowed{Protocol: strings.ToLower(string(protocol)), Ports: portRanges(ports)})
		}
	}
	return out
}

// portsOf are the Service's ports of a protocol, sorted, each once; the empty
// protocol takes all.
func (b *builder) portsOf(protocol corev1.Protocol) []int32 {
	var out []int32
	for _, p := range b.in.Backends.Ports {
		if b.in.Ended() {
			break
		}
		if protocol == "" || p.Protocol == protocol {
			out = append(out, p.Port)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// portRanges joins consecutive ports: a firewall takes a limited number of entries.
func portRanges(ports []int32) []string {
	var out []string
	for i := 0; i < len(ports); {
		j := i
		for j+1 < len(ports) && ports[j+1] == ports[j]+1 {
			j++
		}
		text := decimal32(ports[i])
		if j > i {
			text += "-" + decimal32(ports[j])
		}
		out = append(out, text)
		i = j + 1
	}
	return out
}

// Command is the gcloud command with which an administrator creates or updates the
// firewall: in a shared VPC the cluster mostly lacks the permissions.
func (f Firewall) Command(verb, project string) string {
	text := "gcloud compute firewall-rules " + verb + " " + f.Name + " --project " + project
	if verb == "delete" {
		return text
	}
	if verb == "create" {
		text += " --network " + LastOf(f.Network)
	}
	flag, rules := " --allow ", f.Allowed
	if len(f.Denied) > 0 {
		flag, rules = " --action DENY --rules ", f.Denied
	}
	text += " --description " + strconv.Quote(f.Description) + flag + rulesText(rules) + " --source-ranges " + strings.Join(f.Sources, ",")
	if f.Destination.ID != "" {
		text += " --destination-ranges " + f.Destination.ID
	}
	if len(f.Tags) > 0 {
		text += " --target-tags " + strings.Join(f.Tags, ",")
	}
	return text + " --priority " + strconv.FormatInt(f.Priority, 10)
}

func rulesText(list []Allowed) string {
	var out []string
	for _, a := range list {
		if len(a.Ports) == 0 {
			out = append(out, a.Protocol)
		}
		for _, p := range a.Ports {
			out = append(out, a.Protocol+":"+p)
		}
	}
	return strings.Join(out, ",")
}
