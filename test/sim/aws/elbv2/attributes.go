package elbv2

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
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

type pair struct{ Key, Value string }

var attributeKey = regexp.MustCompile(`^[a-zA-Z0-9._]+$`)

// readAttributes reads the list Attributes.
func (c *call) readAttributes(valueLength int) []pair {
	c.Required("Attributes")
	var out []pair
	c.Each("Attributes", func(e *lbkit.Reader) {
		out = append(out, pair{e.Text("Key", lbkit.Length(0, 256), lbkit.Matches(attributeKey)), e.Text("Value", lbkit.Length(0, valueLength))})
	})
	return out
}

// changeAttributes validates requested attributes against what a resource supports, and
// returns the changed set.
func changeAttributes(noun string, supported []setting, have map[string]string, want []pair) (map[string]string, error) {
	if len(want) == 0 {
		return nil, query.Errorf("ValidationError", "Attributes cannot be empty")
	}
	out := make(map[string]string, len(have))
	for k, v := range have {
		out[k] = v
	}
	seen := map[string]bool{}
	at := func(list []setting, key string) int {
		return slices.IndexFunc(list, func(s setting) bool { return s.key == key })
	}
	for _, p := range want {
		i := at(supported, p.Key)
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
	return out, nil
}

func defaultValues(settings []setting) map[string]string {
	out := make(map[string]string, len(settings))
	for _, s := range settings {
		out[s.key] = s.value
	}
	return out
}

type attributesAnswer struct {
	Attributes query.Members[pair]
}

// listAttributes lists attributes in the order of their table.
func listAttributes(settings []setting, have map[string]string) attributesAnswer {
	var out attributesAnswer
	for _, s := range settings {
		if v, ok := have[s.key]; ok {
			out.Attributes.Member = append(out.Attributes.Member, pair{s.key, v})
		}
	}
	return out
}

func describeLoadBalancerAttributes(c *call) (any, error) {
	lb, err := c.loadBalancer()
	if err != nil {
		return nil, err
	}
	return listAttributes(lb.settings(), lb.Attributes), nil
}

// maxChanges is how many attributes ModifyLoadBalancerAttributes takes; source: service model.
const maxChanges = 20

func modifyLoadBalancerAttributes(c *call) (any, error) {
	want := c.readAttributes(1024)
	if len(want) > maxChanges {
		c.Fault("Attributes", "'"+strconv.Itoa(len(want))+" attributes'", "have length less than or equal to "+strconv.Itoa(maxChanges))
	}
	lb, err := c.loadBalancer()
	if err != nil {
		return nil, err
	}
	changed, err := changeAttributes("Load balancer", lb.settings(), lb.Attributes, want)
	if err != nil {
		return nil, err
	}
	if err := lb.checkAttributes(changed); err != nil {
		return nil, err
	}
	lb.Attributes = changed
	return listAttributes(lb.settings(), lb.Attributes), nil
}

// checkAttributes checks attributes that depend on each other or on the load balancer.
func (lb *loadBalancer) checkAttributes(a map[string]string) error {
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

func describeTargetGroupAttributes(c *call) (any, error) {
	tg, err := c.group()
	if err != nil {
		return nil, err
	}
	return listAttributes(tg.settings(), tg.Attributes), nil
}

func modifyTargetGroupAttributes(c *call) (any, error) {
	want := c.readAttributes(4096)
	tg, err := c.group()
	if err != nil {
		return nil, err
	}
	if err := tg.checkStickiness(want); err != nil {
		return nil, err
	}
	changed, err := changeAttributes("Target group", tg.settings(), tg.Attributes, want)
	if err != nil {
		return nil, err
	}
	if err := tg.checkAttributes(changed, want); err != nil {
		return nil, err
	}
	tg.Attributes = changed
	return listAttributes(tg.settings(), tg.Attributes), nil
}

// checkAttributes checks attributes that depend on each other or on the group.
// Source: API reference, TargetGroupAttribute.
func (tg *targetGroup) checkAttributes(a map[string]string, want []pair) error {
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

func describeListenerAttributes(c *call) (any, error) {
	l, _, err := c.listener()
	if err != nil {
		return nil, err
	}
	return listAttributes(l.settings(), l.Attributes), nil
}

func modifyListenerAttributes(c *call) (any, error) {
	want := c.readAttributes(4096)
	l, _, err := c.listener()
	if err != nil {
		return nil, err
	}
	changed, err := changeAttributes("Listener", l.settings(), l.Attributes, want)
	if err != nil {
		return nil, err
	}
	l.Attributes = changed
	return listAttributes(l.settings(), l.Attributes), nil
}
