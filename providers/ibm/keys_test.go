package ibm_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers/ibm/model"
	"github.com/berth-lb/berth/test/account"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
	simibm "github.com/berth-lb/berth/test/sim/ibm"
)

func keyCases(seed simibm.Seed) []account.KeyCase {
	http := []string{"vpc-health-check-protocol", "http"}
	inDNS := []string{"ip-type", "private", "vpc-private-dns-instance-crn", "crn:v1:dns", "vpc-private-dns-zone-id", "example.com:1"}
	return []account.KeyCase{
		{"ip-type", "private", nil}, {"enable-features", "Proxy-Protocol, alb", nil}, {"zone", "eu-de-2", nil},
		{"vpc-subnets", seed.Separate[0].Name + "," + seed.Subnets[1].CIDR + "," + seed.Subnets[2].ID, nil}, {"vpc-lb-name", "shop-web", nil},
		{"vpc-node-selector", "kubernetes.io/hostname=berthdemo-node-2", nil}, {"vpc-idle-connection-timeout", "120", nil}, {"vpc-member-quota", "1", nil},
		{"vpc-health-check-protocol", "http", nil}, {"vpc-health-check-port", "30081", http}, {"vpc-health-check-path", "/live", http},
		{"vpc-health-check-delay", "10", nil}, {"vpc-health-check-timeout", "4", nil}, {"vpc-health-check-retries", "3", nil},
		{"vpc-security-group", "web," + seed.Groups[1], nil}, {"vpc-allow-outbound-traffic", "443", nil},
		{"vpc-private-dns-instance-crn", "crn:v1:other", inDNS}, {"vpc-private-dns-zone-id", "example.com:2", inDNS},
		{"vpc-port-range", "80-90", []string{"enable-features", "nlb"}}, {"vpc-health-check-udp", "30082", []string{"enable-features", "nlb", "vpc-health-check-udp", "30081"}},
	}
}

// everyKey returns the cases with the Services that they are for.
func everyKey(t *testing.T) account.EveryKey[simibm.Options] {
	t.Helper()
	opt := withNodes(6)
	opt.Clock = account.StillClock()
	return account.EveryKey[simibm.Options]{Options: opt, Cases: keyCases(onIBM().Start(t, opt).Cloud.Seed), Change: func(with map[string]string, s *corev1.ServiceSpec) {
		if with[prefix+"vpc-health-check-udp"] != "" {
			props.UDP(s)
		}
	}}
}

// TestEveryKeyWorks: each key that works changes the cloud.
func TestEveryKeyWorks(t *testing.T) { onIBM().EveryKey(t, everyKey(t)) }

// TestExplained: the explanation of each key's Service is complete and right, and names the key.
func TestExplained(t *testing.T) { onIBM().Explained(t, everyKey(t), nil) }

// TestKeysAlone: a key without what it needs changes the desired stack, or is reported.
func TestKeysAlone(t *testing.T) {
	onIBM().KeysAlone(t, withNodes(6), keyCases(onIBM().Start(t, withNodes(6)).Cloud.Seed), common.Alone{
		Kinds:  map[string]func(*corev1.Service){model.ALB: nil, model.NLB: askFor("nlb"), model.PrivatePath: askFor("private-path")},
		Values: map[string][]string{prefix + "ip-type": {"private", "public"}}, // a private path is private anyway
	})
}

// askFor asks for a kind of load balancer.
func askFor(feature string) func(*corev1.Service) {
	return func(svc *corev1.Service) {
		metav1.SetMetaDataAnnotation(&svc.ObjectMeta, prefix+"enable-features", feature)
	}
}
