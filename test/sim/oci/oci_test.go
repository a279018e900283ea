package oci_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"sync"
	"testing"

	"github.com/oracle/oci-go-sdk/v65/common"
	"github.com/oracle/oci-go-sdk/v65/loadbalancer"
	"github.com/oracle/oci-go-sdk/v65/networkloadbalancer"

	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
)

// world is a simulator with the clients of the official SDK.
type world struct {
	*simtest.Running
	seed simoci.Seed
	lb   loadbalancer.LoadBalancerClient
	nlb  networkloadbalancer.NetworkLoadBalancerClient
}

// testKey is made once, since that takes a while.
var testKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func newWorld(t *testing.T, opt simoci.Options) *world {
	t.Helper()
	w := &world{Running: simtest.StartLoopback(t, opt)}
	w.seed = w.Cloud.Seed
	key, err := testKey()
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	login := common.NewRawConfigurationProvider(w.seed.Tenancy, w.seed.User, w.seed.Region, "11:22", string(text), nil)
	once := common.NoRetryPolicy()
	w.lb, err = loadbalancer.NewLoadBalancerClientWithConfigurationProvider(login)
	if err != nil {
		t.Fatal(err)
	}
	w.nlb, err = networkloadbalancer.NewNetworkLoadBalancerClientWithConfigurationProvider(login)
	if err != nil {
		t.Fatal(err)
	}
	w.lb.Host, w.nlb.Host = w.URL, w.URL
	for _, c := range []*common.BaseClient{&w.lb.BaseClient, &w.nlb.BaseClient} {
		c.Configuration.CircuitBreaker = nil
		c.Configuration.RetryPolicy = &once
	}
	return w
}

func TestListEmpty(t *testing.T) {
	w := newWorld(t, simoci.Options{})
	lbs, err := w.lb.ListLoadBalancers(t.Context(), loadbalancer.ListLoadBalancersRequest{CompartmentId: &w.seed.Compartment})
	if err != nil || len(lbs.Items) != 0 {
		t.Errorf("load balancers %v, %v; want none", lbs.Items, err)
	}
	nlbs, err := w.nlb.ListNetworkLoadBalancers(t.Context(), networkloadbalancer.ListNetworkLoadBalancersRequest{CompartmentId: &w.seed.Compartment})
	if err != nil || nlbs.Items == nil || len(nlbs.Items) != 0 {
		t.Errorf("network load balancers %v, %v; want an empty list", nlbs.Items, err)
	}
	_, err = w.lb.ListLoadBalancers(t.Context(), loadbalancer.ListLoadBalancersRequest{CompartmentId: common.String("ocid1.compartment.oc1..none")})
	if service, ok := common.IsServiceError(err); !ok || service.GetHTTPStatusCode() != 404 || service.GetCode() != "NotAuthorizedOrNotFound" || service.GetOpcRequestID() == "" {
		t.Errorf("another compartment: %v, want 404 NotAuthorizedOrNotFound with a request id", err)
	}
}
