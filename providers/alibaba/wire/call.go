package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
)

// apiVersions returns the versions of the APIs, by the names of their hosts.
func apiVersions() map[string]string {
	return map[string]string{model.APIBalancer: "2014-05-15", model.APIMachine: "2014-05-26", model.APINetwork: "2016-04-28", model.APINet: "2022-04-30", model.APIQuota: "2020-05-10"}
}

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 16 << 20

// refusedError is an answer that refuses the call.
type refusedError struct {
	status int
	body   []byte
}

// Error implements error.
func (r *refusedError) Error() string { return fmt.Sprintf("HTTP %d", r.status) }

// request returns a signed call. Those of the NLB API are signed in their headers, the others in the query with
// all parameters, as by the official SDKs.
func (s *Session) request(ctx context.Context, c credentials, action string, params url.Values) (*http.Request, error) {
	api, name, _ := strings.Cut(action, ".")
	version := apiVersions()[api]
	var r *http.Request
	var err error
	if api == model.APINet {
		r, err = s.requestNet(ctx, c, name, version, s.bases[api], params)
	} else {
		r, err = http.NewRequestWithContext(ctx, http.MethodPost, s.bases[api]+"/?"+encodeParams(s.signed(c, name, version, params)), http.NoBody)
	}
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("User-Agent", strings.TrimSpace("berth "+s.agent))
	r.Header.Set("X-Acs-Action", name)
	r.Header.Set("X-Acs-Version", version)
	return r, nil
}

// send makes a call and reads its answer into out, which may be nil.
func (s *Session) send(ctx context.Context, action string, params url.Values, out any) error {
	c, err := s.identity.get(ctx, s.now())
	if err != nil {
		return err
	}
	r, err := s.request(ctx, c, action, params)
	if err != nil {
		return err
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it is only read
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch {
	case err != nil:
		return err
	case answer.StatusCode >= http.StatusBadRequest:
		refused := &refusedError{answer.StatusCode, text}
		if causeOf(readRefusal(refused.status, refused.body)) == fault.Unauthenticated {
			s.identity.known.Forget() // they may have been replaced
		}
		return refused
	case out != nil:
		return json.Unmarshal(text, out)
	}
	return nil
}

// Pauses between the tries of a read that is refused because a load balancer is busy, and how long
// they go on.
const (
	busyFirst    = 250 * time.Millisecond
	busyLongest  = 4 * time.Second
	busyPatience = 30 * time.Second
)

// read makes a reading call. Errors are faults. A load balancer that is busy refuses reads too.
// Source: alibaba/terraform-provider issue 451.
func (s *Session) read(ctx context.Context, action string, params url.Values, out any) error {
	wait := kit.Wait{First: busyFirst, Longest: busyLongest, Patience: busyPatience, Now: s.now}
	var refusal error
	err := wait.Until(ctx, action, func(ctx context.Context) (kit.State, error) {
		refusal = s.limits.Read(ctx, errorTable(), action, func(ctx context.Context) error { return s.send(ctx, action, params, out) })
		return kit.State{Done: !fault.Is(refusal, fault.Pending)}, nil
	})
	if err != nil && refusal == nil {
		return err
	}
	return refusal
}

// write makes a writing call. Errors are faults; Ambiguous if the call may have taken effect
// without an answer.
func (s *Session) write(ctx context.Context, action string, params url.Values, out any) error {
	return s.limits.Write(ctx, errorTable(), action, func(ctx context.Context) error { return s.send(ctx, action, params, out) })
}

// change makes a writing call about a load balancer, one at a time for each. The cloud has no
// state to ask for: while it is busy with a change of others, the call is repeated.
func (s *Session) change(ctx context.Context, balancer, action string, params url.Values, out any) error {
	return s.locks.Change(ctx, balancer,
		func() error { return s.write(ctx, action, params, out) },
		func(refusal error) error {
			if fault.Is(refusal, fault.Pending) {
				return nil
			}
			return refusal
		},
		func() error { return nil })
}

// nameOf names a call by its action.
func nameOf(r *http.Request) providers.Call {
	api := ""
	for name, version := range apiVersions() {
		if r.Header.Get("X-Acs-Version") == version {
			api = name
		}
	}
	return providers.Call{API: api, Operation: r.Header.Get("X-Acs-Action")}
}
