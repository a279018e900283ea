package service

import (
	"encoding/base64"
	"errors"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-lb/berth/providers/fault"
)

// TestAccountTokens: what the API server answers to a request for a token says what is
// missing.
func TestAccountTokens(t *testing.T) {
	until := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	text := "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"kubernetes.io": {"namespace": "shop", "serviceaccount": {"name": "web", "uid": "uid-of-web"}}}`)) + ".signed"
	accounts := schema.GroupResource{Resource: "serviceaccounts"}
	for name, c := range map[string]struct {
		err  error
		want fault.Meaning
	}{
		"there":     {nil, 0},
		"not there": {apierrors.NewNotFound(accounts, "web"), fault.NotFound},
		"forbidden": {apierrors.NewForbidden(accounts, "web", errors.New("no role")), fault.Denied},
		"down":      {apierrors.NewServiceUnavailable("restarts"), fault.Unavailable},
	} {
		client := fake.NewClientset()
		client.PrependReactor("create", "serviceaccounts", func(a clienttesting.Action) (bool, runtime.Object, error) {
			if a.GetSubresource() != "token" || a.GetNamespace() != "shop" {
				t.Errorf("%s: asked for %s in %s", name, a.GetSubresource(), a.GetNamespace())
			}
			return true, &authenticationv1.TokenRequest{Status: authenticationv1.TokenRequestStatus{Token: text, ExpirationTimestamp: metav1.NewTime(until)}}, c.err
		})
		got, err := AccountTokens(client)(t.Context(), "shop", "web")
		if c.err == nil && (err != nil || got.Text != text || got.UID != "uid-of-web" || !got.Until.Equal(until)) || c.err != nil && !fault.Is(err, c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
