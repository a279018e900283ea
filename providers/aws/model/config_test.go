package model

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type configCase struct {
	name, text string
	want       Config
	problems   []string
	bad        string // a word of the error that names the culprit
}

func TestReadConfig(t *testing.T) {
	runConfig(t, []configCase{
		{name: "empty"},
		{
			name: "all that matters",
			text: "; comment\n[GLOBAL]\nzone = us-gov-west-1b\nRegion = ignored-1\nVPC=vpc-1\nSubnetID=subnet-1\nRoleARN=arn:aws:iam::1:role/r\nSourceARN=arn:aws:x\n" +
				"KubernetesClusterID=shop\nDisableSecurityGroupIngress=true\nElbSecurityGroup=sg-1\nNLBSecurityGroupMode=Managed\n" +
				"ClusterServiceLoadBalancerHealthProbeMode=Shared\nClusterServiceSharedLoadBalancerHealthProbePort=10300\nClusterServiceSharedLoadBalancerHealthProbePath=/livez\n",
			want: Config{
				Region: "us-gov-west-1", VPC: "vpc-1", Subnet: "subnet-1", RoleARN: "arn:aws:iam::1:role/r", SourceARN: "arn:aws:x",
				Cluster: ClusterTag{ID: "shop"}, DisableNodeRules: true, SharedGroup: "sg-1", GroupMode: "Managed",
				Probe: Probe{Mode: "Shared", Port: 10300, Path: "/livez"},
			},
		},
		{name: "region without zone", text: "[Global]\nRegion = cn-north-1\n", want: Config{Region: "cn-north-1"}},
		{name: "legacy tag", text: "[Global]\nKubernetesClusterTag = shop\nKubernetesClusterID = shop\n", want: Config{Cluster: ClusterTag{ID: "shop", Legacy: true}}},
		{name: "two ids", text: "[Global]\nKubernetesClusterTag = a\nKubernetesClusterID = b\n", bad: "cluster id"},
		{name: "bad zone", text: "[Global]\nZone = nowhere\n", bad: "zone"},
		{name: "bad bool", text: "[Global]\nDisableSecurityGroupIngress = perhaps\n", bad: "perhaps"},
		{name: "bad number", text: "[Global]\nClusterServiceSharedLoadBalancerHealthProbePort = x\n", bad: "x"},
		{name: "no ini", text: "global: {}\n", bad: "cloud config"},
	})
}

func TestReadConfigProblems(t *testing.T) {
	const overrides = "[ServiceOverride \"1\"]\nService = %s\nRegion = eu-west-1\nURL = http://localhost:1\nSigningRegion = eu-west-1\n"
	ec2 := ServiceOverride{Service: "EC2", Region: "eu-west-1", URL: "http://localhost:1", SigningRegion: "eu-west-1"}
	runConfig(t, []configCase{
		{
			name: "stray keys", text: "[Global]\nDisableStrictZoneCheck = true\nRouteTableID = rtb-1\nNodeIPFamilies = ipv6\nNodeIPFamilies = ipv4\n[Other]\nKey = 1\n",
			problems: []string{
				"Global DisableStrictZoneCheck: is not known, so it has no effect",
				"Global NodeIPFamilies: has no effect on load balancers",
				"Global RouteTableID: has no effect on load balancers",
				"Other Key: is not known, so it has no effect",
			},
		},
		{
			name: "odd modes", text: "[Global]\nClusterServiceLoadBalancerHealthProbeMode = shared\nNLBSecurityGroupMode = managed\n",
			want: Config{Probe: Probe{Mode: "shared"}, GroupMode: "managed"},
			problems: []string{
				`ClusterServiceLoadBalancerHealthProbeMode: "shared" is not a known mode, so Network Load Balancers are refused; legal is "Shared" or "ServiceNodePort"`,
				`NLBSecurityGroupMode: "managed" is not a known mode, so Network Load Balancers are refused; legal is "Managed" or nothing`,
			},
		},
		{name: "override", text: strings.ReplaceAll(overrides, "%s", " EC2 "), want: Config{Overrides: []ServiceOverride{ec2}}},
		{
			name: "old name of a service", text: strings.ReplaceAll(overrides, "%s", "elasticloadbalancing") + "SigningMethod = v4\n",
			want: Config{Overrides: []ServiceOverride{{Service: "elasticloadbalancing", Region: ec2.Region, URL: ec2.URL, SigningRegion: ec2.SigningRegion}}},
			problems: []string{
				`ServiceOverride "1" SigningMethod: has no effect: requests are signed with version 4`,
				`ServiceOverride "1" Service: "elasticloadbalancing" is not the name of the service in the AWS SDK, so it has no effect; legal is "Elastic Load Balancing"`,
			},
		},
		{name: "override twice", text: strings.ReplaceAll(overrides, "%s", "EC2") + strings.ReplaceAll(strings.ReplaceAll(overrides, "%s", "EC2"), `"1"`, `"2"`), bad: "twice"},
		{name: "override without url", text: "[ServiceOverride \"1\"]\nService = EC2\nRegion = r\nSigningRegion = r\n", bad: "URL"},
	})
}

func runConfig(t *testing.T, tests []configCase) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, problems, err := ReadConfig(strings.NewReader(tt.text))
			if tt.bad != "" {
				// The word is the culprit as the user wrote it, which every message must name.
				if err == nil || !strings.Contains(err.Error(), tt.bad) {
					t.Fatalf("error %v, want one that names %q", err, tt.bad)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("config (-want +got):\n%s", d)
			}
			if len(tt.problems)+len(problems) == 0 {
				return
			}
			if d := cmp.Diff(tt.problems, problems.Strings()); d != "" {
				t.Errorf("problems (-want +got):\n%s", d)
			}
		})
	}
}

func TestReadConfigWithoutFile(t *testing.T) {
	got, problems, err := ReadConfig(nil)
	if err != nil || len(problems) > 0 || !cmp.Equal(got, Config{}) {
		t.Errorf("got %+v, %v, %v", got, problems, err)
	}
}

func TestOverride(t *testing.T) {
	c := Config{Overrides: []ServiceOverride{
		{Service: "EC2", Region: "eu-west-1", URL: "a"}, {Service: "ec2imds", Region: "anywhere", URL: "b"},
	}}
	tests := []struct{ service, region, want string }{
		{"EC2", "eu-west-1", "a"}, {"EC2", "eu-west-2", ""}, {"ec2imds", "eu-west-2", "b"}, {"ec2", "eu-west-1", ""},
	}
	for _, tt := range tests {
		if got, _ := c.Override(tt.service, tt.region); got.URL != tt.want {
			t.Errorf("Override(%s, %s) = %q, want %q", tt.service, tt.region, got.URL, tt.want)
		}
	}
}
