package aws_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws"
	"github.com/berth-lb/berth/providers/kit"
	berth "github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/simtest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// officialState is what the AWS Load Balancer Controller 3.5.0 has built for Services of all its
// keys on the simulator: the calls by which it wrote, in their order, and the Services.
const officialState = "testdata/official-lbc/"

// official is a cloud in which that controller has served until now.
type official struct {
	subject
	slices   map[string][]*discoveryv1.EndpointSlice // by Service
	services []*corev1.Service
}

// Objects are the Services as others refer to them.
func (o official) Objects() map[providers.Reference]providers.Object {
	out := map[providers.Reference]providers.Object{}
	for _, svc := range o.services {
		out[providers.Reference{Kind: providers.Service, Namespace: svc.Namespace, Name: svc.Name}] = providers.Object{Service: svc, Slices: o.slices[svc.Name]}
	}
	return out
}

func (o official) Slices(svc *corev1.Service) []*discoveryv1.EndpointSlice { return o.slices[svc.Name] }

func (o official) Open(t testing.TB) providers.Bound {
	t.Helper()
	seed := o.running.Cloud.Seed
	file := append(seed.CloudConf(o.running.URL), controllerConfig...)
	cloud, problems, err := providers.EntryOf(aws.Cloud()).Open(t.Context(), bytes.NewReader(file), providers.Env{Cluster: seed.ClusterID, Now: time.Now, Share: kit.Unlimited(), Notes: o.notes})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return cloud
}

// replayCalls sends the calls of a file: an operation, and its parameters as they are
// on the wire.
func replayCalls(t *testing.T, running *simtest.Running, name string) {
	t.Helper()
	body, err := os.ReadFile(officialState + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		operation, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		service, version := "elasticloadbalancing", "2015-12-01"
		if strings.Contains(operation, "SecurityGroup") && operation != "SetSecurityGroups" {
			service, version = "ec2", "2016-11-15"
		}
		form := url.Values{"Action": {operation}, "Version": {version}}
		for _, pair := range strings.Fields(rest) {
			key, value, _ := strings.Cut(pair, "=")
			if value, err = url.PathUnescape(value); err != nil {
				t.Fatal(err)
			}
			form.Set(key, value)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, running.URL, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/%s/aws4_request", service))
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", line, answer.Status)
		}
		if err := answer.Body.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// builtBy is the cloud after the calls of some files, with the Services and what is behind them.
func builtBy(t *testing.T, files ...string) (official, []*corev1.Service) {
	t.Helper()
	running := simtest.Start(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 4, Pods: 20}})
	for _, name := range files {
		replayCalls(t, running, name)
	}
	notes := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "aws-lbc-targets-k8s-shop-multi-bd59d016c5"},
		Data:       map[string]string{"targets": "10.0.143.246:8080,10.0.159.246:8080"},
	}
	o := official{subject: subject{running: running, notes: berth.NewNotes(fake.NewClientset(notes))}, slices: map[string][]*discoveryv1.EndpointSlice{}}
	for _, slice := range props.Documents[discoveryv1.EndpointSlice](t, officialState+"slices.yaml") {
		name := slice.Labels[discoveryv1.LabelServiceName]
		o.slices[name] = append(o.slices[name], slice)
	}
	o.services = props.Documents[corev1.Service](t, officialState+"services.yaml")
	return o, o.services
}

// expectOnlyRules reports all calls except the ones that let the shared group in on the
// nodes.
func (o official) expectOnlyRules(t *testing.T, writes []sim.Entry) {
	t.Helper()
	for _, call := range writes {
		if call.Operation != "AuthorizeSecurityGroupIngress" || call.Request["GroupId"] != o.running.Cloud.Seed.NodeGroup {
			t.Errorf("%s %v", call.Operation, call.Request)
		}
	}
}

// TestTakeOverOfTheController: of the resources of the AWS Load Balancer Controller only
// the rules that let the shared group in on the nodes are written again, which that
// controller narrows as soon as it serves no Services of its own. Once the Services are
// deleted everything is deleted except the resources that it marks as its own.
func TestTakeOverOfTheController(t *testing.T) {
	setCredentials(t)
	virtual.Test(t, func(t *testing.T) {
		o, services := builtBy(t, "requests.txt")
		writes, rest := props.TakeOver(t, o, services)
		o.expectOnlyRules(t, writes)
		t.Logf("%d Services taken over with %d writes", len(services), len(writes))
		if len(services) < 40 || len(writes) > 4 {
			t.Errorf("%d Services, %d writes", len(services), len(writes))
		}
		if strings.Contains(rest, "loadbalancer/net/") || strings.Contains(rest, "targetgroup/") || strings.Contains(rest, "berth-lb.io/targets") {
			t.Errorf("left:\n%s", rest)
		}
	})
}

// TestTakeOverOfNamedServices: the target group that the AWS Load Balancer Controller
// creates for a Service which the action of another one names is adopted unchanged, and
// is deleted with that one. Its calls are written as the source of that controller has
// them.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/service/model_build_target_group.go.
func TestTakeOverOfNamedServices(t *testing.T) {
	setCredentials(t)
	virtual.Test(t, func(t *testing.T) {
		o, services := builtBy(t, "requests.txt", "others.txt")
		for _, svc := range services {
			if svc.Name == "ip" {
				svc.Annotations[actions80] = forwardAction(`{"serviceName":"ip-public","servicePort":"tcp-80","weight":10}`)
			}
		}
		writes, rest := props.TakeOver(t, o, services)
		o.expectOnlyRules(t, writes)
		if strings.Contains(rest, "targetgroup/") {
			t.Errorf("left:\n%s", rest)
		}
	})
}
