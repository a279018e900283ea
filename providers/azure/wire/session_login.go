package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/berth-lb/berth/providers/azure/model"
)

// environmentLimit bounds the answer that describes a cloud.
const environmentLimit = 1 << 20

// environmentTimeout bounds the call for it.
const environmentTimeout = 30 * time.Second

// cloudEnvironment returns the endpoints of the resource manager and the login: by the
// name of the cloud, or as a resource manager at another address reports them.
func cloudEnvironment(ctx context.Context, c model.Config) (cloud.Configuration, error) {
	if isStack(c.Cloud) {
		return stackEnvironment(ctx, c)
	}
	if c.Endpoint != "" {
		return environmentAt(ctx, c)
	}
	place := cloud.AzurePublic
	switch cloudName(c.Cloud) {
	case publicCloud:
	case "azurechinacloud":
		place = cloud.AzureChina
	case governmentCloud:
		place = cloud.AzureGovernment
	default:
		return cloud.Configuration{}, fmt.Errorf("cloud: %q is not known; legal: AzurePublicCloud, AzureChinaCloud, AzureUSGovernmentCloud, AzureStackCloud, or any with resourceManagerEndpoint", c.Cloud)
	}
	return place, nil
}

// Names of clouds, in the spelling of cloudName.
const (
	publicCloud     = "azurepubliccloud"
	governmentCloud = "azureusgovernmentcloud"
)

// cloudName returns a name of a cloud in the one spelling that names are compared in: configurations name the public
// cloud AzurePublicCloud, and its own metadata AzureCloud. Source: Azure/azure-cli:src/azure-cli-core/azure/cli/core/cloud.py.
func cloudName(name string) string {
	switch name = strings.ToLower(name); name {
	case "", "azurecloud":
		return publicCloud
	case "azureusgovernment":
		return governmentCloud
	}
	return name
}

// environmentAt asks a resource manager about the cloud that it belongs to.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/azclient/cloud.go.
func environmentAt(ctx context.Context, c model.Config) (cloud.Configuration, error) {
	const key = "resourceManagerEndpoint"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(c.Endpoint, "/")+"/metadata/endpoints?api-version=2019-05-01", nil)
	if err != nil {
		return cloud.Configuration{}, fmt.Errorf("%s: %w", key, err)
	}
	answer, err := (&http.Client{Timeout: environmentTimeout}).Do(request)
	if err != nil {
		return cloud.Configuration{}, fmt.Errorf("%s: %w", key, err)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, environmentLimit))
	// Nothing is lost when a body that was read cannot be closed.
	_ = answer.Body.Close()
	if err != nil || answer.StatusCode != http.StatusOK {
		return cloud.Configuration{}, fmt.Errorf("%s: %s has no metadata of its cloud: status %d", key, c.Endpoint, answer.StatusCode)
	}
	var clouds []struct {
		Name            string `json:"name"`
		ResourceManager string `json:"resourceManager"`
		Authentication  struct {
			LoginEndpoint string   `json:"loginEndpoint"`
			Audiences     []string `json:"audiences"`
		} `json:"authentication"`
	}
	if err := json.Unmarshal(body, &clouds); err != nil {
		return cloud.Configuration{}, fmt.Errorf("%s: metadata: %w", key, err)
	}
	for _, e := range clouds {
		if cloudName(e.Name) == cloudName(c.Cloud) && len(e.Authentication.Audiences) > 0 {
			return cloud.Configuration{
				ActiveDirectoryAuthorityHost: e.Authentication.LoginEndpoint,
				Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
					cloud.ResourceManager: {Endpoint: cmp.Or(e.ResourceManager, c.Endpoint), Audience: e.Authentication.Audiences[0]},
				},
			}, nil
		}
	}
	return cloud.Configuration{}, fmt.Errorf("%s: %s does not know the cloud %q", key, c.Endpoint, c.Cloud)
}

// credentialOf is the first way to log in that the configuration has.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/azclient/auth.go.
func credentialOf(c model.Config, place cloud.Configuration, alsoTenants ...string) (azcore.TokenCredential, error) {
	a := c.Auth
	options, custom := clientOptions(place), c.Endpoint != "" || isStack(c.Cloud)
	named := func(key string, credential azcore.TokenCredential, err error) (azcore.TokenCredential, error) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		return credential, nil
	}
	switch {
	case a.Workload:
		credential, err := azidentity.NewWorkloadIdentityCredential(&azidentity.WorkloadIdentityCredentialOptions{
			ClientOptions: options, ClientID: a.ClientID, TenantID: a.Tenant, TokenFilePath: a.WorkloadToken, DisableInstanceDiscovery: custom,
		})
		return named("useFederatedWorkloadIdentityExtension", credential, err)
	case a.ManagedIdentity:
		o := &azidentity.ManagedIdentityCredentialOptions{ClientOptions: options}
		switch {
		case strings.HasPrefix(strings.ToLower(a.IdentityID), "/subscriptions/"):
			o.ID = azidentity.ResourceID(a.IdentityID)
		case a.IdentityID != "":
			o.ID = azidentity.ClientID(a.IdentityID)
		}
		credential, err := azidentity.NewManagedIdentityCredential(o)
		return named("useManagedIdentityExtension", credential, err)
	case a.ClientSecret != "":
		credential, err := azidentity.NewClientSecretCredential(a.Tenant, a.ClientID, a.ClientSecret, &azidentity.ClientSecretCredentialOptions{
			ClientOptions: options, DisableInstanceDiscovery: custom, AdditionallyAllowedTenants: alsoTenants,
		})
		return named("aadClientSecret", credential, err)
	case a.CertPath != "":
		return certificateOf(a, &azidentity.ClientCertificateCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: custom, SendCertificateChain: true, AdditionallyAllowedTenants: alsoTenants})
	}
	return nil, fmt.Errorf("%s: none is set, and without one of them there is no login", "useFederatedWorkloadIdentityExtension, useManagedIdentityExtension, aadClientSecret, aadClientCertPath")
}

func certificateOf(a model.Auth, options *azidentity.ClientCertificateCredentialOptions) (azcore.TokenCredential, error) {
	const key = "aadClientCertPath"
	text, err := os.ReadFile(a.CertPath)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	var password []byte
	if a.CertPassword != "" {
		password = []byte(a.CertPassword)
	}
	certificates, private, err := azidentity.ParseCertificates(text, password)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	credential, err := azidentity.NewClientCertificateCredential(a.Tenant, a.ClientID, certificates, private, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return credential, nil
}
