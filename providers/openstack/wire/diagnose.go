package wire

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/utils"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
)

const roleFile = "openstack.json"

// accessRule is a call of the role in docs/permissions.
type accessRule struct {
	Service string `json:"service"`
	Method  string `json:"method"`
	Path    string `json:"path"`
}

// Diagnose makes each list call of the role. OpenStack judges other calls only when they are made.
func (s *Session) Diagnose(ctx context.Context, roles providers.Roles) []providers.Diagnosis {
	out := append(s.diagnoseQuotas(ctx), providers.Diagnosis{Code: providers.CheckCredentials, Result: providers.Fine, About: "OpenStack credentials", State: "accepted by Keystone"})
	var rules []accessRule
	if err := json.Unmarshal(roles[roleFile], &rules); err != nil {
		return append(out, providers.Unchecked(providers.CheckPermission, roleFile, err.Error(), ""))
	}
	for _, rule := range rules {
		out = append(out, s.diagnoseRule(ctx, rule))
	}
	return out
}

func (s *Session) diagnoseRule(ctx context.Context, rule accessRule) providers.Diagnosis {
	about := rule.Service + " " + rule.Method + " " + rule.Path
	client := map[string]*gophercloud.ServiceClient{bucketBalancer: s.balancer, bucketNetwork: s.network, bucketKeys: s.keys}[rule.Service]
	switch {
	case client == nil:
		return providers.Unchecked(providers.CheckPermission, about, "the catalog has no "+rule.Service, "")
	case rule.Method != http.MethodGet || strings.Contains(rule.Path, "*"):
		return providers.Unchecked(providers.CheckPermission, about, "OpenStack judges such a call only when it is made", "Compare the roles of the project, or the access rules of the application credential, with docs/permissions/"+roleFile+".")
	}
	base, err := utils.BaseEndpoint(client.Endpoint)
	if err != nil {
		return providers.Unchecked(providers.CheckPermission, about, err.Error(), "")
	}
	url := strings.TrimRight(base, "/") + rule.Path
	if rule.Path != "/" {
		url += "?limit=1"
	}
	err = s.read(ctx, request{bucket: rule.Service, operation: rule.Method + " " + rule.Path, method: rule.Method, url: url}, nil)
	if err != nil && !fault.Is(err, fault.Denied) {
		return providers.Unchecked(providers.CheckPermission, about, err.Error(), "")
	}
	cause := ""
	if err != nil {
		cause = err.Error()
	}
	return providers.Permitted(about, err == nil, cause, "Give the user the role load-balancer_member, and compare access rules with docs/permissions/"+roleFile+".")
}
