package reconcile

import (
	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

// refusals lists what a request must not ask for. Services that are released are
// never asked about: what is there may always go.
func (r *Reconciler) refusals(req providers.Request) annotations.Problems {
	if r.options.Admit == nil {
		return nil
	}
	return r.options.Admit(req.Service, r.cloud.Reach(req))
}

// admit enters into a draft what the request must not ask for. A request with a
// bad value is not judged: defaults stand where the user wrote something else.
func (r *Reconciler) admit(d *Draft) {
	if d.Problems.Errors() {
		return
	}
	d.Refused = r.refusals(d.Request)
	d.Problems = append(d.Problems, d.Refused...)
}
