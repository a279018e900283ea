package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAuthOfEnvironment: what the webhook of workload identity sets counts more than
// the file.
func TestAuthOfEnvironment(t *testing.T) {
	file := Auth{Tenant: "file", ClientID: "file", ClientSecret: "file", ManagedIdentity: true}
	env := map[string]string{}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	if got := file.WithEnvironment(lookup); got != file {
		t.Errorf("without variables: %+v", got)
	}
	env["AZURE_CLIENT_ID"], env["AZURE_TENANT_ID"], env["AZURE_FEDERATED_TOKEN_FILE"], env["AZURE_CLIENT_SECRET"] = "id", "tenant", "/token", ""
	want := Auth{Tenant: "tenant", ClientID: "id", ClientSecret: "file", ManagedIdentity: true, Workload: true, WorkloadToken: "/token"}
	if d := cmp.Diff(want, file.WithEnvironment(lookup)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
