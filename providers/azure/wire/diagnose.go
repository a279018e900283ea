package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/providers"
)

const (
	roleFile             = "azure.json"
	podsRoleFile         = "azure-pods.json"
	authorizationVersion = "2022-04-01"
)

// grants are the actions that a caller may and may not perform, with wildcards.
type grants struct{ actions, excluded []string }

// Diagnose checks the credentials, each action of the role, and the quotas of the region.
func (s *Session) Diagnose(ctx context.Context, roles providers.Roles) []providers.Diagnosis {
	const about = "Azure credentials"
	out := s.diagnoseQuotas(ctx)
	granted, err := s.grants(ctx)
	if err != nil {
		next := "Allow Microsoft.Authorization/permissions/read to these credentials, and run the command again."
		return append(out, providers.Unchecked(providers.CheckCredentials, about, err.Error(), "See the results of BRT504, which use the credentials."), providers.Unchecked(providers.CheckPermission, "permissions", err.Error(), next))
	}
	out = append(out, providers.Diagnosis{Code: providers.CheckCredentials, Result: providers.Fine, About: about, State: "accepted in subscription " + s.config.Subscription})
	name := roleFile
	if s.config.PodIP() {
		name = podsRoleFile
	}
	var role struct {
		Actions []string `json:"Actions"`
	}
	if err := json.Unmarshal(roles[name], &role); err != nil {
		return append(out, providers.Unchecked(providers.CheckPermission, name, err.Error(), ""))
	}
	for _, action := range role.Actions {
		allowed := slices.ContainsFunc(granted, func(g grants) bool { return g.allows(action) })
		out = append(out, providers.Permitted(action, allowed, "no role assignment of the resource groups includes it", "Add the action to the role of the controller as docs/permissions/"+name+" has it."))
	}
	return out
}

// grants reads what the caller may do in the resource groups of the configuration.
// Source: Azure REST API, Authorization, Permissions - List For Resource Group.
func (s *Session) grants(ctx context.Context) ([]grants, error) {
	var out []grants
	groups := []string{s.config.Group, s.config.NetworkGroup(), s.config.GroupOfBalancers()}
	slices.Sort(groups)
	for _, group := range slices.Compact(groups) {
		found, _, err := s.list(ctx, "/subscriptions/"+s.config.Subscription+"/resourceGroups/"+group+"/providers/Microsoft.Authorization/permissions", authorizationVersion, nil)
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			out = append(out, grants{one.Texts("actions"), one.Texts("notActions")})
		}
	}
	return out, nil
}

// allows reports whether an action is granted and not excluded.
func (g grants) allows(action string) bool {
	// In these patterns * stands for any text, in those of path for any part: no slash remains.
	flat := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "/", ":") }
	fits := func(pattern string) bool {
		matched, err := path.Match(flat(pattern), flat(action))
		return err == nil && matched
	}
	return slices.ContainsFunc(g.actions, fits) && !slices.ContainsFunc(g.excluded, fits)
}

// quotaNames are the quotas that creations count against. Source: Azure REST API, Network, Usages - List.
func quotaNames() []string {
	return []string{"StandardSkuLoadBalancers", "StandardSkuPublicIpAddresses", "NetworkSecurityGroups"}
}

// diagnoseQuotas compares the quotas of the region with what is used. The role has no permission for it.
func (s *Session) diagnoseQuotas(ctx context.Context) []providers.Diagnosis {
	found, exists, err := s.list(ctx, "/subscriptions/"+s.config.Subscription+"/providers/Microsoft.Network/locations/"+s.config.Location+"/usages", networkVersion, nil)
	var out []providers.Diagnosis
	for _, usage := range found {
		used, errUsed := strconv.Atoi(fmt.Sprint(usage["currentValue"]))
		most, errMost := strconv.Atoi(fmt.Sprint(usage["limit"]))
		if name := usage.In("name").Text("value"); errUsed == nil && errMost == nil && slices.Contains(quotaNames(), name) {
			out = append(out, providers.WithinQuota(name, used, most))
		}
	}
	cause := "the region reports no quota of load balancers"
	switch {
	case err != nil:
		cause = err.Error()
	case exists && len(out) > 0:
		return out
	}
	return []providers.Diagnosis{providers.Unchecked(providers.CheckQuota, "quotas", cause, "Allow Microsoft.Network/locations/usages/read to these credentials, or look at: az network list-usages --location "+s.config.Location)}
}
