package explore

import (
	"context"
	"net/http"

	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// RoundTrip implements http.RoundTripper, for clients that need no connection.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	p := w.process(r.URL.Host)
	if p != nil && p.over() {
		return nil, virtual.CutError()
	}
	body, err := virtual.ReadBody(r)
	if err != nil {
		return nil, err
	}
	// A request that has arrived takes effect, even if its client has disconnected.
	inner := virtual.Received(context.WithoutCancel(r.Context()), r, body)
	name, write := w.subject.Call(inner, body)
	if p == nil || name == "" {
		return virtual.Respond(r, func(out http.ResponseWriter) { w.subject.Handler.ServeHTTP(out, inner) })
	}
	serve := func(d Deviation) (*http.Response, error) {
		defer p.standStill()
		return virtual.Respond(r, func(out http.ResponseWriter) { w.serveCloud(out, inner, p.effect(d), name, write) })
	}
	if write {
		w.forbid(p, name)
	}
	point := w.gate.enter(Point{Process: p.id, Party: Cloud, What: name, Write: write, Urgency: kit.TurnOf(r.Context()).Urgency})
	select {
	case d := <-point.answer:
		return serve(d)
	case <-r.Context().Done():
		go func() { _, _ = serve(<-point.answer) }() // the client has disconnected
		return nil, r.Context().Err()
	}
}
