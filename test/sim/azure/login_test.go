package azure_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	simazure "github.com/berth-lb/berth/test/sim/azure"
	"github.com/berth-lb/berth/test/sim/azure/simtest"
)

// TestLogin gets tokens as azidentity does, and spends them.
func TestLogin(t *testing.T) {
	r := simtest.Start(t, simazure.Options{})
	secret := func(value string) azcore.TokenCredential {
		c, err := azidentity.NewClientSecretCredential(r.Cloud.Seed.Tenant, simazure.ClientID, value, &azidentity.ClientSecretCredentialOptions{
			ClientOptions: r.Options().ClientOptions, DisableInstanceDiscovery: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	use := func(c azcore.TokenCredential) error {
		client, err := armnetwork.NewLoadBalancersClient(r.Cloud.Seed.Subscription, c, r.Options())
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.NewListPager(r.Cloud.Seed.ResourceGroup, nil).NextPage(t.Context())
		return err
	}
	if err := use(secret(simazure.ClientSecret)); err != nil {
		t.Errorf("client secret: %v", err)
	}
	if n := r.Cloud.Journal.Counts()["login.Token"]; n != 1 {
		t.Errorf("%d token calls, want 1", n)
	}
	if err := use(secret("wrong")); err == nil {
		t.Error("a wrong secret was accepted")
	}
	t.Setenv("IDENTITY_ENDPOINT", r.PlainURL+"/msi/token")
	t.Setenv("IDENTITY_HEADER", "any")
	managed, err := azidentity.NewManagedIdentityCredential(&azidentity.ManagedIdentityCredentialOptions{ClientOptions: r.Options().ClientOptions})
	if err != nil {
		t.Fatal(err)
	}
	if err := use(managed); err != nil {
		t.Errorf("managed identity: %v", err)
	}
	assertion, err := azidentity.NewClientAssertionCredential(r.Cloud.Seed.Tenant, simazure.ClientID, func(context.Context) (string, error) { return "federated", nil }, &azidentity.ClientAssertionCredentialOptions{
		ClientOptions: r.Options().ClientOptions, DisableInstanceDiscovery: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := assertion.GetToken(t.Context(), policy.TokenRequestOptions{Scopes: []string{r.URL + "/.default"}}); err != nil {
		t.Errorf("federated token: %v", err)
	}
}

// TestPlainCalls looks at what no client of the SDK asks for.
func TestPlainCalls(t *testing.T) {
	r := simtest.Start(t, simazure.Options{Seed: simazure.SeedOptions{Nodes: 1}})
	group := "/subscriptions/" + r.Cloud.Seed.Subscription + "/resourcegroups/" + strings.ToUpper(r.Cloud.Seed.ResourceGroup)
	for _, c := range []struct {
		path, header, want string
		status             int
	}{
		{"/metadata/endpoints?api-version=2019-05-01", "", `"name":"AzureCloud"`, 200},
		{"/metadata/instance?api-version=2021-02-01", "Metadata: true", `"vmScaleSetName":"aks-pool1-vmss"`, 200},
		{"/metadata/instance?api-version=2021-02-01", "", "invalid_request", 400},
		{"/metadata/identity/oauth2/token?resource=x", "Metadata: true", `"token_type":"Bearer"`, 200},
		{group + "?api-version=2021-04-01", "", "AuthenticationFailed", 401},
		{group + "?api-version=2021-04-01", "Authorization: Bearer x", `"name":"MC_nodes"`, 200},
		{group, "Authorization: Bearer x", "MissingApiVersionParameter", 400},
		{group + "?api-version=newest", "Authorization: Bearer x", "InvalidApiVersionParameter", 400},
		{group + "/providers/Microsoft.Network/cloudBridges/x?api-version=2021-04-01", "Authorization: Bearer x", "InvalidResourceType", 404},
		{"/subscriptions/none/resourcegroups/x?api-version=2021-04-01", "Authorization: Bearer x", "SubscriptionNotFound", 404},
		{"/subscriptions/" + r.Cloud.Seed.Subscription + "/providers/Microsoft.Compute?api-version=2021-04-01", "Authorization: Bearer x", `"zoneMappings":[{"location":"East US","zones":["1","2","3"]}]`, 200},
		{"/_sim/counts", "", `"metadata.Instance": 2`, 200},
		{"/_sim/state", "", `"Microsoft.Network/virtualNetworks"`, 200},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.PlainURL+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if name, value, ok := strings.Cut(c.header, ": "); ok {
			req.Header.Set(name, value)
		}
		resp, err := r.Client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.Body.Close() != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != c.status || !strings.Contains(string(body), c.want) || !json.Valid(body) {
			t.Errorf("%s: %d %s\nwant %d with %s", c.path, resp.StatusCode, body, c.status, c.want)
		}
	}
}

// TestGroups makes, fills and deletes a resource group.
func TestGroups(t *testing.T) {
	w := startWorld(t, simazure.Options{Seed: simazure.SeedOptions{Nodes: 1, Outbound: true}})
	call := func(method, path, body string) (int, http.Header) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer x")
		req.Header.Set("Content-Type", "application/json")
		resp, err := w.Client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Header
	}
	const version = "?api-version=2021-04-01"
	base := w.URL + "/subscriptions/" + w.seed.Subscription + "/resourcegroups/"
	for _, c := range []struct {
		method, group string
		want          int
	}{
		{http.MethodHead, "new", 404}, {http.MethodPut, "new", 201}, {http.MethodPut, "NEW", 200}, {http.MethodHead, "new", 204},
		// Nodes use the network of the other group.
		{http.MethodDelete, w.seed.NetworkGroup, 409}, {http.MethodDelete, w.seed.ResourceGroup, 409},
	} {
		if got, _ := call(c.method, base+c.group+version, `{"location": "East US"}`); got != c.want {
			t.Errorf("%s %s: %d, want %d", c.method, c.group, got, c.want)
		}
	}
	if got, _ := call(http.MethodPut, base+"new/providers/Microsoft.Network/publicIPAddresses/ip"+version, `{"location": "eastus", "sku": {"name": "Standard"}, "properties": {"publicIPAllocationMethod": "Static"}}`); got != 201 {
		t.Errorf("address in the group: %d", got)
	}
	got, header := call(http.MethodDelete, base+"new"+version, "")
	if got != 202 || header.Get("Location") == "" {
		t.Fatalf("delete: %d with %v, want 202 with a location", got, header)
	}
	if got, _ := call(http.MethodGet, header.Get("Location"), ""); got != 200 {
		t.Errorf("location after the delete: %d", got)
	}
	_, err := w.net.NewPublicIPAddressesClient().Get(t.Context(), "new", "ip", nil)
	if errorCode(err) != "ResourceGroupNotFound" {
		t.Errorf("address after the delete: %v", err)
	}
}
