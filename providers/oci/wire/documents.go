package wire

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/stack"
)

// balancerDoc is a load balancer of either product as the APIs show it.
// Sources: LoadBalancer and NetworkLoadBalancer of the API reference.
type balancerDoc struct {
	ID          string                     `json:"id"`
	Compartment string                     `json:"compartmentId"`
	Name        string                     `json:"displayName"`
	State       string                     `json:"lifecycleState"`
	Created     string                     `json:"timeCreated"`
	Shape       string                     `json:"shapeName"`
	Bandwidth   *bandwidthDoc              `json:"shapeDetails"`
	Private     bool                       `json:"isPrivate"`
	Subnets     []string                   `json:"subnetIds"` // of lb
	Subnet      string                     `json:"subnetId"`  // of nlb
	Groups      []string                   `json:"networkSecurityGroupIds"`
	Mode        string                     `json:"ipMode"`       // of lb
	Version     string                     `json:"nlbIpVersion"` // of nlb
	Addresses   []addressDoc               `json:"ipAddresses"`
	Listeners   map[string]json.RawMessage `json:"listeners"`
	Sets        map[string]json.RawMessage `json:"backendSets"`
	RuleSets    map[string]ruleSetDoc      `json:"ruleSets"`
	Certs       map[string]certificateDoc  `json:"certificates"`
	Freeform    map[string]string          `json:"freeformTags"`
	Defined     json.RawMessage            `json:"definedTags"`
}

type bandwidthDoc struct {
	Least int `json:"minimumBandwidthInMbps"`
	Most  int `json:"maximumBandwidthInMbps"`
}

type addressDoc struct {
	IP       string `json:"ipAddress"`
	Public   bool   `json:"isPublic"`
	Reserved *idDoc `json:"reservedIp"`
}

type idDoc struct {
	ID string `json:"id"`
}

// certificateDoc is a certificate; keys are written only.
// Sources: Certificate and CertificateDetails of the API reference.
type certificateDoc struct {
	Name       string `json:"certificateName"`
	Public     string `json:"publicCertificate,omitempty"`
	Authority  string `json:"caCertificate,omitempty"`
	Private    string `json:"privateKey,omitempty"`
	Passphrase string `json:"passphrase,omitempty"`
}

type ruleSetDoc struct {
	Items json.RawMessage `json:"items"`
}

// setDoc is a backend set.
type setDoc struct {
	Policy   string       `json:"policy,omitempty"`
	Health   healthDoc    `json:"healthChecker"`
	Backends []backendDoc `json:"backends"`
	TLS      *tlsDoc      `json:"sslConfiguration,omitempty"`
	Preserve *bool        `json:"isPreserveSource,omitempty"` // of nlb
	Version  string       `json:"ipVersion,omitempty"`        // of nlb

	Session     *sessionDoc       `json:"sessionPersistenceConfiguration,omitempty"`         // of lb
	Cookie      *cookieSessionDoc `json:"lbCookieSessionPersistenceConfiguration,omitempty"` // of lb
	Connections int               `json:"backendMaxConnections,omitempty"`                   // of lb
	Failover    *bool             `json:"isInstantFailoverEnabled,omitempty"`                // of nlb
}

type sessionDoc struct {
	Cookie     string `json:"cookieName"`
	NoFallback bool   `json:"disableFallback"`
}

type cookieSessionDoc struct {
	Cookie     string `json:"cookieName,omitempty"`
	NoFallback bool   `json:"disableFallback"`
	Domain     string `json:"domain,omitempty"`
	Path       string `json:"path,omitempty"`
	MaxAge     int    `json:"maxAgeInSeconds,omitempty"`
	Secure     bool   `json:"isSecure"`
	HTTP       bool   `json:"isHttpOnly"`
}

type healthDoc struct {
	Protocol string `json:"protocol"`
	Path     string `json:"urlPath,omitempty"`
	Port     int32  `json:"port"`
	Retries  int    `json:"retries"`
	Interval int    `json:"intervalInMillis"`
	Timeout  int    `json:"timeoutInMillis"`
	Code     int    `json:"returnCode"`
	Plain    bool   `json:"isForcePlainText,omitempty"` // of lb
}

// backendDoc is a backend; the two APIs name settings differently.
type backendDoc struct {
	Address    string `json:"ipAddress,omitempty"`
	Target     string `json:"targetId,omitempty"`
	Port       int32  `json:"port"`
	Weight     int    `json:"weight"`
	Backup     *bool  `json:"backup,omitempty"`
	Drain      *bool  `json:"drain,omitempty"`
	Offline    *bool  `json:"offline,omitempty"`
	NetBackup  *bool  `json:"isBackup,omitempty"`
	NetDrain   *bool  `json:"isDrain,omitempty"`
	NetOffline *bool  `json:"isOffline,omitempty"`
}

type tlsDoc struct {
	Certificate string   `json:"certificateName,omitempty"`
	Managed     []string `json:"certificateIds,omitempty"`
	VerifyDepth int      `json:"verifyDepth"`
	VerifyPeer  bool     `json:"verifyPeerCertificate"`
	CipherSuite string   `json:"cipherSuiteName,omitempty"`
	Protocols   []string `json:"protocols,omitempty"`
}

// listenerDoc is a listener.
type listenerDoc struct {
	Name       string         `json:"name,omitempty"`
	Set        string         `json:"defaultBackendSetName"`
	Port       int32          `json:"port"`
	Protocol   string         `json:"protocol"`
	TLS        *tlsDoc        `json:"sslConfiguration,omitempty"`
	Connection *connectionDoc `json:"connectionConfiguration,omitempty"`
	RuleSets   []string       `json:"ruleSetNames,omitempty"`
	PPv2       *bool          `json:"isPpv2Enabled,omitempty"` // of nlb
	Version    string         `json:"ipVersion,omitempty"`     // of nlb
}

type connectionDoc struct {
	Idle  int `json:"idleTimeout"`
	Proxy int `json:"backendTcpProxyProtocolVersion,omitempty"`
}

// rest returns the fields of a document that the Service does not specify, as JSON. Empty
// and read-only fields are left out.
func rest(raw json.RawMessage, known ...string) string {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return ""
	}
	maps.DeleteFunc(all, func(k string, v json.RawMessage) bool {
		return slices.Contains(known, k) || slices.Contains([]string{"null", "[]", "{}", `""`}, string(v))
	})
	if len(all) == 0 {
		return ""
	}
	text, err := json.Marshal(all)
	if err != nil {
		return ""
	}
	return string(text)
}

// withRest is a document to be written, with the fields that are written back as found.
func withRest(doc any, rest string) any {
	if rest == "" {
		return doc
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return doc
	}
	all := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(rest), &all) != nil || json.Unmarshal(text, &all) != nil {
		return doc
	}
	return all
}

func balancerSpec(p model.Product, d balancerDoc) model.Balancer {
	out := model.Balancer{
		Name: d.Name, Compartment: d.Compartment, Shape: d.Shape, Private: d.Private, Subnets: d.Subnets,
		Groups: slices.Sorted(slices.Values(d.Groups)), Version: d.Mode, Freeform: d.Freeform,
	}
	if p.Name == model.NLB {
		out.Subnets, out.Version = []string{d.Subnet}, d.Version
	}
	if out.Version == "" {
		out.Version = model.V4
	}
	if d.Bandwidth != nil && d.Shape == flexible {
		out.Least, out.Most = d.Bandwidth.Least, d.Bandwidth.Most
	}
	if text := string(d.Defined); text != "" && text != "{}" && text != "null" {
		out.Defined = text
	}
	for _, a := range d.Addresses {
		one := model.Address{IP: a.IP, Public: a.Public}
		if a.Reserved != nil {
			one.Reserved = a.Reserved.ID
			out.Reserved = append(out.Reserved, one.Reserved)
		}
		out.Addresses = append(out.Addresses, one)
	}
	return out
}

// flexible is the name of the shape that has bandwidths.
const flexible = "flexible"

func backendSetSpec(name string, raw json.RawMessage) (model.BackendSet, error) {
	var d setDoc
	if err := json.Unmarshal(raw, &d); err != nil {
		return model.BackendSet{}, err
	}
	out := model.BackendSet{
		Name: name, Policy: d.Policy, Preserve: truth(d.Preserve), Version: d.Version,
		Health: model.Health(d.Health), Rest: rest(raw, "name", "policy", "healthChecker", "backends", "sslConfiguration", "isPreserveSource", "ipVersion",
			"sessionPersistenceConfiguration", "lbCookieSessionPersistenceConfiguration", "backendMaxConnections", "isInstantFailoverEnabled"),
		Connections: d.Connections, Failover: truth(d.Failover),
	}
	if d.Session != nil {
		out.Session = model.Session(*d.Session)
	}
	if d.Cookie != nil {
		out.CookieSession = model.CookieSession(*d.Cookie)
		out.CookieSession.Cookie = cmp.Or(d.Cookie.Cookie, model.StandardCookie)
	}
	if d.TLS != nil {
		out.Certificate, out.CipherSuite, out.TLSProtocols = d.TLS.Certificate, d.TLS.CipherSuite, d.TLS.Protocols
	}
	for _, b := range d.Backends {
		out.Backends = append(out.Backends, model.Backend{
			Address: b.Address, Target: b.Target, Port: b.Port, Weight: b.Weight,
			Backup: truth(b.Backup) || truth(b.NetBackup), Drain: truth(b.Drain) || truth(b.NetDrain), Offline: truth(b.Offline) || truth(b.NetOffline),
		})
	}
	slices.SortFunc(out.Backends, model.Backend.Compare)
	return out, nil
}

func truth(b *bool) bool { return b != nil && *b }

func backendSetBody(p model.Product, s model.BackendSet) any {
	out := setDoc{
		Policy: s.Policy, Health: healthDoc(s.Health), Version: s.Version, Backends: []backendDoc{}, TLS: tlsBody(s.Certificate, nil, s.CipherSuite, s.TLSProtocols),
	}
	if p.Name == model.NLB {
		out.Preserve, out.Failover = &s.Preserve, &s.Failover
	}
	if s.Session != (model.Session{}) {
		out.Session = new(sessionDoc(s.Session))
	}
	if s.CookieSession != (model.CookieSession{}) {
		out.Cookie = new(cookieSessionDoc(s.CookieSession))
	}
	out.Connections = s.Connections
	for _, b := range s.Backends {
		one := backendDoc{Address: b.Address, Target: b.Target, Port: b.Port, Weight: b.Weight}
		if p.Name == model.NLB {
			one.NetBackup, one.NetDrain, one.NetOffline = &b.Backup, &b.Drain, &b.Offline
		} else {
			one.Backup, one.Drain, one.Offline = &b.Backup, &b.Drain, &b.Offline
		}
		out.Backends = append(out.Backends, one)
	}
	return withRest(out, s.Rest)
}

// tlsBody is how TLS is spoken by a certificate in the load balancer, or by those of the
// Certificates service; nil without either.
func tlsBody(certificate string, managed []string, cipher string, protocols []string) *tlsDoc {
	if certificate == "" && len(managed) == 0 {
		return nil
	}
	return &tlsDoc{Certificate: certificate, Managed: managed, CipherSuite: cipher, Protocols: protocols}
}

func listenerSpec(p model.Product, name string, raw json.RawMessage) (model.Listener, error) {
	var d listenerDoc
	if err := json.Unmarshal(raw, &d); err != nil {
		return model.Listener{}, err
	}
	out := model.Listener{
		Name: name, Protocol: d.Protocol, Port: d.Port, Set: stack.RefTo(stack.Key{Kind: p.Set, Name: d.Set}), RuleSets: slices.Sorted(slices.Values(d.RuleSets)), Version: d.Version,
		Rest: rest(raw, "name", "defaultBackendSetName", "port", "protocol", "sslConfiguration", "connectionConfiguration", "ruleSetNames", "isPpv2Enabled", "ipVersion"),
	}
	if d.TLS != nil {
		out.Certificate, out.CipherSuite, out.TLSProtocols = d.TLS.Certificate, d.TLS.CipherSuite, d.TLS.Protocols
		out.Managed = strings.Join(d.TLS.Managed, " ") // one, as far as the API takes them
	}
	if c := d.Connection; c != nil {
		out.Proxy = c.Proxy
		if c.Idle != model.DefaultIdle(d.Protocol) {
			out.Idle = c.Idle
		}
	}
	if truth(d.PPv2) {
		out.Proxy = 2
	}
	return out, nil
}

// listenerBody is a listener with the backend set of a name.
func listenerBody(p model.Product, l model.Listener, set string) any {
	var managed []string
	if l.Managed != "" {
		managed = []string{l.Managed}
	}
	out := listenerDoc{Set: set, Port: l.Port, Protocol: l.Protocol, Version: l.Version, TLS: tlsBody(l.Certificate, managed, l.CipherSuite, l.TLSProtocols), RuleSets: l.RuleSets}
	switch {
	case p.Name == model.NLB:
		on := l.Proxy != 0
		out.PPv2 = &on
	case l.Idle != 0 || l.Proxy != 0:
		out.Connection = &connectionDoc{Idle: l.Idle, Proxy: l.Proxy}
		if l.Idle == 0 {
			out.Connection.Idle = model.DefaultIdle(l.Protocol)
		}
	}
	return withRest(out, l.Rest)
}
