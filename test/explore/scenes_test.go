package explore

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	classic "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	classictypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/sim"
	simgce "github.com/berth-lb/berth/test/sim/gce"
)

// scene is a situation of a user's Services, with the expected reasons of conditions and
// events.
type scene struct {
	what, cloud string
	fresh       func(testing.TB) Subject // nil: as the cloud is
	play        func(*stage, Shape)
	says        []string
}

const awsKey = "service.beta.kubernetes.io/aws-load-balancer-"

// listScenes returns the scenes that end within hours.
func listScenes() []scene {
	return slices.Concat(scenesOfLives(), scenesOfMistakes(), scenesOfClouds(), scenesOfOthers())
}

// scenesOfLives are what happens in good lives.
func scenesOfLives() []scene {
	return []scene{
		{what: "made and deleted", cloud: "aws classic", play: func(s *stage, plain Shape) {
			s.served(plain)
			Delete("web").Do(s.world)
			time.Sleep(10 * time.Minute)
		}, says: []string{"EnsuringLoadBalancer", "EnsuredLoadBalancer", "DeletingLoadBalancer", "DeletedLoadBalancer"}},
		{what: "another kind", cloud: "aws classic", play: func(s *stage, plain Shape) {
			s.served(plain)
			Change("web", "another kind", setAnnotation(awsKey+"type", "nlb")).Do(s.world)
			time.Sleep(2 * time.Hour)
		}, says: []string{"Replacing", "ReplacingLoadBalancer", "ReplacedLoadBalancer"}},
		{what: "a scheme that a live load balancer cannot get", cloud: "aws classic", play: func(s *stage, plain Shape) {
			s.served(plain)
			Change("web", "internal", setAnnotation(awsKey+"internal", "true")).Do(s.world)
			time.Sleep(10 * time.Minute)
		}, says: []string{"NotApplied"}},
		{what: "left to another controller", cloud: "aws classic", play: func(s *stage, plain Shape) {
			s.served(plain)
			Change("web", "another controller", setAnnotation(awsKey+"type", "external")).Do(s.world)
			time.Sleep(10 * time.Minute)
		}, says: []string{"ServedElsewhere"}},
		{what: "taken over", cloud: "aws classic", play: func(s *stage, plain Shape) {
			s.served(plain)
			s.processes[0].end()
			Change("web", "no record", func(svc *corev1.Service) {
				delete(svc.Annotations, status.AnnotationApplied)
				svc.Finalizers, svc.Status.Conditions = []string{"service.kubernetes.io/load-balancer-cleanup"}, nil
			}).Do(s.world)
			s.start()
			time.Sleep(10 * time.Minute)
		}, says: []string{"AdoptedLoadBalancer"}},
		{what: "no longer served", cloud: "aws classic", play: func(s *stage, plain Shape) {
			s.served(plain)
			s.processes[0].end()
			s.settings = func(_ providers.Bound, _ *reconcile.Options, o *service.Options) { o.Classes.Default = false }
			s.start()
			time.Sleep(time.Minute)
		}, says: []string{"HeldForSafety"}},
	}
}

// scenesOfMistakes are what users and operators may not have.
func scenesOfMistakes() []scene {
	return []scene{
		{what: "a field that no load balancer can have", cloud: "aws classic", play: func(s *stage, plain Shape) {
			s.start()
			Create("web", func(svc *corev1.Service) { svc.Spec.LoadBalancerSourceRanges = []string{"10.0.0.0/33"} }).Do(s.world)
			time.Sleep(time.Minute)
		}, says: []string{"InvalidSpec"}},
		{what: "two protocols", cloud: "gce legacy", play: func(s *stage, plain Shape) {
			s.start()
			Create("web", func(svc *corev1.Service) { svc.Spec.Ports[1].Protocol = corev1.ProtocolUDP }).Do(s.world)
			time.Sleep(10 * time.Minute)
		}, says: []string{"LoadBalancerMixedProtocolNotSupported"}},
		{what: "a policy", cloud: "aws classic", play: func(s *stage, plain Shape) {
			s.policyFile("rules: [{name: inside, namespaces: ['*'], forbidInternet: true}]\n")
			s.start()
			Create("web", plain).Do(s.world)
			time.Sleep(time.Minute)
		}, says: []string{"PolicyRefused"}},
		{what: "no node that matches", cloud: "aws nlb", play: func(s *stage, plain Shape) {
			s.served(plain)
			Change("web", "a filter, and another node port", func(svc *corev1.Service) {
				setAnnotation(awsKey+"target-node-labels", "tier=none")(svc)
				svc.Spec.Ports[0].NodePort += 300
			}).Do(s.world)
			time.Sleep(10 * time.Minute)
		}, says: []string{"NoMatchingNodes"}},
		{what: "an address that another one has", cloud: "azure", play: func(s *stage, plain Shape) {
			s.served(plain)
			Create("late", setAnnotation("service.beta.kubernetes.io/azure-load-balancer-ipv4", s.address("web"))).Do(s.world)
			time.Sleep(10 * time.Minute)
		}, says: []string{"SlotTaken"}},
		{what: "a port that two request at once", cloud: "azure", play: func(s *stage, plain Shape) {
			s.served(plain)
			address := s.address("web")
			free := func(svc *corev1.Service) {
				setAnnotation("service.beta.kubernetes.io/azure-load-balancer-ipv4", address)(svc)
				svc.Spec.Ports = svc.Spec.Ports[:1]
				svc.Spec.Ports[0].Port = 8443
			}
			Create("first", free).Do(s.world)
			Create("second", free).Do(s.world)
			time.Sleep(10 * time.Minute)
		}, says: []string{"SlotTaken"}},
	}
}

// scenesOfClouds are what the cloud refuses, and a defect of ours.
func scenesOfClouds() []scene {
	return []scene{
		{what: "in use while it goes", cloud: "aws classic", play: func(s *stage, plain Shape) {
			s.served(plain)
			s.refuse(failForever("DeleteSecurityGroup", http.StatusBadRequest, "DependencyViolation", "resource sg-1 has a dependent object"))
			Delete("web").Do(s.world)
			time.Sleep(20 * time.Minute)
		}, says: []string{"Deleting", "StillWaiting"}},
		{what: "in use still", cloud: "gce legacy", play: func(s *stage, plain Shape) {
			local := func(policy corev1.ServiceExternalTrafficPolicy, port int32) Shape {
				return func(svc *corev1.Service) { svc.Spec.ExternalTrafficPolicy, svc.Spec.HealthCheckNodePort = policy, port }
			}
			s.served(local(corev1.ServiceExternalTrafficPolicyLocal, 32000))
			s.refuse(failForever("httpHealthChecks.delete", http.StatusBadRequest, "resourceInUseByAnotherResource", "The resource is already being used by 'projects/berth-demo/regions/us-central1/targetPools/a'"))
			Change("web", "another policy", local(corev1.ServiceExternalTrafficPolicyCluster, 0)).Do(s.world)
			time.Sleep(20 * time.Minute)
		}, says: []string{"InUse"}},
		{what: "calls are refused", cloud: "aws nlb", play: func(s *stage, plain Shape) {
			s.served(plain)
			s.refuse(failForever("CreateListener", http.StatusBadRequest, "Throttling", "Rate exceeded"))
			Change("web", "more ports", MorePorts).Do(s.world)
			time.Sleep(time.Hour)
		}, says: []string{"Throttled"}},
		{what: "an answer with an unknown code", cloud: "aws nlb", play: func(s *stage, plain Shape) {
			s.served(plain)
			s.refuse(failForever("CreateListener", http.StatusTeapot, "Teapot", "short and stout"))
			Change("web", "more ports", MorePorts).Do(s.world)
			time.Sleep(time.Hour)
		}, says: []string{"CloudError"}},
		{what: "a defect", cloud: "quay", play: func(s *stage, plain Shape) {
			breakSession(func(_ *world, b *providers.Bound) {
				b.Build = func(providers.Request, providers.Facts, *stack.Stack) (*stack.Stack, annotations.Problems, error) {
					panic("a defect")
				}
			})(s.world)
			s.start()
			Create("web", plain).Do(s.world)
			time.Sleep(time.Minute)
		}, says: []string{"InternalError"}},
		{what: "what may not be read", cloud: "aws classic", play: func(s *stage, plain Shape) {
			s.served(plain)
			s.processes[0].end()
			denied := failForever("DescribeLoadBalancers", http.StatusForbidden, "AccessDenied", "not authorized to perform: elasticloadbalancing:DescribeLoadBalancers")
			denied.Service = "elb"
			s.refuse(denied)
			Change("web", "more ports", MorePorts).Do(s.world)
			s.start()
			time.Sleep(10 * time.Minute)
		}, says: []string{"HeldForSafety"}},
		{what: "a network of another project", cloud: "gce legacy", fresh: sharedNetwork, play: func(s *stage, plain Shape) {
			s.refuse(failForever("firewalls.insert", http.StatusForbidden, "forbidden", "Required 'compute.firewalls.create' permission"))
			s.start()
			Create("web", plain).Do(s.world)
			time.Sleep(10 * time.Minute)
		}, says: []string{"LoadBalancerManualChange"}},
	}
}

// scenesOfOthers are what others do.
func scenesOfOthers() []scene {
	return []scene{
		{what: "another owner's load balancer has the name", cloud: "aws classic", play: markForeign, says: []string{"NotOurs"}},
		{what: "another program writes at the same time", cloud: "openstack", play: func(s *stage, plain Shape) {
			s.served(plain)
			s.refuse(sim.Fault{Kind: sim.FaultError, WritesOnly: true, Status: http.StatusConflict, Message: "Another operation is in progress."})
			Change("web", "more ports", MorePorts).Do(s.world)
			time.Sleep(time.Hour)
		}, says: []string{"Conflict"}},
		{what: "deleted by hand", cloud: "aws classic", play: func(s *stage, plain Shape) {
			s.served(plain)
			s.beside(s.get("web"), reconcile.Job{Release: true})
			time.Sleep(70 * time.Minute)
		}, says: []string{"DriftFound"}},
		{what: "changed by hand twice", cloud: "aws classic", play: func(s *stage, plain Shape) {
			s.served(plain)
			for range 2 {
				other := s.get("web").DeepCopy()
				FewerPorts(other)
				s.edit(other)
				time.Sleep(35 * time.Minute) // one check for drift
			}
		}, says: []string{"DriftFound", "DriftReturns"}},
		{what: "another controller's addresses", cloud: "aws classic", play: func(s *stage, plain Shape) {
			s.served(plain)
			for range 5 {
				Change("web", "another address", func(svc *corev1.Service) {
					svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
				}).Do(s.world)
				time.Sleep(time.Minute)
			}
		}, says: []string{"AddressOverwritten"}},
		{what: "no finalizer any more", cloud: "aws classic", play: func(s *stage, plain Shape) {
			s.served(plain)
			Change("web", "stripped", func(svc *corev1.Service) { svc.Finalizers = nil }).Do(s.world)
			Delete("web").Do(s.world)
			time.Sleep(10 * time.Minute)
		}, says: []string{"FinalizerRemoved"}},
	}
}

// served starts a process and waits until a Service has its load balancer.
func (s *stage) served(shape Shape) {
	s.t.Helper()
	s.start()
	time.Sleep(time.Minute)
	Create("web", shape).Do(s.world)
	time.Sleep(10 * time.Minute)
	if s.address("web") == "" {
		s.t.Fatalf("no load balancer: %v", s.get("web").Status.Conditions)
	}
}

func (s *stage) refuse(f sim.Fault) {
	s.t.Helper()
	if _, err := s.subject.Control.Faults.Add(f); err != nil {
		s.t.Fatal(err)
	}
}

// policyFile has processes keep to a policy.
func (s *stage) policyFile(text string) {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.settings = func(b providers.Bound, o *reconcile.Options, of *service.Options) {
		admission, err := service.NewAdmission(path, nil, b)
		if err != nil {
			panic(err) // the file is this package's
		}
		o.Admit, of.Admission = admission.Judge, admission
	}
}

// markForeign creates a load balancer of the Service's name whose tags name another owner.
func markForeign(s *stage, plain Shape) {
	s.t.Helper()
	s.served(plain)
	s.processes[0].end()
	hand := classic.New(classic.Options{
		BaseEndpoint: aws.String("http://hand-cloud." + s.name), Region: "us-east-1", HTTPClient: http.DefaultClient,
		Credentials: credentials.NewStaticCredentialsProvider("AKIDSIMULATOR", "secret", ""),
	})
	_, err := hand.AddTags(s.t.Context(), &classic.AddTagsInput{
		LoadBalancerNames: []string{strings.ReplaceAll("a"+string(s.get("web").UID), "-", "")[:32]},
		Tags:              []classictypes.Tag{{Key: aws.String("kubernetes.io/service-name"), Value: aws.String("other/thing")}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.start()
	time.Sleep(10 * time.Minute)
}

// sharedNetwork is a project whose network is another project's.
func sharedNetwork(t testing.TB) Subject {
	cloud, err := simgce.New(simgce.Options{NetworkProject: "berth-network", Seed: simgce.SeedOptions{Nodes: 3}})
	if err != nil {
		t.Fatal(err)
	}
	s := onGoogle(t)
	s.Handler, s.Control, s.Nodes = cloud, &cloud.Control, cloud.Seed.KubernetesNodes()
	s.Open = func(ctx context.Context, url string) (providers.Bound, error) {
		return openCloud(ctx, "gce", append(cloud.Seed.CloudConf(url), googleIDs...), newEnv("kubernetes"))
	}
	return s
}
