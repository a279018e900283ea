package wire

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
)

const roleFile = "oci.txt"

// Diagnose makes a list call for each permission that one needs, and compares the limits. Oracle Cloud judges other
// permissions only when they are used.
func (a *Accounts) Diagnose(ctx context.Context, roles providers.Roles) []providers.Diagnosis {
	return append(a.own.trials().Diagnose(ctx, roles), a.own.diagnoseLimits(ctx)...)
}

// trials declares the list calls.
func (s *Session) trials() providers.Trials {
	return providers.Trials{
		About: "Oracle Cloud credentials", Role: roleFile, Permissions: providers.RoleLines(permissionsOf), Calls: s.listCalls(), ListsOnly: true,
		Login: "Correct the key or the principal in the section auth of the cloud configuration file.",
	}
}

// permissionsOf returns the permissions in the braces of a statement.
func permissionsOf(line string) []string {
	_, rest, _ := strings.Cut(line, "{")
	list, _, found := strings.Cut(rest, "}")
	if !found {
		return nil
	}
	return strings.Split(strings.ReplaceAll(list, " ", ""), ",")
}

// listCalls returns the list calls that one permission allows, in the compartment of load balancers. That
// of the network is not in the configuration. A list that is not allowed is answered as one that does not exist.
// Source: Oracle Cloud policy reference, details for the Core Services and for load balancers.
func (s *Session) listCalls() map[string][]providers.Trial {
	out := map[string][]providers.Trial{}
	for _, p := range s.kinds {
		prefix := map[bool]string{true: "NETWORK_"}[p.api == s.nlb]
		r := request{method: http.MethodGet, path: p.balancers, query: url.Values{"compartmentId": {s.config.Compartment}, "limit": {"1"}}}
		out[prefix+"LOAD_BALANCER_INSPECT"] = []providers.Trial{{Call: func(ctx context.Context) error {
			_, err := s.read(ctx, p.api, r, nil)
			if err != nil && fault.Is(err, fault.NotFound) {
				return &fault.Fault{Meaning: fault.Denied, Err: err}
			}
			return err
		}}}
	}
	return out
}

// diagnoseLimits compares the limits of load balancers with what is used. The role has no permission for it.
// Source: API reference, Limits, GetResourceAvailability; Service Limits.
func (s *Session) diagnoseLimits(ctx context.Context) []providers.Diagnosis {
	var out []providers.Diagnosis
	for _, limit := range []struct{ service, name string }{{"load-balancer", "lb-flexible-count"}, {"network-load-balancer-api", "max-nlb-flexible-count"}} {
		var answer struct {
			Used      *int `json:"used"`
			Available *int `json:"available"`
		}
		path := "/services/" + limit.service + "/limits/" + limit.name + "/resourceAvailability"
		_, err := s.read(ctx, s.allowed, request{method: http.MethodGet, path: path, query: url.Values{"compartmentId": {s.config.Compartment}}}, &answer)
		switch {
		case err != nil:
			out = append(out, providers.Unchecked(providers.CheckQuota, limit.name, err.Error(), "Allow these credentials to read resource-availability, and run the command again."))
		case answer.Used == nil || answer.Available == nil:
			out = append(out, providers.Unchecked(providers.CheckQuota, limit.name, "the answer has no numbers", "Look at them with: oci limits resource-availability get"))
		default:
			// What other compartments use is not in the number.
			out = append(out, providers.WithinQuota(limit.name, *answer.Used, *answer.Used+*answer.Available))
		}
	}
	return out
}
