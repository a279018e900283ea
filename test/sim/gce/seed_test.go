package gce_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/golden"
	simgce "github.com/berth-lb/berth/test/sim/gce"
)

func newCloud(t *testing.T, opt simgce.Options) *simgce.Cloud {
	t.Helper()
	cloud, err := simgce.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return cloud
}

func TestSeedFiles(t *testing.T) {
	dir := t.TempDir()
	if err := newCloud(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 2}}).WriteFiles(dir, "http://127.0.0.1:4566"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"seed.json", "nodes.yaml", "cloud.conf", "gce.conf"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, filepath.Join("testdata", name+".golden"), string(got))
	}
	if err := newCloud(t, simgce.Options{Empty: true}).WriteFiles(dir, "http://127.0.0.1:4566"); err == nil {
		t.Error("an empty cloud wrote its seed")
	}
}

func TestSeedIsStable(t *testing.T) {
	small, large := newCloud(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 3}}).Seed, newCloud(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 1800}}).Seed
	ids := map[string]bool{}
	for _, n := range large.Nodes {
		ids[n.Name], ids[n.InternalIP], ids[n.ExternalIP], ids[n.PodCIDR] = true, true, true, true
	}
	if len(ids) != 4*1800 {
		t.Errorf("%d different names and addresses, want %d", len(ids), 4*1800)
	}
	large.Nodes = large.Nodes[:3]
	if diff := cmp.Diff(small, large); diff != "" {
		t.Errorf("more nodes change other things (-3 nodes +1800 nodes)\n%s", diff)
	}
	if _, err := simgce.New(simgce.Options{Seed: simgce.SeedOptions{Nodes: 1801}}); err == nil {
		t.Error("1801 nodes were accepted")
	}
}

// TestSharedNetwork has the network in another project than the instances.
func TestSharedNetwork(t *testing.T) {
	w := startWorld(t, simgce.Options{NetworkProject: "berth-net", Seed: simgce.SeedOptions{Nodes: 1}})
	host, err := w.api.Projects.GetXpnHost(project).Do()
	if err != nil || host.Name != "berth-net" || host.XpnProjectStatus != "HOST" {
		t.Errorf("host %+v, %v", host, err)
	}
	if _, err := w.api.Networks.Get(project, "default").Do(); errorCode(err) != "404 notFound" {
		t.Errorf("network in the service project: %v", err)
	}
	vm, err := w.api.Instances.Get(project, zoneA, "berth-demo-node-1").Do()
	if err != nil || vm.NetworkInterfaces[0].Network != "https://www.googleapis.com/compute/v1/projects/berth-net/global/networks/default" {
		t.Errorf("instance %+v, %v", vm, err)
	}
	n, err := w.api.Networks.Get("berth-net", "default").Do()
	if err != nil || len(n.Subnetworks) != 3 {
		t.Errorf("network %+v, %v, want three subnetworks", n, err)
	}
}
