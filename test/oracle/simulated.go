package main

import (
	"context"
	"net"
	"net/http"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
)

// simulation is a simulated cloud that serves, and how the script sees it.
type simulation struct {
	*simopenstack.Cloud
	cloud *cloud
	stop  func()
}

// startSimulation starts a simulated cloud, with the same names for the same resources
// as the real one. Its clock is advanced explicitly.
func startSimulation(ctx context.Context) (*simulation, error) {
	clock := testingclock.NewFakeClock(time.Now())
	sim, err := simopenstack.New(simopenstack.Options{Project: projectName, Clock: clock, Busy: settling, Breaks: "-breaks", NoKeyManager: true})
	if err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: sim}
	go func() { _ = server.Serve(l) }() // until it is closed
	out := &simulation{Cloud: sim, stop: func() { _ = server.Close() }}
	if out.cloud, err = openCloud(ctx, "simulated", "http://"+l.Addr().String()+"/identity/v3", userName, userPassword, projectName); err != nil {
		out.stop()
		return nil, err
	}
	s := sim.Seed
	out.cloud.known = map[string]string{
		"cluster-net": s.Cluster.ID, "cluster": s.Cluster.Subnets[0].ID, "other-net": s.Other.ID, "other": s.Other.Subnets[0].ID,
		"public": s.Public.ID, "public-a": s.Public.Subnets[0].ID, "public-b": s.Public.Subnets[1].ID, "reserved": s.FreePort, "flavor": s.Flavor,
	}
	out.cloud.ready = func(context.Context) error { clock.Step(settling); return nil }
	return out, nil
}
