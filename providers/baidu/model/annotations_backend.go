package model

import (
	"errors"

	"github.com/berth-lb/berth/annotations"
)

// Schedulers of listeners. Source: https://cloud.baidu.com/doc/CCE/s/ilugll8z1.
const (
	roundRobin  = "RoundRobin"
	leastConn   = "LeastConnection"
	weightLeast = "WeightLeastConn"
	hash        = "Hash"
)

// standardText is what backends of UDP have to answer where no key says otherwise.
// Source: baidu/cloud-provider-baiducloud:pkg/cloud-provider/load_balancer_blb_listener.go.
const standardText = "HealthCheck"

// Keys of listeners.
var (
	schedulerKey = annotations.Text(lb+"scheduler", groupListener, "How listeners choose a backend. "+leastConn+" is written as "+weightLeast+". A Service with sessionAffinity ClientIP has "+hash+".", roundRobin, annotations.Plain(annotations.Enum(roundRobin, leastConn, weightLeast, hash), annotations.InPlace, roundRobin, "https://cloud.baidu.com/doc/CCE/s/ilugll8z1"))
	timeoutKey   = checkKey("health-check-timeout-in-second", "Time in which a backend has to answer a health check, in seconds.", 1, 60)
	intervalKey  = checkKey("health-check-interval", "Time between health checks, in seconds.", 1, 10)
	unhealthyKey = checkKey("unhealthy-threshold", "Failures in a row after which a backend gets no traffic.", 2, 5)
	healthyKey   = checkKey("healthy-threshold", "Successes in a row after which a backend gets traffic.", 2, 5)
	textKey      = annotations.Needing(&annotations.Key[string]{
		Name: lb + "health-check-string", Group: groupListener, Example: "ping", Names: annotations.NamesNothing(), Doc: "Text that health checks of ports of UDP send, and that the pods have to answer.",
		Forms: annotations.PlainForms(annotations.Custom("text", "1 to 64 characters", parseText), annotations.InPlace, standardText, sourceOpen),
	}, annotations.Need{annotations.PortsAre("a port of UDP", hasUDP)})
)

func listenerKeys() []annotations.Declaration {
	return []annotations.Declaration{schedulerKey, timeoutKey, intervalKey, unhealthyKey, healthyKey, textKey}
}

// checkKey declares a number of health checks.
func checkKey(name, doc string, least, most int) *annotations.Key[int] {
	return annotations.Number(lb+name, groupListener, doc, "3", annotations.Plain(annotations.IntRange(least, most), annotations.InPlace, "3, and a live check keeps its own", sourceOpen))
}

func parseText(raw string) (string, error) {
	if len(raw) > 64 {
		return "", errors.New("is longer than 64 characters")
	}
	return raw, nil
}

// Keys of backends.
var (
	labelKey = &annotations.Key[map[string]string]{
		Name: lb + "backend-label", Names: annotations.NamesNothing(), Group: groupBackends, Example: "group=edge, tier=web",
		Doc:   "Labels of the nodes that are backends; all of them count.",
		Forms: annotations.PlainForms(annotations.MapStrict(), annotations.InPlace, "all nodes", sourceDoc),
	}
	mostKey = annotations.Number(lb+"rs-max-num", groupBackends, "Greatest number of backends. Of more nodes the serving ones stay, and others are chosen over the zones.", "20", annotations.Form[int]{Type: annotations.IntRange(1, mostServers), Default: mostServers, Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: sourceOpen})
	podsKey = annotations.Flag(own+"pods", groupBackends, "Whether pods are backends, by their addresses in groups of IP addresses, in place of nodes. The network has to route them.", annotations.Plain(annotations.Bool(), annotations.InPlace, "false", "bce-sdk-go:services/appblb/appipgroup.go"))
)

func backendKeys() []annotations.Declaration {
	return []annotations.Declaration{labelKey, mostKey, podsKey, annotations.SourceRanges(groupGuard, sourceDoc)}
}

// addedKey is the id of the load balancer that an open controller has created or found.
var addedKey = onDelete(annotations.Reported(lb+"cce-add-id", groupOutput, "Id of the load balancer that an open controller uses. A normal load balancer without marks of others is used on.", "lb-2c3c5a4f", sourceBLB))

func outputKeys() []annotations.Declaration {
	return []annotations.Declaration{
		addedKey,
		annotations.Reported(lb+"cce-add-eip", groupOutput, "Public address that an open controller uses. Here the address follows from its tags, so that a copied manifest gets one of its own.", "180.76.1.2", sourceEIP),
	}
}

// Labels of nodes that keep them out of the backends by their presence.
func excludingLabels() []string {
	return []string{"node-role.kubernetes.io/master", "alpha.service-controller.kubernetes.io/exclude-balancer"}
}

func objectKeys() []annotations.Declaration {
	const routes = "routes are not written; load balancers do not depend on it"
	out := []annotations.Declaration{annotations.ExcludeNode(groupObjects)}
	out = append(out, annotations.On(annotations.NodeAnnotation, annotations.Ineffective(node+"advertise-route", groupObjects, "Whether the VPC routes to the pods of the node.", "true", routes, sourceOpen)))
	for _, written := range [][2]string{{"vpc-id", "VPC of the node."}, {"vpc-route-table-id", "Route table of the node."}, {"vpc-route-rule-id", "Route to the pods of the node."}, {"ccm-version", "Version of the open controller."}} {
		out = append(out, annotations.On(annotations.NodeAnnotation, annotations.Reported(node+written[0], groupObjects, written[1], "1", sourceOpen)))
	}
	for _, name := range excludingLabels() {
		out = append(out, &annotations.Key[string]{
			Name: name, On: annotations.NodeLabel, Group: groupObjects, Example: "true", Doc: "Keeps the node out of the backends, whatever the value.",
			Forms: []annotations.Form[string]{{Type: annotations.String(), Source: "baidu/cloud-provider-baiducloud:pkg/service/service_controller.go"}},
		})
	}
	return out
}
