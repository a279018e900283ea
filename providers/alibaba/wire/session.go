package wire

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/meter"
)

// Session is an open connection to one account in one region. It is safe for concurrent use.
type Session struct {
	config        model.Config
	base          string // of the SLB API, without a path
	keyID, secret string
	client        *http.Client
	limits        *kit.Limits
	now           func() time.Time
	agent         string
	locks         *kit.Locks
	tokens        *kit.Tokens
	process       string // makes tokens those of this process
}

// callTimeout bounds a call.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/provider/alibaba/base, timeout of its clients.
const callTimeout = 20 * time.Second

// tokenAge is how long it is remembered which idempotency tokens were answered.
const tokenAge = 24 * time.Hour

// Variables of the environment that the official controller reads.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/provider/alibaba/base.
const (
	envKeyID    = "ACCESS_KEY_ID"
	envSecret   = "ACCESS_KEY_SECRET" //nolint:gosec // the name of a variable
	envEndpoint = "SLB_ENDPOINT"
	envScheme   = "ALICLOUD_CLIENT_SCHEME"
	envPods     = "SERVICE_FORCE_BACKEND_ENI"
)

// Open returns a session with the credentials of the configuration, or else of the environment.
// It makes no call. The error names the setting at fault.
func Open(_ context.Context, c model.Config, env providers.Env) (providers.Session[*model.Facts], model.Config, error) {
	if force := os.Getenv(envPods); force != "" {
		c.PodBackends = force == "true"
	}
	s := &Session{config: c, base: endpointOf(c), keyID: c.KeyID, secret: c.Secret, now: env.Now, agent: env.UserAgent, locks: kit.NewLocks(), process: uuid.NewString()}
	if s.now == nil {
		s.now = time.Now
	}
	if s.keyID == "" {
		s.keyID, s.secret = os.Getenv(envKeyID), os.Getenv(envSecret)
	}
	if s.keyID == "" || s.secret == "" {
		return nil, c, errors.New("cloud config: Global.accessKeyID: no access key: set accessKeyID and accessKeySecret, or " + envKeyID + " and " + envSecret + " in the environment")
	}
	s.client = &http.Client{Transport: meter.New(kit.Transport(), env.Calls, meter.Language{Name: nameOf, Refusal: refusalOf})}
	var buckets []kit.Bucket
	for _, action := range allActions() {
		buckets = append(buckets, kit.Bucket{Name: action}) // refusals slow the calls of an action down
	}
	s.limits = kit.NewLimits(kit.LimitOptions{Buckets: buckets, Share: env.Share, CallTimeout: callTimeout, Now: s.now, Waited: env.Waited})
	// The answer to a token that was used before names the same load balancer, so none is refused.
	s.tokens = kit.NewTokens(tokenAge, s.now, func(err error) bool { return fault.Is(err, fault.Exists) })
	return s, c, nil
}

// endpointOf returns the address of the SLB API: the configured one, that of the environment, or
// that of the region for callers in a VPC.
func endpointOf(c model.Config) string {
	if c.Endpoint != "" {
		return strings.TrimSuffix(c.Endpoint, "/")
	}
	scheme := "https://"
	if strings.EqualFold(os.Getenv(envScheme), "http") {
		scheme = "http://"
	}
	host := "slb-vpc." + c.Region + ".aliyuncs.com"
	if given := os.Getenv(envEndpoint); given != "" {
		if _, rest, ok := strings.Cut(given, "://"); ok {
			given = rest
		}
		host, _, _ = strings.Cut(given, "/")
	}
	return scheme + host
}

// Actions of the SLB API that are used.
const (
	actListBalancers  = "DescribeLoadBalancers"
	actListListeners  = "DescribeLoadBalancerListeners"
	actListGroups     = "DescribeVServerGroups"
	actGetGroup       = "DescribeVServerGroupAttribute"
	actCreateBalancer = "CreateLoadBalancer"
	actDeleteBalancer = "DeleteLoadBalancer"
	actSetName        = "SetLoadBalancerName"
	actSetCharge      = "ModifyLoadBalancerInstanceChargeType"
	actSetSize        = "ModifyLoadBalancerInstanceSpec"
	actSetInternet    = "ModifyLoadBalancerInternetSpec"
	actSetDelete      = "SetLoadBalancerDeleteProtection"
	actSetModify      = "SetLoadBalancerModificationProtection"
	actTag            = "TagResources"
	actUntag          = "UntagResources"
	actCreateGroup    = "CreateVServerGroup"
	actAddServers     = "AddVServerGroupBackendServers"
	actRemoveServers  = "RemoveVServerGroupBackendServers"
	actSetServers     = "SetVServerGroupAttribute"
	actDeleteGroup    = "DeleteVServerGroup"
	actStartListener  = "StartLoadBalancerListener"
	actDeleteListener = "DeleteLoadBalancerListener"
)

// allActions returns the classes of calls: the cloud counts each action.
func allActions() []string {
	out := []string{
		actListBalancers, actListListeners, actListGroups, actGetGroup, actCreateBalancer, actDeleteBalancer, actSetName, actSetCharge, actSetSize, actSetInternet, actSetDelete,
		actSetModify, actTag, actUntag, actCreateGroup, actAddServers, actRemoveServers, actSetServers, actDeleteGroup, actStartListener, actDeleteListener,
	}
	for _, protocol := range []string{"tcp", "udp", "http", "https"} {
		out = append(out, actCreateListener(protocol), actSetListener(protocol))
	}
	return out
}

func actCreateListener(protocol string) string {
	return "CreateLoadBalancer" + strings.ToUpper(protocol) + "Listener"
}

func actSetListener(protocol string) string {
	return "SetLoadBalancer" + strings.ToUpper(protocol) + "ListenerAttribute"
}
