package lease

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
)

// The paths of requests to the API server.
const (
	group    = "/apis/coordination.k8s.io/v1"
	leases   = group + "/namespaces/kube-system/leases"
	path     = leases + "/ccm"
	services = "/api/v1/namespaces/default/services/web/status"
)

// setup is a fence with a clock that tests turn, and an API server that answers as they say.
type setup struct {
	*Fence
	t      *testing.T
	now    time.Duration
	took   time.Duration // by a request
	status int           // of the answer; 0: the connection breaks
	answer *coordinationv1.Lease
	binary bool // the answer is protobuf
	sent   []string
	lost   []error
}

func newSetup(t *testing.T) *setup {
	s := &setup{t: t, now: time.Hour, status: http.StatusOK}
	s.Fence = New(Options{Namespace: "kube-system", Name: "ccm", Duration: 15 * time.Second, Now: func() time.Duration { return s.now },
		Lost: func(reason error) { s.lost = append(s.lost, reason) }})
	return s
}

// RoundTrip implements http.RoundTripper as the API server.
func (s *setup) RoundTrip(r *http.Request) (*http.Response, error) {
	s.sent = append(s.sent, r.Method+" "+r.URL.Path)
	s.now += s.took
	if s.status == 0 {
		return nil, errors.New("cut")
	}
	mediaType := runtime.ContentTypeJSON
	if s.binary {
		mediaType = runtime.ContentTypeProtobuf
	}
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	body := "{}"
	if s.answer != nil {
		text, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, coordinationv1.SchemeGroupVersion), s.answer)
		if err != nil {
			s.t.Fatal(err)
		}
		body = string(text)
	}
	return &http.Response{StatusCode: s.status, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// call makes a request, and returns whether it got through with its answer whole.
func (s *setup) call(method, path, holder string) bool {
	s.t.Helper()
	s.answer = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "ccm"}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder}}
	response, err := s.Wrap(s).RoundTrip(httptest.NewRequest(method, path, nil))
	if err != nil {
		return false
	}
	defer func() { _ = response.Body.Close() }() // it is in memory
	body, err := io.ReadAll(response.Body)
	if err != nil || len(body) == 0 {
		s.t.Errorf("%s %s: the answer is not whole: %q, %v", method, path, body, err)
	}
	return true
}

func (s *setup) writable(want bool, when string) {
	s.t.Helper()
	if err := s.Err(); (err == nil) != want {
		s.t.Errorf("%s: may write: %v (%v), want %v", when, err == nil, err, want)
	}
	if got := s.call(http.MethodPatch, services, ""); s.Held() && got != want {
		s.t.Errorf("%s: a patch got through: %v, want %v", when, got, want)
	}
}

// TestAge: a process may write from its first renewal on, until the youngest renewal is
// two thirds of the duration old. The time at which a renewal was sent counts.
func TestAge(t *testing.T) {
	for _, binary := range []bool{false, true} {
		s := newSetup(t)
		s.binary = binary
		s.writable(false, "before the Lease is acquired")
		s.call(http.MethodGet, path, "other")
		s.writable(false, "while another process holds it")
		s.call(http.MethodPost, leases, "me")
		s.writable(true, "created")
		s.now += 9 * time.Second
		s.writable(true, "young enough")
		s.took = 4 * time.Second
		s.call(http.MethodPut, path, "me")
		s.took = 0
		s.now += 7 * time.Second // eleven since it was sent
		s.writable(false, "close to the end")
		s.call(http.MethodPut, path, "me")
		s.writable(true, "renewed")
		if len(s.lost) > 0 || s.Term().Err() != nil {
			t.Errorf("the term has ended: %v", s.lost)
		}
	}
}

// TestRunsOut: a Lease that was not renewed in time is lost permanently, and what is under way
// ends with it.
func TestRunsOut(t *testing.T) {
	s := newSetup(t)
	s.call(http.MethodPut, path, "me")
	s.now += 15 * time.Second
	s.writable(false, "over")
	s.call(http.MethodPut, path, "me")
	s.writable(false, "renewed too late")
	if len(s.lost) != 1 || s.Term().Err() == nil {
		t.Errorf("want the end told once, got %v, %v", s.lost, s.Term().Err())
	}
}

// TestOtherHolder: a Lease that names another process ends the term at once, however young
// the last renewal is.
func TestOtherHolder(t *testing.T) {
	s := newSetup(t)
	s.call(http.MethodPut, path, "me")
	s.status = http.StatusConflict
	s.call(http.MethodPut, path, "me")
	s.writable(false, "the Lease was written by another process")
	s.status = http.StatusOK
	s.call(http.MethodGet, path, "me")
	s.writable(true, "it still names this process")
	s.call(http.MethodGet, path, "other")
	s.writable(false, "it names another process")
	if len(s.lost) != 1 || s.Term().Err() == nil {
		t.Errorf("want the end told once, got %v", s.lost)
	}
}

// TestNoRenewal: what is no successful write of this Lease renews nothing.
func TestNoRenewal(t *testing.T) {
	s := newSetup(t)
	s.call(http.MethodPut, path, "me")
	s.now += 9 * time.Second
	s.call(http.MethodGet, path, "me")
	s.call(http.MethodPut, path+"-2", "me")
	s.status = http.StatusInternalServerError
	s.call(http.MethodPut, path, "me")
	s.status = 0
	s.call(http.MethodPut, path, "me")
	if age, held := s.Age(); age != 9*time.Second || !held {
		t.Errorf("age %v, held %v", age, held)
	}
}

// TestGivenUp: a process that gives up its Lease must not write.
func TestGivenUp(t *testing.T) {
	s := newSetup(t)
	s.call(http.MethodPut, path, "me")
	s.call(http.MethodPut, path, "")
	s.status = http.StatusOK
	s.writable(false, "given up")
}

// TestStandby: reads and reviews get through a closed fence, and every request of a process
// that has never led, such as the certificates of its webhook.
func TestStandby(t *testing.T) {
	const review = "/apis/authentication.k8s.io/v1/tokenreviews"
	s := newSetup(t)
	if !s.call(http.MethodPut, "/api/v1/namespaces/kube-system/secrets/hook", "") {
		t.Error("a standby replica cannot write")
	}
	s.call(http.MethodPut, path, "me")
	s.now += time.Minute
	if !s.call(http.MethodGet, services, "") || !s.call(http.MethodPost, review, "") {
		t.Error("a read was refused")
	}
	if s.call(http.MethodPut, "/api/v1/namespaces/kube-system/secrets/hook", "") {
		t.Error("a process whose Lease is over can write")
	}
}

// TestWatch: the term ends by the clock, without a write that asks.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(t)
		began := time.Now()
		s.options.Now = func() time.Duration { return time.Since(began) }
		s.call(http.MethodPut, path, "me")
		s.Watch(t.Context(), clock.RealClock{})
		if took := time.Since(began); took != 15*time.Second || len(s.lost) != 1 {
			t.Errorf("after %v: %v", took, s.lost)
		}
	})
}
