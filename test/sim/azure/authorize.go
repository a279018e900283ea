package azure

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/azure/network"
)

// Role is a role definition: what an identity may do, with wildcards.
// Source: Azure RBAC documentation, role definitions.
type Role struct {
	Actions    []string `json:"Actions"`
	NotActions []string `json:"NotActions"`
}

// ParseRole reads the definition of a custom role.
func ParseRole(definition []byte) (*Role, error) {
	var r Role
	if err := json.Unmarshal(definition, &r); err != nil {
		return nil, fmt.Errorf("role: %w", err)
	}
	if len(r.Actions) == 0 {
		return nil, errors.New("role: it allows no action")
	}
	return &r, nil
}

// Allows reports whether the role grants an action and does not exclude it.
func (r *Role) Allows(action string) bool {
	fits := func(pattern string) bool {
		return matchWildcard(strings.ToLower(pattern), strings.ToLower(action))
	}
	return slices.ContainsFunc(r.Actions, fits) && !slices.ContainsFunc(r.NotActions, fits)
}

// matchWildcard matches a text with * for any characters.
func matchWildcard(pattern, text string) bool {
	head, tail, more := strings.Cut(pattern, "*")
	rest, ok := strings.CutPrefix(text, head)
	if !more || !ok {
		return ok && rest == ""
	}
	for at := 0; at <= len(rest); at++ {
		if matchWildcard(tail, rest[at:]) {
			return true
		}
	}
	return false
}

// SetRole has every call judged by a role; nil lets all of them be done.
func (c *Cloud) SetRole(r *Role) {
	c.running.Lock()
	defer c.running.Unlock()
	c.role = r
}

// accountCalls are the calls about what the caller may do and what the subscription has.
func (c *Cloud) accountCalls() []arm.Extra {
	return []arm.Extra{
		{Method: http.MethodGet, Pattern: "/subscriptions/{s}/resourcegroups/{g}/providers/microsoft.authorization/permissions", Service: "authorization", Name: "Permissions.List", Run: c.permissions},
		{Method: http.MethodGet, Pattern: "/subscriptions/{s}/providers/microsoft.network/locations/{l}/usages", Service: "network", Name: "Usages.List", Run: c.usages},
	}
}

// permissions answers what the role lets the caller do.
// Source: Azure REST API, Authorization, Permissions - List For Resource Group.
func (c *Cloud) permissions(*arm.Call) *arm.Response {
	role := c.role
	if role == nil {
		role = &Role{Actions: []string{"*"}}
	}
	return arm.Reply(http.StatusOK, arm.Doc{"value": []any{arm.Doc{"actions": toAnySlice(role.Actions), "notActions": toAnySlice(role.NotActions)}}})
}

// usages answers the quotas of the region. Source: Azure REST API, Network, Usages - List.
func (c *Cloud) usages(*arm.Call) *arm.Response {
	limits := c.limits
	usage := func(name, of string, most int) arm.Doc {
		return arm.Doc{"name": arm.Doc{"value": name, "localizedValue": name}, "unit": "Count", "currentValue": len(c.ARM.State.All(of)), "limit": most}
	}
	return arm.Reply(http.StatusOK, arm.Doc{"value": []any{
		usage("StandardSkuLoadBalancers", network.LoadBalancers, limits.LoadBalancers), usage("StandardSkuPublicIpAddresses", network.PublicIPAddresses, limits.PublicIPs),
	}})
}

// authorize refuses a call that the role does not allow: for its own action, or for
// what the body of a write refers to.
func (v *visit) authorize() *arm.Error {
	role := v.cloud.role
	if role == nil {
		return nil
	}
	action := v.action()
	if action != "" && !role.Allows(action) {
		return arm.Failf(http.StatusForbidden, "AuthorizationFailed",
			"The client 'simulated' with object id 'simulated' does not have authorization to perform action '%s' over scope '%s' or the scope is invalid. If access was recently granted, please refresh your credentials.", action, v.request.Path)
	}
	if !v.Write {
		return nil
	}
	for _, link := range v.links() {
		if !role.Allows(link.action) {
			return arm.Failf(http.StatusForbidden, "LinkedAuthorizationFailed",
				"The client 'simulated' with object id 'simulated' has permission to perform action '%s' on scope '%s'; however, it does not have permission to perform action(s) '%s' on the linked scope(s) '%s' or the linked scope(s) are invalid.", action, v.request.Path, link.action, link.id)
		}
	}
	return nil
}

// action is the one that a call needs by itself: the type of the resource and what
// is done to it. Following an operation to its result needs none of its own.
// Source: Azure permissions for Networking, for Compute and for Management.
func (v *visit) action() string {
	path := strings.Split(strings.Trim(v.request.Path, "/"), "/")
	switch v.Operation {
	case "OperationResults.Get":
		return ""
	case "Operations.Get":
		return path[slices.Index(path, "providers")+1] + "/locations/operations/read"
	case "Providers.Get":
		return "Microsoft.Resources/subscriptions/providers/read"
	}
	at := slices.IndexFunc(path, func(s string) bool { return strings.EqualFold(s, "providers") })
	if at < 0 || at+2 >= len(path) {
		return "Microsoft.Resources/subscriptions/" + map[bool]string{true: "read", false: "resourceGroups/read"}[len(path) <= 2]
	}
	kind := path[at+1]
	for i := at + 2; i < len(path); i += 2 {
		kind += "/" + path[i]
	}
	verb := map[string]string{http.MethodGet: "read", http.MethodHead: "read", http.MethodDelete: "delete", http.MethodPost: "action"}[v.request.Method]
	if verb == "" {
		verb = "write"
	}
	return kind + "/" + verb
}

// link is a resource that a body refers to and what that takes.
type link struct{ id, action string }

// links are what the body of a write refers to beyond the resource itself.
func (v *visit) links() []link {
	self := v.request.Path
	var out []link
	var walk func(name string, value any)
	walk = func(name string, value any) {
		switch x := value.(type) {
		case arm.Doc:
			if id, ok := x["id"].(string); ok {
				if action := joinAction(name, id); action != "" && !strings.EqualFold(id, self) && !arm.Within(id, self) {
					out = append(out, link{id, action})
				}
			}
			for _, key := range slices.Sorted(maps.Keys(x)) {
				if !isReadOnly(self, key) {
					walk(key, x[key])
				}
			}
		case []any:
			for _, e := range x {
				walk(name, e)
			}
		}
	}
	walk("", v.request.Body)
	for id := range arm.Object(v.request.Body, "identity", "userAssignedIdentities") {
		out = append(out, link{id, "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action"})
	}
	return out
}

// isReadOnly reports whether answers have a property that requests do not set.
func isReadOnly(self, key string) bool {
	switch key {
	case "backendIPConfigurations", "ipConfiguration", "virtualMachine", "privateEndpoints", "privateEndpointConnections":
		return true
	case "ipConfigurations":
		return strings.Contains(strings.ToLower(self), "/subnets/")
	}
	return false
}

// joinAction returns the action on a referenced resource. Source: Azure permissions for
// Networking, actions that end in join/action.
func joinAction(name, id string) string {
	parsed, ok := arm.ParseID(id)
	if !ok {
		return ""
	}
	kind := parsed.Type()
	switch strings.ToLower(strings.TrimPrefix(strings.ToLower(kind), "microsoft.network/")) {
	case "virtualnetworks":
		if name == "virtualNetwork" {
			return kind + "/joinLoadBalancer/action"
		}
		return kind + "/join/action"
	case "applicationsecuritygroups":
		return kind + "/joinIpConfiguration/action"
	case "publicipaddresses", "publicipprefixes", "virtualnetworks/subnets", "networksecuritygroups", "routetables", "natgateways", "serviceendpointpolicies",
		"loadbalancers/backendaddresspools", "loadbalancers/frontendipconfigurations", "loadbalancers/probes", "loadbalancers/inboundnatrules", "loadbalancers/inboundnatpools":
		return kind + "/join/action"
	}
	return ""
}
