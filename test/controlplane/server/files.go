package server

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/csv"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// credential is a token with its secret.
type credential struct {
	Token
	secret string
}

func newCredential(token Token) credential {
	return credential{Token: token, secret: rand.Text()}
}

// writeTokens writes the API server's static token file: token, user, uid and the
// groups in one quoted field.
func writeTokens(path string, credentials []credential) error {
	var text strings.Builder
	lines := csv.NewWriter(&text)
	for _, c := range credentials {
		record := []string{c.secret, c.User, c.Name}
		if len(c.Groups) > 0 {
			record = append(record, strings.Join(c.Groups, ","))
		}
		if err := lines.Write(record); err != nil {
			return err
		}
	}
	lines.Flush()
	return os.WriteFile(path, []byte(text.String()), 0o600)
}

// writeServiceAccountKey writes the key that signs service account tokens; the
// API server refuses to start without one.
func writeServiceAccountKey(path string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return os.WriteFile(path, pem.EncodeToMemory(block), 0o600)
}

// auditPolicy records the bodies of writes and only the metadata of reads. The moment a
// request arrives is left out: it would double the lines.
func auditPolicy() map[string]any {
	return map[string]any{
		"apiVersion":        "audit.k8s.io/v1",
		"kind":              "Policy",
		"omitStages":        []string{"RequestReceived"},
		"omitManagedFields": true,
		"rules": []map[string]any{
			{"level": "Request", "verbs": []string{"create", "update", "patch", "delete", "deletecollection"}},
			{"level": "Metadata"},
		},
	}
}

// clientConfig returns a client configuration; its YAML form may as well be JSON.
func clientConfig(url string, ca []byte, c credential) map[string]any {
	const name = "berth-test"
	return map[string]any{
		"apiVersion":      "v1",
		"kind":            "Config",
		"current-context": name,
		"clusters": []map[string]any{{
			"name":    name,
			"cluster": map[string]any{"server": url, "certificate-authority-data": ca},
		}},
		"users": []map[string]any{{
			"name": c.Name,
			"user": map[string]any{"token": c.secret},
		}},
		"contexts": []map[string]any{{
			"name":    name,
			"context": map[string]any{"cluster": name, "user": c.Name, "namespace": "default"},
		}},
	}
}

func writeJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}
