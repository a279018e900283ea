package elbv2

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

type certificateView struct {
	CertificateArn string
	IsDefault      *bool `xml:",omitempty"`
}

type certificatesAnswer struct {
	Certificates query.Members[certificateView]
	NextMarker   string `xml:",omitempty"`
}

func (c *call) readCertificates() []string {
	var out []string
	c.Each("Certificates", func(e *lbkit.Reader) { out = append(out, e.Str("CertificateArn")) })
	return out
}

func (c *call) checkCertificate(arn string) error {
	if !c.opt.HasCertificate(arn) {
		return query.Errorf("CertificateNotFound", "Certificate '%s' not found", arn)
	}
	return nil
}

// listed reads the listener and the certificates of a call on the certificate list.
func (c *call) listed() (*listener, []string, error) {
	c.Required("Certificates")
	arns := c.readCertificates()
	l, _, err := c.listener()
	if err != nil {
		return nil, nil, err
	}
	if len(arns) == 0 {
		return nil, nil, query.Errorf("ValidationError", "At least one certificate must be specified")
	}
	if !usesTLS(l.Protocol) {
		return nil, nil, invalidConfiguration("Certificates are not supported for listeners with the %s protocol", l.Protocol)
	}
	return l, arns, nil
}

func addCertificates(c *call) (any, error) {
	l, arns, err := c.listed()
	if err != nil {
		return nil, err
	}
	all := slices.Clone(l.Extra)
	for _, arn := range arns {
		if err := c.checkCertificate(arn); err != nil {
			return nil, err
		}
		if !slices.Contains(all, arn) {
			all = append(all, arn)
		}
	}
	// The quota does not count default certificates; source: quotas page of the guide.
	count := 0
	for _, o := range c.State.listenersOf(l.LoadBalancer) {
		list := o.Extra
		if o == l {
			list = all
		}
		for _, arn := range list {
			if arn != o.Certificate {
				count++
			}
		}
	}
	if count > c.opt.Limits.Certificates {
		return nil, query.Errorf("TooManyCertificates", "The maximum number of certificates has been reached on load balancer '%s'", l.LoadBalancer)
	}
	l.Extra = all
	var out certificatesAnswer
	for _, arn := range arns {
		no := false
		out.Certificates.Member = append(out.Certificates.Member, certificateView{arn, &no})
	}
	return out, nil
}

func removeCertificates(c *call) (any, error) {
	l, arns, err := c.listed()
	if err != nil {
		return nil, err
	}
	for _, arn := range arns {
		if arn == l.Certificate && !slices.Contains(l.Extra, arn) {
			return nil, query.Errorf("OperationNotPermitted", "The default certificate '%s' cannot be removed", arn)
		}
	}
	l.Extra = slices.DeleteFunc(slices.Clone(l.Extra), func(arn string) bool { return slices.Contains(arns, arn) })
	return nil, nil
}

func describeCertificates(c *call) (any, error) {
	marker, size := c.Paging()
	l, _, err := c.listener()
	if err != nil {
		return nil, err
	}
	// The default certificate is first, and repeated when it is in the list too.
	type entry struct {
		key  string
		view certificateView
	}
	var all []entry
	if l.Certificate != "" {
		yes := true
		all = append(all, entry{sortKey(0), certificateView{l.Certificate, &yes}})
	}
	for i, arn := range l.Extra {
		no := false
		all = append(all, entry{sortKey(i + 1), certificateView{arn, &no}})
	}
	page, next, err := lbkit.Page(all, func(e entry) string { return e.key }, marker, size)
	if err != nil {
		return nil, err
	}
	out := certificatesAnswer{NextMarker: next}
	for _, e := range page {
		out.Certificates.Member = append(out.Certificates.Member, e.view)
	}
	return out, nil
}
