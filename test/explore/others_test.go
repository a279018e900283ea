package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack/plan"
)

// faultsBesideOthers lists the faults that show where other controllers write to Services.
func faultsBesideOthers() []knownFault {
	return []knownFault{
		{name: "two writers of a status answer each other without a pause", tales: []Tale{contestedTale()}, world: func(w *world) {
			w.unlikeStatus = true // it is taken for a change of what a user asks for
		}},
		{name: "what had a Service without a finalizer stays for ever", tales: []Tale{strippedTale()}, world: breakSession(func(w *world, b *providers.Bound) {
			apply := b.Apply
			b.Apply = func(ctx context.Context, batch plan.Batch) []plan.Outcome {
				if w.asks(batch.Steps) {
					return apply(ctx, batch)
				}
				return make([]plan.Outcome, len(batch.Steps)) // no Service requests it any more
			}
		})},
		{name: "a release deletes the load balancer of a later Service of the same name", fresh: slowToDelete, tales: appliedDuringRefusal(), world: breakSession(func(_ *world, b *providers.Bound) {
			b.FoundByName = nil
		})},
		{name: "a hand-over wipes the other controller's address", tales: []Tale{handedOverTale()}, world: func(w *world) {
			w.patched = wipeAddresses
		}},
	}
}

// appliedDuringRefusal is the tale of a Service whose deletion the cloud refuses, and whose
// manifest a user applies again without the finalizers.
func appliedDuringRefusal() []Tale {
	tale := appliedAgain(nil)
	tale.Name, tale.Moves = "applied during refusal", append(tale.Moves[:1:1], tale.Moves[2:]...)
	return []Tale{tale}
}

// slowToDelete is the small cloud by names when it refuses deletions for the first minute.
func slowToDelete(t testing.TB) Subject {
	s := byNames(t)
	next := s.Handler
	var mu sync.Mutex
	var first time.Time // when a deletion arrived
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if first.IsZero() && r.Method == http.MethodDelete {
			first = time.Now()
		}
		if r.Method == http.MethodDelete && time.Since(first) < time.Minute {
			writeRefusal(w, http.StatusForbidden, "Denied")
			return
		}
		next.ServeHTTP(w, r)
	})
	return s
}

// contestedTale returns the tale of a Service for whose address another controller fights for a while.
func contestedTale() Tale {
	return Tale{"contested", []Move{
		Create("web", nil), Contested("web", 5*time.Minute), Change("web", "more ports", MorePorts), Settled(Delete("web")),
	}}
}

// strippedTale returns the tale of a Service whose finalizer a user removes, and one that is created with its
// name.
func strippedTale() Tale {
	return Tale{"stripped", []Move{
		Create("web", nil), Create("api", nil), Settled(Strip("web")), Create("web", nil), Settled(Delete("api")), Settled(Delete("web")),
	}}
}

// asks reports whether the Services of the steps exist.
func (w *world) asks(steps []plan.Step) bool {
	all := w.kube.all()
	return !slices.ContainsFunc(steps, func(s plan.Step) bool {
		return !slices.ContainsFunc(all, func(svc *corev1.Service) bool { return string(svc.UID) == s.ID.Owner.UID })
	})
}

// handedOverTale hands a Service over to another controller and back.
func handedOverTale() Tale {
	return Tale{"handed over", []Move{
		Create("web", nil), HandOver("web"), ServedElsewhere("web"), Change("web", "a label", Labelled), HandBack("web"), Settled(Delete("web")),
	}}
}

// withClasses returns a cloud whose Services can select another controller.
func withClasses(b providers.Bound) providers.Bound {
	choose := b.Choose
	b.Choose = func(svc *corev1.Service) providers.Choice {
		choice := choose(svc)
		if handedOver(svc) {
			choice.Elsewhere = "the Service asks for another controller"
		}
		return choice
	}
	return b
}

// talesOf lists the tales of a cloud: on the small one also the tales that are the same on
// every cloud.
func talesOf(cloud string) []Tale {
	c := listClouds()[cloud]
	tales := Tales(c.shape, c.other)
	if cloud == "quay" {
		tales = slices.Concat(tales, []Tale{contestedTale(), handedOverTale(), strippedTale()}, shortLived(), soonBack(), deletedTogether(), deletedAtStart())
	}
	return tales
}

// wipeAddresses returns the patch with the addresses removed, if it removes a finalizer.
func wipeAddresses(body []byte) []byte {
	var patch map[string]map[string]any
	if !bytes.Contains(body, []byte("$deleteFromPrimitiveList/finalizers")) || json.Unmarshal(body, &patch) != nil {
		return body
	}
	if patch["status"] == nil {
		patch["status"] = map[string]any{}
	}
	patch["status"]["loadBalancer"] = map[string]any{"ingress": nil}
	out, err := json.Marshal(patch)
	if err != nil {
		return body // it was made of JSON just now
	}
	return out
}
