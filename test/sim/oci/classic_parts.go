package oci

import (
	"crypto/tls"
	"encoding/pem"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// classicSetPart is the backend sets. Source: API reference, BackendSetDetails.
func classicSetPart() part {
	backend := schema{
		"ipAddress": textProp().must(), "port": numberProp(1, 65535).must(), "weight": numberProp(1, 100).otherwise(1.0), "backup": boolProp().otherwise(false),
		"drain": boolProp().otherwise(false), "offline": boolProp().otherwise(false), "maxConnections": numberProp(0, 65535),
	}
	checker := schema{
		"protocol": oneOf("HTTP", "TCP").must(), "port": numberProp(0, 65535).otherwise(0.0), "urlPath": textProp(), "returnCode": numberProp(100, 599).otherwise(200.0),
		"retries": numberProp(1, 1000).otherwise(3.0), "timeoutInMillis": numberProp(1, 600000).otherwise(3000.0), "intervalInMillis": numberProp(1000, 1800000).otherwise(10000.0),
		"responseBodyRegex": textProp().otherwise(""), "isForcePlainText": boolProp().otherwise(false),
	}
	set := schema{
		"policy": oneOf("ROUND_ROBIN", "LEAST_CONNECTIONS", "IP_HASH").must(), "healthChecker": objectProp(checker).must(), "backends": listProp(objectProp(backend)).otherwise([]any{}),
		"backendMaxConnections": numberProp(0, 65535), "sslConfiguration": objectProp(encryptionSchema()),
		"sessionPersistenceConfiguration": objectProp(schema{"cookieName": textProp().must(), "disableFallback": boolProp().otherwise(false)}),
		"lbCookieSessionPersistenceConfiguration": objectProp(schema{
			"cookieName": textProp(), "disableFallback": boolProp().otherwise(false), "domain": textProp(), "path": textProp(), "maxAgeInSeconds": numberProp(0, 1<<31-1),
			"isSecure": boolProp().otherwise(false), "isHttpOnly": boolProp().otherwise(true),
		}),
	}
	return part{
		key: "backendSets", name: "name", op: "BackendSet", label: nameProp(32), body: set, update: set.with(schema{"backends": listProp(objectProp(backend)).must()}),
		prepare: prepareClassicSet, used: usedSet,
	}
}

func usedSet(lb rest.Object, name string) string {
	return usedBy(lb, []string{"listeners"}, func(o rest.Object) []string { return []string{o.Text("defaultBackendSetName")} }, name)
}

func prepareClassicSet(_ *visit, lb, o rest.Object) (rest.Object, error) {
	if err := checkEncryption(lb, o.Object("sslConfiguration"), false); err != nil {
		return nil, err
	}
	// Source: API reference, BackendSet: the two kinds of session persistence exclude each other.
	if o["sessionPersistenceConfiguration"] != nil && o["lbCookieSessionPersistenceConfiguration"] != nil {
		return nil, invalidParam("backend set %q: only one of sessionPersistenceConfiguration and lbCookieSessionPersistenceConfiguration may be given", o.Text("name"))
	}
	if err := checkChecker(o.Object("healthChecker")); err != nil {
		return nil, err
	}
	backends := []any{}
	seen := map[string]bool{}
	for _, b := range o.Objects("backends") {
		a, err := parseAddress(b, "ipAddress")
		if err != nil {
			return nil, err
		}
		port, _ := b.Number("port")
		name := a.String() + ":" + strconv.Itoa(port)
		if seen[name] {
			return nil, invalidParam("backend set %q: backend %s is listed twice", o.Text("name"), name)
		}
		seen[name] = true
		backends = append(backends, b.With(rest.Object{"name": name}))
	}
	return o.With(rest.Object{"backends": backends}), nil
}

// checkChecker refuses a health check. Source: API reference, HealthCheckerDetails, and
// Load Balancing documentation, "Health Check Policies": a request has a path, and its time
// is not longer than the interval.
func checkChecker(c rest.Object) error {
	if strings.HasPrefix(c.Text("protocol"), "HTTP") && !strings.HasPrefix(c.Text("urlPath"), "/") {
		return invalidParam("healthChecker.urlPath %q: must begin with /", c.Text("urlPath"))
	}
	interval, _ := c.Number("intervalInMillis")
	if timeout, given := c.Number("timeoutInMillis"); given && timeout > interval {
		return invalidParam("healthChecker: the timeout of %d ms is longer than the interval of %d ms", timeout, interval)
	}
	if _, err := regexp.Compile(c.Text("responseBodyRegex")); err != nil && !strings.Contains(c.Text("responseBodyRegex"), "(?!") {
		return invalidParam("healthChecker.responseBodyRegex: %v", err)
	}
	return nil
}

// encryptionSchema returns the properties of sslConfiguration. Source: API reference,
// SSLConfigurationDetails.
func encryptionSchema() schema {
	return schema{
		"verifyDepth": numberProp(0, 100).otherwise(1.0), "verifyPeerCertificate": boolProp().otherwise(false), "hasSessionResumption": boolProp().otherwise(true),
		"trustedCertificateAuthorityIds": idsProp().otherwise([]any{}), "certificateIds": idsProp().otherwise([]any{}), "certificateName": textProp(),
		"protocols":             listProp(oneOf("TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3")).otherwise([]any{"TLSv1.2"}),
		"cipherSuiteName":       textProp().otherwise("oci-default-ssl-cipher-suite-v1"),
		"serverOrderPreference": oneOf("ENABLED", "DISABLED").otherwise("DISABLED"),
	}
}

// cipherSuites are the predefined ones. Source: Load Balancing documentation, "Predefined
// Cipher Suites"; the customized one is not accepted (API reference, SSLConfigurationDetails).
func cipherSuites() []string {
	return []string{
		"oci-default-ssl-cipher-suite-v1", "oci-modern-ssl-cipher-suite-v1", "oci-compatible-ssl-cipher-suite-v1", "oci-wider-compatible-ssl-cipher-suite-v1",
		"oci-default-http2-ssl-cipher-suite-v1", "oci-default-http2-tls-13-ssl-cipher-suite-v1", "oci-default-http2-tls-12-13-ssl-cipher-suite-v1",
		"oci-tls-13-recommended-ssl-cipher-suite-v1", "oci-tls-12-13-wider-ssl-cipher-suite-v1", "oci-tls-11-12-13-wider-ssl-cipher-suite-v1",
	}
}

// checkEncryption refuses names that do not exist. A listener needs a certificate.
func checkEncryption(lb, ssl rest.Object, listener bool) error {
	if ssl == nil {
		return nil
	}
	name, many := ssl.Text("certificateName"), ssl.List("certificateIds")
	switch {
	case name != "" && len(many) > 0:
		return invalidParam("sslConfiguration: only one of certificateName and certificateIds may be given")
	case len(many) > 1:
		return invalidParam("sslConfiguration.certificateIds: there may be one")
	case listener && name == "" && len(many) == 0:
		return invalidParam("sslConfiguration: a listener needs a certificate")
	case name != "" && lb.Object("certificates")[name] == nil:
		return invalidParam("sslConfiguration: there is no certificate %q", name)
	}
	for _, id := range ssl.Texts("certificateIds") {
		if !strings.HasPrefix(id, "ocid1.certificate.") {
			return invalidParam("sslConfiguration.certificateIds: %q is no certificate", id)
		}
	}
	if suite := ssl.Text("cipherSuiteName"); !slices.Contains(cipherSuites(), suite) && lb.Object("sslCipherSuites")[suite] == nil {
		return invalidParam("sslConfiguration.cipherSuiteName: there is no suite %q", suite)
	}
	if len(ssl.List("protocols")) == 0 {
		return invalidParam("sslConfiguration.protocols must not be empty")
	}
	return nil
}

// certificatePart is the certificates. Source: API reference, CertificateDetails.
func certificatePart() part {
	return part{
		key: "certificates", name: "certificateName", op: "Certificate", label: nameProp(255),
		body:    schema{"publicCertificate": textProp(), "privateKey": textProp(), "caCertificate": textProp(), "passphrase": textProp()},
		prepare: prepareCertificate,
		used: func(lb rest.Object, name string) string {
			return usedBy(lb, []string{"listeners", "backendSets"}, func(o rest.Object) []string { return []string{o.Object("sslConfiguration").Text("certificateName")} }, name)
		},
		// Source: API reference, Certificate: keys are never shown.
		show: func(o rest.Object) rest.Object {
			return rest.Object{"publicCertificate": "", "caCertificate": ""}.With(o.Only("certificateName", "publicCertificate", "caCertificate"))
		},
	}
}

// prepareCertificate refuses what is no certificate, or whose key is another's.
// Source: Load Balancing documentation, "SSL Certificates": PEM, and the key must match.
func prepareCertificate(_ *visit, _, o rest.Object) (rest.Object, error) {
	public, private := o.Text("publicCertificate"), o.Text("privateKey")
	if public == "" && o.Text("caCertificate") == "" {
		return nil, invalidParam("certificate %q: a public certificate or one of an authority is needed", o.Text("certificateName"))
	}
	if public == "" {
		return o, nil
	}
	block, _ := pem.Decode([]byte(private))
	if block == nil {
		return nil, invalidParam("certificate %q: the private key is not in the PEM format", o.Text("certificateName"))
	}
	if o.Text("passphrase") == "" {
		if _, err := tls.X509KeyPair([]byte(public), []byte(private)); err != nil {
			return nil, invalidParam("certificate %q: %v", o.Text("certificateName"), err)
		}
	}
	return o, nil
}

// classicListenerPart returns the listeners. An update replaces a listener and drops the fields
// that it leaves out. That is not documented for ruleSetNames.
// Source: API reference, ListenerDetails.
func classicListenerPart() part {
	listener := schema{
		"defaultBackendSetName": textProp().must(), "port": numberProp(1, 65535).must(), "protocol": oneOf("HTTP", "HTTP2", "TCP", "GRPC").must(),
		"hostnameNames": listProp(textProp()).otherwise([]any{}), "pathRouteSetName": textProp(), "routingPolicyName": textProp(), "ruleSetNames": listProp(textProp()).otherwise([]any{}),
		"sslConfiguration": objectProp(encryptionSchema()),
		"connectionConfiguration": objectProp(schema{
			"idleTimeout": numberProp(1, 7200).must(), "backendTcpProxyProtocolVersion": numberProp(1, 2), "backendTcpProxyProtocolOptions": listProp(oneOf("PP2_TYPE_AUTHORITY")).otherwise([]any{}),
		}),
	}
	return part{key: "listeners", name: "name", op: "Listener", label: nameProp(255), body: listener, update: listener, prepare: prepareClassicListener}
}

// prepareClassicListener refuses names that do not exist. The default timeout of a listener
// is 300 seconds for TCP and 60 for others.
// Sources: Load Balancing documentation, "Connection Configuration", "HTTP/2" and "Rule Sets".
func prepareClassicListener(_ *visit, lb, o rest.Object) (rest.Object, error) {
	name, protocol := o.Text("name"), o.Text("protocol")
	if lb.Object("backendSets")[o.Text("defaultBackendSetName")] == nil {
		return nil, invalidParam("listener %q: there is no backend set %q", name, o.Text("defaultBackendSetName"))
	}
	if err := checkEncryption(lb, o.Object("sslConfiguration"), true); err != nil {
		return nil, err
	}
	if (protocol == "HTTP2" || protocol == "GRPC") && (o["sslConfiguration"] == nil || !strings.Contains(o.Object("sslConfiguration").Text("cipherSuiteName"), "http2")) {
		return nil, invalidParam("listener %q: %s needs TLS with a cipher suite for HTTP/2", name, protocol)
	}
	for _, set := range o.Texts("ruleSetNames") {
		if lb.Object("ruleSets")[set] == nil {
			return nil, invalidParam("listener %q: there is no rule set %q", name, set)
		}
		if protocol == "TCP" {
			return nil, invalidParam("listener %q: rule sets are for HTTP", name)
		}
	}
	if len(o.List("hostnameNames")) > 0 || o["pathRouteSetName"] != nil || o["routingPolicyName"] != nil {
		return nil, invalidParam("listener %q: there are no host names, path route sets and routing policies", name)
	}
	idle := 60.0
	if protocol == "TCP" {
		idle = 300
	}
	if o["connectionConfiguration"] == nil {
		o = o.With(rest.Object{"connectionConfiguration": rest.Object{"idleTimeout": idle, "backendTcpProxyProtocolOptions": []any{}}})
	}
	return o, nil
}
