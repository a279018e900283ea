package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/berth-lb/berth/test/sim/alibaba"
	"github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/iam"
	simaws "github.com/berth-lb/berth/test/sim/aws/simtest"
	"github.com/berth-lb/berth/test/sim/azure"
	simazure "github.com/berth-lb/berth/test/sim/azure/simtest"
	"github.com/berth-lb/berth/test/sim/baidu"
	"github.com/berth-lb/berth/test/sim/gce"
	simgce "github.com/berth-lb/berth/test/sim/gce/simtest"
	"github.com/berth-lb/berth/test/sim/ibm"
	"github.com/berth-lb/berth/test/sim/oci"
	simoci "github.com/berth-lb/berth/test/sim/oci/simtest"
	"github.com/berth-lb/berth/test/sim/openstack"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack/simtest"
	"github.com/berth-lb/berth/test/sim/tencent"
	"github.com/berth-lb/berth/test/sim/virtual"
)

func (p *examined) startAWS(t *testing.T) error {
	running := simaws.StartLoopback(t, aws.Options{Seed: aws.SeedOptions{Nodes: 2}})
	t.Setenv("AWS_ENDPOINT_URL_STS", running.URL)
	t.Setenv("AWS_ENDPOINT_URL_IAM", running.URL)
	p.control = &running.Cloud.Control
	p.setRole = func(role []byte) error {
		return roleSetter(iam.Parse, running.Cloud.SetRole)(bytes.ReplaceAll(role, []byte("CLUSTER_ID"), []byte(running.Cloud.Seed.ClusterID)))
	}
	return running.Cloud.Seed.WriteFiles(p.dir, running.URL)
}

func (p *examined) startAzure(opt azure.Options) func(*testing.T) error {
	return func(t *testing.T) error {
		opt.Seed = azure.SeedOptions{Nodes: 2}
		running := simazure.StartLoopback(t, opt)
		t.Setenv("IDENTITY_ENDPOINT", running.PlainURL+"/msi/token")
		t.Setenv("IDENTITY_HEADER", "any")
		p.control, p.setRole = &running.Cloud.Control, roleSetter(azure.ParseRole, running.Cloud.SetRole)
		return running.Cloud.WriteFiles(p.dir, running.PlainURL)
	}
}

func (p *examined) startGCE(t *testing.T) error {
	running := simgce.StartLoopback(t, gce.Options{Seed: gce.SeedOptions{Nodes: 2}})
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(running.URL, "http://"))
	t.Setenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDRESOURCEMANAGER", running.URL)
	p.control, p.setRole = &running.Cloud.Control, roleSetter(gce.ParseRole, running.Cloud.SetRole)
	return running.Cloud.WriteFiles(p.dir, running.URL)
}

func (p *examined) startOCI(limits oci.Limits) func(*testing.T) error {
	return func(t *testing.T) error {
		running := simoci.StartLoopback(t, oci.Options{Seed: oci.SeedOptions{Nodes: 2}, Limits: limits})
		p.control, p.setRole = &running.Cloud.Control, running.Cloud.SetPolicy
		return running.Cloud.WriteFiles(p.dir, running.URL)
	}
}

func (p *examined) startOpenStack(limits openstack.Limits) func(*testing.T) error {
	return func(t *testing.T) error {
		running := simopenstack.StartLoopback(t, openstack.Options{Seed: openstack.SeedOptions{Nodes: 2}, Limits: limits})
		p.control, p.setRole = &running.Cloud.Control, running.Cloud.SetAccessRules
		return running.Cloud.WriteFiles(p.dir, running.URL)
	}
}

func (p *examined) startAlibaba(limits alibaba.Limits) func(*testing.T) error {
	return func(t *testing.T) error {
		cloud := virtual.Fresh(t, alibaba.New, alibaba.Options{Seed: alibaba.SeedOptions{Nodes: 2}, Limits: limits})
		p.control, p.setRole = &cloud.Control, roleSetter(alibaba.ParsePolicy, cloud.SetPolicy)
		return cloud.WriteFiles(p.dir, virtual.StartLoopback(t, cloud))
	}
}

// startBaidu starts an account with load balancers of others.
func (p *examined) startBaidu(others int, limits baidu.Limits) func(*testing.T) error {
	return func(t *testing.T) error {
		cloud := virtual.Fresh(t, baidu.New, baidu.Options{Seed: baidu.SeedOptions{Nodes: 2}, Limits: limits})
		for n := range others {
			cloud.AddBalancer([]string{"blb", "appblb"}[n%2], fmt.Sprintf("other-%d", n), nil)
		}
		p.control, p.setRole = &cloud.Control, roleSetter(baidu.ParsePolicy, cloud.SetPolicy)
		return cloud.WriteFiles(p.dir, virtual.StartLoopback(t, cloud))
	}
}

// startIBM starts an account with load balancers of others.
func (p *examined) startIBM(others int) func(*testing.T) error {
	return func(t *testing.T) error {
		cloud := virtual.Fresh(t, ibm.New, ibm.Options{Seed: ibm.SeedOptions{Nodes: 2}})
		p.control, p.setRole = &cloud.Control, cloud.SetPolicies
		url := virtual.StartLoopback(t, cloud)
		for n := range others {
			body := fmt.Sprintf(`{"name": "other-%d", "is_public": true, "subnets": [{"id": %q}]}`, n, cloud.Seed.Subnets[0].ID)
			answer, err := http.Post(url+"/v1/load_balancers?version=2026-08-18&generation=2", "application/json", strings.NewReader(body))
			if err != nil {
				return err
			}
			if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusCreated {
				return fmt.Errorf("load balancer %d: status %d, %w", n, answer.StatusCode, err)
			}
		}
		return cloud.WriteFiles(p.dir, url)
	}
}

func (p *examined) startTencent(limits tencent.Limits) func(*testing.T) error {
	return func(t *testing.T) error {
		cloud := virtual.Fresh(t, tencent.New, tencent.Options{Seed: tencent.SeedOptions{Nodes: 2}, Limits: limits})
		p.control, p.setRole = &cloud.Control, roleSetter(tencent.ParsePolicy, cloud.SetPolicy)
		return cloud.WriteFiles(p.dir, virtual.StartLoopback(t, cloud))
	}
}
