package model

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadConfig(t *testing.T) {
	text := `
[global]
token-url = nil
project-id = proj
network-project-id = host
network-name = https://www.googleapis.com/compute/v1/projects/host/global/networks/net
subnetwork-name = sub
node-tags = b
node-tags = a
local-zone = europe-west4-b
regional = true
alpha-features = ILBSubsets
alpha-features = Nonsense
stack-type = IPV4
tokenurl = x
api-endpoint = http://127.0.0.1:1/compute/v1/
[berth]
cluster-id = c
enable-l4-deny-firewall = true
enable-pinhole = false
cloud-provider-gce-lb-src-cidrs = 10.1.2.3/8,192.0.2.0/24
[other]
key = value
`
	got, problems, err := ReadConfig(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Project: "proj", NetworkProject: "host", Network: "https://www.googleapis.com/compute/v1/projects/host/global/networks/net", Subnet: "sub",
		Region: "europe-west4", Zone: "europe-west4-b", Multizone: true, NodeTags: []string{"a", "b"},
		APIEndpoint: "http://127.0.0.1:1/compute/v1/", TokenURL: "nil", Subsetting: true, Identity: Identity{ClusterID: "c"},
		Options: Options{DenyFirewall: true, NoPinhole: true, CheckRanges: []string{"10.0.0.0/8", "192.0.2.0/24"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	told := []string{
		"tokenurl: is an unknown key of the cloud configuration, so it has no effect",
		"[other]: is an unknown section of the cloud configuration, so it has no effect",
		`stack-type: "IPV4" has no effect on load balancers`,
		`alpha-features: "Nonsense" is not a known feature; legal is "ILBSubsets" or "SkipIGsManagement"`,
	}
	if d := cmp.Diff(told, problems.Strings()); d != "" {
		t.Errorf("problems (-want +got)\n%s", d)
	}
	if got, want := got.NetworkPath(), "projects/host/global/networks/net"; got != want {
		t.Errorf("network %s, want %s", got, want)
	}
	if got, want := got.SubnetPath("x"), "projects/host/regions/europe-west4/subnetworks/x"; got != want {
		t.Errorf("subnet %s, want %s", got, want)
	}
}

func TestReadConfigRefuses(t *testing.T) {
	for _, text := range []string{
		"[global]\nlocal-zone = nowhere", "[global]\nregional = perhaps", "[global", "[berth]\nilb-subset-size = 1000",
		"[berth]\ncloud-provider-gce-lb-src-cidrs = 2001:db8::/32",
	} {
		if _, _, err := ReadConfig(strings.NewReader(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
	if c, problems, err := ReadConfig(nil); err != nil || len(problems) > 0 || len(c.CheckRanges) != 4 {
		t.Errorf("no file: %+v, %v, %v", c, problems, err)
	}
}
