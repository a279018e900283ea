package conform

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/conform/kit"
	"github.com/berth-lb/berth/test/sim"
	simaws "github.com/berth-lb/berth/test/sim/aws"
)

// suite is the official controller of AWS, as its documents say, with one worker.
var suite = kit.Suite{
	Cloud: "aws",
	Program: kit.Program{
		Name: "aws-cloud-controller-manager", Source: "k8s.io/cloud-provider-aws/cmd/aws-cloud-controller-manager",
	},
	Nodes:    4,
	SimFlags: []string{"--quota-factor=10"},
	Volatile: regexp.MustCompile(`"Seq": \d+,?`), // numbers what was ever made
	Quiet:    1500 * time.Millisecond,            // longer than changes of nodes gather
	Refusal:  sim.Fault{Status: http.StatusForbidden, Code: "AccessDenied"},
	Stride:   3,

	Prepare:   userGroups,
	Names:     templateNames,
	Configure: addConfig,
	Watch:     countQueries,
	Cuts:      cutsTraffic,
}

func TestMain(m *testing.M) { suite.Main(m) }

// groupNames returns the names of the security groups that Services may name.
func groupNames() []string { return []string{"user-a", "user-b"} }

func userGroups(w *kit.World) {
	client := ec2.NewFromConfig(awssdk.Config{
		Region: seedOf(w).Region, BaseEndpoint: &w.Sim.URL,
		Credentials: credentials.NewStaticCredentialsProvider("simulated", "simulated", ""),
	})
	for _, name := range groupNames() {
		out, err := client.CreateSecurityGroup(w.T.Context(), &ec2.CreateSecurityGroupInput{
			GroupName: &name, Description: awssdk.String("made by the user"), VpcId: awssdk.String(seedOf(w).VPC),
		})
		w.Must(err)
		w.Made[name] = *out.GroupId
	}
}

func seedOf(w *kit.World) simaws.Seed {
	w.T.Helper()
	var s simaws.Seed
	w.Seed(&s)
	return s
}

// addConfig adds lines to the section Global.
func addConfig(conf string, more []byte) string {
	return strings.Replace(conf, "[Global]\n", "[Global]\n"+string(more), 1)
}

// templateNames returns the ids of the simulated cloud.
func templateNames(w *kit.World) template.FuncMap {
	at := func(list []string) func(int) string { return func(i int) string { return list[i] } }
	s := seedOf(w)
	var addresses []string
	for _, a := range s.Addresses {
		addresses = append(addresses, a.AllocationID)
	}
	return template.FuncMap{
		"public":           at(s.PublicSubnets()),
		"private":          at(s.PrivateSubnets()),
		"group":            func(i int) string { return w.Made[groupNames()[i]] },
		"address":          at(addresses),
		"privateAddresses": func() string { return privateAddresses(s) },
	}
}

// privateAddresses returns free addresses of the first two private subnets, in the
// order in which the official controller iterates over them: by id.
func privateAddresses(seed simaws.Seed) string {
	ids := slices.Clone(seed.PrivateSubnets()[:2])
	slices.Sort(ids)
	var out []string
	for _, id := range ids {
		for _, s := range seed.Subnets {
			if s.ID == id {
				at := netip.MustParsePrefix(s.CIDR).Addr().As4()
				at[3] = 200
				out = append(out, netip.AddrFrom4(at).String())
			}
		}
	}
	return strings.Join(out, ",")
}

// countQueries counts the calls that the official controller sends last for each
// Service.
func countQueries(w *kit.World, services []corev1.Service) func(context.Context) error {
	mark := w.Mark()
	return func(ctx context.Context) error {
		entries, err := w.Sim.Journal(ctx, mark)
		if err != nil {
			return err
		}
		seen := 0
		for _, e := range entries {
			if e.Operation == "DescribeLoadBalancerAttributes" {
				seen++
			}
		}
		if seen < len(services) {
			return fmt.Errorf("%d of %d Services were looked at", seen, len(services))
		}
		return nil
	}
}

func cutsTraffic(e sim.Entry) bool {
	for _, verb := range []string{"Delete", "Deregister", "Revoke", "Detach", "Create"} {
		if strings.HasPrefix(e.Operation, verb) && e.Operation != "CreateLoadBalancerPolicy" {
			return true
		}
	}
	return slices.Contains([]string{"SetSecurityGroups", "ApplySecurityGroupsToLoadBalancer", "SetSubnets", "ConfigureHealthCheck"}, e.Operation)
}
