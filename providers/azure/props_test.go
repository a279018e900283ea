package azure_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/providers/azure"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/azure/simtest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// subject is a simulated Azure, and what its cloud configuration says besides.
type subject struct {
	beside  bool // the annotations of the other clouds are known, as in the program
	running *simtest.Running
	more    string // members of the JSON object, with a comma at the end
}

// confOf is the cloud configuration that the simulator gives, with a managed
// identity: its tokens come over plain HTTP.
func confOf(t testing.TB, running *simtest.Running) []byte {
	t.Helper()
	conf, err := running.Cloud.Seed.CloudConf(running.PlainURL)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Replace(conf, []byte("{"), []byte(`{"useManagedIdentityExtension": true,`), 1)
}

func (s subject) Open(t testing.TB) providers.Bound {
	t.Helper()
	entry := entryOnce()
	if s.beside {
		var err error
		if entry, err = all.Find("azure"); err != nil {
			t.Fatal(err)
		}
	}
	cloud, _, err := entry.Open(t.Context(), bytes.NewReader(bytes.Replace(confOf(t, s.running), []byte("{"), []byte("{"+s.more), 1)), providers.Env{Cluster: s.running.Cloud.Seed.Cluster, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return cloud
}

// entryOnce returns the cloud with its declarations, which are parsed once.
var entryOnce = sync.OnceValue(func() providers.Entry { return providers.EntryOf(azure.Cloud()) })

func (s subject) Nodes() []nodeports.Node {
	return props.Project(s.running.Cloud.Seed.KubernetesNodes())
}

func (s subject) Cloud() providers.Entry { return entryOnce() }

func (s subject) KubernetesNodes() []corev1.Node { return s.running.Cloud.Seed.KubernetesNodes() }

func (s subject) Control() *sim.Control { return &s.running.Cloud.Control }

// Answers implements props.Answering. A 404 without a code of Azure Resource Manager for what does not exist
// is no evidence that it does not.
func (s subject) Answers() []int { return props.AllAnswers() }

// SetRole has the cloud judge by the definition of a role.
func (s subject) SetRole(t testing.TB, role []byte) {
	t.Helper()
	props.Judge(t, role, simazure.ParseRole, s.running.Cloud.SetRole)
}

func newSubject(seed simazure.SeedOptions) props.New { return freshWith(seed, "") }

func freshWith(seed simazure.SeedOptions, more string) props.New {
	return func(t testing.TB) props.Subject {
		running := simtest.Start(t, simazure.Options{Seed: seed, ARM: simarm.Options{Async: simarm.AsyncNone}}) // TestLongOperations has the other ways
		s := subject{running: running, more: more}
		s.SetRole(t, props.Role(t, "azure.json"))
		return s
	}
}

const prefix = "service.beta.kubernetes.io/azure-"

// serviceCase returns a case with annotations of the cloud.
func serviceCase(name string, annotations map[string]string, change func(*corev1.ServiceSpec)) props.Case {
	return props.Service(name, props.Prefixed(prefix, annotations), change)
}

func propsCases() []props.Case {
	return []props.Case{
		serviceCase("public", nil, nil),
		serviceCase("internal", map[string]string{"load-balancer-internal": "true"}, nil),
		serviceCase("public-udp-local", nil, func(s *corev1.ServiceSpec) { props.Local(s); props.UDP(s) }),
		serviceCase("internal-local-ranges", map[string]string{"load-balancer-internal": "true", "load-balancer-internal-subnet": "internal"}, func(s *corev1.ServiceSpec) {
			props.Local(s)
			s.LoadBalancerSourceRanges = []string{"10.2.0.0/16", "192.0.2.0/24"}
		}),
		serviceCase("public-everything", map[string]string{
			"dns-label-name": "shop-web", "load-balancer-tcp-idle-timeout": "10", "pip-tags": "team=shop,stage=test",
			"load-balancer-health-probe-interval": "10", "load-balancer-health-probe-num-of-probe": "3",
		}, nil),
	}
}

func TestProperties(t *testing.T) {
	props.Run(t, newSubject(simazure.SeedOptions{Nodes: 6}), propsCases())
}

// TestPropertiesInterfaces has pools of network interfaces, of all sorts of machines.
func TestPropertiesInterfaces(t *testing.T) {
	for _, as := range []simazure.NodesAs{simazure.VMSS, simazure.VM, simazure.Flex} {
		t.Run(string(as), func(t *testing.T) {
			props.Run(t, newSubject(simazure.SeedOptions{Nodes: 3, NodesAs: as, Pools: simazure.NodeNIC}), propsCases()[:2])
		})
	}
}

// TestPropertiesBesideOutbound uses a load balancer that existed before, with frontend,
// pools and outbound rules of AKS, and the nodes in its pools.
func TestPropertiesBesideOutbound(t *testing.T) {
	props.Run(t, newSubject(simazure.SeedOptions{Nodes: 3, Outbound: true}), propsCases()[:3])
	t.Run("interfaces", func(t *testing.T) {
		props.Run(t, newSubject(simazure.SeedOptions{Nodes: 3, NodesAs: simazure.VMSS, Pools: simazure.NodeNIC, Outbound: true}), propsCases()[:2])
	})
}

// TestPropertiesDual has Services with both families.
func TestPropertiesDual(t *testing.T) {
	props.Run(t, newSubject(simazure.SeedOptions{Nodes: 3, DualStack: true}), []props.Case{
		serviceCase("public", nil, props.Dual),
		serviceCase("internal", map[string]string{"load-balancer-internal": "true"}, props.Dual),
		serviceCase("one-family", nil, nil),
		serviceCase("public-floating-off", map[string]string{"disable-load-balancer-floating-ip": "true"}, func(s *corev1.ServiceSpec) { props.Dual(s); props.Local(s) }),
	})
}

// several are load balancers of which the last takes no new Services.
const several = `"multipleStandardLoadBalancerConfigurations": [{"name": "kubernetes", "primaryVMSet": "none"},
	{"name": "second", "primaryVMSet": "nothing", "allowServicePlacement": true}, {"name": "third", "primaryVMSet": "nobody", "allowServicePlacement": false}],`

// TestPropertiesSeveral has several load balancers.
func TestPropertiesSeveral(t *testing.T) {
	props.Run(t, freshWith(simazure.SeedOptions{Nodes: 6}, several), []props.Case{
		// Each names its load balancer: one that names none stays where it is.
		serviceCase("internal-local", map[string]string{"load-balancer-internal": "true", "load-balancer-configurations": "second"}, props.Local),
		serviceCase("named", map[string]string{"load-balancer-configurations": "second"}, nil),
		serviceCase("named-other", map[string]string{"load-balancer-configurations": "kubernetes"}, props.Local),
	})
}

// TestPodsMatter: where there are several load balancers, a pod that moves is work
// for a Service with traffic policy Local, and nothing to others.
func TestPodsMatter(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s, _ := freshWith(simazure.SeedOptions{Nodes: 2}, several)(t).(subject)
		r := reconcile.New(s.Open(t), reconcile.Options{})
		if !r.WantsEndpoints() {
			t.Error("endpoints are not asked for")
		}
		r.SetNodes(s.Nodes())
		r.AllKnown()
		for _, c := range []props.Case{serviceCase("cluster", nil, nil), serviceCase("local", nil, props.Local)} {
			svc := c.Service
			svc.Name, svc.UID = c.Name, types.UID("5a0c1f6e-0000-4000-8000-00000000"+fmt.Sprintf("%04x", len(c.Name)))+"0000"
			job := func(node string) reconcile.Job {
				port, name := int32(8080), "http"
				return reconcile.Job{Service: svc, Slices: []*discoveryv1.EndpointSlice{{
					AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: &name, Port: &port}},
					Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.244.0.1"}, NodeName: &node}},
				}}}
			}
			for range 6 {
				d, err := r.Draft(t.Context(), job(s.Nodes()[0].Name))
				if err != nil {
					t.Fatal(err)
				}
				r.Run(t.Context(), d, nil)
			}
			d, err := r.Draft(t.Context(), job(s.Nodes()[1].Name))
			if err != nil {
				t.Fatal(err)
			}
			if d.Clean != (c.Name == "cluster") {
				t.Errorf("%s: clean %t after a pod has moved", c.Name, d.Clean)
			}
		}
	})
}

// TestPropertiesSettings has what the cloud configuration says about rules and probes.
func TestPropertiesSettings(t *testing.T) {
	const settings = `"disableOutboundSNAT": true, "clusterServiceLoadBalancerHealthProbeMode": "shared", "excludeMasterFromStandardLB": false,`
	props.Run(t, freshWith(simazure.SeedOptions{Nodes: 2}, settings), []props.Case{
		serviceCase("public", nil, nil),
		serviceCase("internal-ha", map[string]string{"load-balancer-internal": "true", "load-balancer-enable-high-availability-ports": "true"}, nil),
		serviceCase("local", nil, props.Local),
	})
}

// TestPropertiesElsewhere uses a public IP in a group of the user. It is found by the
// Service's annotations, also during deletion.
func TestPropertiesElsewhere(t *testing.T) {
	group := simtest.Start(t, simazure.Options{}).Cloud.Seed.NetworkGroup
	props.Run(t, newSubject(simazure.SeedOptions{Nodes: 2}), []props.Case{serviceCase("address", map[string]string{"load-balancer-resource-group": group}, nil)})
}

// TestLinkElsewhere releases a private link service in a group of the user, by a
// process that has never seen it.
func TestLinkElsewhere(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s, _ := newSubject(simazure.SeedOptions{Nodes: 2, Pools: simazure.NodeNIC})(t).(subject)
		svc := serviceCase("link", map[string]string{
			"load-balancer-internal": "true", "pls-create": "true", "pls-resource-group": s.running.Cloud.Seed.NetworkGroup,
		}, nil).Service
		run := func(release bool) reconcile.Result {
			r := reconcile.New(s.Open(t), reconcile.Options{})
			r.SetNodes(s.Nodes())
			r.AllKnown()
			for range 6 {
				d, err := r.Draft(t.Context(), reconcile.Job{Service: svc, Release: release})
				if err != nil {
					t.Fatal(err)
				}
				if result := r.Run(t.Context(), d, nil); result.Clean || result.Released {
					return result
				}
			}
			return reconcile.Result{}
		}
		if made := run(false); !made.Clean || len(made.Draft.Have.Of(model.KindLink)) != 1 {
			t.Fatalf("no private link service was made: %+v", made.Err)
		}
		if !run(true).Released {
			t.Error("it is not released")
		}
		left, err := json.Marshal(s.Control().State())
		if err != nil || strings.Contains(strings.ToLower(string(left)), "/privatelinkservices/") || strings.Contains(strings.ToLower(string(left)), "/loadbalancers/") {
			t.Errorf("left in the cloud: %v", err)
		}
	})
}

// TestPropertiesOtherKeys has DNS labels, prefixes and deny rules.
func TestPropertiesOtherKeys(t *testing.T) {
	running := simtest.Start(t, simazure.Options{})
	prefixID := "/subscriptions/" + running.Cloud.Seed.Subscription + "/resourceGroups/" + running.Cloud.Seed.ResourceGroup + "/providers/Microsoft.Network/publicIPPrefixes/" + running.Cloud.Seed.PublicIPPrefix
	props.Run(t, newSubject(simazure.SeedOptions{Nodes: 2}), []props.Case{
		serviceCase("prefix", map[string]string{"pip-prefix-id": prefixID, "dns-label-name": "shop"}, nil),
		serviceCase("internal-tags-and-deny", map[string]string{
			"load-balancer-internal": "true", "allowed-service-tags": "AzureCloud,Storage", "allowed-ip-ranges": "10.0.0.0/8",
			"deny-all-except-load-balancer-source-ranges": "true", "load-balancer-disable-tcp-reset": "true",
		}, func(s *corev1.ServiceSpec) { s.SessionAffinity = corev1.ServiceAffinityClientIP }),
	})
}

// TestOpenRefuses names the key that cannot be served.
func TestOpenRefuses(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		running := simtest.Start(t, simazure.Options{})
		for key, edit := range map[string][2]string{
			"loadBalancerBackendPoolConfigurationType": {`"nodeIP"`, `"podIP"`},
			"subscriptionId":                        {`"subscriptionId": "` + running.Cloud.Seed.Subscription + `"`, `"subscriptionId": ""`},
			"networkResourceTenantID":               {"{", `{"networkResourceTenantID": "other",`},
			"cloud":                                 {`"resourceManagerEndpoint"`, `"cloud": "AzureMoonCloud", "x"`},
			"resourceManagerEndpoint":               {running.PlainURL, "http://127.0.0.1:1"},
			"useFederatedWorkloadIdentityExtension": {`"useManagedIdentityExtension": true,`, `"aadClientSecret": "", "aadClientSecretX": "`},
		} {
			text := strings.Replace(string(confOf(t, running)), edit[0], edit[1], 1)
			if key == "useFederatedWorkloadIdentityExtension" {
				text = strings.Replace(string(confOf(t, running)), `"useManagedIdentityExtension": true,`, "", 1)
				text = strings.Replace(text, simazure.ClientSecret, "", 1)
			}
			_, _, err := providers.EntryOf(azure.Cloud()).Open(t.Context(), strings.NewReader(text), providers.Env{})
			if err == nil || !slices.Contains(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == ' ' || r == ':' || r == ',' }), key) {
				t.Errorf("%s: got %v", key, err)
			}
		}
	})
}

// TestPlanned: what `berth plan` shows is what the controller does.
func TestPlanned(t *testing.T) {
	refused := serviceCase("refused", map[string]string{"load-balancer-tcp-idle-timeout": "1"}, nil)
	props.Planned(t, newSubject(simazure.SeedOptions{Nodes: 3}), propsCases(), refused, 60,
		67, 171, 177, 304, 315, 333, 342, 345, 384, 451, 464, 489, // a neighbour has taken the node out of the pool before
		107, 159, 178, 181, 261, 284, 306, 311, 372, 374, 383, 416) // a refused neighbour keeps what another one has left over
}
