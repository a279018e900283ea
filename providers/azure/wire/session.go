package wire

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm/policy"
	armruntime "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	azpolicy "github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/kit"
)

// Session is an open connection to one subscription of Azure. It is safe for concurrent
// use. It caches facts that change seldom and, for a moment, the resources that all
// Services share. Load balancers, public IPs and the security group are read again before
// every write.
type Session struct {
	config   model.Config
	cluster  string
	now      func() time.Time
	endpoint string // of the resource manager, without a slash at the end
	pipeline runtime.Pipeline
	network  runtime.Pipeline // for the subscription of network resources, where that is of another tenant
	facts    *factCache
	memory   listMemory
	places   queue
	limits   *kit.Limits
	pace     pace
	patience time.Duration // how long a step waits for its operation
}

// Open connects with the credentials that the configuration names. Errors begin
// with the key of the configuration that cannot be served.
func Open(ctx context.Context, c model.Config, env providers.Env) (providers.Session[*model.Facts], model.Config, error) {
	s, err := openSession(ctx, c, env)
	if err != nil {
		return nil, c, err
	}
	return s, s.config, nil
}

func openSession(ctx context.Context, c model.Config, env providers.Env) (*Session, error) {
	c.Auth = c.Auth.WithEnvironment(os.LookupEnv)
	if err := c.Complete(); err != nil {
		return nil, err
	}
	if err := c.HasCluster(cmp.Or(env.Cluster, "kubernetes")); err != nil {
		return nil, err
	}
	place, err := cloudEnvironment(ctx, c)
	if err != nil {
		return nil, err
	}
	if env.Now == nil {
		env.Now = time.Now
	}
	s := &Session{config: c, cluster: cmp.Or(env.Cluster, "kubernetes"), now: env.Now, facts: newFactCache(env.Now), limits: newLimits(c, env), patience: patience}
	s.endpoint = strings.TrimRight(place.Services[cloud.ResourceManager].Endpoint, "/")
	options := clientOptions(place)
	options.Transport = &http.Client{Transport: newMeter(kit.Transport(), env.Calls)}
	if err := s.connect(place, options, strings.TrimSpace(c.UserAgent+" "+env.UserAgent)); err != nil {
		return nil, err
	}
	return s, nil
}

// pipelineOf returns the HTTP pipeline of all calls. It does not retry, since retries here
// would bypass the rate limits.
func pipelineOf(credential azcore.TokenCredential, client azpolicy.ClientOptions, agentName string, alsoTenants ...string) (runtime.Pipeline, error) {
	options := &policy.ClientOptions{ClientOptions: client, DisableRPRegistration: true, AuxiliaryTenants: alsoTenants}
	options.Retry = azpolicy.RetryOptions{MaxRetries: -1}
	p := runtime.PipelineOptions{PerCall: []azpolicy.Policy{&agent{name: agentName}}}
	pipeline, err := armruntime.NewPipeline("berth", "v1", credential, p, options)
	if err != nil {
		return runtime.Pipeline{}, fmt.Errorf("cloud: %w", err)
	}
	return pipeline, nil
}

// clientOptions are those of all clients: of tokens and of the resource manager.
// Tokens travel in the clear only where the configuration names such an address.
func clientOptions(place cloud.Configuration) azpolicy.ClientOptions {
	return azpolicy.ClientOptions{
		Cloud:                           place,
		InsecureAllowCredentialWithHTTP: strings.HasPrefix(place.Services[cloud.ResourceManager].Endpoint, "http://"),
		Transport:                       &http.Client{Transport: kit.Transport()},
	}
}

// agent identifies the caller.
type agent struct{ name string }

// Do adds the name to that of the SDK.
func (a *agent) Do(r *azpolicy.Request) (*http.Response, error) {
	h := r.Raw().Header
	h.Set("User-Agent", strings.TrimSpace(a.name+" "+h.Get("User-Agent")))
	return r.Next()
}
