package elbv2

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// listenerWish is what a call says of a listener; nil and "" mean nothing.
type listenerWish struct {
	port         *int
	protocol     string
	policy       string
	certificates []string
	alpn         []string
	actions      []action
}

func (c *call) readListener() listenerWish {
	w := listenerWish{
		port:         c.Number("Port", 1, 65535),
		protocol:     c.Text("Protocol", lbkit.OneOf(targetProtocols()...)),
		policy:       c.Str("SslPolicy"),
		certificates: c.readCertificates(),
		alpn:         c.Strs("AlpnPolicy"),
		actions:      c.readActions("DefaultActions"),
	}
	return w
}

// usesTLS reports whether a protocol needs a certificate.
func usesTLS(protocol string) bool { return protocol == "TLS" }

func createListener(c *call) (any, error) {
	c.Required("DefaultActions")
	w := c.readListener()
	tags := c.Tags("Tags")
	lb, err := c.loadBalancer()
	if err != nil {
		return nil, err
	}
	l := &listener{LoadBalancer: lb.ARN}
	if err := c.shape(l, lb, w); err != nil {
		return nil, err
	}
	if l.Tags, err = lbkit.MergeTags(nil, tags, c.opt.Limits.Tags); err != nil {
		return nil, err
	}
	for _, old := range c.State.listenersOf(lb.ARN) {
		if old.Port != l.Port {
			continue
		}
		// A listener with the same settings is passed over; source: API reference, CreateListener.
		if c.sameListener(old, l, w.actions) {
			return c.listeners(old), nil
		}
		return nil, query.Errorf("DuplicateListener", "A listener already exists on this port for this load balancer '%s'", lb.ARN)
	}
	if len(c.State.listenersOf(lb.ARN)) >= c.opt.Limits.Listeners {
		return nil, query.Errorf("TooManyListeners", "The maximum number of listeners has been reached on load balancer '%s'", lb.ARN)
	}
	base := strings.Replace(lb.ARN, ":loadbalancer/", ":listener/", 1)
	l.Seq, l.ID = c.next("listener")
	l.ARN = base + "/" + l.ID
	_, l.Rule = c.next("rule")
	l.Attributes = l.defaultAttributes()
	l.Actions = w.actions
	c.State.Listeners[l.ARN] = l
	if err := c.used(l); err != nil {
		c.dropListener(l)
		return nil, err
	}
	return c.listeners(l), nil
}

// used checks the quotas that depend on which groups are in use, and notes their use.
func (c *call) used(l *listener) error {
	c.State.users = nil
	for _, g := range groupsOf(l.Actions) {
		if err := c.checkLoad(g); err != nil {
			return err
		}
	}
	c.State.markUse(c.now)
	return nil
}

func (c *call) sameListener(old, l *listener, actions []action) bool {
	return old.Protocol == l.Protocol && old.SSLPolicy == l.SSLPolicy && old.Certificate == l.Certificate &&
		slices.Equal(old.ALPN, l.ALPN) && lbkit.SameTags(old.Tags, l.Tags) && sameActions(old.Actions, actions)
}

// shape applies a wish to a listener, which is new or a copy, and checks the outcome.
func (c *call) shape(l *listener, lb *loadBalancer, w listenerWish) error {
	was := l.Protocol
	if w.protocol != "" {
		l.Protocol = w.protocol
	}
	if w.port != nil {
		l.Port = *w.port
	}
	if err := checkProtocol(l, lb); err != nil {
		return err
	}
	if usesTLS(was) && !usesTLS(l.Protocol) {
		l.SSLPolicy, l.Certificate, l.Extra, l.ALPN = "", "", nil, nil
	}
	if err := c.checkTLS(l, w); err != nil {
		return err
	}
	if w.actions != nil || l.ARN == "" {
		return c.checkActions(l, lb, w.actions)
	}
	return nil
}

func checkProtocol(l *listener, lb *loadBalancer) error {
	if l.Port == 0 {
		return query.Errorf("ValidationError", "A listener port must be specified")
	}
	if l.Protocol == "" {
		return query.Errorf("ValidationError", "A listener protocol must be specified")
	}
	allowed := networkProtocols()
	if !slices.Contains(allowed, l.Protocol) {
		return query.Errorf("ValidationError", "Listener protocol '%s' must be one of '%s'", l.Protocol, strings.Join(allowed, ", "))
	}
	if carriesUDP(l.Protocol) && lb.IPType == dualstack && lb.SourceNAT != "on" {
		return invalidConfiguration("Listeners with the %s protocol are not supported for load balancers with IP address type 'dualstack' unless EnablePrefixForIpv6SourceNat is 'on'", l.Protocol)
	}
	return nil
}

// checkTLS settles certificate, policy and ALPN.
func (c *call) checkTLS(l *listener, w listenerWish) error {
	if !usesTLS(l.Protocol) {
		switch {
		case len(w.certificates) > 0:
			return invalidConfiguration("Certificates cannot be specified for listeners with the %s protocol", l.Protocol)
		case w.policy != "":
			return invalidConfiguration("An SSL policy cannot be specified for listeners with the %s protocol", l.Protocol)
		case len(w.alpn) > 0:
			return invalidConfiguration("An ALPN policy cannot be specified for listeners with the %s protocol", l.Protocol)
		}
		return nil
	}
	if len(w.certificates) > 1 {
		return query.Errorf("ValidationError", "Only one certificate can be specified as the default certificate of a listener")
	}
	if len(w.certificates) == 1 {
		if err := c.checkCertificate(w.certificates[0]); err != nil {
			return err
		}
		l.Certificate = w.certificates[0]
	}
	if l.Certificate == "" {
		return query.Errorf("ValidationError", "A certificate must be specified for %s listeners", l.Protocol)
	}
	l.SSLPolicy = firstNonEmpty(w.policy, l.SSLPolicy, defaultSSLPolicy)
	if !slices.Contains(sslPolicies(), l.SSLPolicy) {
		return query.Errorf("SSLPolicyNotFound", "SSL policy '%s' not found", l.SSLPolicy)
	}
	if len(w.alpn) == 0 {
		return nil
	}
	if len(w.alpn) > 1 {
		return query.Errorf("ValidationError", "Only one ALPN policy can be specified")
	}
	if !slices.Contains([]string{"HTTP1Only", "HTTP2Only", "HTTP2Optional", "HTTP2Preferred", "None"}, w.alpn[0]) {
		return query.Errorf("ALPNPolicyNotFound", "ALPN policy '%s' is not supported", w.alpn[0])
	}
	l.ALPN = w.alpn
	return nil
}

// listener reads ListenerArn and gives the listener with its load balancer.
func (c *call) listener() (*listener, *loadBalancer, error) {
	l, err := findByMember(c, "ListenerArn", (*call).listenerAt)
	if err != nil {
		return nil, nil, err
	}
	return l, c.State.LoadBalancers[l.LoadBalancer], nil
}

func (c *call) listenerAt(arn string) (*listener, error) {
	return findByARN(c.State.Listeners, arn, "listener", "listener", "ListenerNotFound")
}

func modifyListener(c *call) (any, error) {
	w := c.readListener()
	l, lb, err := c.listener()
	if err != nil {
		return nil, err
	}
	if c.Has("DefaultActions") && len(w.actions) == 0 {
		return nil, query.Errorf("ValidationError", "At least one action must be specified")
	}
	changed := *l
	if err := c.shape(&changed, lb, w); err != nil {
		return nil, err
	}
	for _, o := range c.State.listenersOf(lb.ARN) {
		if o != l && o.Port == changed.Port {
			return nil, query.Errorf("DuplicateListener", "A listener already exists on this port for this load balancer '%s'", lb.ARN)
		}
	}
	if w.actions == nil {
		// The present actions must fit a changed protocol.
		for _, g := range groupsOf(l.Actions) {
			if err := c.checkAssociation(&changed, lb, g); err != nil {
				return nil, err
			}
		}
	}
	before := *l
	*l = changed
	if l.Protocol != before.Protocol {
		l.Attributes = l.defaultAttributes()
	}
	if w.actions != nil {
		l.Actions = w.actions
	}
	if err := c.used(l); err != nil {
		*l, c.State.users = before, nil
		return nil, err
	}
	return c.listeners(l), nil
}

func deleteListener(c *call) (any, error) {
	l, _, err := c.listener()
	if err != nil {
		return nil, err
	}
	c.dropListener(l)
	c.State.markUse(c.now)
	return nil, nil
}

// dropListener removes a listener.
func (c *call) dropListener(l *listener) {
	delete(c.State.Listeners, l.ARN)
	c.State.users = nil
}

func describeListeners(c *call) (any, error) {
	arns, balancer := c.Strs("ListenerArns"), c.Str("LoadBalancerArn")
	marker, size := c.Paging()
	if err := c.Err(); err != nil {
		return nil, err
	}
	switch {
	case len(arns) == 0 && balancer == "":
		return nil, query.Errorf("ValidationError", "You must specify either listener ARNs or a load balancer ARN")
	case len(arns) > 0 && balancer != "":
		return nil, query.Errorf("ValidationError", "Listener ARNs and a load balancer ARN cannot be specified at the same time")
	}
	var all []*listener
	if balancer != "" {
		lb, err := c.loadBalancerAt(balancer)
		if err != nil {
			return nil, err
		}
		all = c.State.listenersOf(lb.ARN)
	}
	for _, arn := range arns {
		if err := checkARN(arn, "listener", "listener"); err != nil {
			return nil, err
		}
		l, ok := c.State.Listeners[arn]
		if !ok {
			return nil, query.Errorf("ListenerNotFound", "One or more listeners not found")
		}
		if !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b *listener) int { return a.Seq - b.Seq })
	page, next, err := lbkit.Page(all, func(l *listener) string { return sortKey(l.Seq) }, marker, size)
	if err != nil {
		return nil, err
	}
	out := c.listeners(page...)
	out.NextMarker = next
	return out, nil
}

type listenerView struct {
	ListenerArn     string
	LoadBalancerArn string
	Port            int                             `xml:",omitempty"`
	Protocol        string                          `xml:",omitempty"`
	Certificates    *query.Members[certificateView] `xml:",omitempty"`
	SslPolicy       string                          `xml:",omitempty"`
	DefaultActions  query.Members[action]
	AlpnPolicy      *query.Members[string] `xml:",omitempty"`
}

type listenersAnswer struct {
	Listeners  query.Members[listenerView]
	NextMarker string `xml:",omitempty"`
}

func (c *call) listeners(ls ...*listener) listenersAnswer {
	var out listenersAnswer
	for _, l := range ls {
		v := listenerView{ListenerArn: l.ARN, LoadBalancerArn: l.LoadBalancer, Port: l.Port, Protocol: l.Protocol,
			SslPolicy: l.SSLPolicy}
		v.DefaultActions.Member = l.Actions
		if l.Certificate != "" {
			v.Certificates = &query.Members[certificateView]{Member: []certificateView{{CertificateArn: l.Certificate}}}
		}
		if len(l.ALPN) > 0 {
			v.AlpnPolicy = &query.Members[string]{Member: l.ALPN}
		}
		out.Listeners.Member = append(out.Listeners.Member, v)
	}
	return out
}
