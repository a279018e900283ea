//go:debug rsa1024min=0

package explore

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/test/quay"
	"github.com/berth-lb/berth/test/sim"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/gce/compute"
	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	simquay "github.com/berth-lb/berth/test/sim/quay"
	"github.com/berth-lb/berth/test/sim/seed"
	"github.com/berth-lb/berth/test/sim/virtual"
)

func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // schedules are short, and make much that is soon of no use
	}
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t.DisableKeepAlives = true // a process that dies leaves nothing open
	}
	virtual.Install()
	if os.Getenv("EXPLORE_LOG") == "" {
		klog.SetLogger(logr.Discard())
	}
	google, err := simgce.New(simgce.Options{})
	if err != nil {
		panic(err)
	}
	microsoft, err := simazure.New(simazure.Options{})
	if err != nil {
		panic(err)
	}
	metadata, identity := virtual.Loopback(google), virtual.Loopback(microsoft)
	for name, value := range map[string]string{
		"KUBE_FEATURE_WatchListClient": "false", "GCE_METADATA_HOST": strings.TrimPrefix(metadata.URL, "http://"),
		"IDENTITY_ENDPOINT": identity.URL + "/msi/token", "IDENTITY_HEADER": "any",
		"AWS_ACCESS_KEY_ID": "AKIDSIMULATOR", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	// A bundle of roots is read by every session, and no session here has a use for one.
	if err := os.Unsetenv("AWS_CA_BUNDLE"); err != nil {
		panic(err)
	}
	status := m.Run()
	metadata.Close()
	identity.Close()
	os.Exit(status)
}

func newExplorer(fresh func(testing.TB) Subject) *Explorer {
	e := &Explorer{New: fresh, Log: logr.Discard()}
	if os.Getenv("EXPLORE_LOG") != "" {
		e.Log = klog.Background()
	}
	return e
}

func newEnv(cluster string) providers.Env {
	return providers.Env{Cluster: cluster, Now: time.Now, Share: kit.Unlimited()}
}

// known lists all clouds; each has the keys of the others.
var known = sync.OnceValue(all.List)

// entryOf returns a cloud by its name.
func entryOf(cloud string) providers.Entry {
	entries := known()
	i := slices.IndexFunc(entries, func(entry providers.Entry) bool { return entry.Name == cloud })
	if i < 0 {
		panic("there is no cloud " + cloud)
	}
	return entries[i]
}

// openCloud opens a cloud with a configuration file.
func openCloud(ctx context.Context, cloud string, file []byte, e providers.Env) (providers.Bound, error) {
	b, _, err := entryOf(cloud).Open(ctx, bytes.NewReader(file), e)
	return b, err
}

// onAWS is an account whose calls are named by their action.
func onAWS(t testing.TB) Subject { return openAWS(t, "") }

// onController is an account in which the Services of the AWS Load Balancer Controller are
// served.
func onController(t testing.TB) Subject {
	return openAWS(t, "\n[Berth]\nLoadBalancerController = true\n")
}

// openAWS returns an account with more in the configuration file.
func openAWS(t testing.TB, more string) Subject {
	cloud, err := simaws.New(simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}})
	if err != nil {
		t.Fatal(err)
	}
	return Subject{
		Handler: cloud, Control: &cloud.Control, Nodes: cloud.Seed.KubernetesNodes(), Classes: entryOf("aws").Classes,
		Open: func(ctx context.Context, url string) (providers.Bound, error) {
			return openCloud(ctx, "aws", append(cloud.Seed.CloudConf(url), more...), newEnv("kubernetes"))
		},
		Call: func(_ *http.Request, body []byte) (string, bool) {
			form, err := url.ParseQuery(string(body))
			action := form.Get("Action")
			return action, err == nil && !strings.HasPrefix(action, "Describe")
		},
		Throttled: sim.Fault{Status: http.StatusBadRequest, Code: "Throttling"},
	}
}

// byPath names a call by its method and path, but for logins.
func byPath(logins ...string) func(*http.Request, []byte) (string, bool) {
	return func(r *http.Request, _ []byte) (string, bool) {
		if slices.ContainsFunc(logins, func(l string) bool { return strings.Contains(r.URL.Path, l) }) {
			return "", false
		}
		reads := slices.ContainsFunc([]string{"/wait", "/listInstances", "/listNetworkEndpoints"}, func(end string) bool { return strings.HasSuffix(r.URL.Path, end) })
		return r.Method + " " + r.URL.Path, r.Method != http.MethodGet && !reads
	}
}

func onAzure(t testing.TB) Subject {
	cloud, err := simazure.New(simazure.Options{Seed: simazure.SeedOptions{Nodes: 3}, ARM: simarm.Options{Async: simarm.AsyncNone}})
	if err != nil {
		t.Fatal(err)
	}
	return Subject{
		Handler: cloud, Control: &cloud.Control, Nodes: cloud.Seed.KubernetesNodes(),
		Open: func(ctx context.Context, url string) (providers.Bound, error) {
			file, err := cloud.Seed.CloudConf(url)
			if err != nil {
				return providers.Bound{}, err
			}
			file = bytes.Replace(file, []byte("{"), []byte(`{"useManagedIdentityExtension": true,`), 1)
			return openCloud(ctx, "azure", file, newEnv(cloud.Seed.Cluster))
		},
		Call:      byPath("/msi/token", "/metadata/", "/oauth2/"),
		Throttled: sim.Fault{Status: http.StatusTooManyRequests, Code: "TooManyRequests"},
	}
}

func onGoogle(t testing.TB) Subject {
	return newGoogle(t, compute.Options{QuotaFactor: 10}, kit.Unlimited())
}

// googleIDs is what a cluster says it is.
const googleIDs = "\n[berth]\ncluster-id = 0123456789abcdef\ncluster-uid = 0123456789abcdef\nkube-system-uid = 11111111-2222-3333-4444-555555555555\n"

// newGoogle returns a project with some rates, of which a process uses a share.
func newGoogle(t testing.TB, o compute.Options, share float64, rates ...sim.Bucket) Subject {
	cloud, err := simgce.New(simgce.Options{Seed: simgce.SeedOptions{Nodes: 3}, Compute: o})
	if err != nil {
		t.Fatal(err)
	}
	if err := cloud.Throttle.Set(rates...); err != nil {
		t.Fatal(err)
	}
	return Subject{
		Handler: cloud, Control: &cloud.Control, Nodes: cloud.Seed.KubernetesNodes(),
		Classes: entryOf("gce").Classes,
		Open: func(ctx context.Context, url string) (providers.Bound, error) {
			e := newEnv("kubernetes")
			e.Share = share
			return openCloud(ctx, "gce", append(cloud.Seed.CloudConf(url), googleIDs...), e)
		},
		Call:      byPath("/token", "/computeMetadata/"),
		Throttled: sim.Fault{Status: http.StatusForbidden, Code: "rateLimitExceeded"},
		// An operation that is DONE is visible: https://cloud.google.com/compute/docs/api/how-tos/api-requests-responses
		Consistent: true,
	}
}

func onOpenStack(t testing.TB) Subject {
	cloud, err := simopenstack.New(simopenstack.Options{Seed: simopenstack.SeedOptions{Nodes: 3}})
	if err != nil {
		t.Fatal(err)
	}
	type opener = func(context.Context, string) (providers.Bound, error)
	session := func(cluster string) opener {
		return func(ctx context.Context, url string) (providers.Bound, error) {
			return openCloud(ctx, "openstack", cloud.Seed.CloudConf(url), newEnv(cluster))
		}
	}
	return Subject{
		Handler: cloud, Control: &cloud.Control, Nodes: cloud.Seed.KubernetesNodes(),
		Open: session("kubernetes"), Other: session("other"),
		Call:      byPath("/identity"),
		Throttled: sim.Fault{Status: http.StatusTooManyRequests},
	}
}

// apiKey signs the requests of all sessions: making one takes its time.
var apiKey = sync.OnceValue(func() []byte {
	_, text, _, err := simoci.NewKey(simoci.ShortKey)
	if err != nil {
		panic(err) // there is no randomness
	}
	return text
})

func onOracle(t testing.TB) Subject {
	cloud, err := simoci.New(simoci.Options{Seed: simoci.SeedOptions{Nodes: 3}})
	if err != nil {
		t.Fatal(err)
	}
	simtest.ForgetWork(cloud)
	return Subject{
		Handler: cloud, Control: &cloud.Control, Nodes: cloud.Seed.KubernetesNodes(),
		Open: func(ctx context.Context, url string) (providers.Bound, error) {
			file, err := cloud.Seed.CloudConf(url, apiKey(), "20:3b:97:13:55:1c")
			if err != nil {
				return providers.Bound{}, err
			}
			return openCloud(ctx, "oci", append(file, "rateLimiter: {disableRateLimiter: true}\n"...), newEnv("kubernetes"))
		},
		Call:      byPath(),
		Throttled: sim.Fault{Status: http.StatusTooManyRequests, Code: "TooManyRequests"},
	}
}

// onQuay is the small cloud, on which a schedule costs the least.
func onQuay(testing.TB) Subject { return smallCloud(false) }

// byNames is the small cloud where namespace and name, without the UID, tell whose a load
// balancer is.
func byNames(testing.TB) Subject { return smallCloud(true) }

func smallCloud(named bool) Subject {
	harbour := simquay.New()
	return Subject{
		Handler: harbour, Control: &harbour.Control, Nodes: smallNodes(),
		Open: onHarbour("kubernetes", named), Other: onHarbour("other", named),
		Call:      byPath(),
		Throttled: sim.Fault{Status: http.StatusTooManyRequests},
	}
}

// onHarbour makes sessions of a cluster on the small cloud.
func onHarbour(cluster string, named bool) func(context.Context, string) (providers.Bound, error) {
	return func(ctx context.Context, url string) (providers.Bound, error) {
		b, _, err := toy().Open(ctx, strings.NewReader(fmt.Sprintf(`{"endpoint": %q, "byName": %v}`, url, named)), newEnv(cluster))
		return withClasses(b), err
	}
}

// toy is the table of contents of the small cloud.
var toy = sync.OnceValue(func() providers.Entry { return providers.EntryOf(quay.Cloud()) })

// smallNodes are the machines of the small cloud.
var smallNodes = sync.OnceValue(func() []corev1.Node {
	var nodes []corev1.Node
	for n := range 3 {
		nodes = append(nodes, onQuayMachine(fmt.Sprint("node-", n+1)))
	}
	return nodes
})

func onQuayMachine(name string) corev1.Node {
	return seed.Machine{Name: name, Region: "quay", Zone: "quay-a", Size: "small", Spec: corev1.NodeSpec{ProviderID: "quay:///" + name}}.Node()
}

// cloudCase is a cloud with the parameters of its tales.
type cloudCase struct {
	fresh        func(testing.TB) Subject
	shape, other Shape
}

func listClouds() map[string]cloudCase {
	annotated := func(key, value string) Shape {
		return func(svc *corev1.Service) { svc.Annotations[key] = value }
	}
	class := func(name string, more ...Shape) Shape {
		return func(svc *corev1.Service) {
			svc.Spec.LoadBalancerClass = new("networking.gke.io/" + name)
			for _, change := range more {
				change(svc)
			}
		}
	}
	internal := annotated("networking.gke.io/load-balancer-type", "Internal")
	global := annotated("networking.gke.io/internal-load-balancer-allow-global-access", "true")
	managed := func(product string) Shape { // whose rules apply to all resources in the subnets
		return func(svc *corev1.Service) {
			svc.Annotations["oci.oraclecloud.com/security-rule-management-mode"] = "None"
			if product != "" {
				svc.Annotations["oci.oraclecloud.com/load-balancer-type"] = product
			}
		}
	}
	region := func(id, network string) Shape {
		return func(svc *corev1.Service) {
			svc.Annotations["service.cloud.tencent.com/cross-region-id"], svc.Annotations["service.cloud.tencent.com/cross-vpc-id"] = id, network
		}
	}
	nlb := annotated("service.beta.kubernetes.io/aws-load-balancer-type", "nlb")
	lbc := func(svc *corev1.Service) { svc.Spec.LoadBalancerClass = new("service.k8s.aws/nlb") }
	return map[string]cloudCase{
		"aws classic": {onAWS, nil, annotated("service.beta.kubernetes.io/aws-load-balancer-connection-idle-timeout", "120")},
		"aws nlb":     {onAWS, nlb, func(svc *corev1.Service) { nlb(svc); svc.Spec.LoadBalancerSourceRanges = []string{"10.0.0.0/8"} }},
		"aws lbc":     {onController, lbc, func(svc *corev1.Service) { lbc(svc); svc.Spec.LoadBalancerSourceRanges = []string{"10.0.0.0/8"} }},
		"azure":       {onAzure, nil, annotated("service.beta.kubernetes.io/azure-load-balancer-internal", "true")},
		"gce legacy":  {onGoogle, nil, internal},
		"gce netlb":   {onGoogle, class("l4-regional-external"), class("l4-regional-external", annotated("cloud.google.com/network-tier", "Standard"))},
		"gce ilb":     {onGoogle, class("l4-regional-internal"), class("l4-regional-internal", global)},
		"ibm":         {onIBM, nil, annotated("service.kubernetes.io/ibm-load-balancer-cloud-provider-ip-type", "private")},
		"alibaba":     {onAlibaba, nil, annotated("service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type", "intranet")},
		"alibaba nlb": {onAlibaba, alibabaNet, func(svc *corev1.Service) { alibabaNet(svc); svc.Spec.LoadBalancerSourceRanges = []string{"10.0.0.0/8"} }},
		"oci":         {onOracle, managed(""), managed("nlb")},
		"quay named":  {byNames, nil, annotated("quay.example/internal", "true")},
		"quay":        {onQuay, nil, annotated("quay.example/internal", "true")},
		"baidu":       {onBaidu, nil, annotated("service.beta.kubernetes.io/cce-load-balancer-internal-vpc", "true")},
		"tencent":     {onTencent, nil, annotated("service.kubernetes.io/qcloud-loadbalancer-internal-subnetid", "subnet-k57djpow")},
		"tencent far": {onTencent, region("ap-chongqing", "vpc-mjekzyps"), region("ap-shanghai", "vpc-6swtxxxx")},
		"openstack":   {onOpenStack, nil, annotated("service.beta.kubernetes.io/openstack-internal-load-balancer", "true")},
	}
}

// readNumber reads a setting of the search from the environment.
func readNumber(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s=%q: %v", name, text, err)
	}
	return n
}

// leastDistinct is how many distinct schedules a plain run performs at least.
const leastDistinct = 10000

// shareOf returns how many schedules of a cloud are performed by default: most on the cloud
// where they cost the least.
func shareOf(cloud string) int {
	if cloud == "quay" {
		return 10500
	}
	return 220
}

// TestSchedules searches some schedules of every cloud, and prints how far the search got;
// make explore searches more.
func TestSchedules(t *testing.T) {
	seed := readNumber(t, "EXPLORE_SEED", 1)
	var mu sync.Mutex
	all := map[string]Figures{}
	tables := func() int {
		distinct := 0
		for _, f := range all {
			distinct += f.Distinct()
		}
		t.Log("\n" + Table(all))
		return distinct
	}
	t.Run("of", func(t *testing.T) {
		for _, name := range slices.Sorted(maps.Keys(listClouds())) {
			c := listClouds()[name]
			n := readNumber(t, "EXPLORE_N", shareOf(name))
			all[name] = newFigures()
			tales := talesOf(name)
			for _, tale := range tales {
				t.Run(name+"/"+tale.Name, func(t *testing.T) {
					t.Parallel()
					f := newExplorer(c.fresh).Search(t, tale, Budget{
						Schedules: n / len(tales), Deviations: 4, Seed: uint64(seed),
						Time: time.Duration(readNumber(t, "EXPLORE_MINUTES", 0)) * time.Minute, Failures: readNumber(t, "EXPLORE_FAILURES", 3),
					})
					mu.Lock()
					defer mu.Unlock()
					sum := all[name]
					sum.Add(f)
					all[name] = sum
					for _, failed := range f.Failed {
						t.Errorf("%s, %q, schedule %s:\n%s", name, failed.Tale, failed.Schedule, failed.Report.Tell())
					}
				})
			}
		}
	})
	if distinct := tables(); distinct < leastDistinct && os.Getenv("EXPLORE_N") == "" && flag.Lookup("test.run").Value.String() == "" {
		t.Errorf("%d distinct schedules; want %d", distinct, leastDistinct)
	}
}
