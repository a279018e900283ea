package conform

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"

	"github.com/berth-lb/berth/test/conform/kit"
	"github.com/berth-lb/berth/test/sim"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
)

// suite is openstack-cloud-controller-manager.
var suite = kit.Suite{
	Cloud: "openstack",
	Program: kit.Program{
		Name: "openstack-cloud-controller-manager", Dir: "official",
		Source: "k8s.io/cloud-provider-openstack/cmd/openstack-cloud-controller-manager",
		Flags:  []string{"--cluster-name=kubernetes", "--concurrent-service-syncs=20"},
	},
	Nodes: 4,
	// Floating IPs of the user that were bound and are free again keep these, and a load
	// balancer of the user's that the official controller leaves has one empty tag. It names
	// monitors by the Service when it looks at that, and by the load balancer when nodes change.
	Volatile: regexp.MustCompile(`"name": "monitor_\d+_[^"]*",?|,\s*"(updated_at|revision_number)": [^,\n]*|,\s*"tags": \[\s*(""\s*)?\]`),
	Quiet:    2500 * time.Millisecond, // it sleeps for a second before the next poll
	Refusal:  sim.Fault{Status: http.StatusForbidden, Code: "Cut"},
	Stride:   5, // not 1: it sleeps for a second after each change, which would take many minutes

	Refers: "loadbalancer.openstack.org/load-balancer-id",

	Prepare:   usersBalancer,
	Names:     templateNames,
	Configure: setConfig,
	Watch:     kit.Ensured,
	Cuts:      cutsTraffic,
}

func TestMain(m *testing.M) { suite.Main(m) }

func seedOf(w *kit.World) simopenstack.Seed {
	w.T.Helper()
	var s simopenstack.Seed
	w.Seed(&s)
	return s
}

// templateNames returns what the simulated cloud begins with, and what prepare has
// created.
func templateNames(w *kit.World) template.FuncMap {
	s := seedOf(w)
	return template.FuncMap{
		"network": func(name string) string { return networkOf(s, name).ID },
		"subnet":  func(name string) string { return subnetOf(s, name) },
		"address": func(i int) string { return s.Addresses[i] },
		"node":    func(i int) string { return s.Nodes[i].Name },
		"port":    func() string { return s.FreePort },
		"flavor":  func() string { return s.Flavor },
		"zone":    func() string { return s.Zone },
		"tls":     func() string { return w.Sim.URL + s.Certificate },
		"made":    func(name string) string { return w.Made[name] },
	}
}

func networkOf(s simopenstack.Seed, name string) simopenstack.Network {
	for _, n := range []simopenstack.Network{s.Cluster, s.Other, s.Public} {
		if n.Name == name {
			return n
		}
	}
	panic(fmt.Sprintf("testdata names network %q, which is not there", name))
}

func subnetOf(s simopenstack.Seed, name string) string {
	for _, n := range []simopenstack.Network{s.Cluster, s.Other, s.Public} {
		for _, sub := range n.Subnets {
			if sub.Name == name {
				return sub.ID
			}
		}
	}
	panic(fmt.Sprintf("testdata names subnet %q, which is not there", name))
}

// usersBalancer makes a load balancer with a floating IP, as a user would.
func usersBalancer(w *kit.World) {
	s, ctx := seedOf(w), w.T.Context()
	provider, err := openstack.AuthenticatedClient(ctx, gophercloud.AuthOptions{
		IdentityEndpoint: w.Sim.URL + "/identity/v3", Username: simopenstack.UserName, Password: simopenstack.Password, TenantName: s.Project, DomainName: "Default",
	})
	w.Must(err)
	octavia, err := openstack.NewLoadBalancerV2(provider, gophercloud.EndpointOpts{Region: s.Region})
	w.Must(err)
	neutron, err := openstack.NewNetworkV2(provider, gophercloud.EndpointOpts{Region: s.Region})
	w.Must(err)
	lb, err := loadbalancers.Create(ctx, octavia, loadbalancers.CreateOpts{Name: "of-the-user", VipSubnetID: subnetOf(s, "cluster")}).Extract()
	w.Must(err)
	_, err = floatingips.Create(ctx, neutron, floatingips.CreateOpts{FloatingNetworkID: s.Public.ID, PortID: lb.VipPortID, Description: "of the user"}).Extract()
	w.Must(err)
	w.Eventually("the user's load balancer", func(ctx context.Context) error {
		lb, err := loadbalancers.Get(ctx, octavia, lb.ID).Extract()
		if err == nil && lb.ProvisioningStatus != "ACTIVE" {
			err = fmt.Errorf("is %s", lb.ProvisioningStatus)
		}
		return err
	})
	w.Made["balancer"] = lb.ID
}

// setConfig sets keys of sections; a key without value is removed. The sections of
// classes are new.
func setConfig(conf string, more []byte) string {
	section := ""
	for line := range strings.Lines(string(more)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
			if !strings.Contains(conf, section+"\n") {
				conf += "\n" + section + "\n"
			}
			continue
		}
		key, value, isKey := strings.Cut(line, "=")
		if !isKey {
			continue
		}
		if !strings.Contains(section, `"`) {
			conf = regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(strings.TrimSpace(key))+` *=.*\n`).ReplaceAllString(conf, "")
		}
		if strings.TrimSpace(value) != "" {
			conf = strings.Replace(conf, section+"\n", section+"\n"+line+"\n", 1)
		}
	}
	return conf
}

// cutsTraffic does not count changes in place, which show in the state of the cloud.
func cutsTraffic(e sim.Entry) bool {
	return strings.HasPrefix(e.Operation, "Delete") || strings.HasPrefix(e.Operation, "Create") || e.Operation == "UpdateFloatingIP"
}
