package oci

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// apiAuth is what principals get their tokens from: the metadata service of instances, the
// federation of instance principals and the one of workloads in a cluster. All are on the
// one address of the simulator.
const apiAuth = "auth"

// sessionAge is how long a token is good.
const sessionAge = time.Hour

// session is a token with the key that its requests are signed with.
type session struct {
	key   *rsa.PublicKey
	until time.Time
	who   string // namespace and name of the ServiceAccount of a workload; empty: it is none
}

// machine is what the metadata service has of the instance.
type machine struct {
	leaf, key, authority []byte // PEM
	certificate          *x509.Certificate
}

func identityRoutes() []route {
	text := func(name, path string, of func(*visit) ([]byte, error)) route {
		r := rest.Reads(apiAuth, name, path, func(v *visit) (any, error) {
			if v.HTTP.Header.Get("Authorization") != "Bearer Oracle" {
				return nil, notAuthenticated("the metadata service wants the header Authorization: Bearer Oracle")
			}
			body, err := of(v)
			return body, err
		})
		r.Open = true
		return r
	}
	of := func(pick func(machine) []byte) func(*visit) ([]byte, error) {
		return func(v *visit) ([]byte, error) {
			m, err := v.cloud.machine()
			return pick(m), err
		}
	}
	federate := writeRoute(apiAuth, "CreateX509Token", http.MethodPost, "v1/x509", http.StatusOK, federateToken)
	workload := writeRoute(apiAuth, "CreateWorkloadToken", http.MethodPost, "resourcePrincipalSessionTokens", http.StatusOK, workloadToken)
	exchange := writeRoute(apiAuth, "ExchangeToken", http.MethodPost, "oauth2/v1/token", http.StatusOK, exchangeToken)
	federate.Open, workload.Open, exchange.Open = true, true, true
	return []route{
		text("GetMetadataRegion", "opc/v2/instance/region", func(v *visit) ([]byte, error) { return []byte(v.cloud.opt.Region), nil }),
		text("GetMetadataInstance", "opc/v2/instance", instanceOf),
		text("GetMetadataCertificate", "opc/v2/identity/cert.pem", of(func(m machine) []byte { return m.leaf })),
		text("GetMetadataKey", "opc/v2/identity/key.pem", of(func(m machine) []byte { return m.key })),
		text("GetMetadataAuthority", "opc/v2/identity/intermediate.pem", of(func(m machine) []byte { return m.authority })),
		federate, workload, exchange,
	}
}

// instanceOf is what the metadata service says of the instance as a whole.
// Source: oracle/oci-cloud-controller-manager:pkg/oci/instance/metadata, and Oracle's page "Getting Instance Metadata".
func instanceOf(v *visit) ([]byte, error) {
	return json.Marshal(map[string]string{
		"compartmentId": v.cloud.Seed.Compartment, "tenantId": v.cloud.Seed.Tenancy,
		"region": v.cloud.opt.Region, "canonicalRegionName": v.cloud.opt.Region,
	})
}

// newMachine makes the certificate of an instance, whose subject names the tenancy.
// Source: oracle/oci-go-sdk:common/auth, which reads it there.
func newMachine(tenancy string, now time.Time) (machine, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return machine{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		Subject: pkix.Name{CommonName: "instance", OrganizationalUnit: []string{"opc-certtype:instance", "opc-tenant:" + tenancy}},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return machine{}, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return machine{}, err
	}
	leaf := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	secret := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return machine{leaf, secret, leaf, certificate}, nil
}

// federateToken gives an instance a token for a key of its own, which it requests with
// its certificate. Source: oracle/oci-go-sdk:common/auth, X509FederationDetails.
func federateToken(v *visit) (any, error) {
	body, err := schema{"certificate": textProp().must(), "publicKey": textProp().must(), "intermediateCertificates": listProp(textProp()), "fingerprintAlgorithm": textProp(), "purpose": textProp()}.read("", v.Body)
	if err != nil {
		return nil, err
	}
	m, err := v.cloud.machine()
	if err != nil {
		return nil, err
	}
	raw, err := base64.StdEncoding.DecodeString(body.Text("certificate"))
	if err != nil || !m.certificate.Equal(&x509.Certificate{Raw: raw}) {
		return nil, notAuthenticated("the certificate is of no instance")
	}
	s, err := readSignature(v.HTTP.Header.Get("Authorization"))
	if err != nil {
		return nil, err
	}
	print := strings.ReplaceAll(fmt.Sprintf("% x", sha256.Sum256(raw)), " ", ":")
	if s.keyID != v.cloud.Seed.Tenancy+"/fed-x509-sha256/"+print {
		return nil, notAuthenticated("the key %s is not that of the certificate", s.keyID)
	}
	key, _ := m.certificate.PublicKey.(*rsa.PublicKey)
	if err := v.verify(s, key); err != nil {
		return nil, err
	}
	token, err := v.session(body.Text("publicKey"), "")
	return rest.Object{"token": token}, err
}

// workloadToken returns a token for the caller's key to the holder of a ServiceAccount's
// token. The signature is not verified: no cluster would know its key.
// Source: oracle/oci-go-sdk:common/auth, the client of workload identity: the answer is a
// JSON text that is base64 of JSON.
func workloadToken(v *visit) (any, error) {
	body, err := schema{"podKey": textProp().must()}.read("", v.Body)
	if err != nil {
		return nil, err
	}
	who, err := v.serviceAccount()
	if err != nil {
		return nil, err
	}
	token, err := v.session(body.Text("podKey"), who)
	if err != nil {
		return nil, err
	}
	inner, err := json.Marshal(map[string]string{"token": "ST$" + token})
	// Nothing follows the text: the SDK takes off its first and its last character.
	return []byte(`"` + base64.StdEncoding.EncodeToString(inner) + `"`), err
}

// serviceAccount is whose token a call carries: namespace and name.
func (v *visit) serviceAccount() (string, error) {
	bearer, _ := strings.CutPrefix(v.HTTP.Header.Get("Authorization"), "Bearer ")
	return v.accountIn(bearer)
}

// accountIn is whose token of a ServiceAccount it is: namespace and name.
// Source: Kubernetes documentation, "Managing Service Accounts", claims of bound tokens.
func (v *visit) accountIn(bearer string) (string, error) {
	parts := strings.Split(bearer, ".")
	if len(parts) != 3 {
		return "", notAuthenticated("a token of a ServiceAccount is needed")
	}
	var claims struct {
		Subject string `json:"sub"`
		Until   int64  `json:"exp"`
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(text, &claims) != nil {
		return "", notAuthenticated("the token of the ServiceAccount cannot be read")
	}
	subject := strings.Split(claims.Subject, ":")
	if len(subject) != 4 || subject[0] != "system" || subject[1] != "serviceaccount" {
		return "", notAuthenticated("the token is of %q, which is no ServiceAccount", claims.Subject)
	}
	if !v.Time.Before(time.Unix(claims.Until, 0)) {
		return "", notAuthenticated("the token of the ServiceAccount has expired")
	}
	return subject[2] + "/" + subject[3], nil
}

// session makes a token for a public key, of a workload or of an instance.
func (v *visit) session(public, who string) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(public)
	if block, _ := pem.Decode([]byte(public)); block != nil {
		raw, err = block.Bytes, nil
	}
	if err != nil {
		return "", invalidParam("the public key is neither PEM nor base64")
	}
	parsed, err := x509.ParsePKIXPublicKey(raw)
	key, is := parsed.(*rsa.PublicKey)
	if err != nil || !is {
		return "", invalidParam("the public key is none of RSA")
	}
	until := v.Time.Add(sessionAge)
	claims, err := json.Marshal(map[string]any{"exp": until.Unix(), "iat": v.Time.Unix(), "jti": v.State.id("token"), "sub": v.cloud.Seed.Tenancy, "tenant": v.cloud.Seed.Tenancy})
	if err != nil {
		return "", err
	}
	part := base64.RawURLEncoding.EncodeToString
	token := part([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + part(claims) + "." + part([]byte("simulated"))
	v.cloud.sessions[token] = session{key, until, who}
	return token, nil
}
