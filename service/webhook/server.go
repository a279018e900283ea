package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// Site is where a server listens, and what its certificate is for.
type Site struct {
	Listen string   // address to listen on, such as ":9443"; empty: there is no server
	Hosts  []string // names and addresses by which clients call
	Secret string   // namespace/name of the Secret with the certificate; it must exist
}

// Options say how the API server reaches the webhooks.
type Options struct {
	Site
	Mutating   string // name of the MutatingWebhookConfiguration; empty: there is none
	Validating string // name of the ValidatingWebhookConfiguration; empty: there is none
}

// most bounds how much of a request is read: objects of the API server are smaller.
const most = 4 << 20

// Verdict is the answer to a request. The zero Verdict allows it.
type Verdict struct {
	Denied   string   // why the request is denied; empty: it is allowed
	Warnings []string // shown to the user of kubectl
	Patch    []byte   // a JSON patch; nil: none
}

// Handler answers requests. After an error the request is allowed.
type Handler func(*admissionv1.AdmissionRequest) (Verdict, error)

// Server answers the API server.
type Server struct {
	options  Options
	handlers map[string]Handler
	keeper   *keeper
}

// New returns a server of handlers by path. The error is that of an option that is missing or not
// legal.
func New(client kubernetes.Interface, o Options, c clock.Clock, handlers map[string]Handler) (*Server, error) {
	keeper, err := newKeeper(client, o.Site, c)
	if err != nil {
		return nil, err
	}
	if o.Mutating == "" && o.Validating == "" {
		return nil, errors.New("configuration: none is given; want the name of the webhook configuration")
	}
	keeper.mutating, keeper.validating = o.Mutating, o.Validating
	return &Server{options: o, handlers: handlers, keeper: keeper}, nil
}

// Run listens until ctx ends. The error is that of the address that cannot be listened on.
func (s *Server) Run(ctx context.Context) error {
	mux := http.NewServeMux()
	for path, handler := range s.handlers {
		mux.HandleFunc(path, handler.serve)
	}
	return serveSite(ctx, "webhook", s.options.Site, s.keeper, mux)
}

// serve answers one review.
func (h Handler) serve(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(io.LimitReader(r.Body, most)).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "want an AdmissionReview of admission.k8s.io/v1 with a request", http.StatusBadRequest)
		return
	}
	verdict, err := h(review.Request)
	if err != nil {
		klog.ErrorS(err, "webhook")
		verdict = Verdict{}
	}
	review.Response = verdict.response()
	review.Response.UID = review.Request.UID
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(review); err != nil {
		klog.ErrorS(err, "webhook")
	}
}

func (v Verdict) response() *admissionv1.AdmissionResponse {
	out := &admissionv1.AdmissionResponse{Allowed: v.Denied == "", Warnings: v.Warnings}
	if v.Denied != "" {
		out.Result = &metav1.Status{Status: metav1.StatusFailure, Message: v.Denied, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity}
	}
	if v.Patch != nil {
		kind := admissionv1.PatchTypeJSONPatch
		out.Patch, out.PatchType = v.Patch, &kind
	}
	return out
}
