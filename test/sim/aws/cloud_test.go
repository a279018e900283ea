package aws_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/berth-lb/berth/test/sim"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/simtest"
)

// clients are the official clients of all services, without retries.
type clients struct {
	*simtest.Running
	ec2 *ec2.Client
	elb *elb.Client
	nlb *elbv2.Client
}

func startClients(t *testing.T, opt simaws.Options) clients {
	t.Helper()
	r := simtest.Start(t, opt)
	r.Config.RetryMaxAttempts = 1
	return clients{r, ec2.NewFromConfig(r.Config), elb.NewFromConfig(r.Config), elbv2.NewFromConfig(r.Config)}
}

func (c clients) newGroup(t *testing.T, name string) (string, error) {
	out, err := c.ec2.CreateSecurityGroup(t.Context(), &ec2.CreateSecurityGroupInput{GroupName: &name, Description: aws.String("d"), VpcId: &c.Cloud.Seed.VPC})
	if err != nil {
		return "", err
	}
	return *out.GroupId, nil
}

func (c clients) groups(t *testing.T, name string) int {
	t.Helper()
	out, err := c.ec2.DescribeSecurityGroups(t.Context(), &ec2.DescribeSecurityGroupsInput{Filters: []ec2types.Filter{{Name: aws.String("group-name"), Values: []string{name}}}})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.SecurityGroups)
}

func (c clients) fault(t *testing.T, f sim.Fault) {
	t.Helper()
	if _, err := c.Cloud.Faults.Add(f); err != nil {
		t.Fatal(err)
	}
}

func errorCode(err error) string {
	if e := smithy.APIError(nil); errors.As(err, &e) {
		return e.ErrorCode()
	}
	if err != nil {
		return "no answer"
	}
	return ""
}

func TestServicesShareOneWorld(t *testing.T) {
	c := startClients(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
	seed := c.Cloud.Seed
	group, err := c.newGroup(t, "front")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.elb.CreateLoadBalancer(t.Context(), &elb.CreateLoadBalancerInput{
		LoadBalancerName: aws.String("classic"), Subnets: seed.PublicSubnets(), SecurityGroups: []string{group},
		Listeners: []elbtypes.Listener{{Protocol: aws.String("TCP"), LoadBalancerPort: 80, InstancePort: aws.Int32(30080)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	balancer, err := c.nlb.CreateLoadBalancer(t.Context(), &elbv2.CreateLoadBalancerInput{
		Name: aws.String("network"), Type: elbv2types.LoadBalancerTypeEnumNetwork, SecurityGroups: []string{group},
		SubnetMappings: []elbv2types.SubnetMapping{{SubnetId: &seed.PublicSubnets()[0], AllocationId: &seed.Addresses[0].AllocationID}},
	})
	if err != nil {
		t.Fatal(err)
	}
	remove := func() string {
		_, err := c.ec2.DeleteSecurityGroup(t.Context(), &ec2.DeleteSecurityGroupInput{GroupId: &group})
		return errorCode(err)
	}
	holder := func() string {
		out, err := c.ec2.DescribeAddresses(t.Context(), &ec2.DescribeAddressesInput{AllocationIds: []string{seed.Addresses[0].AllocationID}})
		if err != nil {
			t.Fatal(err)
		}
		return aws.ToString(out.Addresses[0].NetworkInterfaceOwnerId)
	}
	got := []string{remove(), holder()}
	if _, err := c.elb.DeleteLoadBalancer(t.Context(), &elb.DeleteLoadBalancerInput{LoadBalancerName: aws.String("classic")}); err != nil {
		t.Fatal(err)
	}
	got = append(got, remove())
	if _, err := c.nlb.DeleteLoadBalancer(t.Context(), &elbv2.DeleteLoadBalancerInput{LoadBalancerArn: balancer.LoadBalancers[0].LoadBalancerArn}); err != nil {
		t.Fatal(err)
	}
	got = append(got, remove(), holder())
	want := []string{"DependencyViolation", "amazon-elb", "DependencyViolation", "", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	who, err := sts.NewFromConfig(c.Config).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	if err != nil || *who.Account != seed.Account {
		t.Errorf("caller %v, %v, want account %s", who, err, seed.Account)
	}
}

func TestInterfacesOutliveTheLoadBalancer(t *testing.T) {
	c := startClients(t, simaws.Options{ReleaseDelay: time.Hour})
	group, err := c.newGroup(t, "front")
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.nlb.CreateLoadBalancer(t.Context(), &elbv2.CreateLoadBalancerInput{
		Name: aws.String("n"), Type: elbv2types.LoadBalancerTypeEnumNetwork, SecurityGroups: []string{group}, Subnets: c.Cloud.Seed.PublicSubnets(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.nlb.DeleteLoadBalancer(t.Context(), &elbv2.DeleteLoadBalancerInput{LoadBalancerArn: out.LoadBalancers[0].LoadBalancerArn}); err != nil {
		t.Fatal(err)
	}
	_, err = c.ec2.DeleteSecurityGroup(t.Context(), &ec2.DeleteSecurityGroupInput{GroupId: &group})
	if got := errorCode(err); got != "DependencyViolation" {
		t.Errorf("delete right after the load balancer: code %q, want DependencyViolation", got)
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name      string
		fault     sim.Fault
		code      string
		committed bool
	}{
		{"error", sim.Fault{Service: "ec2", Operation: "CreateSecurityGroup", Kind: sim.FaultError, Code: "RequestLimitExceeded"}, "RequestLimitExceeded", false},
		{"error without a code", sim.Fault{Operation: "Create*", Kind: sim.FaultError}, "InternalFailure", false},
		{"cut before", sim.Fault{Service: "ec2", Operation: "Create*", Kind: sim.FaultCutBefore}, "no answer", false},
		{"cut after", sim.Fault{Service: "ec2", Operation: "Create*", Kind: sim.FaultCutAfter}, "no answer", true},
		{"latency", sim.Fault{Kind: sim.FaultLatency, Latency: time.Millisecond}, "", true},
		{"another service", sim.Fault{Service: "elb*", Kind: sim.FaultError}, "", true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			c := startClients(t, simaws.Options{})
			c.fault(t, tc.fault)
			_, err := c.newGroup(t, "g")
			if got := errorCode(err); got != tc.code {
				t.Errorf("code %q, want %q", got, tc.code)
			}
			entries := c.Cloud.Journal.Entries()
			if len(entries) != 1 || entries[0].Committed != tc.committed || !entries[0].Write || entries[0].Request["GroupName"] != "g" {
				t.Errorf("journal %+v, want one write of group g, committed %v", entries, tc.committed)
			}
			c.Cloud.Faults.Clear()
			if got := c.groups(t, "g") == 1; got != tc.committed {
				t.Errorf("group made: %v, want %v", got, tc.committed)
			}
		})
	}
}

func TestStaleReads(t *testing.T) {
	c := startClients(t, simaws.Options{})
	c.fault(t, sim.Fault{Service: "ec2", Kind: sim.FaultStale, BehindWrites: 2})
	var got []int
	for i := range 4 {
		if _, err := c.newGroup(t, fmt.Sprintf("g%d", i)); err != nil {
			t.Fatal(err)
		}
		got = append(got, c.groups(t, "g?"))
	}
	c.Cloud.Faults.Clear()
	got = append(got, c.groups(t, "g?"))
	if diff := cmp.Diff([]int{0, 0, 1, 2, 4}, got); diff != "" {
		t.Errorf("groups seen after each write, then without the fault (-want +got)\n%s", diff)
	}
	// A write while no such fault is armed is not recorded, and the state before it is dropped.
	if _, err := c.newGroup(t, "g4"); err != nil {
		t.Fatal(err)
	}
	c.fault(t, sim.Fault{Service: "ec2", Kind: sim.FaultStale, BehindTime: time.Hour})
	if _, err := c.newGroup(t, "g5"); err != nil {
		t.Fatal(err)
	}
	if n := c.groups(t, "g?"); n != 5 {
		t.Errorf("an hour behind: %d groups, want 5", n)
	}
}

func TestThrottle(t *testing.T) {
	c := startClients(t, simaws.Options{})
	if err := c.Cloud.Throttle.Set(sim.Bucket{Service: "ec2", Capacity: 1}, sim.Bucket{Service: "elb*", Capacity: 1}); err != nil {
		t.Fatal(err)
	}
	_, first := c.newGroup(t, "a")
	_, second := c.newGroup(t, "b")
	_, third := c.elb.DescribeLoadBalancers(t.Context(), &elb.DescribeLoadBalancersInput{})
	_, fourth := c.nlb.DescribeLoadBalancers(t.Context(), &elbv2.DescribeLoadBalancersInput{})
	got := []string{errorCode(first), errorCode(second), errorCode(third), errorCode(fourth)}
	if diff := cmp.Diff([]string{"", "RequestLimitExceeded", "", "Throttling"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if e := c.Cloud.Journal.Entries()[1]; !e.Throttled || e.Status != http.StatusServiceUnavailable || e.Committed {
		t.Errorf("journal entry %+v, want throttled", e)
	}
}

// TestDocumentedRates reads with two actions of EC2, which count apart.
func TestDocumentedRates(t *testing.T) {
	c := startClients(t, simaws.Options{Clock: clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))})
	if err := c.Cloud.Throttle.Set(simaws.RealThrottle()...); err != nil {
		t.Fatal(err)
	}
	const burst = 100
	for n := range burst {
		if _, err := c.ec2.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{}); err != nil {
			t.Fatalf("call %d: %v", n, err)
		}
	}
	_, beyond := c.ec2.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
	_, other := c.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	if errorCode(beyond) != "RequestLimitExceeded" || other != nil {
		t.Errorf("call %d: %v, and of another action: %v; want RequestLimitExceeded and none", burst, beyond, other)
	}
}

func TestRequestsThatNoClientSends(t *testing.T) {
	c := startClients(t, simaws.Options{})
	tests := []struct {
		name, auth, body string
		status           int
		want             string
	}{
		{"no signature", "", "Action=DescribeVpcs&Version=2016-11-15", 403, "<Code>MissingAuthenticationToken</Code>"},
		{"unknown action", "x", "Action=Nonsense&Version=2016-11-15", 400, "<Code>InvalidAction</Code>"},
		{"no action", "x", "Version=2015-12-01", 400, "<Code>MissingAction</Code>"},
		{"old version of EC2", "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/ec2/aws4_request", "Action=DescribeVpcs&Version=2014-10-01", 200, "<vpcSet>"},
	}
	for _, tc := range tests {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL, strings.NewReader(tc.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if tc.auth != "" {
			req.Header.Set("Authorization", tc.auth)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var body strings.Builder
		if err := resp.Write(&body); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != tc.status || !strings.Contains(body.String(), tc.want) {
			t.Errorf("%s: %d %s, want %d and %s", tc.name, resp.StatusCode, body.String(), tc.status, tc.want)
		}
	}
	resp, err := http.Get(c.URL + "/_sim/state")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("state: status %d, want 200", resp.StatusCode)
	}
}

// TestConcurrency lets groups come and go while load balancers take them; it
// finds races and deadlocks between the services' locks.
func TestConcurrency(t *testing.T) {
	c := startClients(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 9}})
	c.fault(t, sim.Fault{Operation: "DescribeRouteTables", Kind: sim.FaultStale})
	seed := c.Cloud.Seed
	var wait sync.WaitGroup
	for w := range 6 {
		wait.Go(func() {
			for i := range 8 {
				name := fmt.Sprintf("w%d-%d", w, i)
				group, err := c.newGroup(t, name)
				if err != nil {
					t.Error(err)
					return
				}
				lb, err := c.nlb.CreateLoadBalancer(t.Context(), &elbv2.CreateLoadBalancerInput{
					Name: &name, Type: elbv2types.LoadBalancerTypeEnumNetwork, Subnets: seed.PublicSubnets(), SecurityGroups: []string{group},
				})
				if err != nil {
					t.Error(err)
					return
				}
				_, err = c.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
				_, deleted := c.ec2.DeleteSecurityGroup(t.Context(), &ec2.DeleteSecurityGroupInput{GroupId: &group})
				if err != nil || errorCode(deleted) != "DependencyViolation" {
					t.Errorf("%v; delete in use: %v", err, deleted)
				}
				_, err = c.nlb.DeleteLoadBalancer(t.Context(), &elbv2.DeleteLoadBalancerInput{LoadBalancerArn: lb.LoadBalancers[0].LoadBalancerArn})
				_, deleted = c.ec2.DeleteSecurityGroup(t.Context(), &ec2.DeleteSecurityGroupInput{GroupId: &group})
				if err := errors.Join(err, deleted); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if n := c.groups(t, "w*"); n != 0 {
		t.Errorf("%d groups left, want none", n)
	}
}

// TestUnfilteredReads: a read without filter or page has fewer tokens than one with.
func TestUnfilteredReads(t *testing.T) {
	c := startClients(t, simaws.Options{Clock: clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))})
	if err := c.Cloud.Throttle.Set(simaws.RealThrottle()...); err != nil {
		t.Fatal(err)
	}
	refusedAt := func(in *ec2.DescribeSecurityGroupsInput) int {
		for n := range 200 {
			if _, err := c.ec2.DescribeSecurityGroups(t.Context(), in); err != nil {
				return n
			}
		}
		return -1
	}
	if n := refusedAt(&ec2.DescribeSecurityGroupsInput{}); n != 50 {
		t.Errorf("without a filter: refused after %d, want 50", n)
	}
	if n := refusedAt(&ec2.DescribeSecurityGroupsInput{MaxResults: aws.Int32(10)}); n != 100 {
		t.Errorf("by pages: refused after %d, want 100", n)
	}
}
