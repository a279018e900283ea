package model

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/kit/codec"
	"github.com/berth-lb/berth/stack"
)

// SetCodec declares backend sets of a product. Their name is the key of a map, and an
// update replaces the whole object.
// Sources: BackendSetDetails and UpdateBackendSetDetails of both API references.
func SetCodec(p Product) codec.Kind[BackendSet] {
	fields := []codec.Field[BackendSet]{
		codec.Of("policy", func(s *BackendSet) *string { return &s.Policy }).InPlace(),
		codec.Nested("healthChecker", func(s *BackendSet) *Health { return &s.Health }, healthFields()...).InPlace().Always(),
		codec.List("backends", func(s *BackendSet) *[]Backend { return &s.Backends }, backendCodec(p)).InPlace().Always(),
		codec.Nested("sslConfiguration", func(s *BackendSet) *BackendSet { return s },
			append(peerFields[BackendSet](),
				codec.Of("certificateName", func(s *BackendSet) *string { return &s.Certificate }),
				codec.Of("cipherSuiteName", func(s *BackendSet) *string { return &s.CipherSuite }),
				codec.Of("protocols", func(s *BackendSet) *[]string { return &s.TLSProtocols }))...,
		).InPlace().When(func(s BackendSet) bool { return s.Certificate != "" }),
	}
	aside := []string{"Name", "Leaves", "Opens"}
	if p.Name == NLB {
		fields = append(fields,
			codec.Of("isPreserveSource", func(s *BackendSet) *bool { return &s.Preserve }).InPlace().Always(),
			codec.Of("ipVersion", func(s *BackendSet) *string { return &s.Version }).InPlace(),
			codec.Of("isInstantFailoverEnabled", func(s *BackendSet) *bool { return &s.Failover }).InPlace().Always(),
		)
		aside = append(aside, "Session", "CookieSession", "Connections")
	} else {
		fields = append(fields, sessionFields()...)
		aside = append(aside, "Preserve", "Version", "Failover")
	}
	return codec.New("backendSet", "backendSets", fields...).Aside(aside...).
		Rest(func(s *BackendSet) *string { return &s.Rest }, "name").
		Tidied(func(s *BackendSet) { slices.SortFunc(s.Backends, Backend.Compare) })
}

func healthFields() []codec.Field[Health] {
	return []codec.Field[Health]{
		codec.Of("protocol", func(h *Health) *string { return &h.Protocol }).Always(),
		codec.Of("urlPath", func(h *Health) *string { return &h.Path }),
		codec.Of("port", func(h *Health) *int32 { return &h.Port }).Always(),
		codec.Of("retries", func(h *Health) *int { return &h.Retries }).Always(),
		codec.Of("intervalInMillis", func(h *Health) *int { return &h.Interval }).Always(),
		codec.Of("timeoutInMillis", func(h *Health) *int { return &h.Timeout }).Always(),
		codec.Of("returnCode", func(h *Health) *int { return &h.Code }).Always(),
		codec.Of("isForcePlainText", func(h *Health) *bool { return &h.Plain }),
	}
}

// backendCodec declares backends; the two products name settings differently.
func backendCodec(p Product) codec.Kind[Backend] {
	backup, drain, offline := "backup", "drain", "offline"
	if p.Name == NLB {
		backup, drain, offline = "isBackup", "isDrain", "isOffline"
	}
	return codec.New("backend", "backends",
		codec.Of("ipAddress", func(b *Backend) *string { return &b.Address }),
		codec.Of("targetId", func(b *Backend) *string { return &b.Target }),
		codec.Of("port", func(b *Backend) *int32 { return &b.Port }).Always(),
		codec.Of("weight", func(b *Backend) *int { return &b.Weight }).Always(),
		codec.Of(backup, func(b *Backend) *bool { return &b.Backup }).Always(),
		codec.Of(drain, func(b *Backend) *bool { return &b.Drain }).Always(),
		codec.Of(offline, func(b *Backend) *bool { return &b.Offline }).Always(),
	)
}

// peerFields returns the fields of a TLS configuration that say that peers are not
// verified.
func peerFields[T any]() []codec.Field[T] {
	return []codec.Field[T]{codec.Constant[T]("verifyDepth", 0), codec.Constant[T]("verifyPeerCertificate", false)}
}

// cookieDoc is a session persistence by a cookie of the load balancer. One without a name
// has the standard one.
// Source: LBCookieSessionPersistenceConfigurationDetails of the API reference.
type cookieDoc struct {
	Cookie     string `json:"cookieName,omitempty"`
	NoFallback bool   `json:"disableFallback"`
	Domain     string `json:"domain,omitempty"`
	Path       string `json:"path,omitempty"`
	MaxAge     int    `json:"maxAgeInSeconds,omitempty"`
	Secure     bool   `json:"isSecure"`
	HTTP       bool   `json:"isHttpOnly"`
}

func sessionFields() []codec.Field[BackendSet] {
	return []codec.Field[BackendSet]{
		codec.Nested("sessionPersistenceConfiguration", func(s *BackendSet) *Session { return &s.Session },
			codec.Of("cookieName", func(s *Session) *string { return &s.Cookie }).Always(),
			codec.Of("disableFallback", func(s *Session) *bool { return &s.NoFallback }).Always(),
		).InPlace(),
		codec.As("lbCookieSessionPersistenceConfiguration", func(s *BackendSet) *CookieSession { return &s.CookieSession },
			func(c CookieSession) (any, bool) { return cookieDoc(c), c != CookieSession{} },
			func(c *CookieSession, text json.RawMessage) error {
				var d cookieDoc
				err := json.Unmarshal(text, &d)
				d.Cookie = cmp.Or(d.Cookie, StandardCookie)
				*c = CookieSession(d)
				return err
			}).InPlace(),
		codec.Of("backendMaxConnections", func(s *BackendSet) *int { return &s.Connections }).InPlace(),
	}
}

// ListenerCodec declares listeners of a product. Their name is the key of a map, and an
// update replaces the whole object.
// Sources: ListenerDetails and UpdateListenerDetails of both API references.
func ListenerCodec(p Product) codec.Kind[Listener] {
	fields := []codec.Field[Listener]{
		codec.Ref("defaultBackendSetName", func(l *Listener) *stack.Ref { return &l.Set }).InPlace().Always(),
		codec.Of("port", func(l *Listener) *int32 { return &l.Port }).InPlace().Always(),
		codec.Of("protocol", func(l *Listener) *string { return &l.Protocol }).InPlace().Always(),
		codec.Nested("sslConfiguration", func(l *Listener) *Listener { return l },
			append(peerFields[Listener](),
				codec.Of("certificateName", func(l *Listener) *string { return &l.Certificate }),
				codec.As("certificateIds", func(l *Listener) *string { return &l.Managed },
					func(id string) (any, bool) { return []string{id}, id != "" },
					func(id *string, text json.RawMessage) error {
						var ids []string
						err := json.Unmarshal(text, &ids)
						*id = strings.Join(ids, " ") // one, as far as the API takes them
						return err
					}),
				codec.Of("cipherSuiteName", func(l *Listener) *string { return &l.CipherSuite }),
				codec.Of("protocols", func(l *Listener) *[]string { return &l.TLSProtocols }))...,
		).InPlace().When(func(l Listener) bool { return l.Certificate != "" || l.Managed != "" }),
		codec.Of("ruleSetNames", func(l *Listener) *[]string { return &l.RuleSets }).InPlace(),
	}
	aside := []string{"Name"}
	if p.Name == NLB {
		fields = append(fields,
			codec.As("isPpv2Enabled", func(l *Listener) *int { return &l.Proxy },
				func(version int) (any, bool) { return version != 0, true },
				func(version *int, text json.RawMessage) error {
					if string(text) == "true" {
						*version = proxyV2
					}
					return nil
				}).InPlace(),
			codec.Of("ipVersion", func(l *Listener) *string { return &l.Version }).InPlace())
		aside = append(aside, "Idle")
	} else {
		fields = append(fields, connectionField())
		aside = append(aside, "Version")
	}
	return codec.New("listener", "listeners", fields...).Aside(aside...).
		Rest(func(l *Listener) *string { return &l.Rest }, "name").
		Tidied(func(l *Listener) { slices.Sort(l.RuleSets) })
}

// proxyV2 is the version of the PROXY protocol that network load balancers speak.
const proxyV2 = 2

// connectionDoc is how a listener treats connections.
// Source: ConnectionConfiguration of the API reference.
type connectionDoc struct {
	Idle  int `json:"idleTimeout"`
	Proxy int `json:"backendTcpProxyProtocolVersion,omitempty"`
}

// connectionField declares the connections of a listener. The API wants an idle timeout
// wherever it gets the field, and shows the default of the protocol.
func connectionField() codec.Field[Listener] {
	return codec.As("connectionConfiguration", func(l *Listener) *Listener { return l },
		func(l Listener) (any, bool) {
			return connectionDoc{Idle: cmp.Or(l.Idle, DefaultIdle(l.Protocol)), Proxy: l.Proxy}, l.Idle != 0 || l.Proxy != 0
		},
		func(l *Listener, text json.RawMessage) error {
			var d connectionDoc
			err := json.Unmarshal(text, &d)
			l.Proxy = d.Proxy
			if d.Idle != DefaultIdle(l.Protocol) {
				l.Idle = d.Idle
			}
			return err
		}).Covers("Idle", "Proxy").InPlace()
}

// CertificateCodec declares certificates in a load balancer; keys are only written. The map
// of certificates that a load balancer shows has their names.
// Sources: Certificate and CertificateDetails of the API reference.
func CertificateCodec() codec.Kind[Certificate] {
	return codec.New("certificate", "certificates",
		codec.Of("certificateName", func(c *Certificate) *string { return &c.Name }),
		codec.Of("publicCertificate", func(c *Certificate) *string { return &c.Public }),
		codec.Of("caCertificate", func(c *Certificate) *string { return &c.Authority }),
		codec.Of("privateKey", func(c *Certificate) *string { return &c.Private }),
		codec.Of("passphrase", func(c *Certificate) *string { return &c.Passphrase }),
	)
}

// GroupCodec declares network security groups.
// Source: Core Services API reference, NetworkSecurityGroup.
func GroupCodec() codec.Kind[Group] {
	return codec.New("networkSecurityGroup", "networkSecurityGroups",
		codec.Of("displayName", func(g *Group) *string { return &g.Name }),
		codec.Of("compartmentId", func(g *Group) *string { return &g.Compartment }),
		codec.Of("vcnId", func(g *Group) *string { return &g.VCN }),
		codec.Of("freeformTags", func(g *Group) *map[string]string { return &g.Tags }),
	)
}
