package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// Keys of the Secret.
const (
	keyCertificate = corev1.TLSCertKey
	keyPrivate     = corev1.TLSPrivateKeyKey
	keyTrusted     = "ca.crt" // the certificates that the API server is to trust: the newest first
)

// keepEvery is how often the certificate is checked, and soon the delay after a failure. For
// spread a new certificate is trusted before it is served: every API server reads the
// configurations by its own watch, and refuses a certificate that it does not trust yet.
const (
	keepEvery = 10 * time.Minute
	soon      = 10 * time.Second
	spread    = time.Minute
)

// keeper keeps the certificate of the webhook.
type keeper struct {
	client          kubernetes.Interface
	namespace, name string // of the Secret
	mutating        string // name of the MutatingWebhookConfiguration; empty: none
	validating      string // name of the ValidatingWebhookConfiguration; empty: none
	hosts           []string
	clock           clock.Clock
	current         atomic.Pointer[tls.Certificate]
	next            []byte    // the certificate that is to be served
	trustedSince    time.Time // of next
}

// newKeeper returns a keeper of the certificate of a site. The error is that of a value that is
// missing or not legal.
func newKeeper(client kubernetes.Interface, site Site, c clock.Clock) (*keeper, error) {
	namespace, name, _ := strings.Cut(site.Secret, "/")
	switch {
	case namespace == "" || name == "":
		return nil, fmt.Errorf("secret %q: want namespace/name", site.Secret)
	case len(site.Hosts) == 0:
		return nil, errors.New("hosts: none is given; want the names by which clients call the server")
	}
	return &keeper{client: client, namespace: namespace, name: name, hosts: site.Hosts, clock: c}, nil
}

// certificate returns the certificate that clients are shown.
func (k *keeper) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c := k.current.Load(); c != nil {
		return c, nil
	}
	return nil, errors.New("the certificate does not exist yet")
}

// run keeps the certificate until ctx ends.
func (k *keeper) run(ctx context.Context) {
	for {
		wait, err := k.keep(ctx)
		if err != nil && ctx.Err() == nil {
			klog.ErrorS(err, "the certificate of the server is not up to date")
			wait = soon
		}
		select {
		case <-ctx.Done():
			return
		case <-k.clock.After(wait):
		}
	}
}

// keep serves the certificate of the Secret, after the API server was configured to trust
// it. If there is none, or it is old, it creates one: the first replica does so for all. The
// old one stays trusted until it expires, for replicas that still serve it. keep returns when
// to check again.
func (k *keeper) keep(ctx context.Context) (time.Duration, error) {
	secret, err := k.client.CoreV1().Secrets(k.namespace).Get(ctx, k.name, metav1.GetOptions{})
	if err != nil {
		return 0, fmt.Errorf("secret %s/%s: %w", k.namespace, k.name, err)
	}
	if !isUsable(secret.Data[keyCertificate], secret.Data[keyPrivate], k.hosts, k.clock.Now()) {
		if secret, err = k.renew(ctx, secret); err != nil {
			return 0, err
		}
	}
	pair, err := tls.X509KeyPair(secret.Data[keyCertificate], secret.Data[keyPrivate])
	if err != nil {
		return 0, fmt.Errorf("secret %s/%s: %w", k.namespace, k.name, err)
	}
	if err := k.trust(ctx, secret.Data[keyTrusted]); err != nil {
		return 0, err
	}
	if wait := k.remaining(&pair); wait > 0 {
		return wait, nil
	}
	k.current.Store(&pair)
	return keepEvery, nil
}

// remaining returns for how long the previous certificate is still served. Without one, or
// after its end, the new one is served at once.
func (k *keeper) remaining(pair *tls.Certificate) time.Duration {
	old := k.current.Load()
	if old == nil || bytes.Equal(old.Certificate[0], pair.Certificate[0]) || k.clock.Now().After(old.Leaf.NotAfter) {
		return 0
	}
	if !bytes.Equal(k.next, pair.Certificate[0]) {
		k.next, k.trustedSince = pair.Certificate[0], k.clock.Now()
	}
	return spread - k.clock.Since(k.trustedSince)
}

// renew writes a new certificate into the Secret. If another replica was faster, its own
// counts.
func (k *keeper) renew(ctx context.Context, secret *corev1.Secret) (*corev1.Secret, error) {
	cert, key, err := newCertificate(k.hosts, k.clock.Now())
	if err != nil {
		return nil, err
	}
	secret = secret.DeepCopy()
	trusted := append(bytes.Clone(cert), dropExpired(secret.Data[keyTrusted], k.clock.Now())...)
	secret.Data = map[string][]byte{keyCertificate: cert, keyPrivate: key, keyTrusted: trusted}
	written, err := k.client.CoreV1().Secrets(k.namespace).Update(ctx, secret, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		return k.client.CoreV1().Secrets(k.namespace).Get(ctx, k.name, metav1.GetOptions{})
	}
	if err != nil {
		return nil, fmt.Errorf("secret %s/%s: %w", k.namespace, k.name, err)
	}
	return written, nil
}

// trust writes the trusted certificates into the configurations that call the webhook.
func (k *keeper) trust(ctx context.Context, trusted []byte) error {
	registration := k.client.AdmissionregistrationV1()
	if k.mutating != "" {
		err := trustIn(ctx, registration.MutatingWebhookConfigurations(), k.mutating, trusted, func(c *admissionregistrationv1.MutatingWebhookConfiguration) []*client {
			return clientsOf(c.Webhooks, func(w *admissionregistrationv1.MutatingWebhook) *client { return &w.ClientConfig })
		})
		if err != nil {
			return err
		}
	}
	if k.validating == "" {
		return nil
	}
	return trustIn(ctx, registration.ValidatingWebhookConfigurations(), k.validating, trusted, func(c *admissionregistrationv1.ValidatingWebhookConfiguration) []*client {
		return clientsOf(c.Webhooks, func(w *admissionregistrationv1.ValidatingWebhook) *client { return &w.ClientConfig })
	})
}

// client is how the API server calls a webhook.
type client = admissionregistrationv1.WebhookClientConfig

// clientsOf returns the client of each webhook of a configuration.
func clientsOf[W any](webhooks []W, of func(*W) *client) []*client {
	out := make([]*client, 0, len(webhooks))
	for i := range webhooks {
		out = append(out, of(&webhooks[i]))
	}
	return out
}

// configurations reads and writes the webhook configurations of one sort.
type configurations[T any] interface {
	Get(ctx context.Context, name string, o metav1.GetOptions) (T, error)
	Update(ctx context.Context, configuration T, o metav1.UpdateOptions) (T, error)
}

// trustIn writes the trusted certificates into each client of a configuration, if they differ.
func trustIn[T interface{ DeepCopy() T }](ctx context.Context, all configurations[T], name string, trusted []byte, clients func(T) []*client) error {
	configuration, err := all.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("webhook configuration %s: %w", name, err)
	}
	configuration, same := configuration.DeepCopy(), true
	for _, c := range clients(configuration) {
		same = same && bytes.Equal(c.CABundle, trusted)
		c.CABundle = trusted
	}
	if same {
		return nil
	}
	if _, err := all.Update(ctx, configuration, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("webhook configuration %s: %w", name, err)
	}
	return nil
}
