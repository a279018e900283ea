package gce_test

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	raw "google.golang.org/api/compute/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/service/reconcile"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
)

const demo = "berth-demo"

// groupedMachines returns the machines in groups of any zone, each once.
func groupedMachines(t *testing.T, api *raw.Service, of string) []string {
	t.Helper()
	var out []string
	for _, zone := range []string{"us-central1-a", "us-central1-b", "us-central1-c", "us-central1-f"} {
		for _, m := range groupMembers(t, api, demo, zone) {
			if group, machine, _ := strings.Cut(m, " "); strings.HasPrefix(group, of) {
				out = append(out, machine)
			}
		}
	}
	pools, err := api.TargetPools.List(demo, "us-central1").Do()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pools.Items {
		for _, i := range p.Instances {
			out = append(out, i[strings.LastIndexByte(i, '/')+1:])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestMachinesGone: where the machines of some nodes do not exist any more, the others
// are members after at most two runs and few calls. A run later nothing is left to do
// and a problem names the nodes that are left out.
func TestMachinesGone(t *testing.T) {
	const nodes, gone = 64, 7
	for _, class := range []string{"l4-regional-external-legacy", "l4-regional-external", "l4-regional-internal-legacy", "l4-regional-internal"} {
		for _, late := range []bool{false, true} {
			name := class + " before"
			if late {
				name = class + " after the load balancer"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := nearCloud(t, nodes, 0)
					api, svc := n.user(t), numberedService(1, class)
					if class == "l4-regional-internal" {
						svc.Spec.ExternalTrafficPolicy, svc.Spec.HealthCheckNodePort = corev1.ServiceExternalTrafficPolicyLocal, 31999
					}
					r := n.process(t)
					if late {
						// The instances are known by now, and go afterwards.
						reconcileFully(t, r, numberedService(2, class), reconcile.Job{NeverProvisioned: true})
					}
					missing := takeAway(t, n, api, gone)
					n.cloud.Journal.Reset()
					job := reconcile.Job{Service: svc, NeverProvisioned: true, Slices: slicesOn(n, svc)}
					told := untilClean(t, r, job, func(run int) {
						if run == 2 {
							allIn(t, n, api, missing)
						}
					})
					allIn(t, n, api, missing)
					// Where nothing was refused, because the cloud had taken them out of groups
					// that are shared, nothing is known of them.
					refused := !late || class == "l4-regional-internal"
					if class != "l4-regional-external-legacy" && refused && !strings.Contains(told, "get no traffic") {
						t.Errorf("nothing is told: %q", told)
					}
					adds := 0
					for _, op := range []string{"instanceGroups.addInstances", "networkEndpointGroups.attachNetworkEndpoints", "targetPools.addInstance"} {
						adds += n.cloud.Journal.Counts()["compute."+op]
					}
					if most := gone*bits.Len(nodes) + 4*gone; adds > most {
						t.Errorf("%d calls to add members; at most %d", adds, most)
					}
					time.Sleep(time.Minute) // what gathers calls ends
				})
			})
		}
	}
}

// takeAway deletes the machines of some nodes and returns their names.
func takeAway(t *testing.T, n near, api *raw.Service, count int) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for i := range count {
		m := n.cloud.Seed.Nodes[i*9]
		out[m.Name] = true
		if _, err := api.Instances.Delete(demo, m.Zone, m.Name).Do(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// untilClean reconciles a Service at most five times, and returns the last problems.
func untilClean(t *testing.T, r *reconcile.Reconciler, job reconcile.Job, after func(run int)) string {
	t.Helper()
	for run := 1; run <= 5; run++ {
		res, err := props.Work(t.Context(), r, job)
		if err != nil {
			t.Fatal(err)
		}
		after(run)
		if res.Clean {
			return strings.Join(res.Draft.Problems.Strings(), "\n")
		}
		job.NeverProvisioned = false
		time.Sleep(max(2*time.Second, res.Wait))
	}
	t.Fatal("no end")
	return ""
}

// slicesOn is a ready pod of the Service on every node.
func slicesOn(n near, svc *corev1.Service) []*discoveryv1.EndpointSlice {
	var pods []common.Pod
	for i, m := range n.cloud.Seed.Nodes {
		pods = append(pods, common.Pod{Node: m.Name, IP: fmt.Sprintf("10.8.0.%d", i+1)})
	}
	return common.SlicesOf(svc, pods)
}

func allIn(t *testing.T, n near, api *raw.Service, missing map[string]bool) {
	t.Helper()
	var want []string
	for _, m := range n.cloud.Seed.Nodes {
		if !missing[m.Name] {
			want = append(want, m.Name)
		}
	}
	slices.Sort(want)
	got := slices.DeleteFunc(groupedMachines(t, api, ""), func(m string) bool { return missing[m] })
	if !slices.Equal(want, got) {
		t.Errorf("%d of %d good machines are members", len(got), len(want))
	}
}

// TestMachineOfAnotherBalancer: a node that is in an instance group of another load
// balancer is left out by name, and the others are served.
func TestMachineOfAnotherBalancer(t *testing.T) {
	for _, class := range []string{"l4-regional-external", "l4-regional-internal-legacy"} {
		t.Run(class, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := nearCloud(t, 6, 0)
				api, svc := n.user(t), numberedService(1, class)
				taken := n.cloud.Seed.Nodes[2]
				createForeign(t, api, taken.Zone, taken.Name)
				r := n.process(t)
				last := reconcileFully(t, r, svc, reconcile.Job{NeverProvisioned: true})
				if told := strings.Join(last.Draft.Problems.Strings(), "\n"); !strings.Contains(told, taken.Name) {
					t.Errorf("the user is told %q", told)
				}
				if in := groupedMachines(t, api, "k8s-ig"); len(in) != 5 || slices.Contains(in, taken.Name) {
					t.Errorf("members are %v", in)
				}
				time.Sleep(time.Minute) // what gathers calls ends
			})
		})
	}
}

// createForeign creates a load balancer of another owner to one machine.
func createForeign(t *testing.T, api *raw.Service, zone, machine string) {
	t.Helper()
	must := func(_ *raw.Operation, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(api.InstanceGroups.Insert(demo, zone, &raw.InstanceGroup{Name: "foreign"}).Do())
	must(api.InstanceGroups.AddInstances(demo, zone, "foreign", &raw.InstanceGroupsAddInstancesRequest{
		Instances: []*raw.InstanceReference{{Instance: "projects/" + demo + "/zones/" + zone + "/instances/" + machine}},
	}).Do())
	useGroup(t, api, zone, "foreign")
}

// useGroup creates a backend service of another owner on a group.
func useGroup(t *testing.T, api *raw.Service, zone, group string) {
	t.Helper()
	if _, err := api.HealthChecks.Insert(demo, &raw.HealthCheck{Name: "foreign", Type: "TCP", TcpHealthCheck: &raw.TCPHealthCheck{Port: 80}}).Do(); err != nil {
		t.Fatal(err)
	}
	if _, err := api.RegionBackendServices.Insert(demo, "us-central1", &raw.BackendService{
		Name: "foreign", Protocol: "TCP", LoadBalancingScheme: "INTERNAL", HealthChecks: []string{"projects/" + demo + "/global/healthChecks/foreign"},
		Backends: []*raw.Backend{{Group: "projects/" + demo + "/zones/" + zone + "/instanceGroups/" + group, BalancingMode: "CONNECTION"}},
	}).Do(); err != nil {
		t.Fatal(err)
	}
}
