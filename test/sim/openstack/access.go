package openstack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// accessRule is one of an application credential: a call that it may be used for.
type accessRule struct {
	Service, Method, Path string
}

// SetAccessRules judges all calls by the access rules of an application credential, as
// Keystone takes them; nil lets everything be called. A path part * stands for any one.
// Source: Keystone API reference, application credentials, access rules.
func (c *Cloud) SetAccessRules(list []byte) error {
	var rules []accessRule
	if list != nil {
		if err := json.Unmarshal(list, &rules); err != nil {
			return fmt.Errorf("access rules: %w", err)
		}
	}
	c.Locked(func() { c.access, c.judged = rules, list != nil })
	return nil
}

// mayCall refuses a call that no access rule is for. Logging in needs none.
// Source: keystonemiddleware, auth_token (_validate_access_rules).
func (v *visit) mayCall() error {
	if !v.cloud.judged || v.Service == apiKeystone {
		return nil
	}
	called := strings.TrimPrefix(v.HTTP.URL.Path, "/"+v.Service)
	if called == "" {
		called = "/"
	}
	allowed := slices.ContainsFunc(v.cloud.access, func(r accessRule) bool {
		fits, err := path.Match(r.Path, called)
		return err == nil && fits && r.Service == v.Service && r.Method == v.HTTP.Method
	})
	if !allowed {
		return rest.Refuse(http.StatusUnauthorized, "Unauthorized", "The request you have made requires authentication.")
	}
	return nil
}
