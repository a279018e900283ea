package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/docs/permissions"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/doctor"
	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/golden"
	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/alibaba"
	"github.com/berth-lb/berth/test/sim/azure"
	"github.com/berth-lb/berth/test/sim/azure/network"
	"github.com/berth-lb/berth/test/sim/baidu"
	"github.com/berth-lb/berth/test/sim/ibm"
	"github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/tencent"
)

// examined is a simulated cloud whose setup is checked.
type examined struct {
	provider string
	control  *sim.Control
	dir      string // of its files
	// setRole judges calls by a role of docs/permissions.
	setRole func(role []byte) error
}

func newExamined(t *testing.T, provider string) *examined {
	t.Helper()
	p := &examined{dir: t.TempDir()}
	p.provider, _, _ = strings.Cut(provider, " ")
	for key, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIDSIMULATOR", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true", "KUBECONFIG": "/dev/null",
	} {
		t.Setenv(key, value)
	}
	start := map[string]func(*testing.T) error{
		"aws": p.startAWS, "azure": p.startAzure(azure.Options{}), "gce": p.startGCE, "oci": p.startOCI(oci.Limits{}), "openstack": p.startOpenStack(openstack.Limits{}),
		"alibaba": p.startAlibaba(alibaba.Limits{}), "baidu": p.startBaidu(0, baidu.Limits{}), "ibm": p.startIBM(0), "tencent": p.startTencent(tencent.Limits{}),
		"azure with a limit": p.startAzure(azure.Options{Network: network.Options{Limits: network.Limits{LoadBalancers: 1}}}), "oci with a limit": p.startOCI(oci.Limits{NetworkLoadBalancers: 1}),
		"openstack with a limit": p.startOpenStack(openstack.Limits{LoadBalancers: 1}), "tencent with a limit": p.startTencent(tencent.Limits{LoadBalancers: 1}),
		"alibaba with a limit": p.startAlibaba(alibaba.Limits{LoadBalancers: 1}), "ibm with a limit": p.startIBM(ibm.DefaultLoadBalancers - 1),
		"baidu with a limit": p.startBaidu(60, baidu.Limits{Addresses: 1}),
	}
	if err := errors.Join(start[provider](t), harness.Identify(p.provider, p.dir)); err != nil {
		t.Fatal(err)
	}
	return p
}

// roleSetter parses a role and sets it.
func roleSetter[R any](parse func([]byte) (R, error), set func(R)) func([]byte) error {
	return func(role []byte) error {
		parsed, err := parse(role)
		if err == nil {
			set(parsed)
		}
		return err
	}
}

// role returns the role of docs/permissions with a replacement.
func (p *examined) role(t *testing.T, old, with string) []byte {
	t.Helper()
	roles, err := permissions.Of(p.provider)
	if err != nil {
		t.Fatal(err)
	}
	for name, role := range roles {
		if strings.HasPrefix(name, p.provider+".") {
			if !bytes.Contains(role, []byte(old)) {
				t.Fatalf("%s has no %q", name, old)
			}
			return bytes.Replace(role, []byte(old), []byte(with), 1)
		}
	}
	t.Fatalf("no role of %s", p.provider)
	return nil
}

// examine runs the command and checks that it has written nothing.
func (p *examined) examine(t *testing.T, more ...string) (result, offline.Checkup) {
	t.Helper()
	before := len(p.control.Journal.Entries())
	args := append([]string{"doctor", "-o", "json", "--provider", p.provider, "--cloud-config", filepath.Join(p.dir, "cloud.conf"), "--nodes", filepath.Join(p.dir, "nodes.yaml")}, more...)
	got := runBerth(t, "", args...)
	for _, e := range p.control.Journal.Entries()[before:] {
		if e.Write && e.Committed {
			t.Errorf("the command wrote: %s.%s", e.Service, e.Operation)
		}
	}
	var found offline.Checkup
	if err := json.Unmarshal([]byte(got.out), &found); err != nil {
		t.Fatalf("exit code %d: %v\n%s%s", got.code, err, got.out, got.err)
	}
	return got, found
}

// faultsOf returns "code: object" of all results that are errors or warnings.
func faultsOf(c offline.Checkup) []string {
	var out []string
	for _, d := range c.Results {
		if d.Result == providers.Faulty || d.Result == providers.Doubtful {
			out = append(out, d.Code+": "+d.About)
		}
	}
	return out
}

// TestDoctorOfHealthySetups: nothing is wrong with a simulated cloud as it is, whichever it is,
// credentials and permissions were really checked, and each permission of the role is classified.
func TestDoctorOfHealthySetups(t *testing.T) {
	for _, provider := range []string{"alibaba", "aws", "azure", "baidu", "gce", "ibm", "oci", "openstack", "tencent"} {
		t.Run(provider, func(t *testing.T) {
			got, found := newExamined(t, provider).examine(t)
			if faults := faultsOf(found); got.code != plan.ExitNothing || len(faults) > 0 {
				t.Errorf("exit code %d, %q\n%s", got.code, faults, got.out)
			}
			for _, code := range []string{providers.CheckCredentials, providers.CheckPermission, providers.CheckQuota, "BRT504"} {
				if !slices.ContainsFunc(found.Results, func(d providers.Diagnosis) bool { return d.Code == code && d.Result == providers.Fine }) {
					t.Errorf("%s was not found to be as it should be:\n%s", code, got.out)
				}
			}
			for _, d := range found.Results {
				if d.Cause == providers.Undeclared {
					t.Errorf("%s: %s. Declare a call without effect, or that there is none", d.About, d.Cause)
				}
			}
		})
	}
}

// TestDoctorFindsFaults: each fault of a setup is found by its code and its object.
func TestDoctorFindsFaults(t *testing.T) {
	refused := func(service, operation, code string, status int) func(*testing.T, *examined) {
		return func(t *testing.T, p *examined) {
			if _, err := p.control.Faults.Add(sim.Fault{Kind: sim.FaultError, Service: service, Operation: operation, Code: code, Status: status}); err != nil {
				t.Fatal(err)
			}
		}
	}
	lacks := func(old, with string) func(*testing.T, *examined) {
		return func(t *testing.T, p *examined) {
			if err := p.setRole(p.role(t, old, with)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		provider string
		spoil    func(*testing.T, *examined)
		want     []string
	}{
		"credentials": {"aws", refused("sts", "GetCallerIdentity", "InvalidClientTokenId", http.StatusForbidden), []string{"BRT501: AWS credentials"}},
		"permission evaluated": {"aws", lacks(`"elasticloadbalancing:DeleteListener"`, `"iam:SimulatePrincipalPolicy"`),
			[]string{"BRT502: elasticloadbalancing:DeleteListener"}},
		"subnets":             {"aws", refused("ec2", "DescribeSubnets", "UnauthorizedOperation", http.StatusForbidden), []string{"BRT504: load balancer of kind clb", "BRT504: load balancer of kind nlb"}},
		"permission on azure": {"azure", lacks(`"Microsoft.Network/publicIPAddresses/write"`, `"Microsoft.Authorization/permissions/read"`), []string{"BRT502: Microsoft.Network/publicIPAddresses/write"}},
		"permission on gce":   {"gce", lacks("- compute.firewalls.create\n", ""), []string{"BRT502: compute.firewalls.create"}},
		"access rule":         {"openstack", lacks(`"path": "/v2.0/lbaas/pools"`, `"path": "/v2.0/lbaas/nothing"`), []string{"BRT502: load-balancer GET /v2.0/lbaas/pools"}},
		"policy on oci":       {"oci", lacks("NETWORK_LOAD_BALANCER_INSPECT, ", ""), []string{"BRT502: NETWORK_LOAD_BALANCER_INSPECT", "BRT504: load balancer of kind nlb"}},
		"configuration": {"oci", func(t *testing.T, p *examined) {
			if err := os.WriteFile(filepath.Join(p.dir, "cloud.conf"), []byte("auth: ["), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{"BRT408: cloud configuration"}},
		"login":                          {"openstack", refused("identity", "", "", http.StatusUnauthorized), []string{"BRT501: openstack"}},
		"login on alibaba":               {"alibaba", refused("", "", "InvalidAccessKeyId.NotFound", http.StatusNotFound), []string{"BRT501: Alibaba Cloud credentials"}},
		"permission to list on alibaba":  {"alibaba", lacks(`"nlb:ListServerGroups",`, ""), []string{"BRT502: nlb:ListServerGroups"}},
		"permission to write on alibaba": {"alibaba", lacks(`"slb:DeleteVServerGroup",`, ""), []string{"BRT502: slb:DeleteVServerGroup"}},
		"login on tencent":               {"tencent", refused("", "", "AuthFailure.SecretIdNotFound", http.StatusForbidden), []string{"BRT501: Tencent Cloud credentials"}},
		"permission to list on tencent":  {"tencent", lacks(`"clb:DescribeTargets",`, ""), []string{"BRT502: clb:DescribeTargets"}},
		"permission to write on tencent": {"tencent", lacks(`"clb:ModifyListener",`, ""), []string{"BRT502: clb:ModifyListener"}},
		"login on baidu":                 {"baidu", refused("", "", "InvalidAccessKeyId", http.StatusForbidden), []string{"BRT501: Baidu AI Cloud credentials"}},
		"product on baidu":               {"baidu", lacks("EIP: management\n", ""), []string{"BRT502: EIP: management"}},
		"level of a product on baidu":    {"baidu", lacks("BLB: management", "BLB: read-only"), []string{"BRT502: BLB: management"}},
		"login on ibm":                   {"ibm", refused("iam", "", "BXNIM0415E", http.StatusBadRequest), []string{"BRT501: IBM Cloud credentials"}},
		"role on ibm":                    {"ibm", lacks(`--roles Editor --service-name is --attributes "loadBalancerId=*"`, `--roles Viewer --service-name is --attributes "loadBalancerId=*"`), []string{"BRT502: loadBalancerId: Editor"}},
		"subnets on ibm":                 {"ibm", lacks("ibmcloud iam service-policy-create SERVICE_ID --roles Viewer --service-name is --attributes \"subnetId=*\"\n", ""), []string{"BRT502: subnetId: Viewer", "BRT504: load balancer of kind alb"}},
		"permission by dry run":          {"aws", lacks(`"ec2:CreateSecurityGroup",`, ""), []string{"BRT502: ec2:CreateSecurityGroup"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newExamined(t, c.provider)
			c.spoil(t, p)
			got, found := p.examine(t)
			faults := faultsOf(found)
			for _, want := range c.want {
				if !slices.Contains(faults, want) {
					t.Errorf("%q is not among %q\n%s", want, faults, got.out)
				}
			}
			if got.code != plan.ExitChanges {
				t.Errorf("exit code %d", got.code)
			}
			for _, check := range doctor.Checks() {
				if !slices.ContainsFunc(found.Results, func(d providers.Diagnosis) bool { return d.Code == check.Code }) {
					t.Errorf("%s is passed over", check.Code)
				}
			}
		})
	}
}

// TestDoctorOfNearlyFullQuotas: the last load balancer of a quota is a warning.
func TestDoctorOfNearlyFullQuotas(t *testing.T) {
	for cloud, want := range map[string][]string{
		"openstack": {"BRT503: loadbalancer"}, "azure": {"BRT503: StandardSkuLoadBalancers"}, "oci": {"BRT503: max-nlb-flexible-count"},
		"tencent": {"BRT503: TOTAL_INTERNAL_CLB_QUOTA", "BRT503: TOTAL_OPEN_CLB_QUOTA"},
		"alibaba": {"BRT503: slb_quota_instances_num"}, "baidu": {"BRT503: BLB instances", "BRT503: eipInstanceQuota"}, "ibm": {"BRT503: application load balancers"},
	} {
		t.Run(cloud, func(t *testing.T) {
			got, found := newExamined(t, cloud+" with a limit").examine(t)
			faults := faultsOf(found)
			slices.Sort(faults)
			if got.code != plan.ExitNothing || !slices.Equal(faults, want) {
				t.Errorf("exit code %d, %q\n%s", got.code, faults, got.out)
			}
		})
	}
}

// TestDoctorOfSilentClouds: where no answer shows whether credentials are accepted, nothing is
// said of them.
func TestDoctorOfSilentClouds(t *testing.T) {
	for provider, f := range map[string]sim.Fault{
		"aws": {Kind: sim.FaultError, Service: "sts", Operation: "GetCallerIdentity", Code: "InternalFailure", Status: http.StatusInternalServerError},
		"oci": {Kind: sim.FaultError, Code: "InternalServerError", Status: http.StatusInternalServerError},
	} {
		t.Run(provider, func(t *testing.T) {
			p := newExamined(t, provider)
			if _, err := p.control.Faults.Add(f); err != nil {
				t.Fatal(err)
			}
			got, found := p.examine(t)
			for _, d := range found.Results {
				if d.Code == providers.CheckCredentials && d.Result != providers.NotChecked {
					t.Errorf("%+v\n%s", d, got.out)
				}
			}
		})
	}
}

// TestDoctorText: readers see errors first, and one entry for what differs in its object alone.
func TestDoctorText(t *testing.T) {
	p := newExamined(t, "aws")
	if err := p.setRole(p.role(t, `"ec2:CreateSecurityGroup",`, "")); err != nil {
		t.Fatal(err)
	}
	got := runBerth(t, "", "doctor", "--provider", "aws", "--cloud-config", filepath.Join(p.dir, "cloud.conf"), "--nodes", filepath.Join(p.dir, "nodes.yaml"), "--width", "100")
	golden.Check(t, "testdata/doctor.golden", got.out+got.err)
}
