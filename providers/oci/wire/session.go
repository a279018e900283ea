package wire

import (
	"cmp"
	"context"
	"crypto/rand"
	"time"

	"github.com/oracle/oci-go-sdk/v65/common"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/observed"
)

// Session is an open connection to one tenancy in one region, by one identity. It is safe for concurrent
// use. What it remembers between calls are facts that change seldom.
type Session struct {
	config  model.Config
	lb      *service
	nlb     *service
	core    *service
	allowed *service // limits of the tenancy
	kinds   map[string]*product
	limits  *kit.Limits
	now     func() time.Time
	locks   *kit.Locks
	tokens  *kit.Tokens
	process string // tells the tokens of this process from those of others
	memory
}

// memory is what a session has seen between calls.
type memory struct {
	subnets  *kit.Known[string, subnetDoc]
	machines *kit.Known[string, []string] // subnets that instances are in, by compartment
	homes    *kit.Known[string, string]   // compartments of instances
	groups   *kit.Known[string, groupDoc]

	places *observed.Values[string, string]       // compartments of load balancers
	lists  *observed.Values[string, list]         // security lists
	seen   *observed.Values[string, model.Subnet] // as they were read last
}

// factAge is how long networks are remembered; they seldom change.
const factAge = 5 * time.Minute

// absentAge is how long a not-found result is cached.
const absentAge = 30 * time.Second

// tokenAge is how long a retry token is known. Source: API reference, opc-retry-token.
const tokenAge = 24 * time.Hour

// Open returns a session with the credentials of the configuration. It makes only the calls
// that the credentials need, and reads missing settings from the metadata of the machine.
// The error names the part of them that is missing.
func Open(ctx context.Context, c model.Config, env providers.Env) (providers.Session[*model.Facts], model.Config, error) {
	if env.Now == nil {
		env.Now = time.Now
	}
	c = fromEnvironment(c)
	c, told := fromMachine(ctx, c)
	identity, err := identityOf(c)
	if err != nil {
		return nil, c, err
	}
	region, err := regionOf(c, identity, told)
	if err != nil {
		return nil, c, err
	}
	limits := kit.NewLimits(kit.LimitOptions{Buckets: rateBuckets(c.RateLimiter), Share: env.Share, CallTimeout: cmp.Or(c.RequestTimeout, time.Minute), Now: env.Now, Waited: env.Waited})
	own := newSession(c, env.Now, limits, kit.NewLocks())
	own.connect(identity, region, env)
	return &Accounts{
		own: own, tokens: env.Tokens, now: env.Now, by: map[stack.Owner]account{}, others: map[account]*deputy{},
		open: func(identity common.ConfigurationProvider) *Session {
			other := newSession(c, env.Now, limits, own.locks)
			other.connect(identity, region, env)
			return other
		},
	}, c, nil
}

// newSession returns a session without connections. Sessions of one configuration share
// rate limits and locks, but no read results.
func newSession(c model.Config, now func() time.Time, limits *kit.Limits, locks *kit.Locks) *Session {
	return &Session{config: c, now: now, limits: limits, locks: locks, tokens: kit.NewTokens(tokenAge, now, tokenUsed), process: rand.Text(), memory: newMemory(now)}
}

func newMemory(now func() time.Time) memory {
	return memory{
		places: observed.NewValues[string, string](now), lists: observed.NewValues[string, list](now), seen: observed.NewValues[string, model.Subnet](now),
		subnets:  kit.NewKnown[string, subnetDoc](factAge, absentAge, nil),
		machines: kit.NewKnown[string, []string](factAge, absentAge, nil),
		homes:    kit.NewKnown[string, string](factAge, absentAge, nil),
		groups:   kit.NewKnown[string, groupDoc](factAge, absentAge, nil),
	}
}

// Classes of operations.
const (
	bucketRead  = "read"
	bucketWrite = "write"
)

// Rates of the official controller, in calls a second and calls at once. Oracle
// publishes none for these services; its answers slow calls down further.
// Source: oracle/oci-cloud-controller-manager:pkg/oci/client/ratelimiter.go.
const (
	defaultRate  = 20
	defaultBurst = 5
)

func rateBuckets(l model.RateLimiter) []kit.Bucket {
	if l.Disabled {
		return []kit.Bucket{{Name: bucketRead}, {Name: bucketWrite}}
	}
	return []kit.Bucket{
		{Name: bucketRead, Rate: orElse(l.ReadRate, defaultRate), Burst: orElse(l.ReadBurst, defaultBurst)},
		{Name: bucketWrite, Rate: orElse(l.WriteRate, defaultRate), Burst: orElse(l.WriteBurst, defaultBurst)},
	}
}

func orElse[T int | float64](said *T, other T) T {
	if said == nil || *said <= 0 {
		return other
	}
	return *said
}
