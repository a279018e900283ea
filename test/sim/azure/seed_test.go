package azure_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/golden"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

func TestSeedFiles(t *testing.T) {
	for name, seed := range map[string]simazure.SeedOptions{
		"vmss": {NodesAs: simazure.VMSS, Outbound: true, DualStack: true},
		"vm":   {NodesAs: simazure.VM, Outbound: true},
		"flex": {NodesAs: simazure.Flex, Outbound: true},
		"pods": {Pools: simazure.PodIP, DualStack: true},
	} {
		seed.Nodes, seed.Addresses = 2, 1
		cloud, err := simazure.New(simazure.Options{NoZones: seed.NodesAs == simazure.VM, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := cloud.WriteFiles(dir, "http://127.0.0.1:4566"); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"seed.json", "nodes.yaml", "cloud.conf"} {
			got, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, filepath.Join("testdata", name+"."+file+".golden"), string(got))
		}
	}
}

func TestSeedIsStable(t *testing.T) {
	for _, nodesAs := range []simazure.NodesAs{simazure.VMSS, simazure.VM, simazure.Flex} {
		build := func(nodes int) simazure.Seed {
			cloud, err := simazure.New(simazure.Options{Seed: simazure.SeedOptions{Nodes: nodes, NodesAs: nodesAs, Addresses: 2}})
			if err != nil {
				t.Fatal(err)
			}
			return cloud.Seed
		}
		small, large := build(3), build(1000)
		seen := map[string]bool{}
		for _, n := range large.Nodes {
			seen[n.ID], seen[n.PrivateIP], seen[n.Name] = true, true, true
		}
		if len(seen) != 3*1000 {
			t.Errorf("%s: %d different ids, addresses and names, want 3000", nodesAs, len(seen))
		}
		large.Nodes = large.Nodes[:3]
		if diff := cmp.Diff(small, large); diff != "" {
			t.Errorf("%s: more nodes change other ids (-3 nodes +1000 nodes)\n%s", nodesAs, diff)
		}
	}
}

func TestBadSeeds(t *testing.T) {
	for name, opt := range map[string]simazure.SeedOptions{
		"too many": {Nodes: 1001}, "too few": {Nodes: -1}, "kind": {NodesAs: "pets"}, "pools": {Pools: "petIP"}, "pods": {Pods: 251}, "outbound of pods": {Pools: simazure.PodIP, Outbound: true}, "addresses": {Addresses: 501}, "cluster": {Cluster: "a/b", Outbound: true},
	} {
		if _, err := simazure.New(simazure.Options{Seed: opt}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	empty, err := simazure.New(simazure.Options{Empty: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := empty.WriteFiles(t.TempDir(), "http://x"); err == nil {
		t.Error("an empty cloud wrote its seed")
	}
}
