package plugin

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/client-go/informers"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
)

// Register makes a cloud known to k8s.io/cloud-provider under its usual name,
// the value of --cloud-provider. As there, a name can be registered once.
func Register(entry providers.Entry) {
	cloudprovider.RegisterCloudProvider(entry.Name, func(config io.Reader) (cloudprovider.Interface, error) {
		return New(entry, config)
	})
}

// Cloud is a cloud of ours as the stock program sees it.
type Cloud struct {
	entry  providers.Entry
	config []byte // nil: there is no file

	view *view // of the cluster; nil until SetInformers
	// ids asks the cluster who it is; nil until Initialize.
	ids func(context.Context) (providers.ClusterIDs, error)

	mu   sync.Mutex
	open map[string]*reconcile.Reconciler // by --cluster-name, which comes with the first call
}

// New makes a cloud of the configuration file; nil: there is none. The cloud is
// not asked for anything yet.
func New(entry providers.Entry, config io.Reader) (*Cloud, error) {
	c := &Cloud{entry: entry, open: map[string]*reconcile.Reconciler{}}
	if config == nil {
		return c, nil
	}
	var err error
	if c.config, err = io.ReadAll(config); err != nil {
		return nil, fmt.Errorf("cloud configuration: %w", err)
	}
	return c, nil
}

// reconciler opens the cloud for a cluster, once.
func (c *Cloud) reconciler(ctx context.Context, cluster string) (*reconcile.Reconciler, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.view == nil {
		return nil, fmt.Errorf("%s: the program has not given its informers", c.entry.Name)
	}
	if r, ok := c.open[cluster]; ok {
		return r, nil
	}
	var file io.Reader
	if c.config != nil {
		file = bytes.NewReader(c.config)
	}
	bound, problems, err := c.entry.Open(ctx, file, providers.Env{Cluster: cluster, UserAgent: "berth", Now: time.Now, ClusterIDs: c.ids})
	for _, p := range problems {
		klog.FromContext(ctx).Info("cloud configuration", "problem", p.String())
	}
	if err != nil {
		return nil, err
	}
	c.open[cluster] = reconcile.New(bound, reconcile.Options{})
	return c.open[cluster], nil
}

// Initialize implements cloudprovider.Interface.
func (c *Cloud) Initialize(clients cloudprovider.ControllerClientBuilder, _ <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids = service.ClusterIDs(clients.ClientOrDie("service-controller"), true)
}

// SetInformers implements cloudprovider.InformerUser: all Services must be known
// before anything that they share may go, and the nodes of a call can be stale.
func (c *Cloud) SetInformers(factory informers.SharedInformerFactory) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.view = newView(factory)
}

// LoadBalancer implements cloudprovider.Interface.
func (c *Cloud) LoadBalancer() (cloudprovider.LoadBalancer, bool) {
	return &balancers{cloud: c, locks: map[string]*sync.Mutex{}}, true
}

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

// HasClusterID implements cloudprovider.Interface: opening the cloud fails if it
// needs an id and has none.
func (*Cloud) HasClusterID() bool { return true }
