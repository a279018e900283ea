package gce

import (
	"bufio"
	"bytes"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// Role is a set of permissions, such as compute.firewalls.create.
type Role map[string]bool

// ParseRole reads a custom role in the form that gcloud takes: the entries of
// includedPermissions.
func ParseRole(definition []byte) (Role, error) {
	out, inside := Role{}, false
	for lines := bufio.NewScanner(bytes.NewReader(definition)); lines.Scan(); {
		line := lines.Text()
		if permission, ok := strings.CutPrefix(line, "- "); ok && inside {
			out[strings.TrimSpace(permission)] = true
			continue
		}
		inside = strings.HasPrefix(line, "includedPermissions:")
	}
	if len(out) == 0 {
		return nil, errors.New("role: it includes no permission")
	}
	return out, nil
}

// SetRole has every call of Compute Engine judged by a role; nil lets all of them be done.
func (c *Cloud) SetRole(r Role) { c.role.Store(&r) }

// authorize refuses a call that the role does not allow: for its method, or for what
// its body refers to.
func (v *visit) authorize() error {
	role := v.cloud.role.Load()
	if role == nil || *role == nil {
		return nil
	}
	for _, permission := range append([]string{ownPermission(v.request.ID)}, v.uses()...) {
		if !(*role)[permission] {
			return &wire.Error{
				Status: http.StatusForbidden, Reason: "forbidden", Code: "PERMISSIONS_ERROR",
				Message: "Required '" + permission + "' permission for 'projects/" + v.request.Path["project"] + "'",
			}
		}
	}
	return nil
}

// ownPermission is the permission that a method needs by itself: most are called like
// it. Source: cloud.google.com/compute/docs/reference/rest/v1, IAM permissions of each
// method.
func ownPermission(method string) string {
	collection, verb, _ := strings.Cut(method, ".")
	switch verb {
	case "insert":
		verb = "create"
	case "patch", "addInstances", "removeInstances":
		verb = "update"
	case "aggregatedList", "listInstances", "listNetworkEndpoints":
		verb = "list"
	case "wait", "getHealth":
		verb = "get"
	}
	return "compute." + collection + "." + verb
}

// uses are the permissions on what the body of a change refers to, and on the
// network that firewalls are a policy of. Source: as above.
func (v *visit) uses() []string {
	collection, method, _ := strings.Cut(v.request.ID, ".")
	var out []string
	switch {
	case !v.Write:
		return nil
	case collection == "firewalls":
		out = append(out, "compute.networks.updatePolicy")
	case v.request.ID == "addresses.insert" && v.request.Body.Text("addressType") == "INTERNAL":
		out = append(out, "compute.addresses.createInternal")
	}
	if method == "setTarget" || method == "insert" || method == "patch" || method == "update" || strings.HasPrefix(method, "add") || strings.HasPrefix(method, "attach") {
		walkTexts(map[string]any(v.request.Body), func(field, text string) {
			if p := usePermission(collection, field, text); p != "" {
				out = append(out, p)
			}
		})
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// usePermission returns the permission on a resource that a body refers to.
func usePermission(from, field, text string) string {
	ref, err := wire.ParseAny(text, "any", field)
	if err != nil || ref.Collection == from {
		if field == "instance" && text != "" && !strings.Contains(text, "/") { // endpoints name it alone
			return "compute.instances.use"
		}
		return ""
	}
	switch ref.Collection {
	case "instances", "instanceGroups", "networkEndpointGroups", "subnetworks", "targetPools", "addresses":
		return "compute." + ref.Collection + ".use"
	case "networks":
		if from == "firewalls" {
			return ""
		}
		return "compute.networks.use"
	case "healthChecks", "httpHealthChecks":
		collection := ref.Collection
		if ref.Scope != "global" {
			collection = "regionHealthChecks"
		}
		return "compute." + collection + ".useReadOnly"
	case "backendServices":
		return "compute.regionBackendServices.use"
	}
	return ""
}

// walkTexts visits every text of a document with the name of its field.
func walkTexts(value any, visit func(field, text string)) {
	var walk func(field string, value any)
	walk = func(field string, value any) {
		switch x := value.(type) {
		case string:
			visit(field, x)
		case wire.Object:
			walk(field, map[string]any(x))
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(x)) {
				walk(name, x[name])
			}
		case []any:
			for _, e := range x {
				walk(field, e)
			}
		}
	}
	walk("", value)
}
