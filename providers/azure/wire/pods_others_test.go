package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// egress enters a service for outbound traffic on the pods, as others do.
func (r *rig) egress(pods *discoveryv1.EndpointSlice) {
	r.Helper()
	entry := model.Object{"service": map[string]any{"name": "blue", "properties": map[string]any{"serviceType": "Outbound"}}}
	body := model.Object{"action": model.PartialUpdate}
	body.SetList("serviceRequests", []model.Object{entry})
	if err := r.Session.post(r.Context(), r.Config.GatewayID()+"/updateServices", body); err != nil {
		r.Fatal(err)
	}
	var list []model.Object
	for i, node := range r.sim.Cloud.Seed.Nodes {
		o := model.Object{"addressLocation": node.PrivateIP, "addressUpdateAction": model.PartialUpdate}
		o.SetList(model.FieldAddresses, []model.Object{{"address": pods.Endpoints[i].Addresses[0], model.FieldServices: []any{"blue"}}})
		list = append(list, o)
	}
	body = model.Object{"action": model.PartialUpdate}
	body.SetList("addressLocations", list)
	if err := r.Session.post(r.Context(), r.Config.GatewayID()+"/updateAddressLocations", body); err != nil {
		r.Fatal(err)
	}
}

// gatewayServices are the services of the gateway as they are answered, but for etags.
func (r *rig) gatewayServices() []string {
	r.Helper()
	services, _, err := r.Session.list(r.Context(), r.Config.GatewayID()+"/"+pathServices, networkVersion, nil)
	if err != nil {
		r.Fatal(err)
	}
	var out []string
	for _, o := range services {
		props.Drop(map[string]any(o), "etag")
		out = append(out, string(o.Bytes()))
	}
	slices.Sort(out)
	return out
}

// TestPodsOfOthers: what others have in the gateway, on the same pods too, is the
// same after a Service has come, changed and gone, whether or not a process knew it.
func TestPodsOfOthers(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := podRig(t, simazure.Options{})
		svc := toPods(1)
		r.egress(r.pods(0))
		before := r.gatewayServices()
		if _, err := r.run(svc, false); err != nil {
			t.Fatal(err)
		}
		for at, services := range r.podPlaces() {
			if d := cmp.Diff([]string{model.ContainerName(string(svc.UID)), "blue"}, services, cmpopts.SortSlices(strings.Compare)); d != "" {
				t.Errorf("%s (-want +got):\n%s", at, d)
			}
		}
		// Another program adds more meanwhile: the next write is merged into the present
		// content.
		found := r.Read(false, svc)[0]
		r.Slices = []*discoveryv1.EndpointSlice{r.pods(1)}
		p := r.Draft(svc, false, found.Have, found.Facts)
		r.egress(r.pods(1))
		if err := r.Engine.Run(t.Context(), p, found.Have, nil).Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := r.run(svc, true); err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{}
		for _, node := range r.sim.Cloud.Seed.Nodes {
			want[node.PrivateIP+" "+node.Pods[0]], want[node.PrivateIP+" "+node.Pods[1]] = []string{"blue"}, []string{"blue"}
		}
		if d := cmp.Diff(want, r.podPlaces()); d != "" {
			t.Errorf("places in the end (-want +got):\n%s", d)
		}
		if d := cmp.Diff(before, r.gatewayServices()); d != "" {
			t.Errorf("services in the end (-before +after):\n%s", d)
		}
	})
}

// TestPodsDrift verifies that changes by another program are corrected by the next read.
func TestPodsDrift(t *testing.T) {
	uid := model.ContainerName(string(toPods(1).UID))
	for name, change := range map[string]func(r *rig) error{
		"address taken out": func(r *rig) error {
			body := model.Object{"action": model.PartialUpdate}
			body.SetList("addressLocations", []model.Object{{"addressLocation": r.sim.Cloud.Seed.Nodes[0].PrivateIP}})
			return r.Session.post(r.Context(), r.Config.GatewayID()+"/updateAddressLocations", body)
		},
		"pool taken out": func(r *rig) error {
			body := model.Object{"action": model.PartialUpdate}
			body.SetList("serviceRequests", []model.Object{{"service": map[string]any{"name": uid, "properties": map[string]any{"serviceType": "Inbound", "loadBalancerBackendPools": []any{}}}}})
			return r.Session.post(r.Context(), r.Config.GatewayID()+"/updateServices", body)
		},
		"rules changed": func(r *rig) error {
			o, err := r.Session.get(r.Context(), r.Config.ContainerID(uid), networkVersion)
			if err != nil {
				return err
			}
			rules := o.Props().List(model.ListRules)
			rules[0].Props()["backendPort"] = json.Number("1")
			o.Props().SetList(model.ListRules, rules[:1])
			_, err = r.Session.put(r.Context(), r.Config.ContainerID(uid), o, "")
			return err
		},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			r := podRig(t, simazure.Options{})
			svc := toPods(1)
			if _, err := r.run(svc, false); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("%+v", r.Read(true, svc)[0].Have)
			if err := change(r); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%+v", r.Read(true, svc)[0].Have); got == want {
				t.Fatal("nothing has changed")
			}
			r.Now = r.Now.Add(time.Minute)
			if _, err := r.run(svc, false); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%+v", r.Read(true, svc)[0].Have); got != want {
				t.Errorf("want\n%s\ngot\n%s", want, got)
			}
		})
	}
}

// faultsOf creates or releases Services at the same time and returns their errors.
func (r *rig) faultsOf(release bool, svcs []*corev1.Service) []error {
	r.Helper()
	var out []error
	for _, report := range r.Together(release, svcs...) {
		for _, res := range report.Results {
			if res.Outcome.Err != nil {
				out = append(out, res.Outcome.Err)
			}
		}
	}
	return out
}
