package wire

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/smithy-go/logging"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/kit"
)

// Session is an open connection to one AWS region. It is safe for concurrent
// use; what it remembers between calls are facts that change seldom.
type Session struct {
	classic *elb.Client
	network *elbv2.Client
	ec2     *ec2.Client
	sdk     awssdk.Config // for the clients of Diagnose

	config   model.Config // completed by what was found
	cluster  string       // --cluster-name
	untagged bool         // the cluster may do without an id
	now      func() time.Time
	facts    *factCache
	notes    providers.Notes // nil: there is no cluster to keep any
	// pods are those of a namespace with labels; nil: there is no cluster to ask.
	pods func(ctx context.Context, namespace string, labels map[string]string) ([]*corev1.Pod, error)
}

// Open finds credentials, region, VPC and cluster id the way the official controller
// does and returns a session. Values of the configuration are not looked up; the rest is
// read from the environment and, last, from the instance metadata service and our own
// instance. The returned configuration contains everything that was found.
func Open(ctx context.Context, c model.Config, env providers.Env) (providers.Session[*model.Facts], model.Config, error) {
	s, err := openSession(ctx, c, env)
	if err != nil {
		return nil, c, fmt.Errorf("aws: %w", err)
	}
	return s, s.config, nil
}

func openSession(ctx context.Context, c model.Config, env providers.Env) (*Session, error) {
	if env.Now == nil {
		env.Now = time.Now
	}
	sdk, err := loadSDK(ctx, c, env)
	if err != nil {
		return nil, err
	}
	s := &Session{sdk: sdk, config: c, cluster: env.Cluster, untagged: env.AllowUntagged, now: env.Now, facts: newFactCache(env.Now), notes: env.Notes, pods: env.Pods}
	s.config.Region = sdk.Region
	s.connect(sdk)
	if err := s.locate(ctx, sdk); err != nil {
		return nil, err
	}
	return s, nil
}

// loadSDK reads the SDK's default chain, with our retry rules and our name.
func loadSDK(ctx context.Context, c model.Config, env providers.Env) (awssdk.Config, error) {
	options := []func(*config.LoadOptions) error{
		config.WithRetryer(newRetryer),
		config.WithHTTPClient(httpClient()),
		config.WithLogger(logging.Nop{}), // failures are reported by errors; these lines would stand between the user's
		config.WithAPIOptions(slices.Concat(userAgent(env.UserAgent), limitSteps(newLimits(env, inFlight)), meterSteps(env.Calls), askFence(), skipAnswers(), refusePages())),
	}
	if o, ok := c.Override(serviceMetadata, ""); ok {
		options = append(options, config.WithEC2IMDSEndpoint(o.URL))
	}
	if c.Region != "" {
		options = append(options, config.WithRegion(c.Region))
	}
	sdk, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return sdk, fmt.Errorf("sdk configuration: %w", err)
	}
	if sdk.Region == "" {
		if sdk.Region, err = regionOfInstance(ctx, sdk); err != nil {
			return sdk, err
		}
	}
	return withRole(sdk, c), nil
}

// httpClient returns the SDK's own client, with enough connections for many Services at
// once, which are created like all others of the program.
func httpClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConnsPerHost = kit.KeptConnections
		kit.Alive(t)
		if program, ok := http.DefaultTransport.(*http.Transport); ok {
			t.DialContext, t.DisableKeepAlives = program.DialContext, program.DisableKeepAlives
			if program.Protocols != nil { // else the table is of the SDK's own connections
				t.Protocols, t.TLSNextProto = program.Protocols, program.TLSNextProto
			}
		}
	})
}

func userAgent(name string) []func(*middlewareStack) error {
	if name == "" {
		return nil
	}
	return []func(*middlewareStack) error{middleware.AddUserAgentKey(name)}
}

// connect creates the clients, each with the endpoint that the configuration has for it.
func (s *Session) connect(sdk awssdk.Config) {
	s.classic = elb.NewFromConfig(sdk, func(o *elb.Options) {
		s.override(elb.ServiceID, &o.BaseEndpoint, setOption(o, elb.WithSigV4SigningRegion), setOption(o, elb.WithSigV4SigningName))
	})
	s.network = elbv2.NewFromConfig(sdk, func(o *elbv2.Options) {
		s.override(elbv2.ServiceID, &o.BaseEndpoint, setOption(o, elbv2.WithSigV4SigningRegion), setOption(o, elbv2.WithSigV4SigningName))
	})
	s.ec2 = ec2.NewFromConfig(sdk, func(o *ec2.Options) {
		s.override(ec2.ServiceID, &o.BaseEndpoint, setOption(o, ec2.WithSigV4SigningRegion), setOption(o, ec2.WithSigV4SigningName))
	})
}

// override sets the endpoint of a service as the configuration has it, and what its requests
// are signed with.
func (s *Session) override(service string, url **string, setRegion, setName func(string)) {
	e, ok := s.config.Override(service, s.config.Region)
	if !ok {
		return
	}
	*url = awssdk.String(e.URL)
	setRegion(e.SigningRegion)
	if e.SigningName != "" {
		setName(e.SigningName)
	}
}

// setOption returns a function that sets one of a client's options.
func setOption[O any](o *O, with func(string) func(*O)) func(string) {
	return func(value string) { with(value)(o) }
}

// locate fills in what the configuration leaves open from our own instance.
func (s *Session) locate(ctx context.Context, sdk awssdk.Config) error {
	c := &s.config
	if c.VPC != "" && (c.Cluster.ID != "" || s.untagged) {
		return nil
	}
	own, err := s.ownInstance(ctx, sdk)
	if err != nil {
		return err
	}
	c.VPC = cmp.Or(c.VPC, own.vpc)
	c.Subnet = cmp.Or(c.Subnet, own.subnet)
	if c.Cluster.ID == "" {
		if c.Cluster, err = model.ClusterTagFrom(own.tags); err != nil {
			return err
		}
	}
	if c.Cluster.ID == "" && !s.untagged {
		return fmt.Errorf("cluster id: neither KubernetesClusterID in the cloud configuration nor a tag %s<id> on our own instance; give one, or --allow-untagged-cloud", model.TagClusterPrefix)
	}
	return nil
}
