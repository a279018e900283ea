package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Keys of a Secret with a certificate.
// Source: load_balancer_spec.go (readSSLSecret).
const (
	secretPublic     = "tls.crt"
	secretPrivate    = "tls.key"
	secretAuthority  = "ca.crt"
	secretPassphrase = "passphrase"
)

// Refers lists the Secrets, and the ConfigMap, that a Service names for TLS. They are of
// use only where a port ends TLS.
func Refers(in Input) []providers.Reference {
	var out []providers.Reference
	for _, key := range []*annotations.Key[string]{tlsSecretKey, backendSecretKey} {
		if ref, ok := secretOf(in, key); ok {
			out = append(out, ref)
		}
	}
	if ref, ok := mapOf(in); ok {
		out = append(out, ref)
	}
	return out
}

// mapOf is the ConfigMap that a Service names; false: there is none, or no use for it.
func mapOf(in Input) (providers.Reference, bool) {
	name := certificateMapKey.Get(in.Values)
	return providers.Reference{Kind: providers.ConfigMap, Namespace: in.Service.Namespace, Name: name}, in.Kind == LB && name != "" && terminatesTLS(in)
}

// certificatePrefix begins the OCID of a certificate of the Certificates service.
const certificatePrefix = "ocid1.certificate."

// certificatesOf are the OCIDs that a ConfigMap has under a port; nil: it has none. It
// fails where they are no JSON array of texts.
func certificatesOf(object providers.Object, port int32) (ids []string, err error) {
	text, there := object.Data[strconv.Itoa(int(port))]
	if there {
		err = json.Unmarshal(text, &ids)
	}
	return ids, err
}

// managed is the OCID of the certificate that the ConfigMap has for a port; empty: none is
// wanted.
// Source: Oracle's page "Terminating SSL/TLS at the Load Balancer using OCI Certificates
// service": the key is the port of the listener, the value a JSON array with one OCID.
func (b *builder) managed(port int32) string {
	ref, ok := mapOf(b.in)
	if !ok {
		return ""
	}
	key := strconv.Itoa(int(port))
	object := b.in.Objects[ref]
	ids, err := certificatesOf(object, port)
	legal := fmt.Sprintf(`a ConfigMap with the key %s and a value like ["%soc1..."]`, key, certificatePrefix)
	refuse := func(why string) string {
		b.problems.Refuse(certificateMapKey.Name, ref.Name, "names "+ref.String()+", which "+why, legal)
		return ""
	}
	switch {
	case object.Data == nil:
		return refuse(object.Why)
	case err != nil:
		return refuse("has under " + key + " no JSON array of texts")
	case ids == nil:
		return refuse("has no certificate for port " + key)
	case len(ids) != 1 || !strings.HasPrefix(ids[0], certificatePrefix):
		return refuse("has under " + key + " not the OCID of one certificate, which is what a listener takes")
	}
	return ids[0]
}

// secretOf is the Secret that a key names; false: there is none, or no use for it.
func secretOf(in Input, key *annotations.Key[string]) (providers.Reference, bool) {
	said := key.Get(in.Values)
	if in.Kind != LB || said == "" || !terminatesTLS(in) {
		return providers.Reference{}, false
	}
	ref := providers.Reference{Kind: providers.Secret, Namespace: in.Service.Namespace, Name: said}
	if namespace, name, two := strings.Cut(said, "/"); two {
		ref.Namespace, ref.Name = namespace, name
	}
	return ref, true
}

// terminatesTLS reports whether the load balancer terminates TLS on a port of the
// Service.
func terminatesTLS(in Input) bool {
	ssl := tlsPortsKey.Get(in.Values)
	for _, p := range in.Service.Spec.Ports {
		if ssl.Has(p) {
			return true
		}
	}
	return false
}

// certificate wants the certificate of the Secret that a key names, and returns its name;
// empty: none is wanted. One that the official controller has made of the same Secret is
// used as it is, if it is the same certificate: the cloud shows no keys.
func (b *builder) certificate(key *annotations.Key[string]) string {
	ref, ok := secretOf(b.in, key)
	if !ok {
		return ""
	}
	object := b.in.Objects[ref]
	if object.Data == nil {
		b.problems.Refuse(key.Name, key.Get(b.in.Values), "names "+ref.String()+", which "+object.Why, "a Secret with "+secretPublic+" and "+secretPrivate)
		return ""
	}
	read := func(name string) string { return string(object.Data[name]) }
	for _, name := range []string{secretPublic, secretPrivate} {
		if block, _ := pem.Decode(object.Data[name]); block == nil {
			b.problems.Refuse(key.Name, key.Get(b.in.Values), fmt.Sprintf("names %s, which has no PEM text under %s", ref, name), "a Secret with "+secretPublic+" and "+secretPrivate)
			return ""
		}
	}
	if r, there := b.have.Get(stack.Key{Kind: KindCertificate, Name: ref.Name}); there {
		if found, is := r.Spec.(Certificate); is && samePEM(found.Public, read(secretPublic)) {
			return ref.Name
		}
	}
	c := Certificate{Public: read(secretPublic), Private: read(secretPrivate), Authority: read(secretAuthority), Passphrase: read(secretPassphrase)}
	c.Name = certificateName(ref.Name, c)
	b.out.Put(stack.Resource{Key: stack.Key{Kind: KindCertificate, Name: c.Name}, In: b.product.key(), Spec: c})
	return c.Name
}

func samePEM(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }

// The form of names of certificates: that of the Secret, and a hash in hex digits.
const (
	certificateHash    = 16
	longestCertificate = 255
)

// certificateName is the name of a certificate, which tells what is in it. Names have no
// dots. Source: Load Balancer API reference, CreateCertificateDetails.
func certificateName(secret string, c Certificate) string {
	h := sha256.New()
	for _, text := range []string{c.Public, c.Private, c.Authority, c.Passphrase} {
		sum := sha256.Sum256([]byte(text))
		_, _ = h.Write(sum[:]) // never fails
	}
	hash := hex.EncodeToString(h.Sum(nil))[:certificateHash]
	return truncateText(strings.ReplaceAll(secret, ".", "-"), longestCertificate-certificateHash-1) + "-" + hash
}

// IsOwnCertificate reports whether the name of a certificate was chosen by Berth. The
// official controller names its certificates after the Secret alone, and does not delete
// them.
func IsOwnCertificate(name string) bool {
	at := strings.LastIndex(name, "-")
	return at > 0 && len(name)-at-1 == certificateHash && strings.Trim(name[at+1:], "0123456789abcdef") == ""
}

// http2Suite is the cipher suite of listeners for GRPC that name none.
// Source: load_balancer_spec.go (getListenersOciLoadBalancer).
const http2Suite = "oci-default-http2-ssl-cipher-suite-v1"

// encrypt lets a listener end TLS by a certificate that is in the load balancer, or by one
// of the Certificates service; neither: it does not.
func (l *Listener) encrypt(certificate, managed string, with SSLConfig) {
	if certificate == "" && managed == "" {
		return
	}
	l.Certificate, l.Managed, l.CipherSuite, l.TLSProtocols = certificate, managed, with.CipherSuiteName, with.Protocols
	if l.Protocol == protocolGRPC {
		l.CipherSuite = cmp.Or(l.CipherSuite, http2Suite)
	}
}

// encrypt lets a backend set speak TLS to the nodes; without a certificate it does not.
func (s *BackendSet) encrypt(certificate string, with SSLConfig) {
	if certificate != "" {
		s.Certificate, s.CipherSuite, s.TLSProtocols = certificate, with.CipherSuiteName, with.Protocols
	}
}
