package webhook

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

// TestOptions: what is missing is named.
func TestOptions(t *testing.T) {
	good := Options{Site: Site{Listen: ":0", Hosts: []string{"hook"}, Secret: "berth/hook"}, Mutating: "berth"}
	for name, change := range map[string]func(*Options){
		"secret": func(o *Options) { o.Secret = "hook" }, "hosts": func(o *Options) { o.Hosts = nil }, "configuration": func(o *Options) { o.Mutating = "" },
	} {
		o := good
		change(&o)
		if _, err := New(fake.NewClientset(), o, clock.RealClock{}, nil); err == nil || !bytes.Contains([]byte(err.Error()), []byte(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(fake.NewClientset(), good, clock.RealClock{}, nil); err != nil {
		t.Error(err)
	}
}

// replicas is a cluster with replicas of the webhook, at one time.
type replicas struct {
	*testing.T
	client *fake.Clientset
	clock  *clocktesting.FakeClock
}

func newReplicas(t *testing.T) *replicas {
	return &replicas{T: t, clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), client: fake.NewClientset(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "berth", Name: "hook"}},
		&admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "berth"}, Webhooks: []admissionregistrationv1.MutatingWebhook{{Name: "pods"}}},
		&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "berth"}, Webhooks: []admissionregistrationv1.ValidatingWebhook{{Name: "warn"}, {Name: "enforce"}}},
	)}
}

func (r *replicas) keeper(hosts ...string) *keeper {
	return &keeper{client: r.client, namespace: "berth", name: "hook", mutating: "berth", validating: "berth", hosts: append(hosts, "hook.berth.svc", "127.0.0.1"), clock: r.clock}
}

// shows is what a replica shows after it has looked.
func (r *replicas) shows(k *keeper) []byte {
	r.Helper()
	if _, err := k.keep(r.Context()); err != nil {
		r.Fatal(err)
	}
	shown, err := k.certificate(nil)
	if err != nil {
		r.Fatal(err)
	}
	return shown.Certificate[0]
}

// trusts returns an error unless the API server trusts a certificate.
func (r *replicas) trusts(shown []byte, host string) error {
	r.Helper()
	configuration, err := r.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(r.Context(), "berth", metav1.GetOptions{})
	if err != nil {
		r.Fatal(err)
	}
	validating, err := r.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(r.Context(), "berth", metav1.GetOptions{})
	if err != nil {
		r.Fatal(err)
	}
	for _, hook := range validating.Webhooks {
		if !bytes.Equal(hook.ClientConfig.CABundle, configuration.Webhooks[0].ClientConfig.CABundle) {
			r.Errorf("the validating webhook %s trusts other certificates than the mutating one", hook.Name)
		}
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(configuration.Webhooks[0].ClientConfig.CABundle)
	leaf, err := x509.ParseCertificate(shown)
	if err != nil {
		r.Fatal(err)
	}
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: r.clock.Now()})
	return err
}

// TestRotation: while a certificate is replaced, no API server refuses one that a replica serves,
// although it may read the configurations a minute late, and 50 requests a second find each moment.
func TestRotation(t *testing.T) {
	r := newReplicas(t)
	all := []*keeper{r.keeper(), r.keeper()}
	for _, k := range all {
		r.shows(k)
	}
	first := r.shows(all[0])
	r.clock.Step(lifetime - renewBefore + time.Second)
	const perSecond = 50
	bundles := [][]byte{r.bundle()} // by request
	// The replicas check the certificate a minute from now, one some seconds after the other.
	due := []time.Time{r.clock.Now().Add(spread), r.clock.Now().Add(spread + 5*time.Second)}
	for n := range int(3*spread/time.Second) * perSecond {
		bundle := bundles[len(bundles)-1]
		for i, k := range all {
			if r.clock.Now().Before(due[i]) {
				continue
			}
			wait, err := k.keep(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			due[i], bundle = r.clock.Now().Add(wait), r.bundle()
		}
		bundles = append(bundles, bundle)
		late := bundles[max(0, n-int((spread-time.Second)/time.Second)*perSecond)]
		for i, k := range all {
			shown, err := k.certificate(nil)
			if err != nil {
				t.Fatal(err)
			}
			if !trustsIn(late, shown.Leaf.Raw) || !trustsIn(bundle, shown.Leaf.Raw) {
				t.Fatalf("request %d: replica %d serves a certificate that an API server does not trust", n, i)
			}
		}
		r.clock.Step(time.Second / perSecond)
	}
	for i, k := range all {
		if bytes.Equal(first, r.shows(k)) {
			t.Errorf("replica %d still serves the old certificate", i)
		}
	}
}

// bundle returns the certificates that the API server is to trust.
func (r *replicas) bundle() []byte {
	r.Helper()
	found, err := r.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(r.Context(), "berth", metav1.GetOptions{})
	if err != nil {
		r.Fatal(err)
	}
	return found.Webhooks[0].ClientConfig.CABundle
}

// trustsIn reports whether a bundle has the certificate, which verifies itself.
func trustsIn(bundle, cert []byte) bool {
	return bytes.Contains(bundle, pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: cert}))
}

// TestCertificates: two replicas share one certificate; it is replaced before it ends, and
// the old one is trusted until then.
func TestCertificates(t *testing.T) {
	r := newReplicas(t)
	a, b := r.keeper(), r.keeper()
	if _, err := a.certificate(nil); err == nil {
		t.Error("a certificate before there is one")
	}
	first := r.shows(a)
	if !bytes.Equal(first, r.shows(b)) {
		t.Error("two replicas show two certificates")
	}
	if err := r.trusts(first, "hook.berth.svc"); err != nil {
		t.Errorf("new: %v", err)
	}
	r.clock.Step(lifetime - renewBefore - time.Hour)
	if !bytes.Equal(first, r.shows(a)) {
		t.Error("it is renewed long before its end")
	}
	r.clock.Step(2 * time.Hour)
	r.shows(a)
	r.clock.Step(spread)
	newer := r.shows(a)
	if bytes.Equal(first, newer) {
		t.Error("it is not renewed")
	}
	for name, shown := range map[string][]byte{"the new one": newer, "that of the other replica": first} {
		if err := r.trusts(shown, "hook.berth.svc"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.clock.Step(renewBefore)
	if err := r.trusts(first, "hook.berth.svc"); err == nil {
		t.Error("one that has ended is trusted")
	}
	if err := r.trusts(r.shows(r.keeper("other.berth.svc")), "other.berth.svc"); err != nil {
		t.Errorf("another host: %v", err)
	}
}
