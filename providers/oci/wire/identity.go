package wire

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/oracle/oci-go-sdk/v65/common"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// account is a ServiceAccount whose workload identity makes calls; zero: the identity of
// the configuration does.
type account struct{ namespace, name string }

// Accounts is the session of the program: one Session of the configuration's identity,
// and one for each ServiceAccount that Services name. What the cloud tells one identity,
// no other one learns.
// Source: oracle/oci-cloud-controller-manager:pkg/cloudprovider/providers/oci/load_balancer.go (getLoadBalancerProvider).
type Accounts struct {
	own    *Session
	open   func(common.ConfigurationProvider) *Session
	tokens func(ctx context.Context, namespace, account string) (providers.AccountToken, error)
	now    func() time.Time

	mu     sync.Mutex
	by     map[stack.Owner]account // the identity of the last read of each Service
	others map[account]*deputy
}

// Read implements providers.Session: every Service is read by the identity that its
// scope names.
func (a *Accounts) Read(ctx context.Context, scopes []providers.Scope) []providers.Found[*model.Facts] {
	out := make([]providers.Found[*model.Facts], len(scopes))
	groups := map[*Session][]int{}
	for i, sc := range scopes {
		session, err := a.reader(ctx, sc)
		if err != nil {
			out[i] = providers.Found[*model.Facts]{At: a.now(), Have: &stack.Stack{Owner: sc.Owner}, Err: err}
			continue
		}
		groups[session] = append(groups[session], i)
	}
	var all []func()
	for session, members := range groups {
		all = append(all, func() {
			mine := make([]providers.Scope, 0, len(members))
			for _, i := range members {
				mine = append(mine, scopes[i])
			}
			for n, found := range session.Read(ctx, mine) {
				out[members[n]] = found
			}
		})
	}
	kit.Together(all...)
	return out
}

// reader is the session that reads a scope, and that will make the calls for its Service.
func (a *Accounts) reader(ctx context.Context, sc providers.Scope) (*Session, error) {
	who, needed := accountOf(sc)
	session, err := a.session(ctx, who)
	switch {
	case fault.Is(err, fault.NotFound) && !needed:
		who, session = account{}, a.own
	case err != nil:
		return nil, deniedIfMissing(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.by, sc.Owner)
	if who != (account{}) {
		a.by[sc.Owner] = who
	}
	return session, nil
}

// deniedIfMissing converts the error for a ServiceAccount that is not found to a
// permission error: the resources that the calls name may exist.
func deniedIfMissing(err error) error {
	if fault.Is(err, fault.NotFound) {
		return &fault.Fault{Meaning: fault.Denied, Text: fmt.Sprintf("%v, which %s names", err, model.AccountKey()), Helps: "make it, or take the annotation away"}
	}
	return err
}

// accountOf is the ServiceAccount that a scope names, and whether it is needed.
func accountOf(sc providers.Scope) (account, bool) {
	for _, l := range sc.Facts {
		if l.Kind == model.FactAccount {
			return account{sc.Owner.Namespace, l.Value}, l.By == model.ByWanted
		}
	}
	return account{}, false
}

// Apply implements providers.Session: the steps of a batch go out by the identities that
// have read their Services, those of one identity together.
func (a *Accounts) Apply(ctx context.Context, b plan.Batch) []plan.Outcome {
	groups := map[account][]int{}
	var order []account
	a.mu.Lock()
	for i, step := range b.Steps {
		who := a.by[step.ID.Owner]
		if groups[who] == nil {
			order = append(order, who)
		}
		groups[who] = append(groups[who], i)
	}
	a.mu.Unlock()
	out := make([]plan.Outcome, len(b.Steps))
	for _, who := range order {
		part := b
		part.Steps = nil
		for _, i := range groups[who] {
			part.Steps = append(part.Steps, b.Steps[i])
		}
		for n, o := range a.apply(ctx, who, part) {
			out[groups[who][n]] = o
		}
	}
	return out
}

// apply makes the calls of a batch with one identity. Deletions use the identity of the
// configuration if the ServiceAccount no longer exists: they remove the remains of a
// Service.
func (a *Accounts) apply(ctx context.Context, who account, b plan.Batch) []plan.Outcome {
	session, err := a.session(ctx, who)
	removes := !slices.ContainsFunc(b.Steps, func(s plan.Step) bool { return s.ID.Action != plan.Delete })
	switch {
	case fault.Is(err, fault.NotFound) && removes:
		session = a.own
	case err != nil:
		return kit.Every(b, kit.Failed(deniedIfMissing(err)))
	}
	return session.Apply(ctx, b)
}

// Orphans implements providers.Sweeper, with the identity of the configuration.
func (a *Accounts) Orphans(ctx context.Context, live providers.Live) ([]*stack.Stack, error) {
	return a.own.Orphans(ctx, live)
}

// deputy is the session of a ServiceAccount, with the token that gets it its identity.
type deputy struct {
	session *Session
	bearer  *bearer
}

// session returns the session of a ServiceAccount, once a token exists for it. A session of
// a deleted or recreated ServiceAccount is not used again.
func (a *Accounts) session(ctx context.Context, who account) (*Session, error) {
	if who == (account{}) {
		return a.own, nil
	}
	if a.tokens == nil {
		return nil, fault.New(fault.Denied, "there is no cluster to ask for a token of service account %s/%s", who.namespace, who.name)
	}
	d, err := a.deputy(who)
	if err != nil {
		return nil, err
	}
	another, err := d.bearer.renew(ctx, a.now(), func(ctx context.Context) (providers.AccountToken, error) {
		return a.tokens(ctx, who.namespace, who.name)
	})
	if another || fault.Is(err, fault.NotFound) {
		a.forget(who, d)
	}
	if another {
		return a.session(ctx, who)
	}
	return d.session, err
}

// forget closes the session of a ServiceAccount, with everything that the SDK got for its
// token.
func (a *Accounts) forget(who account, d *deputy) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.others[who] == d {
		delete(a.others, who)
	}
}

func (a *Accounts) deputy(who account) (*deputy, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if d, ok := a.others[who]; ok {
		return d, nil
	}
	b := &bearer{}
	identity, err := identityForToken(fmt.Sprintf("service account %s/%s", who.namespace, who.name), "", b)
	if err != nil {
		return nil, err
	}
	d := &deputy{session: a.open(identity), bearer: b}
	a.others[who] = d
	return d, nil
}

const (
	// spare is how long a token must still be good to be given to the cloud.
	spare = 15 * time.Minute
	// believed is how long a ServiceAccount is believed to be there since a token of it
	// was given. The right to request tokens is none to read ServiceAccounts, so the next
	// token tells; the cloud is asked nothing.
	believed = 5 * time.Minute
)

// bearer hands the token of a ServiceAccount to the SDK, which asks for one whenever its
// own has aged.
type bearer struct {
	mu    sync.Mutex
	token providers.AccountToken
	given time.Time // when the token was
}

// renew requests a token if the present one expires soon or was issued long ago. It reports
// whether another ServiceAccount of the same name exists by now.
func (b *bearer) renew(ctx context.Context, now time.Time, request func(context.Context) (providers.AccountToken, error)) (another bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	good := now.Add(spare).Before(b.token.Until)
	if good && now.Before(b.given.Add(believed)) {
		return false, nil
	}
	token, err := request(ctx)
	switch {
	case good && fault.Is(err, fault.Unavailable):
		return false, nil // its deletion cannot be confirmed
	case err != nil:
		return false, err
	case b.token.UID != token.UID && b.token.Text != "":
		return true, nil
	}
	b.token, b.given = token, now
	return false, nil
}

// ServiceAccountToken implements auth.ServiceAccountTokenProvider.
func (b *bearer) ServiceAccountToken() (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.token.Text == "" {
		return "", fmt.Errorf("no token of the service account has been requested yet")
	}
	return b.token.Text, nil
}
