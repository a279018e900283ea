package doctor

import (
	"crypto/x509"
	"encoding/pem"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
)

func checkWebhook(c Cluster) []providers.Diagnosis {
	var out []providers.Diagnosis
	found := false
	for _, h := range c.Webhooks {
		if c.Release == "" || h.Release != c.Release {
			continue
		}
		found = true
		if d := c.checkBundle(h); d != nil {
			out = append(out, *d)
		}
	}
	switch {
	case !found && c.Release == "":
		return []providers.Diagnosis{providers.Unchecked(CodeWebhook, "webhook", "no release was named", "Name the release: --release NAME.")}
	case !found:
		return []providers.Diagnosis{newFine("webhook", "the release has none")}
	case len(out) == 0:
		return []providers.Diagnosis{newFine("webhook", "the API server trusts its certificate")}
	}
	return out
}

// checkBundle verifies the certificate for one webhook; nil: the API server trusts it.
func (c Cluster) checkBundle(h Webhook) *providers.Diagnosis {
	about, state := "webhook "+h.Name, "the API server cannot call it"
	fail := func(cause string, args ...any) *providers.Diagnosis {
		d := newFault(about, state, cause, args...)
		return &d
	}
	if len(h.Bundle) == 0 {
		return fail("caBundle in %s is empty", h.Configuration)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(h.Bundle) {
		return fail("caBundle in %s has no certificate", h.Configuration)
	}
	block, _ := pem.Decode(c.Secret[corev1.TLSCertKey])
	if block == nil {
		return fail("the Secret of the webhook has no certificate")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return fail("the certificate in the Secret cannot be read: %v", err)
	}
	if c.Now.After(cert.NotAfter) {
		return fail("the certificate expired at %s", cert.NotAfter.UTC().Format(time.RFC3339))
	}
	if _, err := cert.Verify(x509.VerifyOptions{DNSName: h.Host, Roots: roots, CurrentTime: c.Now}); err != nil {
		return fail("%v", err)
	}
	return nil
}
