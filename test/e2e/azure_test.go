package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/cluster"
	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
)

var azurePlane cluster.Shared

// TestAzure runs what every cloud has to stand, and what only Azure has, on Azure.
func TestAzure(t *testing.T) {
	t.Parallel()
	p := onAzure()
	p.scenarios(t)
	t.Run("neighbours", p.neighbours)
	t.Run("beside AKS", p.besideAKS)
	t.Run("interfaces", p.interfaces)
	t.Run("throttled for long", p.throttledLong)
}

func azureKey(key string) string { return "service.beta.kubernetes.io/azure-" + key }

func onAzure() *place {
	return &place{
		cloud: "azure", plane: &azurePlane, fronts: azureFronts, key: nameOf, spoil: spoilAzure,
		kinds: []kind{
			{name: "public", ports: oneByOne, check: eachPort, open: []string{"Internet"}, parts: map[string]int{"/publicIPAddresses/": 1}},
			{name: "internal", asks: []change{setAnnotation(azureKey("load-balancer-internal"), "true")}, ports: oneByOne, check: eachPort},
		},
		answers: answers{
			throttled: sim.Fault{Status: 429, Code: "TooManyRequests", Message: "The request is being throttled."},
			denied: sim.Fault{Operation: "LoadBalancers.CreateOrUpdate", Status: 403, Code: "AuthorizationFailed",
				Message: "does not have authorization to perform action 'Microsoft.Network/loadBalancers/write'"},
			quota: sim.Fault{Operation: "PublicIPAddresses.CreateOrUpdate", Status: 400, Code: "PublicIPCountLimitReached", Message: "Cannot create more than 10 public IP addresses"},
			down:  sim.Fault{Status: 503, Code: "ServiceUnavailable", Message: "The service is unavailable"},
		},
		cuts: []string{"LoadBalancers.CreateOrUpdate", "PublicIPAddresses.CreateOrUpdate", "SecurityGroups.CreateOrUpdate"},
		// In the order in which Services come and go nothing depends on how long an
		// operation takes, or on how soon the cloud takes the next call.
		slow:     []string{"--throttle", "--write-latency=2s", "--whole-seconds"},
		mistakes: azureMistakes(),
	}
}

func azureMistakes() []mistake {
	asked := func(ip string) change { return changeSpec(func(s *corev1.ServiceSpec) { s.LoadBalancerIP = ip }) }
	sctp := changeSpec(func(s *corev1.ServiceSpec) { s.Ports = append(s.Ports, newPort(corev1.ProtocolSCTP, 53, 0)) })
	one := changeSpec(func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1] })
	return []mistake{
		mistakeOf("timeout", "public", azureKey("load-balancer-tcp-idle-timeout"), "1000", "4 to 100"),
		mistakeOf("named", "public", azureKey("pip-name"), "nobodys", "public IP"),
		mistakeOf("clients", "public", azureKey("allowed-ip-ranges"), "10.0.0.1/8", "10.0.0.0/8"),
		mistakeOf("probe", "internal", azureKey("load-balancer-health-probe-interval"), "0", "5"),
		mistakeOf("subnet", "internal", azureKey("load-balancer-internal-subnet"), "nowhere", "subnet"),
		{name: "asked", kind: "public", field: true, bad: []change{asked("192.0.2.99")}, fix: []change{asked("")}, words: []string{`"192.0.2.99"`, "public IP"}},
		{name: "sctp", kind: "public", field: true, bad: []change{sctp}, fix: []change{one}, words: []string{"spec.ports", "SCTP"}},
	}
}

// spoilAzure takes away by hand what load balancers consist of.
func spoilAzure(w *world) {
	ctx := w.t.Context()
	c, err := dialAzure(w.Sim.URL)
	w.must(err)
	balancers := c.NewLoadBalancersClient()
	for _, name := range []string{"kubernetes", "kubernetes-internal"} {
		got, err := balancers.Get(ctx, azureGroup, name, nil)
		w.must(err)
		lb := got.LoadBalancer
		lb.Properties.LoadBalancingRules, lb.Properties.Probes = nil, nil
		poller, err := balancers.BeginCreateOrUpdate(ctx, azureGroup, name, lb, nil)
		w.must(err)
		_, err = poller.PollUntilDone(ctx, nil)
		w.must(err)
	}
	more := c.NewSecurityGroupsClient().NewListAllPager(nil)
	groups, err := readPages(ctx, more.More, more.NextPage, func(p armnetwork.SecurityGroupsClientListAllResponse) []*armnetwork.SecurityGroup { return p.Value })
	w.must(err)
	for _, g := range groups {
		for _, r := range g.Properties.SecurityRules {
			if strings.HasPrefix(*r.Name, "k8s-azure-lb_") {
				poller, err := c.NewSecurityRulesClient().BeginDelete(ctx, groupOf(*g.ID), *g.Name, *r.Name, nil)
				w.must(err)
				_, err = poller.PollUntilDone(ctx, nil)
				w.must(err)
			}
		}
	}
}

// groupOf is the resource group in an id.
func groupOf(id string) string {
	parts := strings.Split(id, "/")
	return parts[4]
}

// neighbours share one load balancer: what one of them cannot have is no matter
// for the others, old ones and new ones.
func (p *place) neighbours(t *testing.T) {
	w := p.start(t, 2)
	before := w.dump()
	w.controller()
	old := w.many(4)
	w.must(w.Create(t.Context(), old...))
	w.programmed(old...)
	bad := []corev1.Service{
		w.one(p.kinds[0], 10, setAnnotation(azureKey("pip-name"), "nobodys")),
		w.one(p.kinds[1], 11, setAnnotation(azureKey("load-balancer-internal-subnet"), "nowhere")),
		w.one(p.kinds[1], 12, changeSpec(func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "10.240.0.4" })), // a node's
	}
	young := []corev1.Service{w.one(p.kinds[0], 20), w.one(p.kinds[1], 21)}
	w.must(w.Create(t.Context(), append(slices.Clone(bad), young...)...))
	w.programmed(young...)
	for i := range old {
		w.update(old[i].Name, setPorts(80, nodePort(i, 0), 443, nodePort(i, 1)))
	}
	for _, svc := range old {
		w.eventually(svc.Name+" has its second port", func() error {
			f, err := w.front(svc.Name)
			if err != nil {
				return err
			}
			return diffError("ports", p.kinds[0].ports(80, 443), f.Ports)
		})
	}
	for _, svc := range bad {
		got := harness.Condition(w.get(svc.Name), status.TypeProgrammed)
		if got.Status != metav1.ConditionFalse || len(w.get(svc.Name).Status.LoadBalancer.Ingress) > 0 {
			t.Errorf("%s: want it refused, got %+v", svc.Name, got)
		}
	}
	w.remove(slices.Concat(old, bad, young)...)
	w.nothingLeft(before)
}

// besideAKS uses the load balancer that AKS has created for the nodes' outbound traffic: the
// outbound rule and the resources that it needs are unchanged afterwards.
func (p *place) besideAKS(t *testing.T) {
	w := p.start(t, 3, "--outbound")
	before := w.dump()
	w.controller()
	fleet := w.many(4)
	w.must(w.Create(t.Context(), fleet...))
	w.programmed(fleet...)
	for i := range len(p.kinds) {
		w.addressed(p.kinds[i].name, p.kinds[i].name)
	}
	w.remove(fleet...)
	w.settled(w.meter())
	if err := diffError("the cloud of AKS", before, w.dump()); err != nil {
		t.Error(err)
	}
}

// interfaces has pools of network interfaces, the way of clusters that have never
// been moved to addresses.
func (p *place) interfaces(t *testing.T) {
	for _, as := range []string{"vm", "vmss", "flex"} {
		t.Run(as, func(t *testing.T) {
			w := p.start(t, 3, "--pools=nodeIPConfiguration", "--nodes-as="+as)
			before := w.dump()
			w.controller()
			fleet := w.many(2)
			w.must(w.Create(t.Context(), fleet...))
			w.programmed(fleet...)
			w.eventually("all machines are in both pools", func() error {
				c, err := dialAzure(w.Sim.URL)
				if err != nil {
					return err
				}
				for _, name := range []string{"kubernetes", "kubernetes-internal"} {
					got, err := c.NewLoadBalancerBackendAddressPoolsClient().Get(t.Context(), azureGroup, name, "kubernetes", nil)
					if err != nil {
						return err
					}
					if err := diffError(name, 3, len(got.Properties.BackendIPConfigurations)); err != nil {
						return err
					}
				}
				return nil
			})
			w.remove(fleet...)
			w.nothingLeft(before)
		})
	}
}
