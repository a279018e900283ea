package plugin

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	cloudprovider "k8s.io/cloud-provider"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
)

// Options are what the flags of our own program say, as far as they mean
// something under the stock loop. The zero value allows everything.
type Options struct {
	// PolicyConfig is the path of a policy file, as for --policy-config of our own
	// program; empty: there is none.
	PolicyConfig string
	// AllowedNamespaces are patterns of the namespaces whose Services are served, as
	// for --allowed-namespaces; empty: all are.
	AllowedNamespaces []string
	// Share is the part of the cloud's documented API rates that is used, as for
	// --api-share; empty: the default.
	Share string
	// OwnPods sends to addresses of EndpointSlices only if Pods of their namespace have
	// them, as --own-pods.
	OwnPods bool
}

// The environment that FromEnvironment reads.
const (
	EnvPolicyConfig      = "BERTH_POLICY_CONFIG"
	EnvAllowedNamespaces = "BERTH_ALLOWED_NAMESPACES" // separated by commas
	EnvAPIShare          = "BERTH_API_SHARE"
	EnvOwnPods           = "BERTH_OWN_PODS" // true
)

// FromEnvironment reads the options of a program that has no flags for them,
// because it only imports Berth.
func FromEnvironment() Options {
	o := Options{PolicyConfig: os.Getenv(EnvPolicyConfig), Share: os.Getenv(EnvAPIShare), OwnPods: isOn(os.Getenv(EnvOwnPods))}
	for name := range strings.SplitSeq(os.Getenv(EnvAllowedNamespaces), ",") {
		if name = strings.TrimSpace(name); name != "" {
			o.AllowedNamespaces = append(o.AllowedNamespaces, name)
		}
	}
	return o
}

// isOn reports whether a switch of the environment is on. A text that is neither on nor
// off counts as on, because these switches only forbid.
func isOn(text string) bool {
	on, err := strconv.ParseBool(text)
	return on || err != nil && text != ""
}

// Register makes a cloud known to k8s.io/cloud-provider under its usual name,
// the value of --cloud-provider. As there, a name can be registered once, and the
// second time ends the process: a program has either our provider of that name or
// the cloud's own.
func Register(entry providers.Entry, o Options) {
	cloudprovider.RegisterCloudProvider(entry.Name, func(config io.Reader) (cloudprovider.Interface, error) {
		return New(entry, config, o)
	})
}

// Cloud is a cloud of ours as the stock program sees it.
type Cloud struct {
	entry     providers.Entry
	options   Options
	config    []byte  // nil: there is no file
	share     float64 // of the cloud's rates; 0: the default
	balancers *balancers

	mu     sync.Mutex
	view   *view                // of the cluster; nil until SetInformers
	client kubernetes.Interface // nil until Initialize
	teller *teller              // nil until Initialize
	stop   <-chan struct{}      // that of the program
	open   map[string]*opened   // by --cluster-name, which is an argument of the first call
}

// New makes a cloud of the configuration file; nil: there is none. The cloud is
// not asked for anything yet. It fails for a policy file that cannot be read or
// understood, so that nothing is allowed by a mistake in it.
func New(entry providers.Entry, config io.Reader, o Options) (*Cloud, error) {
	c := &Cloud{entry: entry, options: o, open: map[string]*opened{}}
	c.balancers = &balancers{cloud: c, locks: map[string]*lock{}}
	if _, err := service.AdmissionOf(o.PolicyConfig, o.AllowedNamespaces, entry.Annotations, providers.Outputs{}); err != nil {
		return nil, fmt.Errorf("%s: %w", EnvPolicyConfig, err)
	}
	var err error
	if o.Share != "" {
		if c.share, err = strconv.ParseFloat(o.Share, 64); err != nil {
			return nil, fmt.Errorf("%s: %w", EnvAPIShare, err)
		}
	}
	if config == nil {
		return c, nil
	}
	if c.config, err = io.ReadAll(config); err != nil {
		return nil, fmt.Errorf("cloud configuration: %w", err)
	}
	return c, nil
}

// Initialize implements cloudprovider.Interface. The stock program calls it once
// for every lease that it holds, which are two with leader migration; the first
// call counts.
func (c *Cloud) Initialize(clients cloudprovider.ControllerClientBuilder, stop <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client != nil {
		return
	}
	c.client, c.stop = clients.ClientOrDie("service-controller"), stop
	c.teller = newTeller(c.client, stop)
}

// SetInformers implements cloudprovider.InformerUser: all Services must be known
// before anything that they share may go, and the nodes of a call can be stale.
// As with Initialize the first call counts; the factory is the same in all.
func (c *Cloud) SetInformers(factory informers.SharedInformerFactory) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.view == nil {
		c.view = newView(factory)
	}
}

// clusterIDs returns a function that reads the identifiers of the cluster.
func (c *Cloud) clusterIDs() func(context.Context) (providers.ClusterIDs, error) {
	return service.ClusterIDs(c.client, true)
}

// LoadBalancer implements cloudprovider.Interface.
func (c *Cloud) LoadBalancer() (cloudprovider.LoadBalancer, bool) { return c.balancers, true }

// Instances implements cloudprovider.Interface.
func (*Cloud) Instances() (cloudprovider.Instances, bool) { return nil, false }

// InstancesV2 implements cloudprovider.Interface.
func (*Cloud) InstancesV2() (cloudprovider.InstancesV2, bool) { return nil, false }

// Zones implements cloudprovider.Interface.
func (*Cloud) Zones() (cloudprovider.Zones, bool) { return nil, false }

// Clusters implements cloudprovider.Interface.
func (*Cloud) Clusters() (cloudprovider.Clusters, bool) { return nil, false }

// Routes implements cloudprovider.Interface.
func (*Cloud) Routes() (cloudprovider.Routes, bool) { return nil, false }

// ProviderName implements cloudprovider.Interface.
func (c *Cloud) ProviderName() string { return c.entry.Name }

// HasClusterID implements cloudprovider.Interface. Whether there is an id can be
// known only when the cloud is opened, which fails if it needs one and has none;
// until then nothing is written.
func (*Cloud) HasClusterID() bool { return true }
