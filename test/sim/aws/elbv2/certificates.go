package elbv2

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

type certificate struct {
	CertificateArn string
	IsDefault      *bool `xml:",omitempty"`
}

type certificatesAnswer struct {
	Certificates []certificate
	NextMarker   string `xml:",omitempty"`
}

// certificateList is the members of a call on the certificate list of a listener.
type certificateList struct {
	Certificates []certificate `required:"true"`
	ofListener
}

// arns returns the certificates of the list.
func (in certificateList) arns(l *listener) ([]string, error) {
	if len(in.Certificates) == 0 {
		return nil, query.Errorf("ValidationError", "At least one certificate must be specified")
	}
	if !usesTLS(l.Protocol) {
		return nil, invalidConfiguration("Certificates are not supported for listeners with the %s protocol", l.Protocol)
	}
	var out []string
	for _, cert := range in.Certificates {
		out = append(out, cert.CertificateArn)
	}
	return out, nil
}

func (c *call) checkCertificate(arn string) error {
	if !c.opt.HasCertificate(arn) {
		return query.Errorf("CertificateNotFound", "Certificate '%s' not found", arn)
	}
	return nil
}

func addCertificates(c *call, l *listener, in certificateList) (any, error) {
	arns, err := in.arns(l)
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
			if arn != o.certificate() {
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
		out.Certificates = append(out.Certificates, certificate{arn, new(bool)})
	}
	return out, nil
}

func removeCertificates(_ *call, l *listener, in certificateList) (any, error) {
	arns, err := in.arns(l)
	if err != nil {
		return nil, err
	}
	for _, arn := range arns {
		if arn == l.certificate() && !slices.Contains(l.Extra, arn) {
			return nil, query.Errorf("OperationNotPermitted", "The default certificate '%s' cannot be removed", arn)
		}
	}
	l.Extra = slices.DeleteFunc(slices.Clone(l.Extra), func(arn string) bool { return slices.Contains(arns, arn) })
	return nil, nil
}

type describeCertificatesInput struct {
	lbkit.Paging
	ofListener
}

func describeCertificates(_ *call, l *listener, in describeCertificatesInput) (any, error) {
	// The default certificate is first, and repeated when it is in the list too.
	type entry struct {
		key string
		certificate
	}
	var all []entry
	if arn := l.certificate(); arn != "" {
		yes := true
		all = append(all, entry{sortKey(0), certificate{arn, &yes}})
	}
	for i, arn := range l.Extra {
		all = append(all, entry{sortKey(i + 1), certificate{arn, new(bool)}})
	}
	page, next, err := lbkit.Page(all, func(e entry) string { return e.key }, in.Paging)
	if err != nil {
		return nil, err
	}
	out := certificatesAnswer{NextMarker: next}
	for _, e := range page {
		out.Certificates = append(out.Certificates, e.certificate)
	}
	return out, nil
}
