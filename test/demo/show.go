package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/harness"
)

// limit bounds each scene.
const limit = 45 * time.Second

// look says what is in the cloud, one line per thing.
type look func(ctx context.Context, world *harness.World) ([]string, error)

// stage is what the show needs to know of a cloud.
type stage struct {
	look    look
	planned string   // the example whose plan is shown
	spare   string   // one for the user to try
	sim     []string // flags of the simulator
	// podless is an example that is left out, because its load balancer forwards only to nodes with
	// pods, and the demo has no pods.
	podless string
}

func demoStages() map[string]stage {
	return map[string]stage{
		"alibaba": {lookAlibaba, "http-health-check", "public", []string{"--users"}, "local-policy"},
		"aws":     {lookAWS, "classic-tls", "nlb", nil, ""},
		// Azure's own default, which private links need.
		"azure":     {lookAzure, "internal", "public", []string{"--pools", "nodeIPConfiguration"}, ""},
		"baidu":     {lookBaidu, "internal", "public", []string{"--users"}, "pods"},
		"gce":       {lookGCE, "external-backend-service", "external", nil, ""},
		"ibm":       {lookIBM, "private", "network", nil, ""},
		"oci":       {lookOCI, "internal", "flexible", nil, ""},
		"openstack": {lookOpenStack, "local-policy", "external", nil, ""},
		"tencent":   {lookTencent, "internal", "public", []string{"--users"}, "pods"},
	}
}

type show struct {
	world *harness.World
	stage stage
	good  []corev1.Service
	bad   []corev1.Service
	calls []phase
}

type phase struct {
	name  string
	calls harness.Calls
}

func (s *show) title(format string, args ...any) {
	fmt.Printf("\n== "+format+"\n", args...)
}

// play shows the scenes in order; the plan was shown while there was no cluster yet.
func (s *show) play(ctx context.Context) error {
	if err := s.load(); err != nil {
		return err
	}
	for _, scene := range []func(context.Context) error{
		s.begin, s.create, s.results, s.complaints, s.join, s.port, s.delete, s.summary,
	} {
		if err := scene(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *show) examples() (string, error) {
	root, err := harness.Root()
	return filepath.Join(root, "examples", s.world.Cloud), err
}

// optional is a class that the controller serves only where its configuration says so, and
// the one that the demonstration starts does not. identity is an annotation that only a
// cluster of Oracle's can follow. secret and protocols name certificates in the cluster.
const (
	optional  = "service.k8s.aws/nlb"
	identity  = "oci.oraclecloud.com/workload-service-account"
	secret    = "service.beta.kubernetes.io/oci-load-balancer-tls-secret"
	protocols = "service.cloud.tencent.com/specify-protocol"
)

// unsuitedReason returns why a Service cannot be part of the demonstration; empty if it
// can.
func unsuitedReason(svc corev1.Service) string {
	if class := svc.Spec.LoadBalancerClass; class != nil && *class == optional {
		return "whose class " + optional + " is served only where the configuration says so"
	}
	if svc.Annotations[identity] != "" {
		return "whose identity only a cluster of Oracle Cloud has"
	}
	if name := svc.Annotations[secret]; name != "" {
		return "which needs a Secret " + name + " with a certificate"
	}
	if strings.Contains(svc.Annotations[protocols], `"tls"`) {
		return "which needs Secrets with the ids of certificates"
	}
	return ""
}

// load reads the examples; those whose name says that they are bad are kept apart.
func (s *show) load() error {
	dir, err := s.examples()
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return err
	}
	slices.Sort(files)
	for _, f := range files {
		if filepath.Base(f) == s.stage.podless+".yaml" {
			fmt.Printf("left out: %s, which needs pods\n", filepath.Base(f))
			continue
		}
		services, err := harness.ReadServices(f)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(services, func(svc corev1.Service) bool { return unsuitedReason(svc) != "" }); i >= 0 {
			fmt.Printf("left out: %s, %s\n", filepath.Base(f), unsuitedReason(services[i]))
			continue
		}
		if name := filepath.Base(f); strings.HasPrefix(name, "misspelt") || strings.HasPrefix(name, "value-") {
			s.bad = append(s.bad, services...)
		} else {
			s.good = append(s.good, services...)
		}
	}
	return nil
}

// plan shows what would be done for one example before anything is done.
func (s *show) plan(ctx context.Context) error {
	dir, err := s.examples()
	if err != nil {
		return err
	}
	s.title("berth plan -f examples/%s/%s.yaml: what would be done, before it is done", s.world.Cloud, s.stage.planned)
	cmd := exec.CommandContext(ctx, s.world.Binaries.Berth, "plan", "--provider", s.world.Cloud,
		"-f", filepath.Join(dir, s.stage.planned+".yaml"),
		"--nodes", filepath.Join(s.world.Sim.Dir, "nodes.yaml"), "--cloud-config", filepath.Join(s.world.Sim.Dir, "cloud.conf"))
	cmd.Env = append(os.Environ(), s.world.Credentials()...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout
	const changes = 2 // the exit status that says "there is something to do"
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != changes {
		return fmt.Errorf("berth plan: %w", err)
	}
	return nil
}

// begin starts the controller with one node missing.
func (s *show) begin(ctx context.Context) error {
	all, err := s.world.SeedNodes()
	if err != nil {
		return err
	}
	if err := s.world.LeaveNode(ctx, all[len(all)-1].Name); err != nil {
		return err
	}
	s.title("starting cloud-controller-manager --cloud-provider=%s", s.world.Cloud)
	_, err = s.world.Controller("controller")
	return err
}

func (s *show) create(ctx context.Context) error {
	s.title("kubectl apply -f examples/%s: %d Services, and %d that are wrong", s.world.Cloud, len(s.good), len(s.bad))
	return s.scene(ctx, "create", func() error {
		if err := s.world.Create(ctx, append(slices.Clone(s.good), s.bad...)...); err != nil {
			return err
		}
		began := time.Now()
		if err := harness.Eventually(ctx, limit, s.world.Programmed(s.good...)); err != nil {
			return err
		}
		fmt.Printf("all %d have their load balancer after %s\n", len(s.good), time.Since(began).Round(10*time.Millisecond))
		return harness.Eventually(ctx, limit, s.complained)
	})
}

// scene plays one and counts its cloud calls.
func (s *show) scene(ctx context.Context, name string, act func() error) error {
	meter, err := s.world.Sim.Meter(ctx)
	if err != nil {
		return err
	}
	if err := act(); err != nil {
		return err
	}
	calls, err := meter.Settle(ctx, time.Second, limit)
	s.calls = append(s.calls, phase{name, calls})
	return err
}

func (s *show) results(ctx context.Context) error {
	s.title("kubectl get services")
	for _, want := range s.good {
		svc, err := s.world.Get(ctx, want.Namespace, want.Name)
		if err != nil {
			return err
		}
		fmt.Printf("%-24s %s\n", svc.Name, svc.Status.LoadBalancer.Ingress[0].Hostname+svc.Status.LoadBalancer.Ingress[0].IP)
	}
	return s.inTheCloud(ctx)
}

func (s *show) inTheCloud(ctx context.Context) error {
	s.title("what is in the cloud")
	lines, err := s.stage.look(ctx, s.world)
	for _, l := range lines {
		fmt.Println(l)
	}
	return err
}

// complained returns nil when the mistake of every invalid Service has been reported.
func (s *show) complained(ctx context.Context) error {
	for _, b := range s.bad {
		events, err := s.warnings(ctx, b)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			return fmt.Errorf("%s has no warning yet", b.Name)
		}
	}
	return nil
}

func (s *show) warnings(ctx context.Context, svc corev1.Service) ([]corev1.Event, error) {
	list, err := s.world.Client.CoreV1().Events(svc.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: "involvedObject.kind=Service,type=Warning,involvedObject.name=" + svc.Name,
	})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// complaints shows the reported mistakes of the invalid Services.
func (s *show) complaints(ctx context.Context) error {
	s.title("events of the invalid Services (kubectl describe service)")
	for _, b := range s.bad {
		events, err := s.warnings(ctx, b)
		if err != nil {
			return err
		}
		for _, e := range events {
			fmt.Printf("%s: %s: %s\n", b.Name, e.Reason, e.Message)
		}
		svc, err := s.world.Get(ctx, b.Namespace, b.Name)
		if err != nil {
			return err
		}
		fmt.Printf("%s: condition %s=%s\n", b.Name, status.TypeAccepted, harness.Condition(svc, status.TypeAccepted).Status)
	}
	return nil
}

func (s *show) join(ctx context.Context) error {
	all, err := s.world.SeedNodes()
	if err != nil {
		return err
	}
	late := all[len(all)-1]
	s.title("node %s joins", late.Name)
	return s.scene(ctx, "node joins", func() error {
		meter, err := s.world.Sim.Meter(ctx)
		if err != nil {
			return err
		}
		if err := s.world.JoinNode(ctx, &late); err != nil {
			return err
		}
		return harness.Eventually(ctx, limit, func(ctx context.Context) error {
			calls, err := meter.Read(ctx)
			if err == nil && calls.Writes == 0 {
				err = fmt.Errorf("no load balancer has the node yet")
			}
			return err
		})
	})
}

func (s *show) port(ctx context.Context) error {
	target := s.good[0]
	s.title("a port is added to %s", target.Name)
	return s.scene(ctx, "port added", func() error {
		meter, err := s.world.Sim.Meter(ctx)
		if err != nil {
			return err
		}
		err = s.world.Change(ctx, target.Namespace, target.Name, func(svc *corev1.Service) {
			for i := range svc.Spec.Ports {
				if svc.Spec.Ports[i].Name == "" {
					svc.Spec.Ports[i].Name = fmt.Sprintf("port-%d", i)
				}
			}
			svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: "added", Port: 9999, TargetPort: intstr.FromInt32(9999)})
		})
		if err != nil {
			return err
		}
		return harness.Eventually(ctx, limit, func(ctx context.Context) error {
			calls, err := meter.Read(ctx)
			if err == nil && calls.Writes == 0 {
				err = fmt.Errorf("the port does not exist yet")
			}
			return err
		})
	})
}

func (s *show) delete(ctx context.Context) error {
	s.title("kubectl delete -f examples/%s", s.world.Cloud)
	err := s.scene(ctx, "delete", func() error {
		all := append(slices.Clone(s.good), s.bad...)
		if err := s.world.Delete(ctx, all...); err != nil {
			return err
		}
		return harness.Eventually(ctx, limit, s.world.Gone(all...))
	})
	if err != nil {
		return err
	}
	if err := s.inTheCloud(ctx); err != nil {
		return err
	}
	lines, err := s.stage.look(ctx, s.world)
	if err == nil && len(lines) > 0 {
		err = fmt.Errorf("%d things are left in the cloud", len(lines))
	}
	if err == nil {
		fmt.Println("nothing is left")
	}
	return err
}

func (s *show) summary(context.Context) error {
	s.title("cloud calls")
	fmt.Printf("%-12s %6s %7s\n", "phase", "calls", "writes")
	for _, p := range s.calls {
		fmt.Printf("%-12s %6d %7d\n", p.name, p.calls.All, p.calls.Writes)
	}
	return nil
}
