package elbv2

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// action is both what is kept and what is answered.
type action struct {
	Type                      string
	TargetGroupArn            string         `xml:",omitempty"`
	AuthenticateOidcConfig    *oidcConfig    `xml:",omitempty"`
	AuthenticateCognitoConfig *cognitoConfig `xml:",omitempty"`
	Order                     int            `xml:",omitempty"`
	RedirectConfig            *redirect      `xml:",omitempty"`
	FixedResponseConfig       *fixedResponse `xml:",omitempty"`
	ForwardConfig             *forward       `xml:",omitempty"`
	JwtValidationConfig       *jwtConfig     `xml:",omitempty"`
}

type forward struct {
	TargetGroups                query.Members[groupWeight]
	TargetGroupStickinessConfig *stickiness `xml:",omitempty"`
}

type groupWeight struct {
	TargetGroupArn string
	Weight         *int `xml:",omitempty"`
}

type stickiness struct {
	Enabled         bool
	DurationSeconds *int `xml:",omitempty"`
}

type redirect struct {
	Protocol, Port, Host, Path, Query, StatusCode string
}

type fixedResponse struct {
	MessageBody string `xml:",omitempty"`
	StatusCode  string
	ContentType string `xml:",omitempty"`
}

type oidcConfig struct {
	Issuer, AuthorizationEndpoint, TokenEndpoint, UserInfoEndpoint, ClientId string //nolint:revive // Elements of the answer.
	SessionCookieName, Scope                                                 string
	SessionTimeout                                                           string
	OnUnauthenticatedRequest                                                 string
	AuthenticationRequestExtraParams                                         *extraParams `xml:",omitempty"`
}

type cognitoConfig struct {
	UserPoolArn, UserPoolClientId, UserPoolDomain string //nolint:revive // Elements of the answer.
	SessionCookieName, Scope                      string
	SessionTimeout                                string
	OnUnauthenticatedRequest                      string
	AuthenticationRequestExtraParams              *extraParams `xml:",omitempty"`
}

// extraParams is a map, which both directions write as entries.
type extraParams struct {
	Entries []extraParam `xml:"entry"`
}

type extraParam struct {
	Key   string `xml:"key"`
	Value string `xml:"value"`
}

func readExtra(r *lbkit.Reader) *extraParams {
	var out *extraParams
	for _, e := range r.Sub("AuthenticationRequestExtraParams").List("entry") {
		if out == nil {
			out = &extraParams{}
		}
		out.Entries = append(out.Entries, extraParam{e.Str("key"), e.Str("value")})
	}
	return out
}

type jwtConfig struct {
	JwksEndpoint     string
	Issuer           string
	AdditionalClaims *query.Members[jwtClaim] `xml:",omitempty"`
}

type jwtClaim struct {
	Format string
	Name   string
	Values query.Members[string]
}

func actionTypes() []string {
	return []string{"forward", "authenticate-oidc", "authenticate-cognito", "redirect", "fixed-response", "jwt-validation"}
}

// readActions reads DefaultActions or Actions.
func (c *call) readActions(name string) []action {
	var out []action
	c.Each(name, func(e *lbkit.Reader) {
		a := action{Type: e.Need("Type", lbkit.OneOf(actionTypes()...)), TargetGroupArn: e.Str("TargetGroupArn")}
		if n := e.Number("Order", 1, 50000); n != nil {
			a.Order = *n
		}
		if r := e.Within("ForwardConfig"); r != nil {
			a.ForwardConfig = readForward(r)
		}
		if r := e.Within("RedirectConfig"); r != nil {
			a.RedirectConfig = readRedirect(r)
		}
		if r := e.Within("FixedResponseConfig"); r != nil {
			a.FixedResponseConfig = &fixedResponse{
				StatusCode:  r.Need("StatusCode", lbkit.Matches(statusPattern)),
				MessageBody: r.Text("MessageBody", lbkit.Length(0, 1024)),
				ContentType: r.Text("ContentType", lbkit.Length(0, 32)),
			}
		}
		readAuth(e, &a)
		out = append(out, a)
	})
	return out
}

var (
	statusPattern   = regexp.MustCompile(`^(2|4|5)\d\d$`)
	redirectPattern = regexp.MustCompile(`^(HTTPS?|#\{protocol\})$`)
)

func readForward(r *lbkit.Reader) *forward {
	f := &forward{}
	r.Each("TargetGroups", func(e *lbkit.Reader) {
		f.TargetGroups.Member = append(f.TargetGroups.Member, groupWeight{e.Str("TargetGroupArn"), e.Number("Weight", 0, 999)})
	})
	if s := r.Within("TargetGroupStickinessConfig"); s != nil {
		f.TargetGroupStickinessConfig = &stickiness{DurationSeconds: s.Number("DurationSeconds", 1, 604800)}
		if on := s.Flag("Enabled"); on != nil {
			f.TargetGroupStickinessConfig.Enabled = *on
		}
	}
	return f
}

// readRedirect fills the parts that are not given with the reserved words which keep them.
func readRedirect(r *lbkit.Reader) *redirect {
	return &redirect{
		Protocol:   first(r.Text("Protocol", lbkit.Matches(redirectPattern)), "#{protocol}"),
		Port:       first(r.Str("Port"), "#{port}"),
		Host:       first(r.Text("Host", lbkit.Length(1, 128)), "#{host}"),
		Path:       first(r.Text("Path", lbkit.Length(1, 128)), "/#{path}"),
		Query:      choose(r.Has("Query"), r.Text("Query", lbkit.Length(0, 128)), "#{query}"),
		StatusCode: r.Need("StatusCode", lbkit.OneOf("HTTP_301", "HTTP_302")),
	}
}

func readAuth(e *lbkit.Reader, a *action) {
	common := func(r *lbkit.Reader) (cookie, scope, timeout, deny string) {
		return first(r.Str("SessionCookieName"), "AWSELBAuthSessionCookie"), first(r.Str("Scope"), "openid"),
			first(r.Str("SessionTimeout"), "604800"),
			first(r.Text("OnUnauthenticatedRequest", lbkit.OneOf("deny", "allow", "authenticate")), "authenticate")
	}
	if r := e.Within("AuthenticateOidcConfig"); r != nil {
		o := &oidcConfig{Issuer: r.Need("Issuer"), AuthorizationEndpoint: r.Need("AuthorizationEndpoint"), TokenEndpoint: r.Need("TokenEndpoint"),
			UserInfoEndpoint: r.Need("UserInfoEndpoint"), ClientId: r.Need("ClientId")}
		o.SessionCookieName, o.Scope, o.SessionTimeout, o.OnUnauthenticatedRequest = common(r)
		o.AuthenticationRequestExtraParams = readExtra(r)
		a.AuthenticateOidcConfig = o
	}
	if r := e.Within("AuthenticateCognitoConfig"); r != nil {
		o := &cognitoConfig{UserPoolArn: r.Need("UserPoolArn"), UserPoolClientId: r.Need("UserPoolClientId"), UserPoolDomain: r.Need("UserPoolDomain")}
		o.SessionCookieName, o.Scope, o.SessionTimeout, o.OnUnauthenticatedRequest = common(r)
		o.AuthenticationRequestExtraParams = readExtra(r)
		a.AuthenticateCognitoConfig = o
	}
	if r := e.Within("JwtValidationConfig"); r != nil {
		a.JwtValidationConfig = readJWT(r)
	}
}

func readJWT(r *lbkit.Reader) *jwtConfig {
	out := &jwtConfig{JwksEndpoint: r.Need("JwksEndpoint"), Issuer: r.Need("Issuer")}
	r.Each("AdditionalClaims", func(e *lbkit.Reader) {
		if out.AdditionalClaims == nil {
			out.AdditionalClaims = &query.Members[jwtClaim]{}
		}
		e.Required("Values")
		format := e.Need("Format", lbkit.OneOf("single-string", "string-array", "space-separated-values"))
		claim := jwtClaim{format, e.Need("Name"), query.Members[string]{Member: e.Strs("Values")}}
		out.AdditionalClaims.Member = append(out.AdditionalClaims.Member, claim)
	})
	return out
}

// groupsOf lists the target groups that actions forward to, each once.
func groupsOf(actions []action) []string {
	var out []string
	for _, a := range actions {
		if a.ForwardConfig == nil {
			continue
		}
		for _, g := range a.ForwardConfig.TargetGroups.Member {
			if !slices.Contains(out, g.TargetGroupArn) {
				out = append(out, g.TargetGroupArn)
			}
		}
	}
	return out
}

// checkActions checks the actions of a rule and fills both forms of a forward
// action to one group, as the API answers both.
func (c *call) checkActions(l *listener, lb *loadBalancer, actions []action) error {
	if len(actions) == 0 {
		return query.Errorf("ValidationError", "At least one action must be specified")
	}
	if len(actions) > 1 {
		for i, a := range actions {
			if a.Order == 0 || slices.ContainsFunc(actions[:i], func(o action) bool { return o.Order == a.Order }) {
				return query.Errorf("ValidationError", "An unique order must be specified for each of multiple actions")
			}
		}
		slices.SortStableFunc(actions, func(a, b action) int { return a.Order - b.Order })
	}
	for i := range actions {
		last := i == len(actions)-1
		final := slices.Contains([]string{"forward", "redirect", "fixed-response"}, actions[i].Type)
		if last != final {
			return query.Errorf("InvalidLoadBalancerAction", "The last action must be forward, redirect or fixed-response, and only the last")
		}
		if lb.Type != typeApplication && actions[i].Type != "forward" {
			return query.Errorf("InvalidLoadBalancerAction", "Actions with type '%s' are not supported for load balancers with type '%s'", actions[i].Type, lb.Type)
		}
		if err := c.checkAction(l, lb, &actions[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) checkAction(l *listener, lb *loadBalancer, a *action) error {
	switch a.Type {
	case "forward":
		return c.checkForward(l, lb, a)
	case "redirect":
		if a.RedirectConfig == nil {
			return query.Errorf("InvalidLoadBalancerAction", "A redirect configuration must be specified for actions with type 'redirect'")
		}
		return a.RedirectConfig.check()
	case "fixed-response":
		if a.FixedResponseConfig == nil {
			return query.Errorf("InvalidLoadBalancerAction", "A fixed response configuration must be specified for actions with type 'fixed-response'")
		}
		types := []string{"text/html", "application/json", "application/javascript", "text/css", "text/plain"}
		if t := a.FixedResponseConfig.ContentType; t != "" && !slices.Contains(types, t) {
			return query.Errorf("InvalidLoadBalancerAction", "The ContentType must be one of:'%s'", strings.Join(types, "', '"))
		}
		return nil
	}
	if l.Protocol != "HTTPS" {
		return query.Errorf("InvalidLoadBalancerAction", "Actions with type '%s' are supported only on HTTPS listeners", a.Type)
	}
	if a.AuthenticateOidcConfig == nil && a.AuthenticateCognitoConfig == nil && a.JwtValidationConfig == nil {
		return query.Errorf("InvalidLoadBalancerAction", "An authentication configuration must be specified for actions with type '%s'", a.Type)
	}
	return nil
}

func (r *redirect) check() error {
	if n, err := strconv.Atoi(r.Port); r.Port != "#{port}" && (err != nil || n < 1 || n > 65535) {
		return query.Errorf("InvalidLoadBalancerAction", "The redirect port '%s' must be '#{port}' or a number from '1' to '65535'", r.Port)
	}
	if !strings.HasPrefix(r.Path, "/") {
		return query.Errorf("InvalidLoadBalancerAction", "The redirect path '%s' must begin with '/'", r.Path)
	}
	if r.Protocol == "#{protocol}" && r.Port == "#{port}" && r.Host == "#{host}" && r.Path == "/#{path}" {
		return query.Errorf("InvalidLoadBalancerAction", "The redirect configuration is not valid because it creates a loop.")
	}
	return nil
}

// tuples gives the target groups of a forward action, in whichever form they came.
func (a *action) tuples(limit int) ([]groupWeight, error) {
	var given []groupWeight
	if a.ForwardConfig != nil {
		given = a.ForwardConfig.TargetGroups.Member
	}
	switch {
	case len(given) == 0 && a.TargetGroupArn == "":
		return nil, query.Errorf("ValidationError", "A target group ARN must be specified")
	case len(given) == 0:
		return []groupWeight{{TargetGroupArn: a.TargetGroupArn}}, nil
	case a.TargetGroupArn != "" && (len(given) != 1 || given[0].TargetGroupArn != a.TargetGroupArn):
		return nil, query.Errorf("InvalidLoadBalancerAction", "You cannot specify both a target group ARN and a different list of target groups in an action of type 'forward'")
	case len(given) > limit:
		return nil, query.Errorf("InvalidLoadBalancerAction", "A forward action can have at most '%d' target groups", limit)
	}
	return given, nil
}

func (c *call) checkForward(l *listener, lb *loadBalancer, a *action) error {
	tuples, err := a.tuples(c.opt.Limits.GroupsPerAction)
	if err != nil {
		return err
	}
	for i, t := range tuples {
		if slices.ContainsFunc(tuples[:i], func(o groupWeight) bool { return o.TargetGroupArn == t.TargetGroupArn }) {
			return query.Errorf("InvalidLoadBalancerAction", "Target group '%s' was specified more than once in an action", t.TargetGroupArn)
		}
		if err := c.checkAssociation(l, lb, t.TargetGroupArn); err != nil {
			return err
		}
		if t.Weight == nil && lb.Type == typeApplication {
			one := 1
			tuples[i].Weight = &one
		}
	}
	s := &stickiness{}
	if f := a.ForwardConfig; f != nil && f.TargetGroupStickinessConfig != nil {
		s = f.TargetGroupStickinessConfig
	}
	if s.Enabled && s.DurationSeconds == nil && lb.Type == typeApplication {
		return query.Errorf("InvalidLoadBalancerAction", "A duration must be specified to enable target group stickiness")
	}
	a.TargetGroupArn = ""
	if len(tuples) == 1 {
		a.TargetGroupArn = tuples[0].TargetGroupArn
	}
	if lb.Type == typeGateway && !s.Enabled {
		// Gateway load balancers show no stickiness; source: CLI reference, create-listener.
		s = nil
	}
	a.ForwardConfig = &forward{query.Members[groupWeight]{Member: tuples}, s}
	return nil
}

// checkAssociation checks that a listener can forward to a target group.
func (c *call) checkAssociation(l *listener, lb *loadBalancer, arn string) error {
	tg, err := c.groupAt(arn)
	if err != nil {
		return err
	}
	if tg.VPC != "" && tg.VPC != lb.VPC {
		return invalid("The target group '%s' and the load balancer '%s' are in different VPCs", arn, lb.ARN)
	}
	if tg.TargetType == targetLambda && lb.Type == typeApplication {
		return nil
	}
	if !compatible(l.Protocol, tg.Protocol) {
		return query.Errorf("IncompatibleProtocols", "The listener and its associated target group '%s' have incompatible protocols: '%s' and '%s'", arn, l.Protocol, tg.Protocol)
	}
	if lb.Type == typeNetwork && tg.IPType == "ipv6" && lb.IPType == ipv4 {
		return invalid("The target group '%s' has IP address type 'ipv6' and can be used only with dualstack load balancers", arn)
	}
	for _, other := range c.state.loadBalancersOf(arn) {
		if other != lb.ARN && (lb.Type == typeApplication || lb.Type == typeNetwork) {
			return query.Errorf("TargetGroupAssociationLimit", "The following target groups cannot be associated with more than one load balancer: %s", arn)
		}
	}
	return nil
}

// compatible is the table of listener and target group protocols.
// Source: target group pages of the load balancer guides.
func compatible(front, back string) bool {
	switch front {
	case "HTTP", "HTTPS":
		return isWeb(back)
	case "TLS":
		return back == "TCP" || back == "TLS"
	case "TCP":
		return back == "TCP" || back == "TCP_UDP" || back == "TCP_QUIC"
	case "UDP":
		return back == "UDP" || back == "TCP_UDP"
	case "QUIC":
		return back == "QUIC" || back == "TCP_QUIC"
	case "":
		return back == "GENEVE"
	}
	return front == back
}
