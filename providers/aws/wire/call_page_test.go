package wire

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/test/sim/aws/simtest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestPages: a page of a proxy is neither an empty list, nor a success, nor the absence of a resource. The
// metadata service of instances answers with pages itself.
func TestPages(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		status := http.StatusOK
		url := virtual.Start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(status)
			_, _ = w.Write([]byte("<html><head><title>Another</title></head><body><h1>Log in</h1></body></html>"))
		}))
		config := simtest.Config(url, "us-east-1")
		config.APIOptions = slices.Concat(config.APIOptions, skipAnswers(), refusePages())
		config.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
		classic, network, machines := elb.NewFromConfig(config), elbv2.NewFromConfig(config), ec2.NewFromConfig(config)
		name := aws.String("lb")
		calls := map[string]func() error{
			"DescribeLoadBalancers": func() error {
				_, err := network.DescribeLoadBalancers(t.Context(), &elbv2.DescribeLoadBalancersInput{})
				return err
			},
			"DescribeSubnets": func() error {
				_, err := machines.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
				return err
			},
			"DeregisterInstancesFromLoadBalancer": func() error {
				_, err := classic.DeregisterInstancesFromLoadBalancer(t.Context(), &elb.DeregisterInstancesFromLoadBalancerInput{LoadBalancerName: name, Instances: []elbtypes.Instance{{InstanceId: name}}})
				return err
			},
		}
		for _, status = range []int{http.StatusOK, http.StatusForbidden, http.StatusNotFound} {
			for operation, call := range calls {
				err := faultOf(call(), kit.Sent)
				want := (&fault.PageError{Operation: operation, Status: status}).Error()
				if !fault.Is(err, fault.Ambiguous) || err.Error() != want {
					t.Errorf("got %v, want %s", err, want)
				}
			}
		}
		config.APIOptions = refusePages()
		_, err := imds.NewFromConfig(config, func(o *imds.Options) { o.Endpoint = url }).GetMetadata(t.Context(), &imds.GetMetadataInput{Path: "none"})
		if httpStatus(err) != http.StatusNotFound {
			t.Error(fmt.Errorf("the metadata service: %w", err))
		}
	})
}
