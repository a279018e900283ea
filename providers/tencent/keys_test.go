package tencent_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/tencent/model"
	"github.com/berth-lb/berth/test/account"
	common "github.com/berth-lb/berth/test/cases"
	simtencent "github.com/berth-lb/berth/test/sim/tencent"
)

func keyCases(seed simtencent.Seed) []account.KeyCase {
	subnet := seed.Subnets[1].ID
	private := []string{opened + "type", "private", opened + "type-internal-subnet-id", seed.Subnets[0].ID}
	return []account.KeyCase{
		{kube + "qcloud-loadbalancer-internal-subnetid", subnet, nil}, {opened + "type", "private", private[2:]}, {opened + "type-internal-subnet-id", subnet, private}, {opened + "name", "shop", nil},
		{kube + "qcloud-loadbalancer-internet-charge-type", "BANDWIDTH_POSTPAID_BY_HOUR", nil}, {kube + "qcloud-loadbalancer-internet-max-bandwidth-out", "20", nil},
		{kube + "service.extensiveParameters", `{"Vip":"1.1.1.1"}`, nil}, {cloud + "snat-pro-info", `{"snatIps":[{"subnetId":"` + subnet + `"}]}`, nil},
		{cloud + "specify-protocol", `{"80":{"protocol":["HTTP"],"hosts":{"a.example.com":{}}}}`, nil}, {kube + "service.listenerParameters", `{"Scheduler":"LEAST_CONN"}`, nil},
		{cloud + "prevent-loopback", "true", nil}, {cloud + "security-groups", seed.SecurityGroups[1] + "," + seed.SecurityGroups[0], nil}, {cloud + "pass-to-target", "true", nil},
		{kube + "qcloud-loadbalancer-backends-label", "kubernetes.io/hostname in (cls-berthdemo-node-2, cls-berthdemo-node-3)", nil},
	}
}

// silentKeys change nothing in the cloud of a Service without pods: other tests show their effects.
func silentKeys() map[string]string {
	return map[string]string{
		kube + "tke-existed-lbid": "TestExisting", kube + "qcloud-share-existed-lb": "sharing is always possible", cloud + "mode": "TestSkipped",
		opened + "kind": "the only legal value is the default", kube + "loadbalance-type": "the only legal values are the default",
		cloud + "direct-access": "TestBackendsOfPods", kube + "local-svc-only-bind-node-with-pod": "TestBackendsOfPods", cloud + "local-svc-weighted-balance": "TestBackendsOfPods",
	}
}

// TestEveryKeyWorks: each key that works changes the cloud.
func TestEveryKeyWorks(t *testing.T) {
	opt := withNodes(6)
	opt.Clock = account.StillClock()
	elsewhere := silentKeys()
	for _, key := range []string{kube + "loadbalance-id", kube + "loadbalance-nat-ipv6", cloud + "client-token", cloud + "sync-begin-time", cloud + "sync-end-time"} {
		elsewhere[key] = "written by controllers"
	}
	elsewhere[corev1.AnnotationLoadBalancerSourceRangesKey] = "TestRefused"
	onTencent().EveryKey(t, account.EveryKey[simtencent.Options]{Options: opt, Cases: keyCases(onTencent().Start(t, opt).Cloud.Seed), Elsewhere: elsewhere})
}

// TestKeysAlone: a key without what it needs changes the desired stack, or is reported.
func TestKeysAlone(t *testing.T) {
	onTencent().KeysAlone(t, withNodes(6), keyCases(onTencent().Start(t, withNodes(6)).Cloud.Seed), common.Alone{
		Kinds: map[string]func(*corev1.Service){model.CLB: nil}, Except: silentKeys(),
	})
}
