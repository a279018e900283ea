package elbv2

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// listenerSettings is what a call says of a listener, where 0, "" and nil mean nothing, and the
// settings of a listener, kept and answered.
type listenerSettings struct {
	Port         int           `xml:",omitempty" range:"1..65535"`
	Protocol     string        `xml:",omitempty" enum:"HTTP|HTTPS|TCP|TLS|UDP|TCP_UDP|GENEVE|QUIC|TCP_QUIC"`
	Certificates []certificate `xml:",omitempty"`
	SSLPolicy    string        `xml:"SslPolicy,omitempty"`
	ALPN         []string      `xml:"AlpnPolicy,omitempty"`
}

// listenerView is what answers say of a listener.
type listenerView struct {
	ARN          string `xml:"ListenerArn"`
	LoadBalancer string `xml:"LoadBalancerArn"`
	listenerSettings
	Actions []action `xml:"DefaultActions"`
}

type createListenerInput struct {
	listenerSettings
	DefaultActions []action `required:"true"`
	lbkit.Tagged
	ofBalancer
}

type modifyListenerInput struct {
	listenerSettings
	DefaultActions []action
	ofListener
}

// certificate returns the ARN of the default certificate, if there is one.
func (l *listener) certificate() string {
	if len(l.Certificates) == 0 {
		return ""
	}
	return l.Certificates[0].CertificateArn
}

// usesTLS reports whether a protocol needs a certificate.
func usesTLS(protocol string) bool { return protocol == "TLS" }

func createListener(c *call, lb *loadBalancer, in createListenerInput) (_ any, err error) {
	l := &listener{listenerView: listenerView{LoadBalancer: lb.ARN}}
	if err := c.shape(l, lb, in.listenerSettings, in.DefaultActions); err != nil {
		return nil, err
	}
	if l.Tags, err = lbkit.MergeTags(nil, in.Tags, c.opt.Limits.Tags); err != nil {
		return nil, err
	}
	for _, old := range c.State.listenersOf(lb.ARN) {
		if old.Port != l.Port {
			continue
		}
		// A listener with the same settings is passed over; source: API reference, CreateListener.
		if sameListener(old, l, in.DefaultActions) {
			return answerListeners(old), nil
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
	l.Actions = in.DefaultActions
	c.State.Listeners[l.ARN] = l
	if err := c.used(l); err != nil {
		c.dropListener(l)
		return nil, err
	}
	return answerListeners(l), nil
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

func sameListener(old, l *listener, actions []action) bool {
	return reflect.DeepEqual(old.listenerSettings, l.listenerSettings) && lbkit.SameTags(old.Tags, l.Tags) && reflect.DeepEqual(old.Actions, actions)
}

// shape applies a wish to a listener, which is new or a copy, and checks the outcome.
func (c *call) shape(l *listener, lb *loadBalancer, w listenerSettings, actions []action) error {
	was := l.Protocol
	l.Protocol = cmp.Or(w.Protocol, l.Protocol)
	l.Port = cmp.Or(w.Port, l.Port)
	if err := checkProtocol(l, lb); err != nil {
		return err
	}
	if usesTLS(was) && !usesTLS(l.Protocol) {
		l.SSLPolicy, l.Certificates, l.Extra, l.ALPN = "", nil, nil, nil
	}
	if err := c.checkTLS(l, w); err != nil {
		return err
	}
	if actions != nil || l.ARN == "" {
		return c.checkActions(l, lb, actions)
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
func (c *call) checkTLS(l *listener, w listenerSettings) error {
	if !usesTLS(l.Protocol) {
		switch {
		case len(w.Certificates) > 0:
			return invalidConfiguration("Certificates cannot be specified for listeners with the %s protocol", l.Protocol)
		case w.SSLPolicy != "":
			return invalidConfiguration("An SSL policy cannot be specified for listeners with the %s protocol", l.Protocol)
		case len(w.ALPN) > 0:
			return invalidConfiguration("An ALPN policy cannot be specified for listeners with the %s protocol", l.Protocol)
		}
		return nil
	}
	if len(w.Certificates) > 1 {
		return query.Errorf("ValidationError", "Only one certificate can be specified as the default certificate of a listener")
	}
	if len(w.Certificates) == 1 {
		if err := c.checkCertificate(w.Certificates[0].CertificateArn); err != nil {
			return err
		}
		l.Certificates = []certificate{{CertificateArn: w.Certificates[0].CertificateArn}}
	}
	if l.certificate() == "" {
		return query.Errorf("ValidationError", "A certificate must be specified for %s listeners", l.Protocol)
	}
	l.SSLPolicy = cmp.Or(w.SSLPolicy, l.SSLPolicy, defaultSSLPolicy)
	if !slices.Contains(sslPolicies(), l.SSLPolicy) {
		return query.Errorf("SSLPolicyNotFound", "SSL policy '%s' not found", l.SSLPolicy)
	}
	if len(w.ALPN) == 0 {
		return nil
	}
	if len(w.ALPN) > 1 {
		return query.Errorf("ValidationError", "Only one ALPN policy can be specified")
	}
	if !slices.Contains([]string{"HTTP1Only", "HTTP2Only", "HTTP2Optional", "HTTP2Preferred", "None"}, w.ALPN[0]) {
		return query.Errorf("ALPNPolicyNotFound", "ALPN policy '%s' is not supported", w.ALPN[0])
	}
	l.ALPN = w.ALPN
	return nil
}

// ofListener is the member of a request that names a listener.
type ofListener struct {
	ListenerArn string `required:"true"`
}

// Find gives the listener.
func (of ofListener) Find(c *call) (*listener, error) { return c.listenerAt(of.ListenerArn) }

func (c *call) listenerAt(arn string) (*listener, error) {
	return findByARN(c.State.Listeners, arn, "listener", "listener", "ListenerNotFound")
}

func modifyListener(c *call, l *listener, in modifyListenerInput) (any, error) {
	if in.DefaultActions != nil && len(in.DefaultActions) == 0 {
		return nil, query.Errorf("ValidationError", "At least one action must be specified")
	}
	lb := c.State.LoadBalancers[l.LoadBalancer]
	changed := *l
	if err := c.shape(&changed, lb, in.listenerSettings, in.DefaultActions); err != nil {
		return nil, err
	}
	for _, o := range c.State.listenersOf(lb.ARN) {
		if o != l && o.Port == changed.Port {
			return nil, query.Errorf("DuplicateListener", "A listener already exists on this port for this load balancer '%s'", lb.ARN)
		}
	}
	if in.DefaultActions == nil {
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
	if in.DefaultActions != nil {
		l.Actions = in.DefaultActions
	}
	if err := c.used(l); err != nil {
		*l, c.State.users = before, nil
		return nil, err
	}
	return answerListeners(l), nil
}

func deleteListener(c *call, l *listener, _ ofListener) (any, error) {
	c.dropListener(l)
	c.State.markUse(c.now)
	return nil, nil
}

// dropListener removes a listener.
func (c *call) dropListener(l *listener) {
	delete(c.State.Listeners, l.ARN)
	c.State.users = nil
}

type describeListenersInput struct {
	ListenerArns    []string
	LoadBalancerArn string
	lbkit.Paging
}

type listenersAnswer struct {
	Listeners  []listenerView
	NextMarker string `xml:",omitempty"`
}

func answerListeners(ls ...*listener) listenersAnswer {
	var out listenersAnswer
	for _, l := range ls {
		out.Listeners = append(out.Listeners, l.listenerView)
	}
	return out
}

func describeListeners(c *call, in describeListenersInput) (any, error) {
	switch {
	case len(in.ListenerArns) == 0 && in.LoadBalancerArn == "":
		return nil, query.Errorf("ValidationError", "You must specify either listener ARNs or a load balancer ARN")
	case len(in.ListenerArns) > 0 && in.LoadBalancerArn != "":
		return nil, query.Errorf("ValidationError", "Listener ARNs and a load balancer ARN cannot be specified at the same time")
	}
	all, err := findEach(c.State.Listeners, in.ListenerArns, "listener", "listener", "ListenerNotFound")
	if err != nil {
		return nil, err
	}
	if in.LoadBalancerArn != "" {
		lb, err := c.loadBalancerAt(in.LoadBalancerArn)
		if err != nil {
			return nil, err
		}
		all = c.State.listenersOf(lb.ARN)
	}
	slices.SortFunc(all, func(a, b *listener) int { return a.Seq - b.Seq })
	page, next, err := lbkit.Page(slices.Compact(all), func(l *listener) string { return sortKey(l.Seq) }, in.Paging)
	out := answerListeners(page...)
	out.NextMarker = next
	return out, err
}
