package elb

import (
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// readListeners reads the list; protocols become upper case, as the API returns them.
func (c *call) readListeners() []*listener {
	var out []*listener
	c.Each("Listeners", func(e *lbkit.Reader) {
		e.Required("LoadBalancerPort", "InstancePort")
		l := &listener{
			Protocol:         strings.ToUpper(e.Need("Protocol")),
			InstanceProtocol: strings.ToUpper(e.Str("InstanceProtocol")),
			Certificate:      e.Str("SSLCertificateId"),
		}
		if n := e.Number("LoadBalancerPort", 1, 65535); n != nil {
			l.Port = *n
		}
		if n := e.Number("InstancePort", 1, 65535); n != nil {
			l.InstancePort = *n
		}
		if l.InstanceProtocol == "" {
			l.InstanceProtocol = defaultInstanceProtocol(l.Protocol)
		}
		out = append(out, l)
	})
	return out
}

// defaultInstanceProtocol returns the protocol to instances when none is named: TLS
// ends at the load balancer.
func defaultInstanceProtocol(protocol string) string {
	switch protocol {
	case "HTTPS":
		return "HTTP"
	case "SSL":
		return "TCP"
	}
	return protocol
}

func usesTLS(protocol string) bool { return protocol == "HTTPS" || protocol == "SSL" }

func layer7(protocol string) bool { return protocol == "HTTP" || protocol == "HTTPS" }

func (l *listener) same(o *listener) bool {
	return l.Protocol == o.Protocol && l.InstanceProtocol == o.InstanceProtocol &&
		l.InstancePort == o.InstancePort && l.Certificate == o.Certificate
}

func (c *call) checkListener(l *listener) error {
	for _, p := range []string{l.Protocol, l.InstanceProtocol} {
		if !slices.Contains([]string{"HTTP", "HTTPS", "TCP", "SSL"}, p) {
			return query.Errorf("UnsupportedProtocol", "The requested protocol '%s' is not supported. Must be one of HTTP, HTTPS, TCP, SSL", p)
		}
	}
	if layer7(l.Protocol) != layer7(l.InstanceProtocol) {
		return query.Errorf("ValidationError", "Protocol '%s' and InstanceProtocol '%s' must be of the same layer", l.Protocol, l.InstanceProtocol)
	}
	if !usesTLS(l.Protocol) {
		return nil
	}
	if l.Certificate == "" {
		return query.Errorf("ValidationError", "Secure Listeners need to specify a SSLCertificateId")
	}
	return c.checkCertificate(l.Certificate)
}

func (c *call) checkCertificate(arn string) error {
	if !c.opt.HasCertificate(arn) {
		return query.Errorf("CertificateNotFound", "Server Certificate not found for the key: %s", arn)
	}
	return nil
}

// addListeners adds all or none. An equal listener that already exists is skipped.
func (c *call) addListeners(lb *loadBalancer, add []*listener) error {
	all := slices.Clone(lb.Listeners)
	at := func(port int) *listener {
		i := slices.IndexFunc(all, func(l *listener) bool { return l.Port == port })
		if i < 0 {
			return nil
		}
		return all[i]
	}
	negotiation := false
	for _, l := range add {
		if err := c.checkListener(l); err != nil {
			return err
		}
		if old := at(l.Port); old != nil {
			if !old.same(l) {
				return query.Errorf("DuplicateListener",
					"A listener already exists for %s with LoadBalancerPort %d, but with a different InstancePort, Protocol, or SSLCertificateId", lb.Name, l.Port)
			}
			continue
		}
		if i := slices.IndexFunc(all, func(o *listener) bool {
			return o.InstancePort == l.InstancePort && usesTLS(o.InstanceProtocol) != usesTLS(l.InstanceProtocol)
		}); i >= 0 {
			return configurationConflict("A listener with InstancePort %d uses InstanceProtocol %s; secure and plain protocols cannot be mixed on one instance port",
				l.InstancePort, all[i].InstanceProtocol)
		}
		if usesTLS(l.Protocol) {
			negotiation = true
			l.Policies.Member = []string{defaultSSLPolicy}
		}
		all = append(all, l)
	}
	if len(all) > c.opt.Limits.Listeners {
		return configurationConflict("Exceeded the limit of %d listeners of a load balancer", c.opt.Limits.Listeners)
	}
	if negotiation {
		lb.adopt(defaultSSLPolicy)
	}
	lb.Listeners = all
	return nil
}

func createListeners(c *call) (any, error) {
	c.Required("Listeners")
	add := c.readListeners()
	lb, err := c.target()
	if err != nil {
		return nil, err
	}
	if len(add) == 0 {
		return nil, query.Errorf("ValidationError", "Listeners cannot be empty")
	}
	return nil, c.addListeners(lb, add)
}

func deleteListeners(c *call) (any, error) {
	c.Required("LoadBalancerPorts")
	var ports []int
	for _, v := range c.Strs("LoadBalancerPorts") {
		port, err := strconv.Atoi(v)
		if err != nil {
			return nil, query.Errorf("ValidationError", "Value '%s' at 'loadBalancerPorts' is not a valid integer", v)
		}
		ports = append(ports, port)
	}
	lb, err := c.target()
	if err != nil {
		return nil, err
	}
	// Ports without a listener are passed over: the operation knows no error for them.
	lb.Listeners = slices.DeleteFunc(slices.Clone(lb.Listeners), func(l *listener) bool { return slices.Contains(ports, l.Port) })
	return nil, nil
}

func setListenerCertificate(c *call) (any, error) {
	c.Required("LoadBalancerPort", "SSLCertificateId")
	port := c.Number("LoadBalancerPort", 1, 65535)
	lb, err := c.target()
	if err != nil {
		return nil, err
	}
	l := lb.listener(*port)
	if l == nil {
		return nil, noListener(lb.Name, *port)
	}
	if !usesTLS(l.Protocol) {
		return nil, configurationConflict("The listener at port %d does not use HTTPS or SSL", *port)
	}
	arn := c.Str("SSLCertificateId")
	if err := c.checkCertificate(arn); err != nil {
		return nil, err
	}
	l.Certificate = arn
	return nil, nil
}

func noListener(name string, port int) error {
	return query.Errorf("ListenerNotFound", "Load balancer %s does not have a listener configured at port %d", name, port)
}
