package elbv2

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// setting is one attribute that a resource supports, with its default.
type setting struct {
	key, value string
	check      checker
}

// checker reports whether a value is allowed; the text ends "value '...' must ".
type checker func(value string) string

func checkBool(v string) string { return checkWord("true", "false")(v) }

func acceptAny(string) string { return "" }

func checkWord(allowed ...string) checker {
	return func(v string) string {
		if slices.Contains(allowed, v) {
			return ""
		}
		return "be one of '[" + strings.Join(allowed, ", ") + "]'"
	}
}

func checkRange(lo, hi int) checker {
	return func(v string) string {
		if n, err := strconv.Atoi(v); err != nil || n < lo || n > hi {
			return "be between '" + strconv.Itoa(lo) + "-" + strconv.Itoa(hi) + "' inclusive"
		}
		return ""
	}
}

func offOr(lo, hi int) checker {
	return func(v string) string {
		if v == "off" {
			return ""
		}
		return checkRange(lo, hi)(v)
	}
}

// pair is an attribute in a request and in an answer.
type pair struct {
	Key   string `length:"0..256" pattern:"^[a-zA-Z0-9._]+$"`
	Value string `length:"0..4096"`
}

type (
	// changeOfBalancer has the lengths of its own service model.
	changeOfBalancer struct {
		Attributes []struct {
			Key   string `length:"0..256" pattern:"^[a-zA-Z0-9._]+$"`
			Value string `length:"0..1024"`
		} `required:"true" count:"0..20"`
		ofBalancer
	}
	changeOfGroup struct {
		Attributes []pair `required:"true"`
		ofGroup
	}
	changeOfListener struct {
		Attributes []pair `required:"true"`
		ofListener
	}
)

// attributed is a resource with attributes.
type attributed interface {
	// attributes returns how messages call the resource, its attributes, and the supported ones.
	attributes() (noun string, have *map[string]string, supported []setting)
	// check checks attributes that depend on each other or on the resource.
	check(changed map[string]string, want []pair) error
}

// changeAttributes validates requested attributes against what a resource supports, sets them
// and answers all of them.
func changeAttributes(r attributed, want []pair) (any, error) {
	noun, have, supported := r.attributes()
	if len(want) == 0 {
		return nil, query.Errorf("ValidationError", "Attributes cannot be empty")
	}
	out := maps.Clone(*have)
	seen := map[string]bool{}
	for _, p := range want {
		i := slices.IndexFunc(supported, func(s setting) bool { return s.key == p.Key })
		switch {
		case i < 0:
			return nil, query.Errorf("ValidationError", "%s attribute key '%s' is not recognized", noun, p.Key)
		case seen[p.Key]:
			return nil, query.Errorf("ValidationError", "%s attribute key '%s' was specified more than once", noun, p.Key)
		}
		seen[p.Key] = true
		if fault := supported[i].check(p.Value); fault != "" {
			return nil, query.Errorf("ValidationError", "'%s' value '%s' must %s", p.Key, p.Value, fault)
		}
		out[p.Key] = p.Value
	}
	if err := r.check(out, want); err != nil {
		return nil, err
	}
	*have = out
	return listAttributes(r)
}

func defaultValues(settings []setting) map[string]string {
	out := make(map[string]string, len(settings))
	for _, s := range settings {
		out[s.key] = s.value
	}
	return out
}

func modifyLoadBalancerAttributes(_ *call, lb *loadBalancer, in changeOfBalancer) (any, error) {
	var want []pair
	for _, p := range in.Attributes {
		want = append(want, pair(p))
	}
	return changeAttributes(lb, want)
}

func modifyTargetGroupAttributes(_ *call, tg *targetGroup, in changeOfGroup) (any, error) {
	if err := tg.checkStickiness(in.Attributes); err != nil {
		return nil, err
	}
	return changeAttributes(tg, in.Attributes)
}

// listAttributes lists attributes in the order of their table.
func listAttributes(r attributed) (any, error) {
	var out struct{ Attributes []pair }
	_, have, supported := r.attributes()
	for _, s := range supported {
		if v, ok := (*have)[s.key]; ok {
			out.Attributes = append(out.Attributes, pair{s.key, v})
		}
	}
	return out, nil
}

func (lb *loadBalancer) attributes() (string, *map[string]string, []setting) {
	return "Load balancer", &lb.Attributes, lb.settings()
}

func (tg *targetGroup) attributes() (string, *map[string]string, []setting) {
	return "Target group", &tg.Attributes, tg.settings()
}

func (l *listener) attributes() (string, *map[string]string, []setting) {
	return "Listener", &l.Attributes, l.settings()
}

func (lb *loadBalancer) check(a map[string]string, _ []pair) error {
	if a["access_logs.s3.enabled"] == "true" && a["access_logs.s3.bucket"] == "" {
		return invalidConfiguration("The value of 'access_logs.s3.bucket' cannot be empty if 'access_logs.s3.enabled' is 'true'")
	}
	if p := a["access_logs.s3.prefix"]; strings.HasPrefix(p, "/") || strings.HasSuffix(p, "/") {
		return query.Errorf("ValidationError", "'access_logs.s3.prefix' value '%s' cannot begin or end with '/'", p)
	}
	if a[denyKey] != lb.Attributes[denyKey] && lb.IPType == ipv4 {
		return invalidConfiguration("Load balancer attribute key '%s' is not supported on load balancers with IP address type 'ipv4'", denyKey)
	}
	if before, after := parseNumber(lb.Attributes[secondaryKey]), parseNumber(a[secondaryKey]); after < before {
		return invalidConfiguration("The value of '%s' cannot be decreased", secondaryKey)
	}
	return nil
}

func parseNumber(v string) int {
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0
	}
	return n
}

func (l *listener) check(map[string]string, []pair) error { return nil }

// Source: API reference, TargetGroupAttribute.
func (tg *targetGroup) check(a map[string]string, want []pair) error {
	asked := func(key string) bool {
		return slices.ContainsFunc(want, func(p pair) bool { return p.Key == key })
	}
	udp := carriesUDP(tg.Protocol)
	switch {
	case udp && a["preserve_client_ip.enabled"] == "false":
		return invalidConfiguration("Client IP preservation cannot be disabled for target groups with the %s protocol", tg.Protocol)
	case udp && a[unhealthyKey+"connection_termination.enabled"] == "true":
		return invalidConfiguration("Connection termination for unhealthy targets cannot be enabled for target groups with the %s protocol", tg.Protocol)
	case tg.Protocol == "TLS" && a["stickiness.enabled"] == "true":
		return invalidConfiguration("You cannot enable stickiness on target groups with the TLS protocol")
	case asked(unhealthyKey+"draining_interval_seconds") && a[unhealthyKey+"draining_interval_seconds"] != "0" &&
		a[unhealthyKey+"connection_termination.enabled"] == "true":
		return invalidConfiguration("An unhealthy draining interval can be set only if connection termination for unhealthy targets is disabled")
	}
	return nil
}

// checkStickiness checks the type of stickiness first: the other attributes of a wrong type
// are not checked.
// Source: API reference, TargetGroupAttribute; getmoto/moto:tests/test_elbv2/test_elbv2_target_groups.py.
func (tg *targetGroup) checkStickiness(want []pair) error {
	allowed := []string{"app_cookie", "lb_cookie", "source_ip"}
	for _, p := range want {
		switch {
		case p.Key != stickinessKey:
		case !slices.Contains(allowed, p.Value):
			return query.Errorf("ValidationError", "'Stickiness type' must be one of [%s]", strings.Join(allowed, ", "))
		case strings.HasSuffix(p.Value, "_cookie"):
			return invalidConfiguration("Stickiness type '%s' is not supported for target groups with the %s protocol", p.Value, tg.Protocol)
		}
	}
	return nil
}
