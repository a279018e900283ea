package wire

import (
	"context"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/ibm/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack/observed"
)

// Session is an open connection to one account in one region. It is safe for concurrent use.
type Session struct {
	config   model.Config
	base     string // of the VPC API, with its path
	manager  string // of the resource manager
	client   *http.Client
	identity *identity
	limits   *kit.Limits
	now      func() time.Time
	notes    providers.Notes
	agent    string
	locks    *kit.Locks
	settling *kit.Settling

	cached

	busy *observed.Values[string, bool] // load balancers that were written, by id
}

// cached is what seldom changes.
type cached struct {
	subnets   kit.Aged[[]model.Subnet]
	groups    kit.Aged[[]model.SecurityGroup]
	group     kit.Aged[string]       // id of the resource group
	nodeGroup atomic.Pointer[string] // id of the security group of the cluster's nodes, once it is known
}

// factAge is how long subnets and the resource group are cached; they seldom change.
const factAge = 5 * time.Minute

// absentAge is how long it is believed that a subnet does not exist.
const absentAge = 30 * time.Second

// callTimeout bounds a call. Source: IBM/go-sdk-core, default of services.
const callTimeout = 90 * time.Second

// Open returns a session with the credentials of the configuration. It makes no call. The
// error names the setting at fault.
func Open(_ context.Context, c model.Config, env providers.Env) (providers.Session[*model.Facts], model.Config, error) {
	s := &Session{config: c, now: env.Now, notes: env.Notes, agent: env.UserAgent, locks: kit.NewLocks()}
	if s.now == nil {
		s.now = time.Now
	}
	s.busy = observed.NewValues[string, bool](s.now)
	c.Public = os.Getenv("ENABLE_VPC_PUBLIC_ENDPOINT") == "true"
	s.config = c
	at := endpointsOf(c)
	s.base, s.manager = at.vpc+"/v1", at.resources
	s.client = clientFor(env)
	var err error
	if s.identity, err = identityOf(c, at.iam, s.client, s.now); err != nil {
		return nil, c, err
	}
	s.limits = kit.NewLimits(kit.LimitOptions{
		Buckets: []kit.Bucket{{Name: bucketRead, Start: firstCalls}, {Name: bucketWrite, Start: firstCalls}}, Share: env.Share, CallTimeout: callTimeout, Now: s.now, Waited: env.Waited,
	})
	s.settling = kit.NewSettling(s.statuses, isPending).Usually(usualChange)
	return s, c, nil
}

// usualChange is how long a load balancer is busy after a write.
// Source: IBM-Cloud/cloud-provider-ibm:pkg/vpcctl/vpc_config.go, its comment on updates.
const usualChange = 30 * time.Second

// firstCalls is how many calls of a class are made at once, and in the first second. VPC publishes no rates, and
// answers 429 beyond them.
const firstCalls = 15

// Classes of operations. Refusals slow them down.
const (
	bucketRead  = "read"
	bucketWrite = "write"
)
