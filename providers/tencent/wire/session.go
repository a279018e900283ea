package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common"
	"github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/profile"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/meter"
	"github.com/berth-lb/berth/providers/tencent/model"
)

// Session is an open connection to one account. Most of its calls are about the region of the cluster. It is safe for concurrent use.
type Session struct {
	config  model.Config
	regions *regions
	now     func() time.Time
	notes   providers.Notes
	locks   *kit.Locks
	tokens  *kit.Tokens
	tasks   *kit.Settling // waits for writes
	created *kit.Settling // waits for addresses of new load balancers
	removed *kit.Settling // waits until load balancers do not exist any more

	mu      sync.Mutex
	seen    map[string]balancerDoc // that were waited for
	running map[string]started     // the last write of each load balancer whose end was not waited for
	noted   map[string]string      // UID of the Service that has noted a listener, by id
}

// started is a write that was accepted.
type started struct {
	task string
	at   time.Time
}

// How long writes and creations usually take. Pauses and bounds of waiting follow from it, and what
// is measured corrects it. Source: drsaluml/k3s-tencent-clb-controller:DESIGN.md.
const (
	usualTask     = 3 * time.Second
	usualCreation = 5 * time.Second
)

// tokenAge is how long it is remembered which idempotency tokens were answered.
const tokenAge = 24 * time.Hour

// callTimeout bounds a call. Source: tencentcloud-sdk-go, ReqTimeout of a profile.
const callTimeout = time.Minute

// Variables of the environment that the open controller reads, and that of Berth's own key.
// Source: TencentCloud/tencentcloud-cloud-controller-manager:tencentcloud/cloud.go.
const (
	envPrefix  = "TENCENTCLOUD_CLOUD_CONTROLLER_MANAGER_"
	envRegion  = envPrefix + "REGION"
	envVPC     = envPrefix + "VPC_ID"
	envID      = envPrefix + "SECRET_ID"
	envKey     = envPrefix + "SECRET_KEY"
	envCluster = envPrefix + "CLUSTER_ID"
)

// Open returns a session with the keys of the configuration or the environment, or else with the
// credentials that the SDK finds. The error names the setting at fault.
func Open(_ context.Context, c model.Config, env providers.Env) (providers.Session[*model.Facts], model.Config, error) {
	for name, to := range map[string]*string{envRegion: &c.Region, envVPC: &c.VPC, envID: &c.SecretID, envKey: &c.SecretKey, envCluster: &c.ClusterID} {
		if *to == "" {
			*to = os.Getenv(name)
		}
	}
	switch {
	case c.Region == "":
		return nil, c, errors.New("cloud config: region: is empty; set it, or " + envRegion)
	case c.ClusterID == "":
		return nil, c, errors.New("cloud config: cluster_id: is empty; set the id that the tags of the cluster's load balancers have, or " + envCluster)
	case (c.SecretID == "") != (c.SecretKey == ""):
		return nil, c, errors.New("cloud config: secret_id and secret_key: one of them is empty; set both or neither")
	}
	credential, err := credentialOf(c)
	if err != nil {
		return nil, c, fmt.Errorf("cloud config: secret_id: is empty, and no other credentials were found: %w", err)
	}
	s := &Session{config: c, now: env.Now, notes: env.Notes, locks: kit.NewLocks(), seen: map[string]balancerDoc{}, running: map[string]started{}, noted: map[string]string{}}
	if s.now == nil {
		s.now = time.Now
	}
	settings, err := profileOf(c)
	if err != nil {
		return nil, c, err
	}
	transport := meter.New(bounded{kit.Transport()}, env.Calls, meterLanguage())
	s.regions = newRegions(func(name string) region {
		client := common.NewCommonClient(credential, cmp.Or(name, c.Region), settings).WithRequestClient(strings.TrimSpace("berth " + env.UserAgent))
		client.WithHttpTransport(transport)
		return region{client, kit.NewLimits(kit.LimitOptions{Buckets: rateBuckets(), Share: env.Share, CallTimeout: callTimeout, Now: s.now, Waited: env.Waited})}
	})
	s.tokens = kit.NewTokens(tokenAge, s.now, func(err error) bool { return codeOf(err) == codeTokenUsed })
	s.tasks = kit.NewSettling(s.taskStates, func(state string) bool { return state == taskRunning }).OneByOne().Usually(usualTask)
	s.created = kit.NewSettling(s.creations, func(state string) bool { return state == statePending }).Usually(usualCreation)
	s.removed = kit.NewSettling(s.presence, func(state string) bool { return state != stateGone }).Usually(usualTask)
	return s, c, nil
}

// credentialOf returns the keys of the configuration, or the credentials of the environment, of a
// file, of the ServiceAccount or of the instance.
func credentialOf(c model.Config) (common.CredentialIface, error) {
	if c.SecretID != "" {
		return common.NewCredential(c.SecretID, c.SecretKey), nil
	}
	chain := []common.Provider{common.DefaultEnvProvider(), common.DefaultProfileProvider()}
	if account, err := common.DefaultTkeOIDCRoleArnProvider(); err == nil {
		chain = append(chain, account)
	}
	return common.NewProviderChain(append(chain, common.DefaultCvmRoleProvider())).GetCredential()
}

// profileOf returns the settings of the SDK's client. Without a language messages are in Chinese.
func profileOf(c model.Config) (*profile.ClientProfile, error) {
	p := profile.NewClientProfile()
	p.Language = "en-US"
	p.DisableRegionBreaker = true
	p.HttpProfile.ReqTimeout = int(callTimeout / time.Second)
	if c.Endpoint == "" {
		return p, nil
	}
	at, err := url.Parse(c.Endpoint)
	if err != nil || at.Host == "" {
		return nil, errors.New("cloud config: endpoint: is not a URL; want one such as https://clb.tencentcloudapi.com")
	}
	p.HttpProfile.Endpoint, p.HttpProfile.Scheme = at.Host, strings.ToUpper(at.Scheme)
	return p, nil
}

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 16 << 20

// bounded is a transport whose answers have a bound.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.next.RoundTrip(r)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswer)
	}
	return answer, err
}

// Actions of the CLB API that are used.
const (
	actListBalancers    = "DescribeLoadBalancers"
	actListListeners    = "DescribeListeners"
	actListTargets      = "DescribeTargets"
	actTask             = "DescribeTaskStatus"
	actCreateBalancer   = "CreateLoadBalancer"
	actDeleteBalancer   = "DeleteLoadBalancer"
	actSetBalancer      = "ModifyLoadBalancerAttributes"
	actSetGroups        = "SetLoadBalancerSecurityGroups"
	actCreateListener   = "CreateListener"
	actSetListener      = "ModifyListener"
	actDeleteListeners  = "DeleteLoadBalancerListeners"
	actCreateRule       = "CreateRule"
	actSetRule          = "ModifyRule"
	actSetDomain        = "ModifyDomainAttributes"
	actDeleteRule       = "DeleteRule"
	actRegister         = "BatchRegisterTargets"
	actDeregister       = "BatchDeregisterTargets"
	actSetTargetWeights = "BatchModifyTargetWeight"
)

// Documented rates of each action in a region, and of deletions.
// Sources: tencentcloudstack/terraform-provider-tencentcloud:tencentcloud/ratelimit/config.go; CLB API
// 2018-03-17, DeleteLoadBalancer.
const (
	actionRate     = 15
	mostDeletions  = 29 // within the window
	deletionWindow = 5 * time.Minute
	// deletionMargin keeps deletions apart that take more or less time on their way.
	deletionMargin = 10 * time.Second
)

func rateBuckets() []kit.Bucket {
	out := []kit.Bucket{{Name: actDeleteBalancer, Rate: actionRate, Burst: mostDeletions, Window: deletionWindow + deletionMargin}}
	for _, action := range []string{
		actListBalancers, actListListeners, actListTargets, actTask, actCreateBalancer, actSetBalancer, actSetGroups, actCreateListener, actSetListener, actDeleteListeners,
		actCreateRule, actSetRule, actSetDomain, actDeleteRule, actRegister, actDeregister, actSetTargetWeights,
	} {
		out = append(out, kit.Bucket{Name: action, Rate: actionRate, Burst: actionRate})
	}
	return out
}
