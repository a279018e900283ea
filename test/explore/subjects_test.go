package explore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/test/sim"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
	simbaidu "github.com/berth-lb/berth/test/sim/baidu"
	simibm "github.com/berth-lb/berth/test/sim/ibm"
	simtencent "github.com/berth-lb/berth/test/sim/tencent"
)

// onIBM is an account of IBM Cloud with a VPC in three zones.
func onIBM(t testing.TB) Subject {
	cloud, err := simibm.New(simibm.Options{Seed: simibm.SeedOptions{Nodes: 3}})
	if err != nil {
		t.Fatal(err)
	}
	keyFile := filepath.Join(t.TempDir(), "api-key")
	if err := os.WriteFile(keyFile, []byte(cloud.Seed.APIKey()), 0o600); err != nil {
		t.Fatal(err)
	}
	return Subject{
		Handler: cloud, Control: &cloud.Control, Nodes: cloud.Seed.KubernetesNodes(),
		Open: func(ctx context.Context, url string) (providers.Bound, error) {
			return openCloud(ctx, "ibm", cloud.Seed.CloudConf(url, keyFile), newEnv("kubernetes"))
		},
		Call:      byPath("/identity", "/v2/resource_groups"),
		Throttled: sim.Fault{Status: http.StatusTooManyRequests, Code: "over_rate_limit"},
	}
}

// alibabaAccount are the options of the account of Alibaba Cloud.
func alibabaAccount() simalibaba.Options {
	return simalibaba.Options{Seed: simalibaba.SeedOptions{Nodes: 3}}
}

// onAlibaba is an account of Alibaba Cloud, whose calls are named by their action and what it
// is about.
func onAlibaba(t testing.TB) Subject {
	cloud, err := simalibaba.New(alibabaAccount())
	if err != nil {
		t.Fatal(err)
	}
	return Subject{
		Handler: cloud, Control: &cloud.Control, Nodes: cloud.Seed.KubernetesNodes(), Classes: entryOf("alibaba").Classes,
		Open: func(ctx context.Context, url string) (providers.Bound, error) {
			return openCloud(ctx, "alibaba", cloud.Seed.CloudConf(url), newEnv("kubernetes"))
		},
		Call: func(r *http.Request, body []byte) (string, bool) {
			given := r.URL.Query()
			if form, err := url.ParseQuery(string(body)); err == nil { // of the NLB API
				maps.Copy(given, form)
			}
			action := cmp.Or(given.Get("Action"), r.Header.Get("X-Acs-Action"))
			reads := strings.HasPrefix(action, "Describe") || strings.HasPrefix(action, "List")
			about := given.Get("VServerGroupId") + given.Get("LoadBalancerId") + given.Get("ServerGroupId") + given.Get("ListenerId")
			return fmt.Sprint(action, " ", about, " ", given.Get("ListenerPort")), !reads
		},
		Throttled: sim.Fault{Status: http.StatusBadRequest, Code: "Throttling.User"},
	}
}

// alibabaZones are two of the vSwitches of the account.
var alibabaZones = sync.OnceValue(func() string {
	cloud, err := simalibaba.New(alibabaAccount())
	if err != nil {
		panic(err) // the options are valid
	}
	var zones []string
	for _, v := range cloud.Seed.VSwitches[:2] {
		zones = append(zones, v.Zone+":"+v.ID)
	}
	return strings.Join(zones, ",")
})

// alibabaNet gives a Service a network load balancer, in two of the vSwitches of the account.
func alibabaNet(svc *corev1.Service) {
	svc.Spec.LoadBalancerClass = new(entryOf("alibaba").Classes[0])
	svc.Annotations["service.beta.kubernetes.io/alibaba-cloud-loadbalancer-zone-maps"] = alibabaZones()
}

// onBaidu is an account of Baidu AI Cloud, whose calls are named by their method, path and query.
func onBaidu(t testing.TB) Subject {
	cloud, err := simbaidu.New(simbaidu.Options{Seed: simbaidu.SeedOptions{Nodes: 3}})
	if err != nil {
		t.Fatal(err)
	}
	return Subject{
		Handler: cloud, Control: &cloud.Control, Nodes: cloud.Seed.KubernetesNodes(),
		Open: func(ctx context.Context, url string) (providers.Bound, error) {
			return openCloud(ctx, "baidu", cloud.Seed.CloudConf(url), newEnv("kubernetes"))
		},
		Call: func(r *http.Request, _ []byte) (string, bool) {
			given := r.URL.Query()
			given.Del("clientToken")
			return r.Method + " " + r.URL.Path + "?" + given.Encode(), r.Method != http.MethodGet
		},
		Throttled: sim.Fault{Status: http.StatusTooManyRequests, Code: "RequestLimitExceeded"},
	}
}

// onTencent is an account of Tencent Cloud, whose calls are named by their action and the load balancer.
func onTencent(t testing.TB) Subject {
	cloud, err := simtencent.New(simtencent.Options{Seed: simtencent.SeedOptions{Nodes: 3}, Limits: simtencent.Limits{Deletions: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	return Subject{
		Handler: cloud, Control: &cloud.Control, Nodes: cloud.Seed.KubernetesNodes(),
		Open: func(ctx context.Context, url string) (providers.Bound, error) {
			return openCloud(ctx, "tencent", cloud.Seed.CloudConf(url), newEnv("kubernetes"))
		},
		Call: func(r *http.Request, body []byte) (string, bool) {
			var about struct {
				Balancer  string   `json:"LoadBalancerId"`
				Balancers []string `json:"LoadBalancerIds"`
			}
			_ = json.Unmarshal(body, &about) // a name without a load balancer is as good
			action := r.Header.Get("X-TC-Action")
			return fmt.Sprint(action, " ", about.Balancer, about.Balancers), !strings.HasPrefix(action, "Describe")
		},
		Throttled: sim.Fault{Status: http.StatusTooManyRequests, Code: "RequestLimitExceeded"},
	}
}
