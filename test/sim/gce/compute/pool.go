package compute

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// Limits of a target pool: instances in the insert and per call after it.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_loadbalancer.go.
const (
	maxPoolInsert = 200
	maxPoolCall   = 1000
)

func targetPools() *collection {
	return &collection{
		name: "targetPools", param: "targetPool", at: []string{"region"},
		verbs: map[string][]string{"region": {"insert", "delete"}},
		schema: withCommonFields(wire.Schema{
			"instances": {List: true}, "healthChecks": {List: true}, "sessionAffinity": {Values: []string{"NONE", "CLIENT_IP", "CLIENT_IP_PROTO"}},
			"backupPool": {}, "failoverRatio": {Type: wire.Number},
		}),
		finish: (*call).finishPool,
		guard:  requireUnused(link{"forwardingRules", fieldValues("target")}, link{"targetPools", fieldValues("backupPool")}),
		changes: map[string]func(*call, *entry) error{
			"addInstance": (*call).addToPool, "removeInstance": removeLinks("instances", "instance", "instances"),
			"addHealthCheck": (*call).addPoolCheck, "removeHealthCheck": removeLinks("healthChecks", "healthCheck", "httpHealthChecks"),
		},
		views: map[string]func(*call, *entry) (wire.Object, error){"getHealth": (*call).poolHealth},
		quota: func(wire.Object) string { return "TARGET_POOLS" },
	}
}

func (c *call) finishPool(_ *entry, doc wire.Object) error {
	doc.Default("sessionAffinity", "NONE")
	list := doc.Texts("instances")
	if len(list) > maxPoolInsert {
		return wire.Invalid("resource.instances", len(list), "At most %d instances can be given when a target pool is created.", maxPoolInsert)
	}
	urls, err := c.poolInstances(list, "resource.instances[%d]")
	if err != nil {
		return err
	}
	doc["instances"] = wire.Texts(urls...)
	checks, err := c.poolChecks(doc.Texts("healthChecks"))
	doc["healthChecks"] = wire.Texts(checks...)
	return err
}

// poolInstances turns references into links; the instances must be in the region.
func (c *call) poolInstances(list []string, at string) ([]string, error) {
	var out []string
	for i, text := range list {
		at := fmt.Sprintf(at, i)
		e, err := c.instance(text, at)
		if err != nil {
			return nil, err
		}
		if regionOf(e.ref.Scope) != c.Path["region"] {
			return nil, wire.Invalid(at, text, "The instance must be in a zone of the region '%s'.", c.Path["region"])
		}
		if !slices.Contains(out, e.ref.URL()) {
			out = append(out, e.ref.URL())
		}
	}
	return out, nil
}

func (c *call) poolChecks(list []string) ([]string, error) {
	if len(list) > 1 {
		return nil, wire.Invalid("resource.healthChecks", strings.Join(list, ","), "A target pool can have at most one health check.")
	}
	var out []string
	for i, text := range list {
		check, err := c.resolve(text, "httpHealthChecks", fmt.Sprintf("resource.healthChecks[%d]", i))
		if err != nil {
			return nil, err
		}
		out = append(out, check.ref.URL())
	}
	return out, nil
}

// references reads a body such as {"instances": [{"instance": URL}]}.
func (c *call) references(list, field string) ([]string, error) {
	body, err := wire.Schema{list: {Type: wire.Nested, List: true, Fields: wire.Schema{field: {}}}}.Clean(c.Body)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, o := range body.Objects(list) {
		out = append(out, o.Text(field))
	}
	if len(out) > maxPoolCall {
		return nil, wire.Invalid("resource."+list, len(out), "At most %d can be given at a time.", maxPoolCall)
	}
	if len(out) == 0 {
		return nil, wire.Required("resource." + list)
	}
	return out, nil
}

// addToPool adds instances; existing members stay.
func (c *call) addToPool(pool *entry) error {
	list, err := c.references("instances", "instance")
	if err != nil {
		return err
	}
	more, err := c.poolInstances(list, "resource.instances[%d].instance")
	if err != nil {
		return err
	}
	links := pool.doc.Texts("instances")
	for _, url := range more {
		if !slices.Contains(links, url) {
			links = append(links, url)
		}
	}
	pool.doc["instances"] = wire.Texts(links...)
	return nil
}

func (c *call) addPoolCheck(pool *entry) error {
	list, err := c.references("healthChecks", "healthCheck")
	if err != nil {
		return err
	}
	links, err := c.poolChecks(append(pool.doc.Texts("healthChecks"), list...))
	pool.doc["healthChecks"] = wire.Texts(links...)
	return err
}

// removeLinks returns a change that removes links to resources, which need not exist any more.
func removeLinks(list, field, collection string) func(*call, *entry) error {
	return func(c *call, pool *entry) error {
		given, err := c.references(list, field)
		if err != nil {
			return err
		}
		links := pool.doc.Texts(list)
		for i, text := range given {
			ref, err := wire.ParseRef(text, c.project(), collection, fmt.Sprintf("resource.%s[%d].%s", list, i, field))
			if err != nil {
				return err
			}
			links = slices.DeleteFunc(links, func(url string) bool { return url == ref.URL() })
		}
		pool.doc[list] = wire.Texts(links...)
		return nil
	}
}
