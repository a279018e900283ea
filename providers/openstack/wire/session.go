package wire

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/utils"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/observed"
)

// Session is an open connection to one project of an OpenStack cloud. It is safe for
// concurrent use. What it remembers between calls are facts that change seldom, and
// the ports of load balancers.
type Session struct {
	config   model.Config
	cluster  string // --cluster-name
	balancer *gophercloud.ServiceClient
	network  *gophercloud.ServiceClient
	keys     *gophercloud.ServiceClient // nil: the cloud has no key manager
	limits   *kit.Limits
	now      func() time.Time
	settling *kit.Settling
	locks    *kit.Locks
	refused  fault.Suspects // groups that ports did not get, by port
	memory
}

// memory is what a session has seen between calls.
type memory struct {
	users   *users                                                // of load balancers
	claims  *observed.Values[stack.Owner, map[string]model.Claim] // by port of a load balancer
	servers *kit.Known[string, []model.NodePort]                  // ports of servers, by their id
	ports   *observed.Values[string, string]                      // of load balancers, by their id
	facts   *observed.Values[string, any]                         // by look-up
	denied  *observed.Values[string, bool]                        // by call: the cloud has refused it
}

// factAge is how long networks and subnets are remembered; they seldom change.
const factAge = 5 * time.Minute

// absentAge is how long it is believed that a server has no port.
const absentAge = 30 * time.Second

// failover is the call that only administrators may make by default.
const failover = "failover"

// deniedAge is how long a refused failover is cached; policies seldom change.
const deniedAge = time.Hour

// Open logs in the way the official controller does and returns a session. The returned
// configuration has the capabilities of the cloud's load balancers. The error names the
// missing part of the login or of the catalog.
func Open(ctx context.Context, c model.Config, env providers.Env) (providers.Session[*model.Facts], model.Config, error) {
	provider, endpoint, err := authenticateClient(ctx, c, env)
	if err != nil {
		return nil, c, err
	}
	s := &Session{config: c, cluster: env.Cluster, now: env.Now, locks: kit.NewLocks()}
	if s.now == nil {
		s.now = time.Now
	}
	s.memory = newMemory(s.now)
	s.limits = kit.NewLimits(kit.LimitOptions{Buckets: rateBuckets(), Share: env.Share, CallTimeout: cmp.Or(c.RequestTimeout, time.Minute), Now: s.now, Waited: env.Waited})
	if s.balancer, err = openstack.NewLoadBalancerV2(provider, endpoint); err != nil {
		return nil, c, fmt.Errorf("the catalog's load-balancer: %w", err)
	}
	if s.network, err = openstack.NewNetworkV2(provider, endpoint); err != nil {
		return nil, c, fmt.Errorf("the catalog's network: %w", err)
	}
	if s.keys, err = openstack.NewKeyManagerV1(provider, endpoint); err != nil {
		s.keys = nil // then Services cannot name certificates
	}
	s.settling = kit.NewSettling(s.statuses, isPending)
	s.users.ask = kit.NewSettling(s.marks, func(string) bool { return false })
	if s.config.Features, err = s.features(ctx); err != nil {
		return nil, c, fmt.Errorf("versions of the load balancer API: %w", err)
	}
	return s, s.config, nil
}

func newMemory(now func() time.Time) memory {
	return memory{
		users:  &users{known: observed.NewValues[string, string](now)},
		claims: observed.NewValues[stack.Owner, map[string]model.Claim](now), denied: observed.NewValues[string, bool](now),
		ports: observed.NewValues[string, string](now), facts: observed.NewValues[string, any](now),
		servers: kit.NewKnown[string, []model.NodePort](factAge, absentAge, nil),
	}
}

// Classes of operations. OpenStack documents no rates; refusals limit them.
const (
	bucketBalancer = "load-balancer"
	bucketNetwork  = "network"
	bucketKeys     = "key-manager"
)

func rateBuckets() []kit.Bucket {
	return []kit.Bucket{{Name: bucketBalancer}, {Name: bucketNetwork}, {Name: bucketKeys}}
}

// features asks which version the load balancer API has. The last one listed counts.
// Source: kubernetes/cloud-provider-openstack:pkg/util/openstack/loadbalancer.go.
func (s *Session) features(ctx context.Context) (model.Features, error) {
	base, err := utils.BaseEndpoint(s.balancer.Endpoint)
	if err != nil {
		return model.Features{}, fmt.Errorf("the catalog's load-balancer: %w", err)
	}
	var answer struct {
		Versions []link `json:"versions"`
	}
	r := request{bucket: bucketBalancer, operation: "GET versions", method: http.MethodGet, url: strings.TrimRight(base, "/") + "/"}
	if err := s.read(ctx, r, &answer); err != nil {
		return model.Features{}, err
	}
	var newest string
	if all := answer.Versions; len(all) > 0 {
		newest = all[len(all)-1].ID
	}
	_, text, _ := strings.Cut(newest, ".")
	minor, err := strconv.Atoi(text)
	if err != nil {
		return model.Features{}, fault.New(fault.Internal, "%q is no version", newest)
	}
	return model.FeaturesOf(minor, s.config.Provider), nil
}

// failsOver reports whether a load balancer of a driver can be failed over when in ERROR,
// as far as observed: no API reports what a policy allows.
func (s *Session) failsOver(driver string) bool {
	_, denied := s.denied.Get(failover, deniedAge)
	return model.FailsOver(driver) && !denied
}
