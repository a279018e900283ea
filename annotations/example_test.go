package annotations_test

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// The example provider has two kinds, "clb" and "nlb".
const prefix = "lb.example.com/"

type scheme string

const (
	internal scheme = "internal"
	public   scheme = "public"
)

type action struct {
	Type   string `json:"type"`
	Weight int    `json:"weight"`
}

// The keys of the example provider, one of nearly every sort.
var (
	schemeKey = &annotations.Key[scheme]{
		Name: prefix + "scheme", Group: "Load balancer", Example: "internal",
		Doc: "Chooses whether the load balancer has public addresses.",
		Forms: []annotations.Form[scheme]{{
			Type: annotations.Enum(internal, public), Default: public,
			Change: annotations.Replaced, Source: "example/controller:scheme.go",
		}},
	}
	intervalKey = &annotations.Key[int]{
		Name: prefix + "check-interval", Group: "Health check", Example: "10",
		Aliases: []string{prefix + "hc-interval", prefix + "interval"},
		Doc:     "Time between two health checks of one target.",
		Forms: []annotations.Form[int]{
			{Kinds: []string{"clb"}, Type: annotations.IntRange(5, 300).In("seconds"), Default: 10, Source: "Example API reference"},
			{Kinds: []string{"nlb"}, Type: annotations.IntOneOf(10, 30).In("seconds"), Default: 30, Change: annotations.Replaced, Doc: "The target group is made anew."},
		},
	}
	timeoutKey = &annotations.Key[int]{
		Name: prefix + "check-timeout", Group: "Health check",
		Doc: "Time after which a health check counts as failed.",
		Forms: []annotations.Form[int]{
			{Kinds: []string{"clb"}, Type: annotations.IntRange(2, 60).In("seconds"), Default: 5},
			{Kinds: []string{"nlb"}, Type: annotations.Int().In("seconds"), Support: annotations.Accepted, Reason: "the API has a fixed timeout"},
		},
	}
	checkProtocolKey = &annotations.Key[string]{
		Name: prefix + "check-protocol", Group: "Health check",
		Doc: "Protocol of the health check.",
		Forms: []annotations.Form[string]{
			{Kinds: []string{"clb"}, Type: annotations.Enum("TCP", "SSL", "HTTP", "HTTPS"), DefaultDoc: "TCP, or HTTP with externalTrafficPolicy Local"},
			{Kinds: []string{"nlb"}, Type: annotations.EnumFold("tcp", "http", "https"), Default: "tcp"},
		},
	}
	// One text, two Go types: one certificate or a list of them.
	certKey = &annotations.Key[string]{
		Name: prefix + "cert", Group: "TLS", Doc: "Certificate for TLS ports.",
		Forms: []annotations.Form[string]{{Kinds: []string{"clb"}, Type: annotations.ARN("acm", "iam"), Empty: annotations.EmptyAbsent}},
	}
	certsKey = &annotations.Key[[]string]{
		Name: prefix + "cert", Group: "TLS", Doc: "Certificates for TLS ports; the first is the default one.",
		Forms: []annotations.Form[[]string]{{Kinds: []string{"nlb"}, Type: annotations.ListOf(annotations.ARN())}},
	}
	sslPortsKey = &annotations.Key[annotations.Ports]{
		Name: prefix + "ssl-ports", Group: "TLS", Doc: "Ports that speak TLS.",
		Forms: []annotations.Form[annotations.Ports]{
			{Kinds: []string{"clb"}, Type: annotations.PortList(annotations.PortOptions{Names: true, Star: true, EmptyIsAll: true}), Default: annotations.AllPorts(), DefaultDoc: "all ports"},
			{Kinds: []string{"nlb"}, Type: annotations.PortList(annotations.PortOptions{Names: true, EmptyIsAll: true, MustMatch: true}), Default: annotations.AllPorts(), DefaultDoc: "all TCP ports"},
		},
	}
	rangesKey = &annotations.Key[[]netip.Prefix]{
		Name: prefix + "source-ranges", Group: "Load balancer", Doc: "Clients that may connect.",
		Forms: []annotations.Form[[]netip.Prefix]{{Type: annotations.CIDRs(annotations.AnyFamily).Trimmed(), Empty: annotations.EmptyAbsent, DefaultDoc: "everybody"}},
	}
	groupsKey = &annotations.Key[[]string]{
		Name: prefix + "groups", Group: "Load balancer", Doc: "Security groups of the load balancer.",
		Forms: []annotations.Form[[]string]{
			{Kinds: []string{"clb"}, Type: annotations.ListOf(annotations.ID("sg-"))},
			{Kinds: []string{"nlb"}, Type: annotations.Forbidden[[]string]("it has no groups")},
		},
	}
	attributesKey = &annotations.Key[map[string]string]{
		Name: prefix + "attributes.<PORT>", Group: "Per port", Doc: "Attributes of the target group of one port.",
		Forms: []annotations.Form[map[string]string]{{Kinds: []string{"nlb"}, Type: annotations.MapStrict()}},
	}
	actionKey = &annotations.Key[action]{
		Name: prefix + "action.<PROTOCOL>-<PORT>", Group: "Per port", Doc: "What the listener does.",
		Protocols: []string{"TCP", "TLS"},
		Forms:     []annotations.Form[action]{{Kinds: []string{"nlb"}, Type: annotations.JSONOf("an action object", checkAction)}},
	}
	tierKey = &annotations.Key[string]{
		Name: prefix + "tier", Doc: "Network tier.", Group: "Load balancer",
		Forms: []annotations.Form[string]{{Type: annotations.Enum("Premium", "Standard"), Default: "Premium", Bad: annotations.AsAbsent}},
	}
	targetKey = &annotations.Key[string]{
		Name: prefix + "target", Doc: "What the load balancer sends to.", Group: "Load balancer",
		Forms: []annotations.Form[string]{{Type: annotations.Enum("ip", "node"), DefaultDoc: "from the configuration", Bad: annotations.UseFallback, Fallback: "node"}},
	}
	keepKey = &annotations.Key[bool]{
		Name: prefix + "keep-address", Doc: "Keeps the address when the Service goes.", Group: "Load balancer", OnDelete: true,
		Forms: []annotations.Form[bool]{{Type: annotations.Bool(), Fallback: true}},
	}
	quicKey = &annotations.Key[bool]{
		Name: prefix + "quic", Doc: "Speaks QUIC.", Group: "Load balancer",
		Forms: []annotations.Form[bool]{{Type: annotations.Bool(), Support: annotations.Later, Reason: "QUIC targets need a pod webhook"}},
	}
	tokenKey = &annotations.Key[string]{
		Name: prefix + "token", Doc: "Token for the log receiver.", Group: "Load balancer", Secret: true,
		Forms: []annotations.Form[string]{{Type: annotations.ID("tok-")}},
	}
	shareKey = &annotations.Key[string]{
		Name: prefix + "share", On: annotations.ServiceLabel, Doc: "Name of a shared load balancer.", Group: "Load balancer",
		Forms: []annotations.Form[string]{{Type: annotations.NonEmpty()}},
	}
	managedKey = &annotations.Key[bool]{
		Name: prefix + "managed", On: annotations.NodeLabel, Doc: "Whether the node is ours.", Group: "Nodes",
		Forms: []annotations.Form[bool]{{Type: annotations.BoolWords([]string{"true"}, []string{"false"}, true), Default: true, Bad: annotations.AsAbsent}},
	}
)

func checkAction(a action) error {
	if a.Type != "forward" {
		return fmt.Errorf("has type %q, only forward is possible", a.Type)
	}
	return nil
}

func timeoutBelowInterval(kind string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	if kind != "clb" || bag.Refused(intervalKey, timeoutKey) {
		return nil
	}
	timeout, interval := timeoutKey.Get(bag), intervalKey.Get(bag)
	if timeout < interval {
		return nil
	}
	return annotations.Problems{
		timeoutKey.Refusal(bag, "is not below the interval", fmt.Sprintf("less than %d seconds", interval)),
	}
}

func exampleDeclarations() []annotations.Declaration {
	return []annotations.Declaration{
		schemeKey, tierKey, targetKey, rangesKey, groupsKey, keepKey, quicKey, tokenKey, shareKey,
		intervalKey, timeoutKey, checkProtocolKey, certKey, certsKey, sslPortsKey, attributesKey, actionKey, managedKey,
		annotations.Foreign("The DNS controller reads them.", prefix+"dns-*", prefix+"hostname"),
	}
}

// exampleSet is the whole provider: what a real one has in annotations.go.
func exampleSet() (*annotations.Set, error) {
	set, err := annotations.NewSet("example", []string{prefix}, exampleDeclarations()...)
	if err != nil {
		return nil, err
	}
	return set.WithChecks(timeoutBelowInterval), nil
}

func ExampleSet_Parse() {
	set, err := exampleSet()
	if err != nil {
		fmt.Println(err)
		return
	}
	bag, problems := set.Parse("clb", annotations.Source{
		Annotations: map[string]string{
			prefix + "check-interval": "2",
			prefix + "check-timeuot":  "5",
			prefix + "scheme":         "internal",
		},
		Ports: []corev1.ServicePort{{Name: "http", Port: 80}},
	})
	for _, problem := range problems {
		fmt.Println(problem.Severity, problem)
	}
	fmt.Println(schemeKey.Get(bag), intervalKey.Get(bag))
	_, origin, _ := schemeKey.Lookup(bag)
	fmt.Println(origin)
	// Output:
	// error lb.example.com/check-interval: "2" is below 5; legal is a whole number of seconds from 5 to 300
	// warning lb.example.com/check-timeuot: is not known, so it has no effect; did you mean lb.example.com/check-timeout?
	// internal 10
	// annotation lb.example.com/scheme "internal"
}
