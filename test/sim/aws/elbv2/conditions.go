package elbv2

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// condition is both what is kept and what is answered.
type condition struct {
	Field                   string
	Values                  *query.Members[string] `xml:",omitempty"`
	HostHeaderConfig        *valueConfig           `xml:",omitempty"`
	PathPatternConfig       *valueConfig           `xml:",omitempty"`
	HttpHeaderConfig        *headerConfig          `xml:",omitempty"` //nolint:revive // The name is the element of the answer.
	QueryStringConfig       *queryConfig           `xml:",omitempty"`
	HttpRequestMethodConfig *valueConfig           `xml:",omitempty"` //nolint:revive // The name is the element of the answer.
	SourceIpConfig          *valueConfig           `xml:",omitempty"` //nolint:revive // The name is the element of the answer.
	RegexValues             *query.Members[string] `xml:",omitempty"`
}

type valueConfig struct {
	Values      query.Members[string]
	RegexValues *query.Members[string] `xml:",omitempty"`
}

type headerConfig struct {
	HttpHeaderName string //nolint:revive // The name is the element of the answer.
	Values         query.Members[string]
	RegexValues    *query.Members[string] `xml:",omitempty"`
}

type queryConfig struct {
	Values query.Members[queryPair]
}

type queryPair struct {
	Key   string `xml:",omitempty"`
	Value string
}

const (
	hostHeader  = "host-header"
	pathPattern = "path-pattern"
)

func (c *call) readConditions() []condition {
	var out []condition
	if c.Has("Conditions") {
		out = []condition{}
	}
	c.Each("Conditions", func(e *lbkit.Reader) {
		x := condition{
			Field: e.Text("Field", lbkit.Length(0, 64)), Values: list(e, "Values"), RegexValues: list(e, "RegexValues"),
			HostHeaderConfig: values(e, "HostHeaderConfig"), PathPatternConfig: values(e, "PathPatternConfig"),
			HttpRequestMethodConfig: values(e, "HttpRequestMethodConfig"), SourceIpConfig: values(e, "SourceIpConfig"),
		}
		if r := e.Within("HttpHeaderConfig"); r != nil {
			x.HttpHeaderConfig = &headerConfig{r.Str("HttpHeaderName"), query.Members[string]{Member: r.Strs("Values")}, list(r, "RegexValues")}
		}
		if r := e.Within("QueryStringConfig"); r != nil {
			x.QueryStringConfig = &queryConfig{}
			r.Each("Values", func(v *lbkit.Reader) {
				x.QueryStringConfig.Values.Member = append(x.QueryStringConfig.Values.Member, queryPair{v.Str("Key"), v.Str("Value")})
			})
		}
		out = append(out, x)
	})
	return out
}

func list(r *lbkit.Reader, name string) *query.Members[string] {
	if vs := r.Strs(name); len(vs) > 0 {
		return &query.Members[string]{Member: vs}
	}
	return nil
}

func values(e *lbkit.Reader, name string) *valueConfig {
	r := e.Within(name)
	if r == nil {
		return nil
	}
	return &valueConfig{query.Members[string]{Member: r.Strs("Values")}, list(r, "RegexValues")}
}

// maxConditionValues is how many values the conditions of one rule may have.
// Source: Application Load Balancers guide, quotas.
const maxConditionValues = 5

func checkConditions(conditions []condition) error {
	if len(conditions) == 0 {
		return query.Errorf("ValidationError", "A condition must be specified")
	}
	total, seen := 0, map[string]bool{}
	for i := range conditions {
		x := &conditions[i]
		if seen[x.Field] && x.Field != "http-header" && x.Field != "query-string" {
			return query.Errorf("ValidationError", "A rule can have at most one condition with field '%s'", x.Field)
		}
		seen[x.Field] = true
		n, err := x.check()
		if err != nil {
			return err
		}
		total += n
	}
	if total > maxConditionValues {
		return query.Errorf("ValidationError", "A rule can have at most '%d' condition values", maxConditionValues)
	}
	return nil
}

// check checks one condition, fills both forms of host and path, and counts its values.
func (x *condition) check() (int, error) {
	fields := []string{pathPattern, hostHeader, "http-header", "http-request-method", "query-string", "source-ip"}
	if x.Field == "" {
		return 0, query.Errorf("ValidationError", "A condition field must be specified")
	}
	if !slices.Contains(fields, x.Field) {
		return 0, query.Errorf("ValidationError", "Condition field '%s' must be one of '[%s]'", x.Field, strings.Join(fields, ","))
	}
	switch x.Field {
	case hostHeader:
		return x.checkTexts(&x.HostHeaderConfig, "HostHeaderConfig")
	case pathPattern:
		return x.checkTexts(&x.PathPatternConfig, "PathPatternConfig")
	}
	if x.Values != nil {
		return 0, query.Errorf("ValidationError", "The 'Values' field is not compatible with '%s'", x.Field)
	}
	switch x.Field {
	case "http-header":
		return x.checkHeader()
	case "http-request-method":
		return x.checkMethod()
	case "query-string":
		return x.checkQuery()
	}
	return x.checkSource()
}

// checkTexts checks host names and paths, which have two forms of the same meaning.
func (x *condition) checkTexts(config **valueConfig, name string) (int, error) {
	switch {
	case x.Values != nil && *config != nil:
		return 0, query.Errorf("ValidationError", "You cannot provide both Values and '%s' for a condition of type '%s'", name, x.Field)
	case x.Values != nil && len(x.Values.Member) > 1:
		return 0, query.Errorf("ValidationError", "The '%s' field contains too many values; the limit is '1'", x.Field)
	case x.Values != nil:
		*config = &valueConfig{Values: *x.Values}
	case *config != nil && (*config).RegexValues != nil, *config == nil && x.RegexValues != nil:
		return 1, nil
	case *config == nil || len((*config).Values.Member) == 0:
		return 0, query.Errorf("ValidationError", "A condition value must be specified")
	default:
		x.Values = &query.Members[string]{Member: (*config).Values.Member}
	}
	return len((*config).Values.Member), checkLengths((*config).Values.Member, x.Field, 128)
}

func checkLengths(values []string, what string, limit int) error {
	for _, v := range values {
		if v == "" {
			return query.Errorf("ValidationError", "The '%s' value cannot be empty", what)
		}
		if len(v) > limit {
			return query.Errorf("ValidationError", "The '%s' value is too long; the limit is '%d'", what, limit)
		}
	}
	return nil
}

func (x *condition) checkHeader() (int, error) {
	h := x.HttpHeaderConfig
	if h == nil {
		return 0, query.Errorf("ValidationError", "A 'HttpHeaderConfig' must be specified with 'http-header'")
	}
	if h.HttpHeaderName == "" || len(h.Values.Member) == 0 && h.RegexValues == nil {
		return 0, query.Errorf("ValidationError", "A 'HttpHeaderName' and a value must be specified with 'http-header'")
	}
	if len(h.HttpHeaderName) > 40 {
		return 0, query.Errorf("ValidationError", "The 'HttpHeaderName' value is too long; the limit is '40'")
	}
	return len(h.Values.Member), checkLengths(h.Values.Member, x.Field, 128)
}

var methodPattern = regexp.MustCompile(`^[A-Z_-]+$`)

func (x *condition) checkMethod() (int, error) {
	m := x.HttpRequestMethodConfig
	if m == nil || len(m.Values.Member) == 0 {
		return 0, query.Errorf("ValidationError", "A 'HttpRequestMethodConfig' must be specified with 'http-request-method'")
	}
	if err := checkLengths(m.Values.Member, x.Field, 40); err != nil {
		return 0, err
	}
	for _, v := range m.Values.Member {
		if !methodPattern.MatchString(v) {
			return 0, query.Errorf("ValidationError", "The 'http-request-method' value is invalid; the allowed characters are A-Z, hyphen and underscore")
		}
	}
	return len(m.Values.Member), nil
}

func (x *condition) checkQuery() (int, error) {
	q := x.QueryStringConfig
	if q == nil || len(q.Values.Member) == 0 {
		return 0, query.Errorf("ValidationError", "A 'QueryStringConfig' must be specified with 'query-string'")
	}
	for _, v := range q.Values.Member {
		switch {
		case v.Value == "":
			return 0, query.Errorf("ValidationError", "A 'Value' must be specified in 'QueryStringKeyValuePair'")
		case len(v.Key) > 128:
			return 0, query.Errorf("ValidationError", "The 'Key' value is too long; the limit is '128'")
		case len(v.Value) > 128:
			return 0, query.Errorf("ValidationError", "The 'Value' value is too long; the limit is '128'")
		}
	}
	return len(q.Values.Member), nil
}

func (x *condition) checkSource() (int, error) {
	s := x.SourceIpConfig
	if s == nil {
		return 0, query.Errorf("ValidationError", "A 'SourceIpConfig' must be specified with 'source-ip'")
	}
	if len(s.Values.Member) == 0 {
		return 0, query.Errorf("ValidationError", "A 'source-ip' value must be specified")
	}
	for _, v := range s.Values.Member {
		if _, err := netip.ParsePrefix(v); err != nil {
			return 0, query.Errorf("ValidationError", "The 'source-ip' value '%s' is not a valid CIDR block", v)
		}
	}
	return len(s.Values.Member), nil
}

// transform rewrites the host or the path of a request.
type transform struct {
	Type                    string
	HostHeaderRewriteConfig *rewriteConfig `xml:",omitempty"`
	UrlRewriteConfig        *rewriteConfig `xml:",omitempty"` //nolint:revive // The name is the element of the answer.
}

type rewriteConfig struct {
	Rewrites query.Members[rewrite]
}

type rewrite struct{ Regex, Replace string }

func (c *call) readTransforms() []transform {
	var out []transform
	config := func(e *lbkit.Reader, name string) *rewriteConfig {
		r := e.Within(name)
		if r == nil {
			return nil
		}
		w := &rewriteConfig{}
		r.Each("Rewrites", func(v *lbkit.Reader) {
			w.Rewrites.Member = append(w.Rewrites.Member, rewrite{v.Need("Regex"), v.Need("Replace")})
		})
		return w
	}
	c.Each("Transforms", func(e *lbkit.Reader) {
		out = append(out, transform{e.Need("Type", lbkit.OneOf("host-header-rewrite", "url-rewrite")),
			config(e, "HostHeaderRewriteConfig"), config(e, "UrlRewriteConfig")})
	})
	return out
}

func checkTransforms(transforms []transform) error {
	for i, t := range transforms {
		if slices.ContainsFunc(transforms[:i], func(o transform) bool { return o.Type == t.Type }) {
			return query.Errorf("ValidationError", "A rule can have at most one transform with type '%s'", t.Type)
		}
		if (t.Type == "host-header-rewrite") != (t.HostHeaderRewriteConfig != nil) || (t.Type == "url-rewrite") != (t.UrlRewriteConfig != nil) {
			return query.Errorf("ValidationError", "The configuration of a transform must match its type '%s'", t.Type)
		}
	}
	return nil
}
