package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

// TestInDoubt: only an answer shows that a write took effect, and the answer of an API
// server that could not finish does not.
func TestInDoubt(t *testing.T) {
	kind := corev1.Resource("services")
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"done":                {nil, false},
		"changed meanwhile":   {apierrors.NewConflict(kind, "web", errors.New("another version")), false},
		"gone":                {fmt.Errorf("patch: %w", apierrors.NewNotFound(kind, "web")), false},
		"not allowed":         {apierrors.NewForbidden(kind, "web", errors.New("no")), false},
		"too many requests":   {apierrors.NewTooManyRequests("later", 1), false},
		"failed in the midst": {apierrors.NewInternalError(errors.New("etcdserver: request timed out")), true},
		"timed out there":     {apierrors.NewServerTimeout(kind, "patch", 1), true},
		"of a proxy":          {&apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusBadGateway}}, true},
		"not answered":        {io.ErrUnexpectedEOF, true},
		"not waited for":      {context.DeadlineExceeded, true},
	} {
		w := newWrites()
		w.begin("shop/web")
		var answer *corev1.Service
		if tc.err == nil {
			answer = &corev1.Service{}
		}
		w.end("shop/web", answer, tc.err)
		if got := w.inDoubt("shop/web"); got != tc.want {
			t.Errorf("%s: in doubt %v, want %v", name, got, tc.want)
		}
		w.begin("shop/web")
		w.end("shop/web", &corev1.Service{}, nil)
		if w.inDoubt("shop/web") {
			t.Errorf("%s: in doubt after the next answer", name)
		}
	}
}

// TestAnUnansweredWriteIsAskedAfter: before anything else is done for a Service, the API
// server shows it as it is.
func TestAnUnansweredWriteIsAskedAfter(t *testing.T) {
	inLoop(t, Options{}, func(c *cluster) {
		var bodies []string
		cut, asked := false, ""
		c.client.PrependReactor("patch", "services", func(action clienttesting.Action) (bool, runtime.Object, error) {
			a, _ := action.(clienttesting.PatchAction)
			bodies = append(bodies, string(a.GetPatch()))
			if cut && asked == "" {
				asked = string(a.GetPatch())
			}
			if cut || !strings.Contains(bodies[len(bodies)-1], `"True"`) {
				return false, nil, nil
			}
			cut = true
			if _, _, err := c.patch(action); err != nil {
				t.Error(err)
			}
			return true, nil, io.ErrUnexpectedEOF
		})
		c.put("web", asItIs)
		advanceTime(time.Minute)
		if got := c.programmed("web"); !cut || got != "True Programmed" {
			t.Fatalf("cut %v, programmed: %q", cut, got)
		}
		if asked != `{"metadata":{"uid":"uid-web"}}` {
			t.Errorf("the patch after the one without an answer is no question:\n%s", strings.Join(bodies, "\n"))
		}
	})
}
