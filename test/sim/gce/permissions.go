package gce

import (
	"net/http"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// testPermissions ends the path of a call of Resource Manager.
const testPermissions = ":testIamPermissions"

// testPermissions answers which permissions of the body the caller has on the project.
// Source: Resource Manager API v1, projects.testIamPermissions.
func (v *visit) testPermissions() {
	v.Service, v.Operation = "cloudresourcemanager", "projects.testIamPermissions"
	v.request = wire.Request{ID: v.Operation, Now: v.Time, Path: map[string]string{"path": v.http.URL.Path}}
	body, err := wire.ReadBody(v.http)
	if err == nil {
		err = v.cloud.authenticate(v.http, v.Time)
	}
	if err != nil {
		v.answer = wire.Refuse(err)
		return
	}
	if _ = v.pass(v.http.Context()); v.answer != nil {
		return
	}
	role := v.cloud.role.Load()
	asked, _ := body["permissions"].([]any) // none: nothing is granted
	granted := []any{}
	for _, p := range asked {
		name, _ := p.(string) // as above
		if role == nil || *role == nil || (*role)[name] {
			granted = append(granted, name)
		}
	}
	v.answer = wire.OK(wire.Object{"permissions": granted})
	v.Committed = v.answer.Status == http.StatusOK
}
