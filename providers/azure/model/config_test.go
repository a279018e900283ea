package model

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestConfig: the file that AKS Engine and Cluster API write, in JSON.
func TestConfig(t *testing.T) {
	const text = `{
  "cloud": "AzurePublicCloud", "tenantId": "tn", "subscriptionId": "sub", "aadClientId": "id", "aadClientSecret": "secret",
  "resourceGroup": "RG", "location": "westeurope", "vmType": "vmss", "vnetName": "vnet", "vnetResourceGroup": "NET", "subnetName": "nodes",
  "securityGroupName": "nsg", "securityGroupResourceGroup": "SEC", "routeTableName": "rt", "loadBalancerSku": "Standard",
  "loadBalancerResourceGroup": "LBS", "maximumLoadBalancerRuleCount": 250, "excludeMasterFromStandardLB": false, "disableOutboundSNAT": true,
  "LoadBalancerBackendPoolConfigurationType": "nodeip", "tags": "a=1,b= null ,odd,c=d=e", "tagsMap": {"A": "2"}, "systemTags": "aks-, k8s",
  "clusterServiceLoadBalancerHealthProbeMode": "shared", "useInstanceMetadata": true, "cloudProviderBackoff": true, "loadBalancerNmae": "x"
}`
	got, problems, err := ReadConfig(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Cloud: "AzurePublicCloud", Auth: Auth{Tenant: "tn", ClientID: "id", ClientSecret: "secret"}, Subscription: "sub", Group: "rg", Location: "westeurope",
		VNet: "vnet", VNetGroup: "NET", Subnet: "nodes", Security: "nsg", SecurityGroup: "SEC", BalancerGroup: "LBS", PoolType: PoolNodeIP, WithMasters: true, NoSNAT: true,
		SharedProbe: true, ProbePort: 10256, ProbePath: "/healthz", Tags: Tags{"a": "2", "b": " null "}, SystemTags: []string{"aks-", "k8s"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("config (-want +got):\n%s", d)
	}
	var keys []string
	for _, p := range problems {
		keys = append(keys, p.Severity.String()+" "+p.Key+" "+p.Message)
	}
	told := []string{
		"warning cloudProviderBackoff has no effect: failed calls are tried again by the queue",
		"warning loadBalancerNmae is not known, so it has no effect",
		"warning maximumLoadBalancerRuleCount has no effect: it chooses between Basic load balancers, which are retired",
		"warning routeTableName has no effect on load balancers", "warning useInstanceMetadata has no effect on load balancers",
		"warning vmType has no effect: what a node is, its provider id says",
	}
	if d := cmp.Diff(told, keys); d != "" {
		t.Errorf("problems (-want +got):\n%s", d)
	}
}

func TestConfigYAML(t *testing.T) {
	got, _, err := ReadConfig(strings.NewReader("subscriptionId: s\nuseManagedIdentityExtension: true\nuserAssignedIdentityID: me\n"))
	if err != nil || !got.Auth.ManagedIdentity || got.Auth.IdentityID != "me" || got.PoolType != poolNIC {
		t.Errorf("%+v, %v", got, err)
	}
	if got, _, err := ReadConfig(nil); err != nil || got.ProbePath != "/healthz" {
		t.Errorf("no file: %+v, %v", got, err)
	}
}

func TestConfigRefused(t *testing.T) {
	multi := func(list string) string {
		return `{"loadBalancerBackendPoolConfigurationType": "nodeIP", "multipleStandardLoadBalancerConfigurations": [` + list + `]}`
	}
	pods := func(more, gateway string) string {
		return `{"loadBalancerSku": "Service", "loadBalancerBackendPoolConfigurationType": "PodIP", ` + more + gateway + `}`
	}
	tests := map[string]string{
		`{"loadBalancerSku": "Basic"}`:                          `loadBalancerSku: "basic" is retired by Azure and not supported; "standard" and "service" are`,
		`{"loadBalancerSku": "service"}`:                        `loadBalancerSku: "service" needs loadBalancerBackendPoolConfigurationType "podIP", which is ""`,
		`{"serviceGatewayEnabled": true}`:                       `serviceGatewayEnabled: "true" needs loadBalancerBackendPoolConfigurationType "podIP", which is ""`,
		`{"loadBalancerBackendPoolConfigurationType": "podIP"}`: `loadBalancerBackendPoolConfigurationType: "podIP" needs loadBalancerSku "service", which is ""`,
		pods(``, `"serviceGatewayEnabled": false`):              `loadBalancerBackendPoolConfigurationType: "podIP" needs serviceGatewayEnabled "true", which is "false"`,
		pods(`"multipleStandardLoadBalancerConfigurations": [{"name": "a"}],`, `"serviceGatewayEnabled": true`): `multipleStandardLoadBalancerConfigurations: is for Standard load balancers, and loadBalancerSku is "service"`,
		pods(`"enableMigrateToIPBasedBackendPoolAPI": true,`, `"serviceGatewayEnabled": true`):                  `enableMigrateToIPBasedBackendPoolAPI: is for pools of network interfaces, and loadBalancerBackendPoolConfigurationType is "podIP"`,
		`{"loadBalancerBackendPoolConfigurationType": "x"}`:                                                     `loadBalancerBackendPoolConfigurationType: "x" is none of nodeIPConfiguration, nodeIP, podIP`,
		`{"preConfiguredBackendPoolLoadBalancerTypes": "some"}`:                                                 `preConfiguredBackendPoolLoadBalancerTypes: "some" is none of internal, external, all`,
		`{"multipleStandardLoadBalancerConfigurations": [{"name": "a"}]}`:                                       `multipleStandardLoadBalancerConfigurations: needs pools of the type nodeIP`,
		multi(`{"name": "a", "primaryVMSet": "v"}, {"name": "A", "primaryVMSet": "w"}`):                         `multipleStandardLoadBalancerConfigurations[1].name: "A" is empty or listed twice`,
		multi(`{"name": "a"}`): `multipleStandardLoadBalancerConfigurations[0].primaryVMSet: "" is empty or listed twice`,
		multi(`{"name": "a", "primaryVMSet": "v", "serviceNamespaceSelector": {"matchExpressions": [{ }]}}`): `multipleStandardLoadBalancerConfigurations[0].serviceNamespaceSelector: "" is not a valid label selector operator`,
	}
	for text, want := range tests {
		_, _, err := ReadConfig(strings.NewReader(text))
		if err == nil || err.Error() != "cloud config: "+want {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
	if _, _, err := ReadConfig(strings.NewReader("{")); err == nil {
		t.Error("half a file is taken")
	}
}

// TestConfigPods: pools of pods, and what then has no effect.
func TestConfigPods(t *testing.T) {
	const text = `{"loadBalancerSku": "Service", "loadBalancerBackendPoolConfigurationType": "PODIP", "serviceGatewayEnabled": true, "tags": "a=1", "loadBalancerName": "x"}`
	c, problems, err := ReadConfig(strings.NewReader(text))
	if err != nil || !c.PodIP() {
		t.Fatalf("%v, pools of the type %s", err, c.PoolType)
	}
	var keys []string
	for _, p := range problems {
		keys = append(keys, p.Severity.String()+" "+p.Key+" "+p.Message)
	}
	told := []string{
		"warning loadBalancerName has no effect on load balancers of the SKU Service",
		"warning tags has no effect on load balancers of the SKU Service",
	}
	if d := cmp.Diff(told, keys); d != "" {
		t.Errorf("problems (-want +got):\n%s", d)
	}
}

func TestMergeTags(t *testing.T) {
	tests := []struct {
		name          string
		found, wanted Tags
		system        []string
		want          Tags
	}{
		{"added", Tags{"x": "1"}, Tags{"y": "2"}, nil, Tags{"x": "1", "y": "2"}},
		{"case of a key", Tags{"Team": "a"}, Tags{"team": "b"}, nil, Tags{"Team": "b"}},
		{"case of a value", Tags{"team": "Shop"}, Tags{"team": "shop"}, nil, Tags{"team": "Shop"}},
		{"system tags prune", Tags{"old": "1", "AKS-x": "2", "k": "3"}, Tags{"K": "3"}, []string{"aks-"}, Tags{"AKS-x": "2", "k": "3"}},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, mergeTags(tt.found, tt.wanted, tt.system)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

// TestOwners: the tag of earlier releases counts only for what looks like a Service.
func TestOwners(t *testing.T) {
	tests := []struct {
		tags Tags
		want []string
	}{
		{Tags{tagService: "a/b, c/d"}, []string{"a/b", "c/d"}},
		{Tags{tagService: "", tagServiceLegacy: "a/b"}, nil},
		{Tags{tagServiceLegacy: "a/b"}, []string{"a/b"}},
		{Tags{tagServiceLegacy: "billing"}, nil},
		{Tags{}, nil},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, tt.tags.owners()); d != "" {
			t.Errorf("%v (-want +got):\n%s", tt.tags, d)
		}
	}
}
