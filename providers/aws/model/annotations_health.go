package model

import (
	"errors"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// Keys of the health check.
var (
	checkProtocolKey = &annotations.Key[string]{
		Name: lbPrefix + "healthcheck-protocol", Group: groupHealth, Example: "http", Doc: "Protocol of the health check.",
		Forms: []annotations.Form[string]{
			{Kinds: onCLB(), Type: annotations.EnumFold("TCP", "SSL", "HTTP", "HTTPS"), Source: cpaBalancer,
				DefaultDoc: "HTTP with externalTrafficPolicy Local or the shared probe, SSL if the backend protocol is https or ssl, else TCP"},
			{Kinds: onNLB(), Type: annotations.EnumFold("TCP", "HTTP", "HTTPS"), Source: cpaMain,
				DefaultDoc: "HTTP with externalTrafficPolicy Local, else TCP",
				Doc:        "The shared probe overrides it."},
			{Kinds: onLBC(), Type: annotations.EnumFold("TCP", "HTTP", "HTTPS"), Source: lbcGuide, DefaultDoc: "HTTP with instances and externalTrafficPolicy Local, else TCP"},
		},
	}
	checkPortKey = &annotations.Key[string]{
		Name: lbPrefix + "healthcheck-port", Group: groupHealth, Example: "traffic-port", Doc: "Port of the health check on the nodes.",
		Forms: []annotations.Form[string]{
			{Kinds: onCLB(), Type: checkPort(), DefaultDoc: "the check node port with externalTrafficPolicy Local, else the first node port", Source: cpaBalancer},
			{Kinds: onNLB(), Type: checkPort(), DefaultDoc: "the check node port with externalTrafficPolicy Local, else traffic-port", Source: cpaMain,
				Doc: "The shared probe overrides it."},
			{Kinds: onLBC(), Type: namedCheckPort(), DefaultDoc: "the check node port with instances and externalTrafficPolicy Local, else traffic-port", Source: lbcGuide,
				Doc: "The name of a port of the Service means its node port, or with pods its numeric target port."},
		},
	}
	checkPathKey = &annotations.Key[string]{
		Name: lbPrefix + "healthcheck-path", Names: annotations.NamesNothing(), Group: groupHealth, Example: "/ready", Doc: "Path of an HTTP or HTTPS health check.",
		Forms: []annotations.Form[string]{
			{Kinds: onCLB(), Type: annotations.String(), Empty: annotations.EmptyAbsent, DefaultDoc: "/healthz with externalTrafficPolicy Local or the shared probe, else /", Source: cpaBalancer,
				Needs: []annotations.Need{append(byHTTP(), annotations.Both(annotations.Neither(checkProtocolKey.Name+" unset", checkProtocolKey.IsSet()), annotations.Setting(settingProbe, probeShared)))}},
			{Kinds: onNLB(), Type: annotations.String(), Empty: annotations.EmptyAbsent, DefaultDoc: "/healthz with externalTrafficPolicy Local, else /", Source: cpaMain,
				Needs: []annotations.Need{byHTTP(), ownProbe()}, Doc: "The shared probe overrides it."},
			{Kinds: onLBC(), Type: annotations.String(), Empty: annotations.EmptyAbsent, DefaultDoc: "/healthz with instances and externalTrafficPolicy Local, else /", Source: lbcGuide,
				Needs: []annotations.Need{byHTTP()}},
		},
	}
	checkIntervalKey = &annotations.Key[int]{
		Name: lbPrefix + "healthcheck-interval", Group: groupHealth, Example: "10", Doc: "Time between two health checks of one target.",
		Forms: []annotations.Form[int]{
			{Kinds: onCLB(), Type: annotations.IntRange(5, 300).In("seconds"), Default: 10, Source: cpaBalancer},
			{Kinds: onNLB(), Type: annotations.IntRange(5, 300).In("seconds"), DefaultDoc: "10 with externalTrafficPolicy Local, else 30", Source: cpaMain},
			{Kinds: onLBC(), Type: annotations.IntRange(5, 300).In("seconds"), Default: 10, Source: lbcGuide},
		},
	}
	checkTimeoutKey = &annotations.Key[int]{
		Name: lbPrefix + "healthcheck-timeout", Group: groupHealth, Example: "5", Doc: "Time after which a health check has failed.",
		Forms: []annotations.Form[int]{
			{Kinds: onCLB(), Type: annotations.IntRange(2, 60).In("seconds"), Default: 5, Source: cpaBalancer, Doc: "Must be smaller than the interval."},
			{Kinds: onNLB(), Type: annotations.Int().In("seconds"), DefaultDoc: "that of AWS: 6 for HTTP, else 10; the interval where that is shorter", Support: annotations.Accepted, Source: cpaBalancer,
				Reason: "the official controller reads it for Network Load Balancers and never sends it, so target groups have AWS's own timeout"},
			{Kinds: onLBC(), Type: annotations.IntRange(2, 120).In("seconds"), DefaultDoc: "6 with instances and externalTrafficPolicy Local, else 10", Source: lbcGuide},
		},
	}
	healthyKey = &annotations.Key[int]{
		Name: lbPrefix + "healthcheck-healthy-threshold", Group: groupHealth, Example: "2", Doc: "Checks in a row that must succeed until a target gets traffic.",
		Forms: []annotations.Form[int]{
			{Kinds: onCLB(), Type: annotations.IntRange(2, 10).In("checks"), Default: 2, Source: cpaBalancer},
			{Kinds: onNLB(), Type: annotations.IntRange(2, 10).In("checks"), DefaultDoc: "2 with externalTrafficPolicy Local, else 3", Source: cpaMain},
			{Kinds: onLBC(), Type: annotations.IntRange(2, 10).In("checks"), DefaultDoc: "2 with instances and externalTrafficPolicy Local, else 3", Source: lbcGuide},
		},
	}
	unhealthyKey = &annotations.Key[int]{
		Name: lbPrefix + "healthcheck-unhealthy-threshold", Group: groupHealth, Example: "2", Doc: "Checks in a row that must fail until a target gets no traffic.",
		Forms: []annotations.Form[int]{
			{Kinds: onCLB(), Type: annotations.IntRange(2, 10).In("checks"), Default: 6, Source: cpaBalancer},
			{Kinds: onNLB(), Type: annotations.IntRange(2, 10).In("checks"), DefaultDoc: "2 with externalTrafficPolicy Local, else 3", Source: cpaMain,
				Doc: "A change of this key alone counts as well; the official controller does not notice it."},
			{Kinds: onLBC(), Type: annotations.IntRange(2, 10).In("checks"), DefaultDoc: "2 with instances and externalTrafficPolicy Local, else 3", Source: lbcGuide},
		},
	}
)

// settingProbe is the setting that has one probe of kube-proxy for all Services.
const settingProbe = "ClusterServiceLoadBalancerHealthProbeMode"

// byHTTP is the need of keys of HTTP checks.
func byHTTP() annotations.Need {
	local := annotations.FieldIs(annotations.FieldTrafficPolicy, "Local")
	return annotations.Need{checkProtocolKey.Is("HTTP", "HTTPS"), annotations.Both(local, annotations.Neither(checkProtocolKey.Name+" unset", checkProtocolKey.IsSet()))}
}

// ownProbe is the need of keys that the shared probe overrides.
func ownProbe() annotations.Need {
	return annotations.Need{annotations.Neither("a probe of the Service's own, which "+settingProbe+" = "+probeShared+" of the configuration replaces", annotations.Setting(settingProbe, probeShared)),
		annotations.FieldIs(annotations.FieldTrafficPolicy, "Local")}
}

// settingsOf returns the values of the configuration that annotations depend on.
func settingsOf(c Config) map[string]string {
	return map[string]string{settingProbe: c.Probe.Mode}
}

// checkPort is the word for the port of the traffic, or a number.
func checkPort() annotations.Type[string] {
	const legal = `"traffic-port" or a port number from 1 to 65535`
	return annotations.Custom("port", legal, func(raw string) (string, error) {
		if raw == trafficPort {
			return raw, nil
		}
		number, err := strconv.ParseUint(raw, 10, 16)
		if err != nil || number == 0 {
			return "", errors.New("is not " + legal)
		}
		return strconv.FormatUint(number, 10), nil
	})
}

// namedCheckPort is checkPort, or the name of a port of the Service.
func namedCheckPort() annotations.Type[string] {
	const legal = `"traffic-port", a port number from 1 to 65535, or the name of a port of the Service`
	return annotations.CustomPorts("port", legal, func(raw string, ports []corev1.ServicePort) (string, error) {
		if raw != "" && slices.ContainsFunc(ports, func(p corev1.ServicePort) bool { return p.Name == raw }) {
			return raw, nil
		}
		port, err := checkPort().Parse(raw)
		if err != nil {
			return "", errors.New("is not " + legal)
		}
		return port, nil
	})
}

func healthKeys() []annotations.Declaration {
	return []annotations.Declaration{
		checkProtocolKey, checkPortKey, checkPathKey, checkIntervalKey, checkTimeoutKey, healthyKey, unhealthyKey,
	}
}
