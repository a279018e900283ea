package model

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
)

const testCertificate = "arn:aws:acm:eu-west-1:123456789012:certificate/0a1b"

// keyCase is a Service with a key and without.
type keyCase struct {
	with   string            // the value of the key
	beside map[string]string // other keys that both Services have, without their prefix
	change func(*corev1.Service)
}

// keyCases has a case for every key that kind LBC acts on, by the key as it is declared.
func keyCases() map[string]keyCase {
	public, dual := map[string]string{"scheme": schemePublic}, map[string]string{"ip-address-type": addressDual}
	tls := map[string]string{"ssl-cert": testCertificate}
	http := map[string]string{"healthcheck-protocol": "http"}
	logs := map[string]string{"access-log-enabled": "true"}
	ranges := map[string]string{"security-groups": "sg-1"}
	return map[string]keyCase{
		"type":                                {with: typeNLBIP},
		"internal":                            {with: "false"},
		"scheme":                              {with: schemePublic},
		"nlb-target-type":                     {with: targetIP},
		"name":                                {with: "shop"},
		"subnets":                             {with: "private-a"},
		"eip-allocations":                     {with: "eipalloc-1,eipalloc-2", beside: public},
		"private-ipv4-addresses":              {with: "10.0.4.9,10.0.2.9"},
		"ipv6-addresses":                      {with: "2001:db8:0:2::9,2001:db8:0:4::9", beside: dual},
		"ip-address-type":                     {with: addressDual},
		"enable-prefix-for-ipv6-source-nat":   {with: "on", beside: dual},
		"source-nat-ipv6-prefixes":            {with: natAssigned + ",2001:db8:0:4:1::/80", beside: map[string]string{"ip-address-type": addressDual, "enable-prefix-for-ipv6-source-nat": "on"}},
		"security-groups":                     {with: "sg-1,front"},
		"security-group-prefix-lists":         {with: "pl-1"},
		"enable-icmp-for-path-mtu-discovery":  {with: "on"},
		"manage-backend-security-group-rules": {with: "true", beside: ranges},
		"disable-nlb-sg":                      {with: "true"},
		"inbound-sg-rules-on-private-link-traffic": {with: "off"},
		"ssl-cert":               {with: testCertificate + "," + testCertificate + "c"},
		"ssl-ports":              {with: "https", beside: tls},
		"ssl-negotiation-policy": {with: "ELBSecurityPolicy-TLS13-1-2-2021-06", beside: tls},
		"backend-protocol":       {with: "ssl", beside: tls},
		"alpn-policy":            {with: "HTTP2Only", beside: tls},
		"enable-tcp-udp-listener": {with: "true", change: func(svc *corev1.Service) {
			svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: "udp", Protocol: corev1.ProtocolUDP, Port: 80, NodePort: 31082})
		}},
		"listener-attributes.<PROTOCOL>-<PORT>": {with: "tcp.idle_timeout.seconds=400"},
		"additional-resource-tags":              {with: "team=shop"},
		"multi-cluster-target-group":            {with: "true"},
		"quic-enabled-ports": {with: "53", beside: map[string]string{"nlb-target-type": targetIP}, change: func(svc *corev1.Service) {
			svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: "quic", Protocol: corev1.ProtocolUDP, Port: 53, NodePort: 31082})
		}},
		"healthcheck-protocol":              {with: "http"},
		"healthcheck-port":                  {with: "https"},
		"healthcheck-path":                  {with: "/ready", beside: http},
		"healthcheck-interval":              {with: "20"},
		"healthcheck-timeout":               {with: "5"},
		"healthcheck-healthy-threshold":     {with: "5"},
		"healthcheck-unhealthy-threshold":   {with: "5"},
		"healthcheck-success-codes":         {with: "204", beside: http},
		"target-group-attributes":           {with: "stickiness.enabled=true"},
		"target-group-attributes.<PORT>":    {with: "stickiness.enabled=true"},
		"proxy-protocol":                    {with: "*"},
		"proxy-protocol-per-target-group":   {with: "443"},
		"target-node-labels":                {with: "role=edge"},
		"attributes":                        {with: "zonal_shift.config.enabled=true"},
		"minimum-load-balancer-capacity":    {with: "CapacityUnits=3000"},
		"cross-zone-load-balancing-enabled": {with: "true"},
		"access-log-enabled":                {with: "true"},
		"access-log-s3-bucket-name":         {with: "logs", beside: logs},
		"access-log-s3-bucket-prefix":       {with: "shop", beside: logs},
		"load-balancer-source-ranges":       {with: "192.0.2.0/24"},
		TagGroup:                            {with: "front"},
		tagAdopted:                          {with: "edge"},
		"actions.<PROTOCOL>-<PORT>": {with: `{"type":"forward","forwardConfig":{"baseServiceWeight":90,"targetGroups":[` +
			`{"targetGroupARN":"arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/blue/0a1b2c3d4e5f6071","weight":10}]}}`},
	}
}

// spellKey returns a key as users write it, for port 80.
func spellKey(name string) string {
	switch name {
	case TagGroup, tagAdopted:
		return name
	case "load-balancer-source-ranges":
		return rangesKey.Name
	case "actions.<PROTOCOL>-<PORT>":
		return keyPrefix + "actions.TCP-80"
	case "listener-attributes.<PROTOCOL>-<PORT>":
		return lbPrefix + "listener-attributes.TCP-80"
	case "target-group-attributes.<PORT>":
		return lbPrefix + "target-group-attributes.80"
	}
	return lbPrefix + name
}

// keyWorld is the world of testdata with IPv6 in all subnets and a named group.
func keyWorld(t *testing.T) cases.World[*Facts] {
	t.Helper()
	w := suite().Bare(t).World
	for i := range w.Facts.Subnets {
		s := &w.Facts.Subnets[i]
		s.CIDR6 = "2001:db8:0:" + s.CIDR[5:6] + "::/64"
	}
	w.Facts.NamedGroups = map[string][]string{"front": {"sg-7"}}
	w.Facts.Given = map[string]Given{"edge": {ARN: "arn:edge", Type: "network", VPC: w.Facts.VPC}}
	for i := range w.Nodes {
		w.Nodes[i].Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	}
	return w
}

func desiredStack(t *testing.T, w cases.World[*Facts], svc *corev1.Service) *stack.Stack {
	t.Helper()
	config := parseConfig(t, w.Config+"\n[Berth]\nLoadBalancerController = true\n")
	in, problems := inputOf(config, w.ClusterName, svc, w.Nodes)
	lent := &stack.Stack{Resources: []stack.Resource{{Key: SharedNetworkKey("edge"), ID: "arn:edge", Ownership: stack.External, Spec: Network{Name: "edge"}}}}
	want, more, err := buildStack(in, w.Facts, lent)
	if problems = append(problems, more...); err != nil || problems.Errors() {
		t.Fatalf("%v: %v %v", svc.Annotations, err, problems.Strings())
	}
	return want
}

// TestEveryControllerKey: each key of Services that the AWS Load Balancer Controller
// reads changes the desired state, and no key of other objects is planned for later.
func TestEveryControllerKey(t *testing.T) {
	tests := keyCases()
	declared := map[string]bool{}
	for _, row := range annotations.Rows(Annotations()) {
		support, read := supportOf(row, LBC)
		if read && support == annotations.Later {
			t.Errorf("%s: is not acted on yet", row.Key)
		}
		if row.On != annotations.ServiceAnnotation || !read || !Annotations().Works(spellKey(shortName(row.Key)), LBC) {
			continue
		}
		declared[shortName(row.Key)] = true
		if _, ok := tests[shortName(row.Key)]; !ok {
			t.Errorf("%s: has no case in which it changes the cloud", row.Key)
		}
	}
	t.Logf("%d keys that kind %s acts on", len(declared), LBC)
	w := keyWorld(t)
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		c := tests[name]
		if !declared[name] {
			t.Errorf("%s: has a case and is not declared for kind %s", name, LBC)
		}
		svc := suite().Open(t, "lbc-instances").Service.DeepCopy()
		svc.Spec.LoadBalancerClass = new(classLBC)
		svc.Spec.Ports = svc.Spec.Ports[:2]
		svc.Spec.ExternalTrafficPolicy, svc.Spec.HealthCheckNodePort = "", 0
		svc.Annotations = map[string]string{}
		for key, value := range c.beside {
			svc.Annotations[spellKey(key)] = value
		}
		if c.change != nil {
			c.change(svc)
		}
		without := desiredStack(t, w, svc)
		svc.Annotations[spellKey(name)] = c.with
		if cmp.Equal(without.Resources, desiredStack(t, w, svc).Resources) {
			t.Errorf("%s: %q changes nothing", name, c.with)
		}
	}
}

// supportOf returns how far a kind supports a key; false: the key is unknown to it.
func supportOf(row annotations.Row, kind string) (annotations.Support, bool) {
	for _, facts := range append(slices.Clone(row.Variants), row.Facts) {
		if len(facts.Kinds) == 0 || slices.Contains(facts.Kinds, kind) {
			return facts.Support, true
		}
	}
	return "", false
}

func shortName(name string) string {
	if name == rangesKey.Name {
		return "load-balancer-source-ranges"
	}
	if name == TagGroup || name == tagAdopted {
		return name
	}
	if name == actionsKey.Name {
		return strings.TrimPrefix(name, keyPrefix)
	}
	return name[len(lbPrefix):]
}

// TestControllerConfig: the section [Berth] says what the flags of the official
// controller say, and is refused where they would be.
func TestControllerConfig(t *testing.T) {
	for text, ok := range map[string]bool{
		"LoadBalancerController = true\nDefaultTargetType = ip\nDefaultScheme = internet-facing\nDefaultTags = a=b": true,
		"DefaultTargetType = pods": false, "DefaultScheme = public": false, "DefaultTags = a": false,
		"DisableBackendSecurityGroup = true\nBackendSecurityGroup = sg-1": false,
	} {
		if _, _, err := readText("[Berth]\n" + text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
	c, _, err := readText("[Berth]\nDefaultTargetType = ip\nDefaultTags = a=b")
	if err != nil {
		t.Fatal(err)
	}
	want := Controller{TargetType: targetIP, Scheme: SchemeInternal, SSLPolicy: defaultSSLPolicy, Tags: map[string]string{"a": "b"}}
	if d := cmp.Diff(want, c.Controller.completed()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestLeft: Services of the AWS Load Balancer Controller are left to it until the cloud
// config says otherwise.
func TestLeft(t *testing.T) {
	svc := suite().Open(t, "lbc-pods").Service
	if why := reasonToLeave(Config{}, svc); why == "" {
		t.Error("served without being told")
	}
	if why := reasonToLeave(Config{Controller: Controller{Serve: true}}, svc); why != "" {
		t.Error(why)
	}
	svc.Spec.LoadBalancerClass = nil
	if why := reasonToLeave(Config{}, svc); why != "" {
		t.Errorf("a Classic Load Balancer is left alone: %s", why)
	}
}

func readText(text string) (Config, annotations.Problems, error) {
	return ReadConfig(strings.NewReader(text))
}

// TestControllerNames: the names are those of the official controller, byte by byte.
func TestControllerNames(t *testing.T) {
	o := stack.Owner{Namespace: "default", Name: "nlb-ip-svc-tls", UID: "bdca2bd0-bfc6-449a-88a3-03451f05f18c"}
	group := TargetGroup{Port: 80, TargetType: targetIP, Protocol: "TCP", CheckProtocol: "TCP", CheckInterval: 10}
	for got, want := range map[string]string{
		lbcName("", stack.Owner{Namespace: "foo", Name: "bar"}, schemePublic): "k8s-foo-bar-e053368fb2",
		lbcName("my-cluster", o, SchemeInternal):                              "k8s-default-nlbipsvc-6b0ba8ff70",
		lbcTargetGroupName("my-cluster", o, 80, group):                        "k8s-default-nlbipsvc-d4818dcd51",
	} {
		if got != want {
			t.Errorf("name is %s, want %s", got, want)
		}
	}
}
