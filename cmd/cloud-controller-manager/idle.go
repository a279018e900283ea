package main

import (
	cloudprovider "k8s.io/cloud-provider"
)

// idle is the cloud that the stock program sees: it answers honestly that
// nothing but our own loop is provided, so that the node and route controllers
// skip themselves.
type idle struct{ name string }

// Initialize implements cloudprovider.Interface.
func (idle) Initialize(cloudprovider.ControllerClientBuilder, <-chan struct{}) {}

// LoadBalancer implements cloudprovider.Interface: our loop does not go through it.
func (idle) LoadBalancer() (cloudprovider.LoadBalancer, bool) { return nil, false }

// Instances implements cloudprovider.Interface.
func (idle) Instances() (cloudprovider.Instances, bool) { return nil, false }

// InstancesV2 implements cloudprovider.Interface.
func (idle) InstancesV2() (cloudprovider.InstancesV2, bool) { return nil, false }

// Zones implements cloudprovider.Interface.
func (idle) Zones() (cloudprovider.Zones, bool) { return nil, false }

// Clusters implements cloudprovider.Interface.
func (idle) Clusters() (cloudprovider.Clusters, bool) { return nil, false }

// Routes implements cloudprovider.Interface.
func (idle) Routes() (cloudprovider.Routes, bool) { return nil, false }

// ProviderName implements cloudprovider.Interface.
func (i idle) ProviderName() string { return i.name }

// HasClusterID implements cloudprovider.Interface. Opening the cloud has failed
// before if an id is needed and there is none.
func (idle) HasClusterID() bool { return true }
