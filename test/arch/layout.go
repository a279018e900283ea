package arch

import (
	"slices"
	"strings"
)

// row says what the packages of a folder may import besides the standard
// library. The longest matching folder decides; a row with a trailing /* is for
// the packages below the folder, without it for the folder alone.
type row struct {
	dir    string
	local  []string // folders of this module; a trailing /* covers those below
	others []string // modules and packages of others, by prefix
	std    []string // packages of the standard library that a pure package may use although noIO bans them
	pure   bool     // no I/O: see noIO
	reason string
}

// What several rows may import.
const (
	corev1     = "k8s.io/api/core/v1"
	multierror = "github.com/hashicorp/go-multierror"
	netUtils   = "k8s.io/utils/net"
	anything   = "*"
)

// importTable returns the allowed imports. docs/architecture.md explains it.
func importTable() []row {
	return slices.Concat(coreRows(), cloudRows(), loopRows(), toolRows(), testRows())
}

// coreRows returns the rows of the pure core of the program, from the bottom up.
func coreRows() []row {
	return []row{
		{dir: "stack", pure: true,
			reason: "the model knows values and nothing else"},
		{dir: "stack/plan", local: []string{"stack"}, others: []string{"golang.org/x/text/width"}, pure: true,
			reason: "a plan is data that can be printed, tested and refused"},
		{dir: "stack/ledger", local: []string{"stack"}, pure: true,
			reason: "the ledger counts wishes; it does not know what a plan is"},
		{dir: "stack/diff", local: []string{"stack", "stack/plan", "stack/ledger"}, pure: true,
			reason: "a plan follows from two stacks, the rules and the ledger, and from nothing else"},
		{dir: "stack/engine", local: []string{"stack", "stack/plan", "providers/fault"}, std: []string{"context"}, pure: true,
			reason: "the engine runs steps through a function it is given; it knows no cloud and no loop"},
		{dir: "stack/observed", local: []string{"stack", "stack/plan", "stack/engine"}, pure: true,
			reason: "observations of the cloud are recorded and queried; no call is made"},
		{dir: "stack/traffic", local: []string{"stack"}, pure: true,
			reason: "what stacks let through follows from stacks; a cloud's model computes it"},
		{dir: "stack/preview", local: []string{"stack", "stack/plan", "stack/engine", "stack/traffic"}, pure: true,
			reason: "what a plan does to traffic follows from the plan and the flows of a cloud"},
		{dir: "annotations", others: []string{corev1, multierror, netUtils}, pure: true,
			reason: "annotations are text on a Service"},
		{dir: "nodeports", others: []string{corev1, "k8s.io/api/discovery/v1", "k8s.io/apimachinery/pkg/util/intstr", netUtils}, pure: true,
			reason: "backends follow from Service, Nodes and EndpointSlices as values"},
		{dir: "status", others: []string{corev1, multierror, netUtils, "k8s.io/apimachinery/"}, pure: true,
			reason: "a status is computed as a value and written by the loop"},
		{dir: "providers/fault", others: []string{multierror}, pure: true,
			reason: "every package may depend on the meaning of errors"},
		{dir: "providers", pure: true, std: []string{"context", "embed", "io"}, others: []string{corev1, "k8s.io/api/discovery/v1"},
			local:  []string{"annotations", "nodeports", "status", "stack", "stack/plan", "stack/diff", "stack/traffic", "providers/fault"},
			reason: "the contract names the types of the core, and of what stands behind a Service, and no cloud"},
	}
}

// cloudRows returns the rows of packages that call clouds.
func cloudRows() []row {
	shared := []row{
		{dir: "providers/all", local: []string{"providers", "providers/*"},
			reason: "the one list of clouds"},
		{dir: "providers/kit", others: []string{"golang.org/x/time/rate", "golang.org/x/sync/"},
			local:  []string{"stack", "stack/plan", "providers", "providers/fault"},
			reason: "what every cloud's session does; it knows no SDK, and every cloud may use it"},
		{dir: "providers/kit/codec", local: []string{"stack", "stack/plan", "stack/diff"}, pure: true,
			reason: "how an API writes a resource follows from its spec; a model declares it, and a session sends it"},
		{dir: "providers/meter", local: []string{"providers", "providers/fault"},
			reason: "it counts requests of any cloud and knows none"},
	}
	return slices.Concat(shared,
		rowsOf("alibaba", []string{"sigs.k8s.io/yaml"}, []string{"github.com/google/uuid"}),
		rowsOf("aws", []string{"gopkg.in/gcfg.v1"}, []string{"github.com/aws/"}),
		rowsOf("azure", []string{"k8s.io/apimachinery/pkg/labels", "k8s.io/apimachinery/pkg/apis/meta/v1", "sigs.k8s.io/yaml"}, []string{"github.com/Azure/"}),
		rowsOf("gce", []string{netUtils, "gopkg.in/gcfg.v1"}, []string{"cloud.google.com/go/", "google.golang.org/", "github.com/googleapis/", "golang.org/x/oauth2", "github.com/google/uuid"}),
		rowsOf("openstack", []string{multierror, netUtils, "gopkg.in/gcfg.v1", "gopkg.in/warnings.v0"}, []string{"github.com/gophercloud/", "golang.org/x/sync/"}),
		rowsOf("baidu", nil, nil),
		rowsOf("ibm", []string{"k8s.io/apimachinery/pkg/util/validation", "gopkg.in/gcfg.v1", "gopkg.in/warnings.v0"}, []string{"github.com/IBM/go-sdk-core/v5/core"}),
		rowsOf("oci", []string{"k8s.io/apimachinery/pkg/labels", "k8s.io/apimachinery/pkg/util/validation", "sigs.k8s.io/yaml"}, []string{"github.com/oracle/oci-go-sdk/v65/"}),
		rowsOf("tencent", []string{"k8s.io/apimachinery/pkg/labels"}, []string{"github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common"}),
	)
}

// rowsOf returns the rows of a cloud: its table of contents, the pure package with the
// packages whose values it reads, and the package that uses the SDK.
func rowsOf(name string, values, sdk []string) []row {
	dir := "providers/" + name
	return []row{
		{dir: dir, local: []string{"providers", dir + "/model", dir + "/wire"},
			reason: "a cloud joins its model with its client"},
		{dir: dir + "/model", pure: true, std: []string{"io"}, others: append(values, corev1),
			local:  []string{"annotations", "nodeports", "status", "stack", "stack/plan", "stack/diff", "stack/traffic", "providers", "providers/fault", "providers/kit/codec"},
			reason: "what a Service wants of a cloud follows from values: no SDK, no I/O, whatever the file is called"},
		{dir: dir + "/wire", others: append(sdk, corev1),
			local:  []string{"nodeports", "stack", "stack/plan", "stack/observed", "providers", "providers/fault", "providers/kit", "providers/kit/codec", "providers/meter", dir + "/model"},
			reason: "what talks to a cloud knows its SDK and its values, and decides nothing; what it has read and written is recorded as the loop records it"},
	}
}

// loopRows returns the rows of other packages with I/O: the loop and the programs.
func loopRows() []row {
	return []row{
		{dir: "service/reconcile", others: []string{corev1, "k8s.io/api/discovery/v1"},
			local:  []string{"annotations", "nodeports", "status", "stack", "stack/*", "providers", "providers/fault", "providers/kit"},
			reason: "the one way of a Service through the program; it writes nothing to Kubernetes"},
		{dir: "service/inputs", others: []string{"k8s.io/"}, local: []string{"nodeports"},
			reason: "what a load balancer follows from besides its Service is seen alike by the loop and by the plugin"},
		{dir: "service/conditions", others: []string{corev1, "k8s.io/apimachinery/pkg/apis/meta/v1"}, pure: true,
			local:  []string{"annotations", "status", "stack/engine", "stack/plan", "providers", "providers/fault", "service/reconcile"},
			reason: "the result of a run means the same in the loop and in the plugin"},
		{dir: "service/policy", others: []string{corev1, multierror, "sigs.k8s.io/yaml"}, pure: true,
			local:  []string{"annotations", "providers"},
			reason: "what a Service may ask for follows from the file, the Service and its reach; the loop reads the file"},
		{dir: "service/metrics", others: []string{corev1, "k8s.io/apimachinery/pkg/apis/meta/v1", "github.com/prometheus/client_golang/", "k8s.io/utils/clock"},
			local:  []string{"providers", "providers/fault", "status"},
			reason: "metrics are declared in one place, and decide nothing"},
		{dir: "service/tracing", others: []string{"go.opentelemetry.io/", "k8s.io/component-base/"},
			local:  []string{"providers"},
			reason: "the only place that knows how spans are made and sent"},
		{dir: "service/health", others: []string{"k8s.io/utils/clock"},
			local:  []string{"providers", "providers/fault"},
			reason: "it receives observations, and depends on neither queue nor cloud"},
		{dir: "service/lease", others: []string{"k8s.io/api/coordination/v1", "k8s.io/client-go/kubernetes/scheme", "k8s.io/utils/clock"},
			reason: "whether the process may write follows from the renewals of its Lease, which are seen on the wire"},
		{dir: "service/logkey",
			reason: "a list of words"},
		{dir: "service/webhook", others: []string{"k8s.io/"}, local: []string{"service/logkey"},
			reason: "certificates and reviews; what is judged is the handlers'"},
		{dir: "service/gatehook", others: []string{"k8s.io/"},
			local:  []string{"status", "service/webhook"},
			reason: "the webhook knows what the loop has written on Services, and no cloud"},
		{dir: "service/settings", others: []string{"github.com/spf13/pflag"},
			local:  []string{"service", "stack/plan"},
			reason: "the flags that the controller and the command line share"},
		{dir: "test/argocd", others: []string{anything}, local: []string{"status"},
			reason: "a module of its own: it runs a script of Argo CD"},
		{dir: "service", others: []string{"k8s.io/"},
			local:  []string{"annotations", "nodeports", "status", "stack", "stack/*", "providers", "providers/fault", "providers/kit", "service/inputs", "service/policy", "service/reconcile", "service/conditions", "service/metrics", "service/tracing", "service/health", "service/logkey"},
			reason: "the loop and its informers; of clouds it knows the contract, and runs them through reconcile alone"},
		{dir: "providers/plugin", others: []string{"k8s.io/"},
			local:  []string{"annotations", "nodeports", "stack/plan", "status", "providers", "providers/fault", "providers/kit", "service", "service/inputs", "service/reconcile", "service/conditions"},
			reason: "under the stock loop, informers are the stock program's; what happens in the cloud is reconcile's"},
		{dir: "providers/plugin/*", local: []string{"providers", "providers/alibaba", "providers/aws", "providers/azure", "providers/baidu", "providers/gce", "providers/ibm", "providers/oci", "providers/openstack", "providers/tencent", "providers/plugin"},
			reason: "a blank import registers one cloud, and brings only its SDK"},
	}
}

// toolRows returns the rows of what users ask without the loop: the command line and the webhook.
func toolRows() []row {
	return []row{
		{dir: "service/validate", others: []string{"k8s.io/"},
			local:  []string{"annotations", "providers", "service", "service/edits", "service/reconcile", "service/webhook", "stack", "stack/plan", "status"},
			reason: "the webhook judges fields and annotations, and calls no cloud"},
		{dir: "service/vap", others: []string{"k8s.io/"},
			local:  []string{"annotations", "providers", "service", "service/policy", "stack", "status"},
			reason: "what the API server can decide follows from the policy file and the verdicts of the clouds"},
		{dir: "service/edits", others: []string{corev1}, pure: true, local: []string{"annotations", "stack", "stack/plan"},
			reason: "what differs follows from two Services and the declarations of annotations"},
		{dir: "service/graph", others: []string{corev1}, pure: true, local: []string{"stack", "stack/plan", "stack/traffic"},
			reason: "the topology follows from stacks and flows"},
		{dir: "service/explain", others: []string{corev1, "k8s.io/apimachinery/"}, pure: true,
			local:  []string{"annotations", "stack", "stack/plan"},
			reason: "origins follow from building again without each input; it calls neither cloud nor cluster"},
		{dir: "service/view", others: []string{"k8s.io/apimachinery/pkg/apis/meta/v1"}, pure: true,
			local:  []string{"status", "stack", "stack/plan", "providers", "service/conditions", "service/explain", "service/graph"},
			reason: "the document of a Service joins what the parts of the program say of it, as values"},
		{dir: "service/page", local: []string{"service/view", "stack/plan"},
			reason: "the server of the page encodes documents; it reads neither cluster nor cloud"},
		{dir: "service/console", others: []string{"k8s.io/"},
			local:  []string{"service/graph", "service/page", "service/reconcile", "service/view", "stack", "stack/plan", "stack/traffic"},
			reason: "which user may read which document follows from reviews of the API server; the documents are computed by others"},
		{dir: "docs/permissions",
			reason: "the roles are files; the program compares what it may do with them"},
		{dir: "service/doctor", others: []string{"k8s.io/api/", "k8s.io/apimachinery/pkg/util/version", "sigs.k8s.io/yaml"}, local: []string{"providers"},
			reason: "the checks of a setup follow from values; the caller reads cluster and cloud"},
		{dir: "service/offline", others: []string{"k8s.io/", "sigs.k8s.io/yaml", "go.yaml.in/yaml/v3", "github.com/spf13/pflag", "github.com/google/uuid", "golang.org/x/sync/", multierror},
			local:  []string{"annotations", "nodeports", "status", "stack", "stack/*", "providers", "providers/fault", "docs/permissions", "service", "service/doctor", "service/edits", "service/explain", "service/graph", "service/policy", "service/reconcile", "service/settings", "service/conditions", "service/vap", "service/view"},
			reason: "what the command line does, with Services from files; it writes nothing but the deletion of orphans"},
		{dir: "examples/*", others: []string{anything}, local: []string{"providers/plugin", "providers/plugin/*"},
			reason: "an example uses what an external program would use"},
		{dir: "cmd/*", others: []string{anything}, local: []string{"annotations", "nodeports", "status", "stack", "stack/*", "providers", "providers/all", "providers/fault", "providers/kit", "service", "service/*"},
			reason: "programs join the parts; they name clouds only through the list, and nothing of the tests"},
	}
}

// quayRows returns the rows of the cloud that is the template of new ones. They are the
// rows of any cloud, at another place and without an SDK.
func quayRows() []row {
	rows := rowsOf("quay", nil, nil)
	for i := range rows {
		rows[i].dir = strings.Replace(rows[i].dir, "providers/", "test/", 1)
		for j, local := range rows[i].local {
			rows[i].local[j] = strings.Replace(local, "providers/quay", "test/quay", 1)
		}
	}
	return rows
}

// testRows returns the rows of simulators and tools of the tests.
func testRows() []row {
	return append(quayRows(), []row{
		{dir: "test/sim", others: []string{anything},
			reason: "what all simulators share"},
		{dir: "test/sim/*", others: []string{anything}, local: []string{"test/sim", "test/sim/*"},
			reason: "a simulator that used the product's code would make the product's mistakes"},
		{dir: "test/schemas", others: []string{"github.com/google/jsonschema-go/", "k8s.io/apimachinery/pkg/apis/meta/v1"}, local: []string{"service/offline", "service/view", "stack/plan"},
			reason: "the schemas follow from the types that the command line encodes"},
		{dir: "test/golden", others: []string{"github.com/google/go-cmp/", "golang.org/x/tools/txtar"},
			reason: "used by the tests of every package, so it needs none"},
		{dir: "test/arch", others: []string{"github.com/google/go-cmp/", "golang.org/x/mod/"},
			reason: "it reads source; it must not depend on what it judges"},
		{dir: "test/controlplane/*", others: []string{anything}, local: []string{"test/controlplane", "test/controlplane/*"},
			reason: "a module of its own, whose requirements the product must never see"},
		{dir: "test/controlplane", reason: "the root of that module"},
		{dir: "docs/site", reason: "the root of the module of Hugo; its layouts are no Go"},
		{dir: "test/*", others: []string{anything}, local: []string{anything},
			reason: "tests of the whole may use the whole"},
	}...)
}
