package wire

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"

	"github.com/berth-lb/berth/providers/azure/model"
)

// TestEnvironmentAt: the metadata of a resource manager lists several clouds, two of them by other names than configurations do.
func TestEnvironmentAt(t *testing.T) {
	manager := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "[")
		for _, name := range []string{"AzureCloud", "AzureChinaCloud", "AzureUSGovernment", "Mine"} {
			fmt.Fprintf(w, `{"name": %q, "resourceManager": "https://%s", "authentication": {"loginEndpoint": "https://login", "audiences": ["a"]}},`, name, name)
		}
		fmt.Fprint(w, `{"name": "AzureGermanCloud", "authentication": {"audiences": []}}]`)
	}))
	defer manager.Close()
	for name, want := range map[string]string{
		"": "AzureCloud", "AzurePublicCloud": "AzureCloud", "azurecloud": "AzureCloud", "AzureChinaCloud": "AzureChinaCloud",
		"AzureUSGovernmentCloud": "AzureUSGovernment", "AzureUSGovernment": "AzureUSGovernment", "mine": "Mine",
	} {
		got, err := cloudEnvironment(t.Context(), model.Config{Cloud: name, Endpoint: manager.URL})
		if err != nil || got.Services[cloud.ResourceManager].Endpoint != "https://"+want {
			t.Errorf("cloud %q: %v, %v, want the one of %s", name, got, err, want)
		}
	}
	for _, name := range []string{"AzureMoonCloud", "AzureGermanCloud"} {
		if got, err := cloudEnvironment(t.Context(), model.Config{Cloud: name, Endpoint: manager.URL}); err == nil {
			t.Errorf("cloud %q: %v, want an error", name, got)
		}
	}
}
