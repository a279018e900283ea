package model

import (
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// Standard values of health checks.
// Source: IBM-Cloud/cloud-provider-ibm:pkg/vpcctl/vpc_config.go (genLoadBalancerHealthMonitor).
const (
	healthDelay   = 5
	healthTimeout = 2
	healthRetries = 2
)

// Protocols of health checks.
const (
	checkTCP   = "tcp"
	checkHTTP  = "http"
	checkHTTPS = "https"
)

// pathHealth says what a change of a health check does to a private path load balancer.
const pathHealth = "The API does not show the health check of a private path load balancer, so that a change is written with the next change of the pool only."

// Keys of the health check.
var (
	healthProtocolKey = &annotations.Key[string]{
		Name: prefix + "vpc-health-check-protocol", Group: groupHealth, Example: checkHTTP,
		Doc: "Protocol of the health check of all pools.",
		Forms: []annotations.Form[string]{{
			Kinds: onALB(), Type: annotations.Enum(checkHTTP, checkHTTPS, checkTCP), DefaultDoc: "tcp at the node port; http at the port of kube-proxy's health check with externalTrafficPolicy Local",
			Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: sourceManaged,
		}, {
			Kinds: onNetwork(), Type: annotations.Enum(checkHTTP, checkTCP), DefaultDoc: "tcp at the node port; http at the port of kube-proxy's health check with externalTrafficPolicy Local",
			Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: sourceManaged, Doc: pathHealth,
		}},
	}
	healthUDPKey = &annotations.Key[int]{
		Name: prefix + "vpc-health-check-udp", Group: groupHealth, Example: "30080",
		Doc: "TCP node port that is checked for UDP ports, with externalTrafficPolicy Cluster.",
		Forms: []annotations.Form[int]{
			{Kinds: onALB(), Type: annotations.Forbidden[int]("application load balancers have no UDP ports"), Source: sourceManaged},
			{
				Kinds: []string{NLB}, Type: annotations.IntRange(1, 65535), DefaultDoc: "none: UDP ports need it", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: sourceManaged,
				Needs: []annotations.Need{{annotations.PortsAre("a UDP port", hasUDP)}},
			},
			{Kinds: []string{PrivatePath}, Type: annotations.Forbidden[int]("private path load balancers have no UDP ports"), Source: sourceManaged},
		},
	}
	healthPortKey = annotations.Needing(healthNumber("vpc-health-check-port", "Port of the health check.", "30080", 1, 65535, 0, "the node port of the pool"),
		annotations.Need{healthProtocolKey.IsSet()})
	healthPathKey = annotations.Needing(&annotations.Key[string]{
		Name: prefix + "vpc-health-check-path", Names: annotations.NamesNothing(), Group: groupHealth, Example: "/healthz",
		Doc: "Path that an http or https health check asks for.",
		Forms: []annotations.Form[string]{{
			Type: annotations.Custom("path", `a path that begins with "/" and has no blanks`, parsePath), Default: "/", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: sourceManaged,
		}},
	}, annotations.Need{healthProtocolKey.Is(checkHTTP, checkHTTPS)})
	healthDelayKey   = healthNumber("vpc-health-check-delay", "Time between two health checks, in seconds.", "10", 2, 60, healthDelay, "")
	healthTimeoutKey = healthNumber("vpc-health-check-timeout", "Time after which a health check has failed, in seconds.", "5", 1, 59, healthTimeout, "")
	healthRetriesKey = healthNumber("vpc-health-check-retries", "Number of failed health checks after which a member gets no traffic.", "3", 1, 10, healthRetries, "")
)

func healthKeys() []annotations.Declaration {
	return []annotations.Declaration{healthProtocolKey, healthUDPKey, healthPortKey, healthPathKey, healthDelayKey, healthTimeoutKey, healthRetriesKey}
}

func healthNumber(name, doc, example string, lowest, highest, standard int, standardDoc string) *annotations.Key[int] {
	form := annotations.Plain(annotations.IntRange(lowest, highest), annotations.InPlace, standardDoc, sourceManaged)
	form.Default = standard
	return annotations.Number(prefix+name, groupHealth, doc, example, form)
}

func hasUDP(ports []corev1.ServicePort) bool {
	return slices.ContainsFunc(ports, func(p corev1.ServicePort) bool { return p.Protocol == corev1.ProtocolUDP })
}

func parsePath(raw string) (string, error) {
	if !strings.HasPrefix(raw, "/") || strings.ContainsAny(raw, " \t") {
		return "", errors.New("is not a path")
	}
	return raw, nil
}

// checkHealth refuses a health check that may take longer than the time to the next one.
func checkHealth(_ string, b *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	delay, timeout := healthDelayKey.Get(b), healthTimeoutKey.Get(b)
	if timeout < delay {
		return nil
	}
	if _, _, given := healthTimeoutKey.Lookup(b); given {
		return annotations.Problems{healthTimeoutKey.Refusal(b, "is not less than the delay", "less than the delay")}
	}
	return annotations.Problems{healthDelayKey.Refusal(b, "is not greater than the timeout", "greater than the timeout")}
}
