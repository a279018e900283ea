package identity

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Lifetime is how long a token is good, as the real ones are.
const Lifetime = time.Hour

// tokenPrefix marks the tokens, as the real ones are marked.
const tokenPrefix = "ya29.simulated."

// Issuer gives tokens out and knows them again. It is safe for concurrent use.
type Issuer struct {
	// Email is the service account that tokens are for.
	Email string

	mu      sync.Mutex
	count   int
	expires map[string]time.Time
	key     *rsa.PrivateKey
}

// Issue gives a new token.
func (i *Issuer) Issue(now time.Time) (token string, expires time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.count++
	if i.expires == nil {
		i.expires = map[string]time.Time{}
	}
	token = fmt.Sprintf("%s%06d", tokenPrefix, i.count)
	i.expires[token] = now.Add(Lifetime)
	return token, i.expires[token]
}

// Known reports whether a token was issued and is still valid.
func (i *Issuer) Known(token string, now time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.expires[token].After(now)
}

// signer makes the key of the service account when it is first needed.
func (i *Issuer) signer() (*rsa.PrivateKey, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.key == nil {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return nil, fmt.Errorf("service account key: %w", err)
		}
		i.key = key
	}
	return i.key, nil
}

// KeyFile gives a service account key file whose token URI is the simulator's.
func (i *Issuer) KeyFile(project, url string) ([]byte, error) {
	key, err := i.signer()
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("service account key: %w", err)
	}
	doc, err := json.MarshalIndent(map[string]string{
		"type": "service_account", "project_id": project, "private_key_id": "simulator",
		"private_key":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"client_email": i.Email, "client_id": "100000000000000000001", "auth_uri": url + "/auth", "token_uri": url + "/token",
		"universe_domain": "googleapis.com",
	}, "", "  ")
	return append(doc, '\n'), err
}

// verify checks the assertion of a service account: its issuer, that it is meant for a token
// endpoint, that it is not too old, and its signature.
func (i *Issuer) verify(assertion string, now time.Time) error {
	parts := strings.Split(assertion, ".")
	if len(parts) != 3 {
		return fmt.Errorf("invalid JWT: want three parts")
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return fmt.Errorf("invalid JWT: %w", err)
	}
	var claims struct {
		Issuer   string  `json:"iss"`
		Audience string  `json:"aud"`
		Issued   float64 `json:"iat"`
		Expires  float64 `json:"exp"`
	}
	if err := json.Unmarshal(body, &claims); err != nil {
		return fmt.Errorf("invalid JWT: %w", err)
	}
	switch {
	case claims.Issuer != i.Email:
		return fmt.Errorf("invalid grant: account %q not found", claims.Issuer)
	case !strings.HasSuffix(claims.Audience, "/token"):
		return fmt.Errorf("invalid JWT: audience %q is no token endpoint", claims.Audience)
	case claims.Expires <= float64(now.Unix()) || claims.Expires-claims.Issued > 3600+60:
		return fmt.Errorf("invalid JWT: token must be a short-lived token (60 minutes) and in a reasonable timeframe")
	}
	sign, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return fmt.Errorf("invalid JWT: %w", err)
	}
	key, err := i.signer()
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum[:], sign); err != nil {
		return fmt.Errorf("invalid JWT signature")
	}
	return nil
}
