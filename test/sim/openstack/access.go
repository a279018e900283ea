package openstack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
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
	c.mu.Lock()
	defer c.mu.Unlock()
	c.access, c.judged = rules, list != nil
	return nil
}

// mayCall refuses a call that no access rule is for. Logging in needs none.
// Source: keystonemiddleware, auth_token (_validate_access_rules).
func (c *Cloud) mayCall(v *visit) error {
	if !c.judged || v.route.api == apiKeystone {
		return nil
	}
	called := strings.TrimPrefix(v.http.URL.Path, "/"+v.route.api)
	if called == "" {
		called = "/"
	}
	allowed := slices.ContainsFunc(c.access, func(r accessRule) bool {
		fits, err := path.Match(r.Path, called)
		return err == nil && fits && r.Service == v.route.api && r.Method == v.http.Method
	})
	if !allowed {
		return refuse(http.StatusUnauthorized, "Unauthorized", "The request you have made requires authentication.")
	}
	return nil
}
