package elb

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// createListenersInput is the members of a call on listeners.
type createListenersInput struct {
	Listeners []listenerSettings `required:"true"`
	ofBalancer
}

// newListeners makes listeners; protocols become upper case, as the API returns them.
func newListeners(given []listenerSettings) []*listener {
	var out []*listener
	for _, l := range given {
		l.Protocol, l.InstanceProtocol = strings.ToUpper(l.Protocol), strings.ToUpper(l.InstanceProtocol)
		if l.InstanceProtocol == "" {
			l.InstanceProtocol = defaultInstanceProtocol(l.Protocol)
		}
		out = append(out, &listener{listenerSettings: l})
	}
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
			if old.listenerSettings != l.listenerSettings {
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
			l.Policies = []string{defaultSSLPolicy}
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

func createListeners(c *call, lb *loadBalancer, in createListenersInput) (any, error) {
	if len(in.Listeners) == 0 {
		return nil, query.Errorf("ValidationError", "Listeners cannot be empty")
	}
	return nil, c.addListeners(lb, newListeners(in.Listeners))
}

type deleteListenersInput struct {
	LoadBalancerPorts []int `required:"true"`
	ofBalancer
}

func deleteListeners(_ *call, lb *loadBalancer, in deleteListenersInput) (any, error) {
	// Ports without a listener are passed over: the operation knows no error for them.
	lb.Listeners = slices.DeleteFunc(slices.Clone(lb.Listeners), func(l *listener) bool { return slices.Contains(in.LoadBalancerPorts, l.Port) })
	return nil, nil
}

// ofListener is the member of a request that names a listener.
type ofListener struct {
	LoadBalancerPort int `required:"true" range:"1..65535"`
}

func (of ofListener) listener(lb *loadBalancer) (*listener, error) {
	if l := lb.listener(of.LoadBalancerPort); l != nil {
		return l, nil
	}
	return nil, query.Errorf("ListenerNotFound", "Load balancer %s does not have a listener configured at port %d", lb.Name, of.LoadBalancerPort)
}

type setListenerCertificateInput struct {
	ofListener
	Certificate string `xml:"SSLCertificateId" required:"true"`
	ofBalancer
}

func setListenerCertificate(c *call, lb *loadBalancer, in setListenerCertificateInput) (any, error) {
	l, err := in.listener(lb)
	if err != nil {
		return nil, err
	}
	if !usesTLS(l.Protocol) {
		return nil, configurationConflict("The listener at port %d does not use HTTPS or SSL", l.Port)
	}
	if err := c.checkCertificate(in.Certificate); err != nil {
		return nil, err
	}
	l.Certificate = in.Certificate
	return nil, nil
}
