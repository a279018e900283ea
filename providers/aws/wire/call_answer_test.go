package wire

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/test/sim"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestCutter: the text between the marks is left out, however it is split into reads.
func TestCutter(t *testing.T) {
	long := strings.Repeat("<member>i-1</member>", 5000)
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"no mark", "<a>b</a>", "<a>b</a>"},
		{"one", "<a><I>x</I></a>", "<a><I></I></a>"},
		{"several", "<I>x</I>-<I></I>-<I>" + long + "</I>-", "<I></I>-<I></I>-<I></I>-"},
		{"long before and after", long + "<I>x</I>" + long, long + "<I></I>" + long},
		{"closed at once", "<a><I/>b</a>", "<a><I/>b</a>"},
		{"begins like a mark", "<<I<I>x<</I</I><", "<<I<I></I><"},
		{"ends inside", "<a><I>x", "<a><I>"},
		{"ends in a mark", "<a><I", "<a><I"},
	} {
		for way, slow := range map[string]func(io.Reader) io.Reader{
			"at once": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "end with data": iotest.DataErrReader,
		} {
			got, err := io.ReadAll(newCutter(slow(strings.NewReader(tc.text)), "<I>", "</I>"))
			if err != nil {
				t.Errorf("%s, %s: %v", tc.name, way, err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", tc.name, way, diff)
			}
		}
	}
	broken := errors.New("cut")
	got, err := io.ReadAll(newCutter(io.MultiReader(strings.NewReader("<a><I"), iotest.ErrReader(broken)), "<I>", "</I>"))
	if !errors.Is(err, broken) || string(got) != "<a><I" {
		t.Errorf("broken off: got %q, %v", got, err)
	}
}

// TestUnread: a call whose response is not used succeeds, is known by its request and
// leaves its connection to the next one; a refusal is reported as usual.
func TestUnread(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
		// The SDK closes a request's body when its response begins, so an immediate response can
		// arrive before the end of its request, and ends the connection.
		if _, err := r.sim.Cloud.Faults.Add(sim.Fault{Kind: sim.FaultLatency, Latency: 10 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		o := ownerOf(1)
		r.arrive(o, r.classicWish(o).stack())
		name := model.LoadBalancerName(o.UID)
		machine := wireInstances([]string{r.seed.Nodes[0].InstanceID})
		url := virtual.StartConnected(t, r.sim.Cloud)
		client := elb.New(r.session.classic.Options(), func(o *elb.Options) { o.BaseEndpoint = &url })
		if _, err := client.DescribeLoadBalancers(t.Context(), &elb.DescribeLoadBalancersInput{}); err != nil { // opens the connection
			t.Fatal(err)
		}
		reused := 0
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
			if c.Reused {
				reused++
			}
		}})
		off, err := client.DeregisterInstancesFromLoadBalancer(ctx, &elb.DeregisterInstancesFromLoadBalancerInput{LoadBalancerName: &name, Instances: machine})
		if err != nil {
			t.Fatal(err)
		}
		on, err := client.RegisterInstancesWithLoadBalancer(ctx, &elb.RegisterInstancesWithLoadBalancerInput{LoadBalancerName: &name, Instances: machine})
		if err != nil {
			t.Fatal(err)
		}
		if len(off.Instances)+len(on.Instances) > 0 {
			t.Errorf("the answers were taken apart: %d and %d machines", len(off.Instances), len(on.Instances))
		}
		if id, ok := middleware.GetRequestIDMetadata(on.ResultMetadata); !ok || id == "" {
			t.Error("the answer has no request id")
		}
		if reused != 2 {
			t.Errorf("connections used again: got %d, want 2", reused)
		}
		in := &elb.RegisterInstancesWithLoadBalancerInput{LoadBalancerName: &name, Instances: wireInstances([]string{"i-00000000deadbeef"})}
		if _, err := writeCall(t.Context(), r.session.classic.RegisterInstancesWithLoadBalancer, in); !fault.Is(err, fault.Invalid) {
			t.Errorf("an unknown machine: got %v, want Invalid", err)
		}
	})
}

// TestUnreadBrokenOff: an answer that breaks off leaves open what became of the call,
// as with any other call.
func TestUnreadBrokenOff(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "<RegisterInstancesWithLoadBalancerResponse>")
		}))
		t.Cleanup(server.Close)
		r := newRig(t, simaws.Options{})
		client := elb.New(r.session.classic.Options(), func(o *elb.Options) {
			o.BaseEndpoint, o.Retryer = &server.URL, awssdk.NopRetryer{}
		})
		in := &elb.RegisterInstancesWithLoadBalancerInput{LoadBalancerName: awssdk.String("web"), Instances: wireInstances([]string{"i-1"})}
		if _, err := writeCall(t.Context(), client.RegisterInstancesWithLoadBalancer, in); !fault.Is(err, fault.Ambiguous) {
			t.Errorf("got %v, want Ambiguous", err)
		}
	})
}

// TestWithoutMachines: the option takes the machines out of a list and nothing else.
func TestWithoutMachines(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 30}})
		for n := range 2 {
			r.arrive(ownerOf(n), r.classicWish(ownerOf(n)).stack())
		}
		all, err := r.session.classic.DescribeLoadBalancers(t.Context(), &elb.DescribeLoadBalancersInput{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.session.classic.DescribeLoadBalancers(t.Context(), &elb.DescribeLoadBalancersInput{}, withoutMachines)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all.LoadBalancerDescriptions {
			if n := len(all.LoadBalancerDescriptions[i].Instances); n == 0 {
				t.Error("no machines without the option either")
			}
			all.LoadBalancerDescriptions[i].Instances = []elbtypes.Instance{}
		}
		if diff := cmp.Diff(all.LoadBalancerDescriptions, got.LoadBalancerDescriptions, cmpopts.IgnoreUnexported(
			elbtypes.LoadBalancerDescription{}, elbtypes.HealthCheck{}, elbtypes.ListenerDescription{}, elbtypes.Listener{}, elbtypes.Policies{}, elbtypes.SourceSecurityGroup{},
			elbtypes.BackendServerDescription{})); diff != "" {
			t.Errorf("descriptions (-want +got):\n%s", diff)
		}
	})
}
