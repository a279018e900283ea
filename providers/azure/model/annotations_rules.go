package model

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// Keys of rules.
var (
	idleKey = &annotations.Key[int]{
		Name: azurePrefix + "load-balancer-tcp-idle-timeout", Group: groupRules, Example: "15", Doc: "Time after which an idle flow ends, on all rules.",
		Forms: []annotations.Form[int]{{Type: annotations.IntRange(4, 100).In("minutes").Trimmed(), Default: 4, Source: cpaBalancer}},
	}
	noResetKey    = annotations.Flag(azurePrefix+"load-balancer-disable-tcp-reset", groupRules, "Sends no TCP reset when an idle flow ends.", boolForm(cpaHelpers))
	haKey         = annotations.Flag(azurePrefix+"load-balancer-enable-high-availability-ports", groupRules, "One rule for all ports and protocols instead of one for each port.", boolForm(cpaBalancer, Internal))
	noFloatingKey = annotations.Flag(azurePrefix+"disable-load-balancer-floating-ip", groupRules, "Sends to node ports of the nodes' own addresses instead of keeping the destination.", annotations.Form[bool]{
		Type: boolType(), Bad: annotations.AsAbsent, Change: annotations.Brief, Source: cpaBalancer,
		Doc: "The security group then opens the node ports of every node; not with high availability ports.",
	})
	noRuleKey  = annotations.Flag(portPrefix+"{port}_no_lb_rule", groupRules, "Makes no rule and no probe for the port; the security group opens it nevertheless.", boolForm(cpaHelpers))
	noProbeKey = annotations.Flag(portPrefix+"{port}_no_probe_rule", groupHealth, "Makes the rule of the port without a probe.", boolForm(cpaHelpers))
)

// Protocols of probes.
const (
	probeTCP   = "Tcp"
	probeHTTP  = "Http"
	probeHTTPS = "Https"
)

// Keys of health probes: for all ports, and for single ones.
var (
	probeProtocolKey = &annotations.Key[string]{
		Name: azurePrefix + "load-balancer-health-probe-protocol", Group: groupHealth, Example: "http",
		Doc:   "Protocol of the probes of TCP ports.",
		Forms: probeProtocol("that of appProtocol, else Tcp"),
	}
	portProtocolKey = &annotations.Key[string]{
		Name: portPrefix + "{port}_health-probe_protocol", Group: groupHealth, Example: "http",
		Doc:   "Protocol of the probe of one port.",
		Forms: probeProtocol("that of appProtocol, then of " + azurePrefix + "load-balancer-health-probe-protocol, then Tcp"),
	}
	probeIntervalKey = &annotations.Key[int]{
		Name: azurePrefix + "load-balancer-health-probe-interval", Group: groupHealth, Example: "5",
		Doc:   "Time between two probes of one node.",
		Forms: probeInt(5, "seconds"),
	}
	portIntervalKey = &annotations.Key[int]{
		Name: portPrefix + "{port}_health-probe_interval", Group: groupHealth, Example: "5",
		Doc:   "Time between two probes of one port; with externalTrafficPolicy Local of the health check node port.",
		Forms: probeInt(5, "seconds"),
	}
	probeThresholdKey = &annotations.Key[int]{
		Name: azurePrefix + "load-balancer-health-probe-num-of-probe", Group: groupHealth, Example: "2",
		Doc:   "Probes in a row that change the state of a node.",
		Forms: probeInt(2, "probes"),
	}
	portThresholdKey = &annotations.Key[int]{
		Name: portPrefix + "{port}_health-probe_num-of-probe", Group: groupHealth, Example: "2",
		Doc:   "Probes in a row that change the state, for one port.",
		Forms: probeInt(2, "probes"),
	}
	probePathKey = &annotations.Key[string]{
		Name: azurePrefix + "load-balancer-health-probe-request-path", Names: annotations.NamesNothing(), Group: groupHealth, Example: "/ready",
		Doc:   "Path of Http and Https probes.",
		Forms: probePath("/", probeProtocolKey.Is(probeHTTP, probeHTTPS), portProtocolKey.IsAnywhere(probeHTTP, probeHTTPS)),
	}
	portPathKey = &annotations.Key[string]{
		Name: portPrefix + "{port}_health-probe_request-path", Names: annotations.NamesNothing(), Group: groupHealth, Example: "/ready",
		Doc:   "Path of the Http or Https probe of one port.",
		Forms: probePath("that for all ports, else /", portProtocolKey.Is(probeHTTP, probeHTTPS), probeProtocolKey.Is(probeHTTP, probeHTTPS)),
	}
	portPortKey = annotations.Number(portPrefix+"{port}_health-probe_port", groupHealth, "Port of the probe of one port: the name or number of a Service port means its node port, another number is taken as it is.", "8080", annotations.Form[int]{
		Type: probePort(), DefaultDoc: "the node port", Source: cpaProbe,
		Doc: "With externalTrafficPolicy Local the port gets a probe of its own.",
	})
)

func probeProtocol(defaults string) []annotations.Form[string] {
	return []annotations.Form[string]{{
		Type: annotations.EnumFold(probeTCP, probeHTTP, probeHTTPS).Trimmed(), DefaultDoc: defaults, Bad: annotations.UseFallback, Fallback: probeTCP, Source: cpaProbe,
		Doc: "Not used with externalTrafficPolicy Local, or with the shared probe.",
	}}
}

func probeInt(least int, unit string) []annotations.Form[int] {
	return []annotations.Form[int]{{
		Type: annotations.IntRange(least, longestProbe).In(unit).Trimmed(), Default: least, Source: cpaProbe,
		Doc: "Interval times number must be below 120.",
	}}
}

func probePath(defaults string, by ...annotations.Condition) []annotations.Form[string] {
	need := append(annotations.Need(by), annotations.PortsAre("a port with appProtocol http or https", func(ports []corev1.ServicePort) bool {
		return slices.ContainsFunc(ports, func(p corev1.ServicePort) bool {
			return p.AppProtocol != nil && strings.HasPrefix(strings.ToLower(*p.AppProtocol), "http")
		})
	}))
	return []annotations.Form[string]{{
		Needs: []annotations.Need{need},
		Type:  annotations.String().Legally("a path without blanks, such as /ready").Checked(isPath), DefaultDoc: defaults, Source: cpaProbe, Empty: annotations.EmptyAbsent,
		Doc: "An empty value counts as none; the official controller sends it and Azure refuses it.",
	}}
}

// isPath refuses text that cannot be the path of a request. All probes are written with the
// shared load balancer, so one that Azure refuses would block other Services.
func isPath(text string) error {
	if i := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError }); i >= 0 {
		return fmt.Errorf("has a blank or a control character after %d bytes", i)
	}
	return nil
}

// probePort finds the number to probe. A name is that of a Service port in any case.
func probePort() annotations.Type[int] {
	const legal = "the name or number of a Service port, or a port number from 1 to 65535"
	return annotations.CustomPorts("port", legal, func(raw string, ports []corev1.ServicePort) (int, error) {
		for _, p := range ports {
			if strings.EqualFold(p.Name, raw) {
				return int(p.NodePort), nil
			}
		}
		n, err := strconv.ParseUint(raw, 10, 16)
		if err != nil || n == 0 {
			return 0, errors.New("is not " + legal)
		}
		for _, p := range ports {
			if p.Port == int32(n) {
				return int(p.NodePort), nil
			}
		}
		return int(n), nil
	})
}

// longestProbe is what interval times number must stay below, in seconds.
const longestProbe = 119

// annotationChecks returns checks of several keys together.
func annotationChecks() []annotations.Check {
	return []annotations.Check{checkProbeTime, checkLink, checkRanges}
}

// checkProbeTime: Azure's own rule for the time until a node counts as down.
func checkProbeTime(_ string, bag *annotations.Bag, ports []corev1.ServicePort) annotations.Problems {
	if bag.Refused(probeIntervalKey, probeThresholdKey, portIntervalKey, portThresholdKey) {
		return nil
	}
	numbers := []int32{0}
	for _, p := range ports {
		numbers = append(numbers, p.Port)
	}
	for _, v := range portIntervalKey.All(bag) {
		numbers = append(numbers, v.Port)
	}
	for _, v := range portThresholdKey.All(bag) {
		numbers = append(numbers, v.Port)
	}
	for _, n := range numbers {
		interval, from := probeNumber(bag, portIntervalKey, probeIntervalKey, n)
		times, other := probeNumber(bag, portThresholdKey, probeThresholdKey, n)
		if interval*times <= longestProbe {
			continue
		}
		if from.Key == "" {
			from = other
		}
		return annotations.Problems{{
			Key: from.Key, Value: from.Raw, Message: fmt.Sprintf("makes %d seconds until a node counts as down, interval times number of probes", interval*times), Legal: "a number so that the product is below 120",
		}}
	}
	return nil
}

// probeNumber is what counts for a port: its own key, else the one for all.
func probeNumber(bag *annotations.Bag, own, all *annotations.Key[int], port int32) (int, annotations.Origin) {
	if v, from, ok := own.LookupPort(bag, port); ok {
		return v, from
	}
	v, from, _ := all.Lookup(bag)
	return v, from
}

func ruleKeys() []annotations.Declaration {
	return []annotations.Declaration{idleKey, noResetKey, haKey, noFloatingKey, noRuleKey}
}

func healthKeys() []annotations.Declaration {
	return []annotations.Declaration{
		noProbeKey, probeProtocolKey, portProtocolKey, probeIntervalKey, portIntervalKey,
		probeThresholdKey, portThresholdKey, probePathKey, portPathKey, portPortKey,
	}
}
