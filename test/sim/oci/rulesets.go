package oci

import (
	"regexp"
	"slices"

	"github.com/berth-lb/berth/test/sim/rest"
)

// ruleSetPart is the rule sets. Source: API reference, CreateRuleSetDetails.
func ruleSetPart() part {
	set := schema{"items": listProp(prop{kind: anything}).must()}
	return part{
		key: "ruleSets", name: "name", op: "RuleSet", body: set, update: set, prepare: prepareRuleSet,
		label: prop{kind: aText, need: true, min: 1, max: 32, shape: regexp.MustCompile(`^[a-zA-Z_][a-zA-Z_0-9]*$`)},
		used: func(lb rest.Object, name string) string {
			return usedBy(lb, []string{"listeners"}, func(o rest.Object) []string { return o.Texts("ruleSetNames") }, name)
		},
	}
}

// actionSchemas returns the actions of rules, with the properties of each. Source: API
// reference, Rule.
func actionSchemas() map[string]schema {
	header := schema{"header": textProp().must()}
	value := header.with(schema{"value": textProp().must()})
	extend := header.with(schema{"prefix": textProp(), "suffix": textProp()})
	return map[string]schema{
		"ADD_HTTP_REQUEST_HEADER": value, "ADD_HTTP_RESPONSE_HEADER": value,
		"REMOVE_HTTP_REQUEST_HEADER": header, "REMOVE_HTTP_RESPONSE_HEADER": header,
		"EXTEND_HTTP_REQUEST_HEADER_VALUE": extend, "EXTEND_HTTP_RESPONSE_HEADER_VALUE": extend,
		"CONTROL_ACCESS_USING_HTTP_METHODS": {"allowedMethods": listProp(textProp()).must(), "statusCode": numberProp(200, 599).otherwise(405.0)},
		"ALLOW":                             {"conditions": listProp(freeProp()).must(), "description": textProp()},
		"REDIRECT":                          {"conditions": listProp(freeProp()).must(), "responseCode": numberProp(300, 308).otherwise(302.0), "redirectUri": freeProp()},
		"IP_BASED_MAX_CONNECTIONS":          {"defaultMaxConnections": numberProp(0, 65535), "ipMaxConnections": listProp(freeProp())},
		"HTTP_HEADER":                       {"areInvalidCharactersAllowed": boolProp(), "httpLargeHeaderSizeInKB": numberProp(8, 64)},
	}
}

func prepareRuleSet(_ *visit, _, o rest.Object) (rest.Object, error) {
	items := o.List("items")
	if len(items) < 1 || len(items) > 20 {
		return nil, invalidParam("rule set %q: must have 1 to 20 items", o.Text("name"))
	}
	known, out := actionSchemas(), []any{}
	for _, item := range items {
		rule, ok := rest.AsObject(item)
		if !ok {
			return nil, invalidParam("rule set %q: an item must be an object", o.Text("name"))
		}
		action := rule.Text("action")
		if known[action] == nil {
			return nil, invalidParam("rule set %q: action %q is not known", o.Text("name"), action)
		}
		read, err := known[action].with(schema{"action": textProp()}).read("items", rule)
		if err != nil {
			return nil, err
		}
		if size, given := read.Number("httpLargeHeaderSizeInKB"); given && !slices.Contains([]int{8, 16, 32, 64}, size) {
			return nil, invalidParam("httpLargeHeaderSizeInKB %d: must be 8, 16, 32 or 64", size)
		}
		out = append(out, read)
	}
	return o.With(rest.Object{"items": out}), nil
}
