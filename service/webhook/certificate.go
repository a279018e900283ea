package webhook

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"
)

// lifetime is how long a certificate is good, renewBefore how long before its end it is
// replaced: far more than a replica may take to look at it again.
const (
	lifetime    = 90 * 24 * time.Hour
	renewBefore = 30 * 24 * time.Hour
	// tolerance is by how much the clock of the API server may be behind.
	tolerance = time.Hour
)

const certificateBlock = "CERTIFICATE"

// newCertificate returns a certificate for some hosts that vouches for itself, and its key,
// both as PEM.
func newCertificate(hosts []string, now time.Time) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, fmt.Errorf("serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "berth webhook"},
		NotBefore: now.Add(-tolerance), NotAfter: now.Add(lifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	body, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, fmt.Errorf("key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: body}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), nil
}

// isUsable reports whether a certificate can be parsed, is for all hosts, and is far
// from its expiry.
func isUsable(cert, key []byte, hosts []string, now time.Time) bool {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return false
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil || now.Before(leaf.NotBefore) || now.Add(renewBefore).After(leaf.NotAfter) {
		return false
	}
	return !slices.ContainsFunc(hosts, func(h string) bool { return leaf.VerifyHostname(h) != nil })
}

// dropExpired returns the certificates that have not expired.
func dropExpired(certs []byte, now time.Time) []byte {
	var out bytes.Buffer
	for block, rest := pem.Decode(certs); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil && now.Before(c.NotAfter) {
			out.Write(pem.EncodeToMemory(block))
		}
	}
	return out.Bytes()
}
