package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"

	"github.com/berth-lb/berth/providers/azure/model"
)

// environmentFile is the variable that names the file which describes a cloud of
// one's own. Source: kubernetes-sigs/cloud-provider-azure:pkg/azclient/cloud.go.
const environmentFile = "AZURE_ENVIRONMENT_FILEPATH"

func isStack(name string) bool { return strings.EqualFold(name, "AzureStackCloud") }

// stackEnvironment is that of a cloud of one's own: what its resource manager says
// of itself, and over it what the environment file says. Azure Stack Hub itself
// has versions of the API from 2018, which lack what is needed here; a cloud of
// that name with today's versions says so by disableAzureStackCloud.
func stackEnvironment(ctx context.Context, c model.Config) (cloud.Configuration, error) {
	var place cloud.Configuration
	if !c.NotStack {
		return place, errors.New("cloud: AzureStackCloud has versions of the API that are too old here; one with the versions of the public cloud says so by disableAzureStackCloud")
	}
	if c.Endpoint != "" {
		var err error
		if place, err = environmentAt(ctx, c); err != nil {
			return place, err
		}
	}
	path, set := os.LookupEnv(environmentFile)
	if !set {
		if c.Endpoint == "" {
			return place, fmt.Errorf("cloud: AzureStackCloud needs resourceManagerEndpoint, or a file that %s names", environmentFile)
		}
		return place, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return place, fmt.Errorf("cloud: %s: %w", environmentFile, err)
	}
	var file struct {
		ResourceManager string `json:"resourceManagerEndpoint"`
		Audience        string `json:"tokenAudience"`
		Login           string `json:"activeDirectoryEndpoint"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return place, fmt.Errorf("cloud: %s: %w", environmentFile, err)
	}
	if file.ResourceManager != "" && file.Audience != "" {
		place.Services = map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: file.ResourceManager, Audience: file.Audience}}
	}
	place.ActiveDirectoryAuthorityHost = cmp.Or(file.Login, place.ActiveDirectoryAuthorityHost)
	if place.Services == nil {
		return place, fmt.Errorf("cloud: %s: resourceManagerEndpoint or tokenAudience is missing", environmentFile)
	}
	return place, nil
}
