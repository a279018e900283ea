package model

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/cases"
)

// TestRealServices verifies the messages for Services of public repositories. The
// addresses that they name exist.
func TestRealServices(t *testing.T) {
	var w world
	cases.ReadWorld(t, &w)
	config := parseConfig(t, w.Config)
	cases.RealServices(t, bundle(), 7, func(svc *corev1.Service) (cases.Built, error) {
		in, problems := inputOf(config, w.ClusterName, svc, w.Nodes)
		a := newARM(t, config, w.ClusterName, realFacts(w.Facts))
		for name, ip := range map[string]string{"MapReduceGatewayIP": "20.2.2.2", "theirs": "20.10.5.100"} {
			for _, group := range []string{"my-rg", "mc_mapreduce_group_mapreduce_eastus"} {
				a.pips[lowerCase(group+"/"+name)] = a.wire(Object{"name": name, "id": ARMID("sub", group, "publicIPAddresses", name), "properties": map[string]any{"ipAddress": ip}})
			}
		}
		want, more, err := buildStack(in, a.read(), nil)
		return cases.Built{Kind: in.Kind, Want: want, Problems: append(problems, more...)}, err
	})
}

// realFacts has the subnets and resource groups that the Services name.
func realFacts(f Facts) Facts {
	f.Groups = append(slices.Clone(f.Groups), "mc_mapreduce_group_mapreduce_eastus", "my-rg")
	f.Subnets = maps.Clone(f.Subnets)
	f.Subnets["backend-subnet"] = FoundSubnet{Name: "backend-subnet", ID: testConfig().SubnetID("backend-subnet"), Prefixes: []string{"10.240.0.0/24"}}
	return f
}
