package oci_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/oracle/oci-go-sdk/v65/common"
	"github.com/oracle/oci-go-sdk/v65/common/auth"
	"github.com/oracle/oci-go-sdk/v65/loadbalancer"

	simoci "github.com/berth-lb/berth/test/sim/oci"
)

func (w *world) list(t *testing.T) error {
	t.Helper()
	_, err := w.lb.ListLoadBalancers(t.Context(), loadbalancer.ListLoadBalancersRequest{CompartmentId: &w.seed.Compartment})
	return err
}

func TestSignature(t *testing.T) {
	w := newWorld(t, simoci.Options{RequireSignature: true})
	expectRefusal(t, w.list(t), 401, "NotAuthenticated")
	key, err := testKey()
	if err != nil {
		t.Fatal(err)
	}
	id := w.seed.Tenancy + "/" + w.seed.User + "/11:22"
	w.Cloud.Trust(id, &key.PublicKey)
	if err := w.list(t); err != nil {
		t.Errorf("a call that is signed with the known key: %v", err)
	}
	w.makeClassic(t, w.classicDetails("signed with a body"))
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	w.Cloud.Trust(id, &other.PublicKey)
	expectRefusal(t, w.list(t), 401, "NotAuthenticated")
}

func TestInstancePrincipal(t *testing.T) {
	w := newWorld(t, simoci.Options{RequireSignature: true})
	t.Setenv("OCI_METADATA_BASE_URL", w.URL+"/opc/v2")
	t.Setenv("OCI_SDK_AUTH_CLIENT_REGION_URL", w.URL)
	login, err := auth.InstancePrincipalConfigurationProvider()
	if err != nil {
		t.Fatal(err)
	}
	client, err := loadbalancer.NewLoadBalancerClientWithConfigurationProvider(login)
	if err != nil {
		t.Fatal(err)
	}
	client.Host = w.URL
	_, err = client.ListLoadBalancers(t.Context(), loadbalancer.ListLoadBalancersRequest{CompartmentId: &w.seed.Compartment})
	if err != nil {
		t.Errorf("a call in the name of the instance: %v", err)
	}
	if got, _ := login.TenancyOCID(); got != w.seed.Tenancy {
		t.Errorf("tenancy %s, want %s", got, w.seed.Tenancy)
	}
	client.Signer = common.DefaultRequestSigner(unknownToken{login})
	_, err = client.ListLoadBalancers(t.Context(), loadbalancer.ListLoadBalancersRequest{CompartmentId: &w.seed.Compartment})
	expectRefusal(t, err, 401, "NotAuthenticated")
}

// unknownToken signs with a token that the cloud never issued.
type unknownToken struct{ common.KeyProvider }

func (unknownToken) KeyID() (string, error) { return "ST$a.b.c", nil }

func TestWorkloadIdentity(t *testing.T) {
	w := newWorld(t, simoci.Options{})
	key, err := testKey()
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]string{"podKey": string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(bearer string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/resourcePrincipalSessionTokens", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+bearer)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, strings.Trim(strings.TrimSpace(string(text)), `"`)
	}
	token := func(claims string) string {
		part := base64.RawURLEncoding.EncodeToString
		return part([]byte(`{"alg":"RS256"}`)) + "." + part([]byte(claims)) + "." + part([]byte("signed"))
	}
	for _, none := range []string{"nonsense", "a.b.c", token(`{"sub":"system:node:n","exp":4102444800}`), token(`{"sub":"system:serviceaccount:shop:web","exp":1}`)} {
		if status, _ := ask(none); status != 401 {
			t.Errorf("status %d with %s, want 401", status, none)
		}
	}
	status, text := ask(token(`{"sub":"system:serviceaccount:shop:web","exp":4102444800}`))
	inner, err := base64.StdEncoding.DecodeString(text)
	if status != 200 || err != nil || !strings.Contains(string(inner), `"token":"ST$`) {
		t.Errorf("%d %q, %v; want a token", status, inner, err)
	}
}
