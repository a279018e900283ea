package permissions

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAWSSource holds the policy against the calls in the source: what no walk
// reaches would stop the controller on a bad day.
func TestAWSSource(t *testing.T) {
	call := regexp.MustCompile(`\.(ec2|classic|network)\.((?:Add|Apply|Attach|Authorize|Configure|Create|Delete|Deregister|Describe|Detach|Modify|Register|Remove|Revoke|Set)[A-Z]\w+)`)
	wanted := []string{"ec2:CreateTags", "elasticloadbalancing:AddTags"} // tags in creating calls
	for _, m := range inSource(t, "aws", call) {
		service := elbActions
		if m[1] == "ec2" {
			service = ec2Actions
		}
		wanted = append(wanted, service+m[2])
	}
	comparePermissions(t, []string{"aws.json", "aws-controller.json"}, wanted, regexp.MustCompile(`"((?:ec2|elasticloadbalancing):[A-Z]\w+)"`), regexp.MustCompile(`CreateAction`))
}

// TestGCESource does the same for methods: what they need by themselves.
func TestGCESource(t *testing.T) {
	collections := map[string]string{
		"ruleAPI": "forwardingRules", "addressAPI": "addresses", "poolAPI": "targetPools", "backendAPI": "regionBackendServices",
		"allBackendAPI": "backendServices", "checkAPI": "healthChecks", "regionCheckAPI": "regionHealthChecks", "httpCheckAPI": "httpHealthChecks",
		"firewallAPI": "firewalls", "groupAPI": "instanceGroups", "negAPI": "networkEndpointGroups",
		"groups": "instanceGroups", "negs": "networkEndpointGroups", "projects": "projects", "networks": "networks", "subnets": "subnetworks",
		"zones": "zones", "instances": "instances", "global": "globalOperations", "region": "regionOperations", "zone": "zoneOperations",
	}
	call := regexp.MustCompile(`\.(\w+API)\.(?:(groups|negs|projects|networks|subnets|zones|instances|global|region|zone)\.)?([A-Z]\w+)`)
	var wanted []string
	for _, m := range inSource(t, "gce", call) {
		field := m[1]
		if m[2] != "" {
			field = m[2]
		}
		method := strings.ToLower(m[3][:1]) + m[3][1:]
		permission, ok := gcePermission("compute", collections[field], method)
		if !ok || collections[field] == "" {
			t.Errorf("%s is called, and nothing says what it needs", m[0])
			continue
		}
		wanted = append(wanted, permission)
	}
	implied := regexp.MustCompile(`\.(use\w*|updatePolicy|createInternal|deleteInternal)$`)
	comparePermissions(t, []string{"gce.yaml"}, wanted, regexp.MustCompile(`(compute\.\w+\.\w+)`), implied)
}

// forPeople is the file with calls that are made when people ask, with their own
// credentials: the controller's role is not to have the rights for them.
const forPeople = "read_health.go"

// inSource finds the controller's calls in the source of a provider.
func inSource(t *testing.T, cloud string, call *regexp.Regexp) [][]string {
	t.Helper()
	files, err := filepath.Glob("../../providers/" + cloud + "/wire/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || filepath.Base(file) == forPeople {
			continue
		}
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, call.FindAllStringSubmatch(string(body), -1)...)
	}
	if len(out) < 20 {
		t.Fatalf("%d calls found: the test does not see the source of %s", len(out), cloud)
	}
	return out
}

// comparePermissions requires the granted permissions of the files to equal the wanted
// ones, except for implied ones.
func comparePermissions(t *testing.T, files []string, wanted []string, granted, implied *regexp.Regexp) {
	t.Helper()
	var got []string
	for _, file := range files {
		body, err := os.ReadFile("../../docs/permissions/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range granted.FindAllStringSubmatch(string(body), -1) {
			if !implied.MatchString(m[1]) {
				got = append(got, m[1])
			}
		}
	}
	slices.Sort(wanted)
	slices.Sort(got)
	if diff := cmp.Diff(slices.Compact(wanted), slices.Compact(got)); diff != "" {
		t.Errorf("docs/permissions, %v (-called +granted):\n%s", files, diff)
	}
}
