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
	"github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/iam"
	simaws "github.com/berth-lb/berth/test/sim/aws/simtest"
	"github.com/berth-lb/berth/test/sim/azure"
	simazure "github.com/berth-lb/berth/test/sim/azure/simtest"
	"github.com/berth-lb/berth/test/sim/gce"
	simgce "github.com/berth-lb/berth/test/sim/gce/simtest"
	"github.com/berth-lb/berth/test/sim/oci"
	simoci "github.com/berth-lb/berth/test/sim/oci/simtest"
	"github.com/berth-lb/berth/test/sim/openstack"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack/simtest"
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
	start := map[string]func(*testing.T) error{"aws": p.startAWS, "azure": p.startAzure, "gce": p.startGCE, "oci": p.startOCI, "openstack": p.startOpenStack(openstack.Limits{}), "openstack with a limit": p.startOpenStack(openstack.Limits{LoadBalancers: 1})}
	if err := errors.Join(start[provider](t), harness.Identify(p.provider, p.dir)); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *examined) startAWS(t *testing.T) error {
	running := simaws.StartLoopback(t, aws.Options{Seed: aws.SeedOptions{Nodes: 2}})
	t.Setenv("AWS_ENDPOINT_URL_STS", running.URL)
	t.Setenv("AWS_ENDPOINT_URL_IAM", running.URL)
	p.control = &running.Cloud.Control
	p.setRole = func(role []byte) error {
		return roleSetter(iam.Parse, running.Cloud.SetRole)(bytes.ReplaceAll(role, []byte("CLUSTER_ID"), []byte(running.Cloud.Seed.ClusterID)))
	}
	return running.Cloud.Seed.WriteFiles(p.dir, running.URL)
}

func (p *examined) startAzure(t *testing.T) error {
	running := simazure.StartLoopback(t, azure.Options{Seed: azure.SeedOptions{Nodes: 2}})
	t.Setenv("IDENTITY_ENDPOINT", running.PlainURL+"/msi/token")
	t.Setenv("IDENTITY_HEADER", "any")
	p.control, p.setRole = &running.Cloud.Control, roleSetter(azure.ParseRole, running.Cloud.SetRole)
	return running.Cloud.WriteFiles(p.dir, running.PlainURL)
}

func (p *examined) startGCE(t *testing.T) error {
	running := simgce.StartLoopback(t, gce.Options{Seed: gce.SeedOptions{Nodes: 2}})
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(running.URL, "http://"))
	t.Setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDRESOURCEMANAGER", running.URL)
	p.control, p.setRole = &running.Cloud.Control, roleSetter(gce.ParseRole, running.Cloud.SetRole)
	return running.Cloud.WriteFiles(p.dir, running.URL)
}

func (p *examined) startOCI(t *testing.T) error {
	running := simoci.StartLoopback(t, oci.Options{Seed: oci.SeedOptions{Nodes: 2}})
	p.control, p.setRole = &running.Cloud.Control, running.Cloud.SetPolicy
	return running.Cloud.WriteFiles(p.dir, running.URL)
}

func (p *examined) startOpenStack(limits openstack.Limits) func(*testing.T) error {
	return func(t *testing.T) error {
		running := simopenstack.StartLoopback(t, openstack.Options{Seed: openstack.SeedOptions{Nodes: 2}, Limits: limits})
		p.control, p.setRole = &running.Cloud.Control, running.Cloud.SetAccessRules
		return running.Cloud.WriteFiles(p.dir, running.URL)
	}
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

// TestDoctorOfHealthySetups: nothing is wrong with a simulated cloud as it is, whichever it is, and
// credentials and permissions were really checked.
func TestDoctorOfHealthySetups(t *testing.T) {
	for _, provider := range []string{"aws", "azure", "gce", "oci", "openstack"} {
		t.Run(provider, func(t *testing.T) {
			got, found := newExamined(t, provider).examine(t)
			if faults := faultsOf(found); got.code != plan.ExitNothing || len(faults) > 0 {
				t.Errorf("exit code %d, %q\n%s", got.code, faults, got.out)
			}
			for _, code := range []string{providers.CheckCredentials, providers.CheckPermission, "BRT504"} {
				if !slices.ContainsFunc(found.Results, func(d providers.Diagnosis) bool { return d.Code == code && d.Result == providers.Fine }) {
					t.Errorf("%s was not found to be as it should be:\n%s", code, got.out)
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
		"login":                 {"openstack", refused("identity", "", "", http.StatusUnauthorized), []string{"BRT501: openstack"}},
		"permission by dry run": {"aws", lacks(`"ec2:CreateSecurityGroup",`, ""), []string{"BRT502: ec2:CreateSecurityGroup"}},
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
	got, found := newExamined(t, "openstack with a limit").examine(t)
	if faults := faultsOf(found); got.code != plan.ExitNothing || !slices.Equal(faults, []string{"BRT503: loadbalancer"}) {
		t.Errorf("exit code %d, %q\n%s", got.code, faults, got.out)
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
