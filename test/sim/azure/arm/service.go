package arm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// AsyncMode says how long running writes are answered.
type AsyncMode string

// The zero AsyncMode is AsyncHeader.
const (
	// AsyncHeader answers with Azure-AsyncOperation, and DELETE with Location too.
	AsyncHeader AsyncMode = "azure-async-operation"
	// AsyncLocation answers with Location only.
	AsyncLocation AsyncMode = "location"
	// AsyncNone finishes within the answer, unless there is a latency; then the
	// provisioning state of the resource is all there is to poll.
	AsyncNone AsyncMode = "none"
)

// Overlap says what a write does to a resource that an earlier one is still busy with.
type Overlap string

// The zero Overlap is OverlapRefuse.
const (
	// OverlapRefuse answers 409 AnotherOperationInProgress.
	OverlapRefuse Overlap = "refuse"
	// OverlapSupersede lets the later write win; the earlier operation ends as
	// Canceled with CanceledAndSupersededDueToAnotherOperation.
	OverlapSupersede Overlap = "supersede"
)

// Options configures the service.
type Options struct {
	Subscription, Tenant string
	// Location is the default of locations in answers that belong to none.
	Location string
	// Latency is how long a write takes before its resource is Succeeded; the
	// operation is finished at the first poll when it is 0.
	Latency time.Duration
	// LatencyOf overrides Latency by type, such as "Microsoft.Network/loadBalancers".
	LatencyOf map[string]time.Duration
	Async     AsyncMode
	Overlap   Overlap
	// PageSize is how many entries a list answers at once; default 500.
	PageSize int
	// PollAfter is what an unfinished operation tells the client to wait; default 1 second.
	PollAfter time.Duration
	// WholeSeconds tells it in the header Retry-After alone, and not also in
	// milliseconds. Source: Azure/azure-libraries-for-net issue 1021.
	WholeSeconds bool
}

// Service is Azure Resource Manager with all resource providers.
type Service struct {
	Options
	State *State

	kinds      map[string]*Kind
	parts      map[string]partKind
	extra      []Extra
	operations map[string]*Operation
	busy       map[string]*Operation
	etags      int
	guids      int
}

// Extra is a call outside the pattern of resources, such as a POST action.
type Extra struct {
	Method string
	// Pattern is the path in lower case, with {x} for any one segment.
	Pattern       string
	Service, Name string
	Write         bool
	Run           func(c *Call) *Response
}

type partKind struct {
	*Kind
	Collection
}

// NewService makes a service with an empty state.
func NewService(opt Options, kinds []*Kind, extra []Extra) *Service {
	if opt.PageSize <= 0 {
		opt.PageSize = 500
	}
	if opt.PollAfter <= 0 {
		opt.PollAfter = time.Second
	}
	s := &Service{
		Options: opt, State: NewState(), kinds: map[string]*Kind{}, parts: map[string]partKind{},
		operations: map[string]*Operation{}, busy: map[string]*Operation{},
	}
	for _, k := range append(kinds, groupKind()) {
		s.kinds[strings.ToLower(k.Type)] = k
		for _, c := range k.Collections {
			s.parts[strings.ToLower(k.Type+"/"+c.Property)] = partKind{k, c}
		}
	}
	s.extra = append(s.builtin(), extra...)
	return s
}

// Freeze gives the service as it is now, for reads of an earlier state.
func (s *Service) Freeze() *Service {
	out := *s
	out.State = s.State.Freeze()
	return &out
}

func (s *Service) newEtag() string {
	s.etags++
	return `W/"` + GUID("etag", s.etags) + `"`
}

func (s *Service) guid(what string) string {
	s.guids++
	return GUID(what, s.guids)
}

// GUID makes an id that is the same for the same words in every run.
func GUID(what string, n int) string {
	sum := sha256.Sum256([]byte(what + "/" + strconv.Itoa(n)))
	h := hex.EncodeToString(sum[:16])
	return fmt.Sprintf("%s-%s-4%s-a%s-%s", h[:8], h[8:12], h[13:16], h[17:20], h[20:32])
}

// Seed stores a resource as if it had been PUT long ago; it is for the world
// that the cloud begins with. The error is the refusal of the rules.
func (s *Service) Seed(id ID, body Doc, now time.Time) *Error {
	kind := s.kinds[strings.ToLower(id.Type())]
	if kind == nil {
		return Badf("InvalidResourceType", "The resource type '%s' is not simulated.", id.Type())
	}
	w := &Write{Request: &Request{Method: http.MethodPut, Now: now, Header: http.Header{}}, State: s.State, Kind: kind, ID: id, Old: s.State.Get(id), Doc: Clone(body), svc: s}
	if w.Old != nil {
		w.ID = w.Old.ID
	}
	if err := w.prepare(); err != nil {
		return err
	}
	s.commit(w, Succeeded)
	return nil
}

// Change lets an action outside the pattern of resources store and touch resources.
func (s *Service) Change(do func(*Write)) {
	do(&Write{Request: &Request{Header: http.Header{}}, State: s.State, svc: s})
}
