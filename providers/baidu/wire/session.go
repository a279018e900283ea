package wire

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/meter"
)

// Session is an open connection to one account in one region. It is safe for concurrent use.
type Session struct {
	config  model.Config
	keys    keys
	agent   string
	client  *http.Client
	limits  *kit.Limits
	now     func() time.Time
	notes   providers.Notes
	locks   *kit.Locks
	tokens  *kit.Tokens
	changes *kit.Settling // waits until load balancers take changes
	gone    *kit.Settling // waits until load balancers do not exist any more
	free    *kit.Settling // waits until addresses can be bound or deleted
	seen
}

// seen is what calls have shown of load balancers and addresses, by their ids.
type seen struct {
	mu      sync.Mutex
	running map[string]bool      // with a change that nothing has waited for
	normal  map[string]bool      // that are normal load balancers
	missed  map[string]time.Time // when it was first not found
	fresh   map[string]fresh     // that were created
}

// How long writes usually take. Pauses and bounds of waiting follow from it, and what is measured
// corrects it. Source: baidu/cloud-provider-baiducloud:pkg/cloud-provider/load_balancer_blb.go.
const (
	usualChange  = 3 * time.Second
	usualRemoval = 11 * time.Second // two looks, ten seconds apart
)

// tokenAge is how long it is remembered which idempotency tokens were answered.
const tokenAge = 24 * time.Hour

// callTimeout bounds a call. Source: baidu/cloud-provider-baiducloud at v1.0.14, timeout of its client.
const callTimeout = time.Minute

// Classes of operations. Baidu publishes no rates; refusals slow calls down.
const (
	bucketRead  = "read"
	bucketWrite = "write"
)

// Open returns a session with the keys of the configuration. It makes no call. The error names the
// setting at fault.
func Open(_ context.Context, c model.Config, env providers.Env) (providers.Session[*model.Facts], model.Config, error) {
	switch {
	case c.ClusterID == "":
		return nil, c, errors.New("cloud config: ClusterId: is empty; set the id that the tags of the cluster's load balancers have")
	case c.AccessKey == "" || c.SecretKey == "":
		return nil, c, errors.New("cloud config: AccessKeyID and SecretAccessKey: one of them is empty; set both")
	case c.Region == "":
		return nil, c, errors.New("cloud config: Region: is empty; set the region of the cluster, such as bj")
	}
	if at, err := url.Parse(c.APIEndpoint); err != nil || c.APIEndpoint != "" && at.Host == "" {
		return nil, c, errors.New("cloud config: APIEndpoint: is not a URL; want one such as https://blb.bj.baidubce.com")
	}
	s := &Session{
		config: c, keys: keys{c.AccessKey, c.SecretKey, c.SessionToken}, agent: strings.TrimSpace("berth " + env.UserAgent), now: env.Now, notes: env.Notes, locks: kit.NewLocks(),
		client: &http.Client{Transport: meter.New(kit.Transport(), env.Calls, meter.Language{Name: nameOf, Refusal: refusalOf})},
		seen:   seen{running: map[string]bool{}, normal: map[string]bool{}, missed: map[string]time.Time{}, fresh: map[string]fresh{}},
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.limits = kit.NewLimits(kit.LimitOptions{
		Buckets: []kit.Bucket{{Name: bucketRead}, {Name: bucketWrite}}, Share: env.Share, CallTimeout: callTimeout, Now: s.now, Waited: env.Waited,
	})
	s.tokens = kit.NewTokens(tokenAge, s.now, isStale)
	s.changes = kit.NewSettling(s.balancerStates, isBusy).Usually(usualChange)
	s.gone = kit.NewSettling(s.presence, func(state string) bool { return state != stateGone }).Usually(usualRemoval)
	s.free = kit.NewSettling(s.addressStates, isAddressBusy).Usually(usualChange)
	return s, c, nil
}

// base returns the address of an API.
func (s *Session) base(api string) string {
	if s.config.APIEndpoint != "" {
		return strings.TrimSuffix(s.config.APIEndpoint, "/")
	}
	if api == apiQuota {
		return "https://" + api + ".baidubce.com" // one for all regions
	}
	return "https://" + api + "." + s.config.Region + ".baidubce.com"
}

// stoppedError is the fault of a call that was not sent because its caller has ended.
func stoppedError(err error) error {
	return &fault.Fault{Meaning: fault.Unavailable, Text: "stopped before it was sent", Err: err}
}
