package tencent_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/tencent/model"
	"github.com/berth-lb/berth/test/account"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
	simtencent "github.com/berth-lb/berth/test/sim/tencent"
)

const (
	extensive = kube + "service.extensiveParameters"
	protocols = cloud + "specify-protocol"
	direct    = cloud + "direct-access"
	bindLocal = kube + "local-svc-only-bind-node-with-pod"
	existed   = kube + "tke-existed-lbid"
)

func keyCases(seed simtencent.Seed) []account.KeyCase {
	subnet := seed.Subnets[1].ID
	private := []string{opened + "type", "private", opened + "type-internal-subnet-id", seed.Subnets[0].ID}
	return []account.KeyCase{
		{kube + "qcloud-loadbalancer-internal-subnetid", subnet, nil}, {opened + "type", "private", append([]string{opened + "type", "public"}, private[2:]...)}, {opened + "type-internal-subnet-id", subnet, private}, {opened + "name", "shop", nil},
		{kube + "qcloud-loadbalancer-internet-charge-type", "BANDWIDTH_POSTPAID_BY_HOUR", nil}, {kube + "qcloud-loadbalancer-internet-max-bandwidth-out", "20", nil},
		{extensive, `{"Vip":"1.1.1.1"}`, nil}, {extensive, `{"AddressIPVersion":"IPV6"}`, nil}, {extensive, fullChain(subnet), []string{direct, "true"}},
		{cloud + "cross-vpc-id", "vpc-mjekzyps", nil}, {cloud + "cross-region-id", away, []string{cloud + "cross-vpc-id", "vpc-mjekzyps"}},
		{cloud + "snat-pro-info", `{"snatIps":[{"subnetId":"` + subnet + `"}]}`, nil},
		{protocols, `{"80":{"protocol":["HTTP"],"hosts":{"a.example.com":{}}}}`, nil}, {protocols, `{"80":{"protocol":["TCP_SSL"],"tls":"one"}}`, nil}, {protocols, `{"443":{"protocol":["HTTPS"],"tls":"one","hosts":{"a.example.com":{}}}}`, nil},
		{protocols, `{"443":{"protocol":["HTTPS"],"hosts":{"a.example.com":{"tls":"one"}}}}`, []string{protocols, `{"443":{"protocol":["HTTPS"],"hosts":{"a.example.com":{"tls":"other"}}}}`}},
		{protocols, `{"80":{"protocol":["TCP","QUIC"],"tls":"one"}}`, []string{direct, "true"}},
		{kube + "service.listenerParameters", `{"Scheduler":"LEAST_CONN"}`, nil},
		{cloud + "prevent-loopback", "true", nil}, {cloud + "security-groups", seed.SecurityGroups[1] + "," + seed.SecurityGroups[0], nil}, {cloud + "pass-to-target", "true", nil},
		{kube + "qcloud-loadbalancer-backends-label", "kubernetes.io/hostname in (cls-berthdemo-node-2, cls-berthdemo-node-3)", nil},
		{cloud + "tke-service-config", "settings", nil}, {cloud + "tke-service-config", "bandwidth", nil},
		{direct, "true", nil}, {bindLocal, "true", nil}, {cloud + "local-svc-weighted-balance", "true", []string{bindLocal, "true"}},
		{cloud + "lb-rs-weight", `{"groups":[{"key":{"proto":"TCP","port":80},"statefulSets":[{"name":"pod","weights":[{"weight":0,"podIndexes":[1]}]}]}]}`, []string{direct, "true"}},
		{cloud + "enable-grace-shutdown", "true", []string{direct, "true"}}, {cloud + "enable-grace-shutdown-tkex", "true", []string{direct, "true"}},
		{sourceEndpoints, `{"name":"api"}`, []string{direct, "true"}},
		{existed, seed.Users, nil}, {cloud + "mode", "skip", nil},
	}
}

// fullChain asks for a load balancer with an IPv6 address of a subnet.
func fullChain(subnet string) string {
	return `{"AddressIPVersion":"IPv6FullChain","SubnetId":"` + subnet + `"}`
}

// namedObjects are two Secrets that name the certificates of the seed, and objects with settings.
func namedObjects(seed simtencent.Seed) map[providers.Reference]providers.Object {
	out := map[providers.Reference]providers.Object{}
	for i, name := range []string{"one", "other"} {
		out[providers.Reference{Kind: providers.Secret, Namespace: "shop", Name: name}] = providers.Object{Data: map[string][]byte{"qcloud_cert_id": []byte(seed.Certificates[i])}}
	}
	for name, settings := range map[string]map[string]any{
		"bandwidth": {"internetMaxBandwidthOut": 77},
		"settings":  {"l4Listeners": []any{map[string]any{"protocol": "TCP", "port": 80, "scheduler": "LEAST_CONN", "session": map[string]any{"enable": true, "sessionExpireTime": 60}}}},
		"one-wrong": {"l4Listeners": []any{
			map[string]any{"protocol": "TCP", "port": 80, "healthCheck": map[string]any{"enable": true, "healthNum": 11}}, map[string]any{"protocol": "TCP", "port": 443, "healthCheck": map[string]any{"intervalTime": 30}},
		}},
	} {
		out[configReference(name)] = providers.Object{Spec: map[string]any{"loadBalancer": settings}}
	}
	out[endpointsReference("api")] = providers.Object{Slices: []*discoveryv1.EndpointSlice{account.PodSlice(props.Service("api", nil).Service, []nodeports.Node{{}}, "172.16.0.31")}}
	return out
}

// configReference names a TkeServiceConfig.
func configReference(name string) providers.Reference {
	return providers.Reference{Kind: "tkeserviceconfigs.v1alpha1.cloud.tencent.com", Namespace: "shop", Name: name}
}

// podSlices are three pods of each address family, two of them on the first node, and one that terminates.
func podSlices(svc *corev1.Service, nodes []nodeports.Node) []*discoveryv1.EndpointSlice {
	some := []nodeports.Node{nodes[0], nodes[1], nodes[0]}
	no, yes := false, true
	ends := account.PodSlice(svc, some, "172.16.0.14")
	ends.Endpoints[0].Conditions = discoveryv1.EndpointConditions{Ready: &no, Serving: &yes, Terminating: &yes}
	return []*discoveryv1.EndpointSlice{
		ends, account.PodSlice(svc, some, "172.16.0.11", "172.16.0.12", "172.16.0.13"), account.PodSlice(svc, some, "2402:4e00:1::11", "2402:4e00:1::12", "2402:4e00:1::13"),
	}
}

// localWhereAsked gives a Service with a key about nodes with pods the policy that the key needs.
func localWhereAsked(notes map[string]string, s *corev1.ServiceSpec) {
	for key := range notes {
		if strings.Contains(key, "/local-svc-") {
			s.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
		}
	}
}

// everyKey returns the cases with the Services that they are for.
func everyKey(t *testing.T) account.EveryKey[simtencent.Options] {
	t.Helper()
	opt := withUsers(6)
	opt.Clock = account.StillClock()
	seed := onTencent().Start(t, opt).Cloud.Seed
	nodes := props.Project(seed.KubernetesNodes())
	return account.EveryKey[simtencent.Options]{
		Options: opt, Cases: keyCases(seed), Change: localWhereAsked, Objects: namedObjects(seed),
		Slices: func(svc *corev1.Service) []*discoveryv1.EndpointSlice { return podSlices(svc, nodes) },
		Refused: []account.KeyCase{
			{opened + "kind", "classic", nil}, {kube + "loadbalance-type", "yunapi_clb", nil}, {corev1.AnnotationLoadBalancerSourceRangesKey, "10.0.0.0/8", nil},
		},
	}
}

// TestEveryKeyWorks: each key that works changes the cloud.
func TestEveryKeyWorks(t *testing.T) { onTencent().EveryKey(t, everyKey(t)) }

// TestExplained: the explanation of each key's Service is complete and right, and names the key.
func TestExplained(t *testing.T) {
	onTencent().Explained(t, everyKey(t), map[string]string{cloud + "snat-pro-info": "a parameter of the creation alone, which no plan shows"})
}

// TestKeysAlone: a key without what it needs changes the desired stack, or is reported.
func TestKeysAlone(t *testing.T) {
	onTencent().KeysAlone(t, withUsers(6), keyCases(onTencent().Start(t, withUsers(6)).Cloud.Seed), common.Alone{
		Kinds:  map[string]func(*corev1.Service){model.CLB: nil},
		Values: map[string][]string{opened + "kind": {"classic"}, kube + "loadbalance-type": {"yunapi_clb"}},
		Except: map[string]string{cloud + "mode": "TestEveryKeyWorks"}, // the Service is left to another controller
	})
}
