package gatehook

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/service/logkey"
)

// Options say how the webhook is reached.
type Options struct {
	Listen        string   // address to listen on, such as ":9443"; empty: there is no webhook
	Hosts         []string // names and addresses by which the API server calls it
	Secret        string   // namespace/name of the Secret with the certificate; it must exist
	Configuration string   // name of the MutatingWebhookConfiguration that calls it
}

// Path is where the webhook answers.
const Path = "/mutate-pods"

// most is how much of a request is read: objects of the API server are smaller.
const most = 4 << 20

// Services lists those of a namespace, as far as they are known.
type Services func(namespace string) []*corev1.Service

// Hook answers the API server.
type Hook struct {
	options  Options
	services Services
	keeper   *keeper
}

// New makes a webhook. The error is that of an option that is missing or not legal.
func New(client kubernetes.Interface, services Services, o Options, c clock.Clock) (*Hook, error) {
	namespace, name, _ := strings.Cut(o.Secret, "/")
	switch {
	case namespace == "" || name == "":
		return nil, fmt.Errorf("secret %q: want namespace/name", o.Secret)
	case len(o.Hosts) == 0:
		return nil, errors.New("hosts: none is given; want the names by which the API server calls the webhook")
	case o.Configuration == "":
		return nil, errors.New("configuration: none is given; want the name of the MutatingWebhookConfiguration")
	}
	return &Hook{
		options: o, services: services,
		keeper: &keeper{client: client, namespace: namespace, name: name, configuration: o.Configuration, hosts: o.Hosts, clock: c},
	}, nil
}

// Run listens until ctx ends. The error is that of the address that cannot be listened on.
func (h *Hook) Run(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", h.options.Listen)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc(Path, h.serve(h.gates))
	mux.HandleFunc(ServerIDPath, h.serve(serverIDsIn))
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: h.keeper.certificate},
	}
	klog.InfoS("webhook listens", logkey.Addr, listener.Addr().String())
	ends := context.AfterFunc(ctx, func() { _ = server.Close() }) // its later answers are of no use
	defer ends()
	go h.keeper.run(ctx)
	if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("webhook: %w", err)
	}
	return nil
}

// patcher says what a pod of a namespace gets; nil: nothing.
type patcher func(namespace string, pod *corev1.Pod) ([]byte, error)

// serve answers reviews. A pod is always allowed: at worst it gets nothing.
func (h *Hook) serve(with patcher) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { serveReview(w, r, with) }
}

func serveReview(w http.ResponseWriter, r *http.Request, with patcher) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(io.LimitReader(r.Body, most)).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "want an AdmissionReview of admission.k8s.io/v1 with a request", http.StatusBadRequest)
		return
	}
	reply := &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	patch, err := patchOf(review.Request, with)
	if err != nil {
		klog.ErrorS(err, "webhook")
	}
	if patch != nil {
		kind := admissionv1.PatchTypeJSONPatch
		reply.Patch, reply.PatchType = patch, &kind
	}
	review.Request, review.Response = nil, reply
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(review); err != nil {
		klog.ErrorS(err, "webhook")
	}
}

// patchOf is what the pod of a request gets; nil: nothing.
func patchOf(r *admissionv1.AdmissionRequest, with patcher) ([]byte, error) {
	if r.Operation != admissionv1.Create || r.Resource.Resource != "pods" || r.SubResource != "" {
		return nil, nil
	}
	pod := &corev1.Pod{}
	if err := json.Unmarshal(r.Object.Raw, pod); err != nil {
		return nil, fmt.Errorf("pod: %w", err)
	}
	return with(r.Namespace, pod)
}

func (h *Hook) gates(namespace string, pod *corev1.Pod) ([]byte, error) {
	return patchFor(pod, gatesFor(pod, h.services(namespace)))
}

func serverIDsIn(_ string, pod *corev1.Pod) ([]byte, error) { return serverIDs(pod) }
