package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/meter"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/quay/model"
)

// Session is an open connection. It is safe for concurrent use.
type Session struct {
	config  model.Config
	cluster string
	client  *http.Client
	now     func() time.Time
	limits  *kit.Limits
	locks   *kit.Locks
	tokens  *kit.Tokens
	ready   *kit.Settling // waits for load balancers that are busy
	works   *kit.Settling // waits for work requests
}

// usualChange is how long a change of a load balancer usually takes. Pauses and bounds of
// waiting follow from it, and what is measured corrects it.
const usualChange = 2 * time.Second

// tokenAge is how long the API remembers the token of a creation.
const tokenAge = 24 * time.Hour

// Open returns a session. It makes no call. The error names the setting at fault.
func Open(_ context.Context, c model.Config, env providers.Env) (providers.Session[struct{}], model.Config, error) {
	if c.Endpoint == "" {
		return nil, c, fmt.Errorf("endpoint: is empty; legal: the URL of the API")
	}
	s := &Session{config: c, cluster: env.Cluster, now: env.Now, locks: kit.NewLocks()}
	if s.now == nil {
		s.now = time.Now
	}
	s.client = &http.Client{Transport: meter.New(http.DefaultTransport, env.Calls, meterLanguage())}
	s.limits = kit.NewLimits(kit.LimitOptions{Buckets: rateBuckets(), Share: env.Share, Now: s.now, Waited: env.Waited})
	s.tokens = kit.NewTokens(tokenAge, s.now, func(err error) bool { return codeOf(err) == codeTokenUsed })
	s.ready = kit.NewSettling(s.balancerStates, func(state string) bool { return state == stateBusy }).Usually(usualChange)
	s.works = kit.NewSettling(s.workStates, func(state string) bool { return state == stateRunning }).Usually(usualChange)
	return s, c, nil
}

// Classes of operations with the rates that the API documents.
const (
	bucketRead  = "read"
	bucketWrite = "write"
)

func rateBuckets() []kit.Bucket {
	return []kit.Bucket{{Name: bucketRead, Rate: 100, Burst: 200}, {Name: bucketWrite, Rate: 50, Burst: 100}}
}

// balancerDoc is a load balancer in an answer. Its spec is decoded by the codec.
type balancerDoc struct {
	ID        string                     `json:"id"`
	Mark      string                     `json:"mark"`
	State     string                     `json:"state"`
	Listeners map[string]json.RawMessage `json:"listeners"` // by slot
	Machines  []string                   `json:"machines"`
	spec      model.Balancer
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *balancerDoc) UnmarshalJSON(text []byte) (err error) {
	type plain balancerDoc
	if err := json.Unmarshal(text, (*plain)(d)); err != nil {
		return err
	}
	d.spec, err = model.BalancerCodec().Decode(text)
	return err
}

// Read lists everything once, for as many Services as ask.
func (s *Session) Read(ctx context.Context, scopes []providers.Scope) []providers.Found[struct{}] {
	var all []balancerDoc
	var openings []string
	var noBalancers, noOpenings error
	kit.Together(
		func() { all, noBalancers = listAll[balancerDoc](ctx, s, "balancers") },
		func() { openings, noOpenings = listAll[string](ctx, s, "openings") },
	)
	err := cmp.Or(noBalancers, noOpenings)
	out := make([]providers.Found[struct{}], len(scopes))
	for i, scope := range scopes {
		out[i] = providers.Found[struct{}]{At: s.now(), Err: err, Have: &stack.Stack{Owner: scope.Owner}}
		for _, d := range all {
			if d.Mark == model.MarkOf(s.config, s.cluster, scope.Owner) {
				out[i].Err = cmp.Or(out[i].Err, d.find(out[i].Have))
			}
		}
		for _, name := range openings {
			if protocol, ours := strings.CutPrefix(name, model.OpeningOf(s.cluster, "")); ours {
				out[i].Have.Put(stack.Resource{Key: model.OpeningKey(protocol), ID: name, Ownership: stack.Shared, Proof: stack.Name, Spec: model.Opening{Protocol: protocol}})
			}
		}
	}
	return out
}

// find adds the resources that the API shows to a stack, with the keys of the desired state.
// The mark proves that the load balancer is ours, and so are its parts.
func (d balancerDoc) find(have *stack.Stack) error {
	state := stack.Ready
	if d.State == stateBusy {
		state = stack.Pending
	}
	have.Put(stack.Resource{Key: model.BalancerKey(), ID: d.ID, Proof: stack.Tag, State: state, Spec: d.spec})
	have.Put(stack.Resource{
		Key: model.MachinesKey(), ID: d.ID, In: model.BalancerKey(), Proof: stack.Derived, Spec: model.Machines{Names: slices.Sorted(slices.Values(d.Machines))},
	})
	for name, text := range d.Listeners {
		l, err := model.ListenerCodec().Decode(text)
		if err != nil {
			return fault.New(fault.Unavailable, "balancer %s: %v", d.ID, err)
		}
		have.Put(stack.Resource{
			Key: model.ListenerKey(l.Protocol, l.Port), ID: d.ID + "/listeners/" + name, In: model.BalancerKey(), Slot: name, Proof: stack.Derived, Spec: l,
		})
	}
	return nil
}

// Orphans implements providers.Sweeper: the mark of a load balancer names the cluster and its
// Service. Openings have no mark of a Service, so nothing says whose they are.
func (s *Session) Orphans(ctx context.Context, live providers.Live) ([]*stack.Stack, error) {
	all, err := listAll[balancerDoc](ctx, s, "balancers")
	if err != nil {
		return nil, err
	}
	var found []providers.Found[struct{}]
	for _, d := range all {
		owner, ours := model.OwnerOf(s.config, s.cluster, d.Mark)
		if !ours || slices.ContainsFunc(live.Services, func(o stack.Owner) bool { return model.MarkOf(s.config, s.cluster, o) == d.Mark }) {
			continue
		}
		owner.Name = cmp.Or(owner.Name, d.spec.Name)
		have := &stack.Stack{Owner: owner}
		found = append(found, providers.Found[struct{}]{Have: have, Err: d.find(have)})
	}
	return kit.Orphans(found, func(*stack.Stack) (bool, error) { return true, nil })
}
