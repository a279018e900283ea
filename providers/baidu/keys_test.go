package baidu_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/test/account"
	common "github.com/berth-lb/berth/test/cases"
	simbaidu "github.com/berth-lb/berth/test/sim/baidu"
)

func keyCases(seed simbaidu.Seed) []account.KeyCase {
	prepaid := []string{eip + "payment-timing", "Prepaid", eip + "reservation-length", "1"}
	return []account.KeyCase{
		{lb + "internal-vpc", "true", nil}, {lb + "subnet-id", seed.Subnets[1].ID, nil}, {lb + "lb-name", "shop", nil},
		{eip + "name", "shop", nil}, {eip + "payment-timing", "Prepaid", prepaid[2:]}, {eip + "billing-method", "ByBandwidth", nil}, {eip + "bandwidth-in-mbps", "20", nil},
		{lb + "scheduler", "WeightLeastConn", nil}, {lb + "health-check-timeout-in-second", "5", nil}, {lb + "health-check-interval", "5", nil}, {lb + "unhealthy-threshold", "5", nil},
		{lb + "healthy-threshold", "5", nil}, {lb + "backend-label", "kubernetes.io/hostname=cce-berthdemo-node-2", nil}, {lb + "rs-max-num", "2", nil}, {pods, "true", nil},
	}
}

// silentKeys change nothing in the cloud of a plain Service: other tests show their effects.
func silentKeys() map[string]string {
	return map[string]string{
		lb + "id": "TestExisting", lb + "exist-id": "TestExisting", lb + "reserve-lb": "TestReserved", kube + "cce-blb-type": "TestKindOfExisting",
		lb + "health-check-string": "TestUDP", eip + "reservation-length": "TestPrepaid",
	}
}

// TestExplained: the explanation of each key's Service is complete and right, and names the key.
func TestExplained(t *testing.T) {
	opt := withNodes(6)
	onBaidu().Explained(t, account.EveryKey[simbaidu.Options]{Options: opt, Cases: keyCases(onBaidu().Start(t, opt).Cloud.Seed)}, nil)
}

// TestEveryKeyWorks: each key that works changes the cloud.
func TestEveryKeyWorks(t *testing.T) {
	opt := withNodes(6)
	opt.Clock = account.StillClock()
	elsewhere := silentKeys()
	elsewhere[lb+"cce-add-id"], elsewhere[lb+"cce-add-eip"] = "TestTakeOver", "TestCopied"
	elsewhere[corev1.AnnotationLoadBalancerSourceRangesKey] = "TestRefused"
	onBaidu().EveryKey(t, account.EveryKey[simbaidu.Options]{Options: opt, Cases: keyCases(onBaidu().Start(t, opt).Cloud.Seed), Elsewhere: elsewhere})
}

// TestKeysAlone: a key without what it needs changes the desired stack, or is reported.
func TestKeysAlone(t *testing.T) {
	onBaidu().KeysAlone(t, withNodes(6), keyCases(onBaidu().Start(t, withNodes(6)).Cloud.Seed), common.Alone{
		Kinds: map[string]func(*corev1.Service){model.AppBLB: nil}, Except: silentKeys(),
	})
}
