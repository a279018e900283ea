package wire

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
)

const roleFile = "oci.txt"

// Diagnose makes a list call for each permission that one needs. Oracle Cloud judges other
// permissions only when they are used.
func (a *Accounts) Diagnose(ctx context.Context, roles providers.Roles) []providers.Diagnosis {
	const about = "Oracle Cloud credentials"
	credentials := providers.Unchecked(providers.CheckCredentials, about, "no call was answered", "See the results of BRT502.")
	accepted := providers.Diagnosis{Code: providers.CheckCredentials, Result: providers.Fine, About: about, State: "accepted"}
	out := []providers.Diagnosis{providers.Unchecked(providers.CheckQuota, "limits", "the role has no permission to read them", "Look at them with: oci limits resource-availability get")}
	for _, name := range permissionsOf(roles[roleFile]) {
		list, found := a.own.listCalls()[name]
		if !found {
			out = append(out, providers.Unchecked(providers.CheckPermission, name, "Oracle Cloud judges this permission only when it is used", "Compare the policy of the controller with docs/permissions/"+roleFile+"."))
			continue
		}
		_, err := a.own.read(ctx, list.api, request{method: http.MethodGet, path: list.path, query: url.Values{"compartmentId": {list.compartment}, "limit": {"1"}}}, nil)
		switch {
		case err == nil:
			credentials = accepted
			out = append(out, providers.Permitted(name, true, "", ""))
		case fault.CauseOf(err) == fault.Unauthenticated:
			credentials.Result, credentials.State, credentials.Cause, credentials.Next = providers.Faulty, "not accepted", err.Error(), "Correct the key or the principal in the section auth of the cloud configuration file."
			out = append(out, providers.Unchecked(providers.CheckPermission, name, "the credentials are not accepted", ""))
		case fault.Is(err, fault.Denied), fault.Is(err, fault.NotFound):
			credentials = accepted
			out = append(out, providers.Permitted(name, false, err.Error(), "Add the permission to the policy of the controller as docs/permissions/"+roleFile+" has it."))
		default:
			out = append(out, providers.Unchecked(providers.CheckPermission, name, err.Error(), ""))
		}
	}
	return append([]providers.Diagnosis{credentials}, out...)
}

// permissionsOf reads the permissions in braces of all statements.
func permissionsOf(policy []byte) []string {
	var out []string
	for line := range strings.Lines(string(policy)) {
		_, rest, _ := strings.Cut(line, "{")
		list, _, found := strings.Cut(rest, "}")
		if found {
			out = append(out, strings.Split(strings.ReplaceAll(list, " ", ""), ",")...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// listCall is a list call.
type listCall struct {
	api               *service
	path, compartment string
}

// listCalls returns the list calls that one permission allows, in the compartment of load balancers. That
// of the network is not in the configuration.
// Source: Oracle Cloud policy reference, details for the Core Services and for load balancers.
func (s *Session) listCalls() map[string]listCall {
	out := map[string]listCall{}
	for _, p := range s.kinds {
		prefix := map[bool]string{true: "NETWORK_"}[p.api == s.nlb]
		out[prefix+"LOAD_BALANCER_INSPECT"] = listCall{p.api, p.balancers, s.config.Compartment}
	}
	return out
}
