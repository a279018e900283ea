package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/kit"
)

const (
	// managerVariable is read by gcloud as well.
	managerVariable = "CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDRESOURCEMANAGER"
	testPermissions = ":testIamPermissions"
	// mostTested is the number of permissions in a call. Source: Resource Manager API v1, projects.testIamPermissions.
	mostTested = 100
	mostAnswer = 1 << 20
	roleFile   = "gce.yaml"
)

// Diagnose checks the credentials, each permission of the role, and the quotas of the project.
func (s *Session) Diagnose(ctx context.Context, roles providers.Roles) []providers.Diagnosis {
	return append(s.diagnosePermissions(ctx, permissionsOf(roles[roleFile])), s.diagnoseQuotas(ctx)...)
}

// permissionsOf reads the permissions of a custom role.
func permissionsOf(role []byte) []string {
	var out []string
	_, list, _ := strings.Cut(string(role), "includedPermissions:\n")
	for line := range strings.Lines(list) {
		if name, found := strings.CutPrefix(line, "- "); found {
			out = append(out, strings.TrimSpace(name))
		}
	}
	return out
}

func (s *Session) diagnosePermissions(ctx context.Context, needs []string) []providers.Diagnosis {
	const about = "Google Cloud credentials"
	var granted []string
	for part := range slices.Chunk(needs, mostTested) {
		found, status, err := s.testPermissions(ctx, part)
		switch {
		case status == http.StatusUnauthorized:
			return []providers.Diagnosis{{Code: providers.CheckCredentials, Result: providers.Faulty, About: about, State: "not accepted", Cause: err.Error(),
				Next: "Set valid credentials of the controller's service account, and run the command again."}}
		case err != nil:
			next := "Enable the Cloud Resource Manager API in the project, and run the command again."
			return []providers.Diagnosis{providers.Unchecked(providers.CheckCredentials, about, err.Error(), next), providers.Unchecked(providers.CheckPermission, "permissions", err.Error(), next)}
		}
		granted = append(granted, found...)
	}
	out := []providers.Diagnosis{{Code: providers.CheckCredentials, Result: providers.Fine, About: about, State: "accepted in project " + s.config.Project}}
	for _, name := range needs {
		out = append(out, providers.Permitted(name, slices.Contains(granted, name), "it is not granted on project "+s.config.Project, "Add the permission to the role of the controller as docs/permissions/"+roleFile+" has it."))
	}
	return out
}

// testPermissions returns the permissions that the caller has on the project. It needs none itself.
func (s *Session) testPermissions(ctx context.Context, needs []string) (granted []string, status int, err error) {
	base := cmp.Or(os.Getenv(managerVariable), "https://cloudresourcemanager."+cmp.Or(s.config.Universe, "googleapis.com"))
	body, err := json.Marshal(map[string][]string{"permissions": needs})
	if err != nil {
		return nil, 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(base, "/")+"/v1/projects/"+s.config.Project+testPermissions, bytes.NewReader(body)) //nolint:gosec // the operator selects the endpoint
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.web.Do(request) //nolint:gosec // as above
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	if err != nil {
		return nil, response.StatusCode, err
	}
	var answer struct {
		Permissions []string `json:"permissions"`
		Error       struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, response.StatusCode, fmt.Errorf("projects.testIamPermissions: status %d: %w", response.StatusCode, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, response.StatusCode, fmt.Errorf("projects.testIamPermissions: status %d: %s", response.StatusCode, answer.Error.Message)
	}
	return answer.Permissions, response.StatusCode, nil
}

// diagnoseQuotas compares the global quotas of load balancers with what is used. Those of the
// region need a permission that the role does not have.
func (s *Session) diagnoseQuotas(ctx context.Context) []providers.Diagnosis {
	project, err := s.placeAPI.projects.Get(ctx, &computepb.GetProjectRequest{Project: s.config.Project})
	if err != nil {
		return []providers.Diagnosis{providers.Unchecked(providers.CheckQuota, "quotas", faultOf(err, kit.Reading).Error(), "")}
	}
	var out []providers.Diagnosis
	for _, q := range project.GetQuotas() {
		switch q.GetMetric() {
		case "FIREWALLS", "FORWARDING_RULES", "TARGET_POOLS", "HEALTH_CHECKS", "BACKEND_SERVICES", "STATIC_ADDRESSES":
			out = append(out, providers.WithinQuota(q.GetMetric(), int(q.GetUsage()), int(q.GetLimit())))
		}
	}
	if len(out) == 0 {
		out = append(out, providers.Unchecked(providers.CheckQuota, "quotas", "the project reports no quotas of load balancers", "Look at the quotas of the project and of its region in the console."))
	}
	return out
}
