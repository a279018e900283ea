package conform

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/berth-lb/berth/test/conform/kit"
	"github.com/berth-lb/berth/test/sim"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// suite is the service controller of Azure's own program.
var suite = kit.Suite{
	Cloud: "azure",
	Program: kit.Program{
		Name: "azure-cloud-controller-manager", Dir: "official",
		Source: "sigs.k8s.io/cloud-provider-azure/cmd/cloud-controller-manager",
		Flags:  []string{"--cluster-name=kubernetes", "--allocate-node-cidrs=false"},
	},
	Nodes:    4,
	Whole:    []string{"aks-scale-set"},
	SimFlags: []string{"--cluster-id=kubernetes", "--addresses=8"},
	// Besides etags: a subnet with a link, and a security group with the tags of the
	// configuration, keep what they got.
	Volatile: regexp.MustCompile(`"etag": "W/[^,\n]*,?|"privateLinkServiceNetworkPolicies": "[A-Za-z]*",?|"tags": \{\s*"stage": "test",\s*"team": "shop"\s*\},?\s*`),
	Quiet:    2500 * time.Millisecond,
	// It takes a deletion that is forbidden for done, so that is not how to refuse.
	Refusal: sim.Fault{Status: http.StatusConflict, Code: "ScopeLocked"},
	Stride:  3,

	Prepare:   userPrefixes,
	Names:     templateNames,
	Configure: replaceConfig,
	Watch:     kit.Ensured,
	Cuts:      cutsTraffic,
}

func TestMain(m *testing.M) { suite.Main(m) }

// templateNames returns what the simulated cloud begins with.
func templateNames(w *kit.World) template.FuncMap {
	var s simazure.Seed
	w.Seed(&s)
	return template.FuncMap{
		"ip":      func(i int) string { return s.Addresses[i].IP },
		"ipname":  func(i int) string { return s.Addresses[i].Name },
		"node":    func(i int) string { return s.Nodes[i].Name },
		"prefix":  func() string { return prefixID(s, s.PublicIPPrefix) },
		"prefix6": func() string { return prefixID(s, userPrefix) },
	}
}

// userPrefix is the prefix of IPv6 addresses that Services may name.
const userPrefix = "user-prefix-ipv6"

func prefixID(s simazure.Seed, name string) string {
	return "/subscriptions/" + s.Subscription + "/resourceGroups/" + s.ResourceGroup + "/providers/Microsoft.Network/publicIPPrefixes/" + name
}

// userPrefixes creates it. The SDK sends no token over plain HTTP, so this request
// does not use the SDK.
func userPrefixes(w *kit.World) {
	var s simazure.Seed
	w.Seed(&s)
	if !s.DualStack {
		return
	}
	token := sendRequest(w, http.MethodGet, "/msi/token?api-version=2019-08-01&resource=https://management.azure.com/", "", nil)["access_token"]
	bearer, _ := token.(string)
	sendRequest(w, http.MethodPut, prefixID(s, userPrefix)+"?api-version=2025-05-01", bearer, map[string]any{
		"location": s.Location, "sku": map[string]any{"name": "Standard"}, "zones": s.Zones,
		"properties": map[string]any{"publicIPAddressVersion": "IPv6", "prefixLength": 124},
	})
}

// sendRequest sends one request to the simulated cloud.
func sendRequest(w *kit.World, method, path, bearer string, body any) map[string]any {
	w.T.Helper()
	var raw []byte
	if body != nil {
		var err error
		raw, err = json.Marshal(body)
		w.Must(err)
	}
	req, err := http.NewRequestWithContext(w.T.Context(), method, w.Sim.URL+path, bytes.NewReader(raw))
	w.Must(err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-IDENTITY-HEADER", "any")
	req.Header.Set("Authorization", "Bearer "+bearer)
	res, err := http.DefaultClient.Do(req)
	w.Must(err)
	defer func() { _ = res.Body.Close() }()
	answer := map[string]any{}
	w.Must(json.NewDecoder(res.Body).Decode(&answer))
	if res.StatusCode >= http.StatusMultipleChoices {
		w.T.Fatalf("%s %s: %s: %v", method, path, res.Status, answer)
	}
	return answer
}

// replaceConfig replaces keys. The secret of an application is removed: the machine has
// an identity.
func replaceConfig(conf string, more []byte) string {
	keys := map[string]any{}
	if err := json.Unmarshal([]byte(conf), &keys); err != nil {
		panic(err) // the simulator wrote it
	}
	delete(keys, "aadClientId")
	delete(keys, "aadClientSecret")
	if len(more) > 0 {
		others := map[string]any{}
		if err := json.Unmarshal(more, &others); err != nil {
			panic(err) // testdata is broken
		}
		maps.Copy(keys, others)
	}
	body, err := json.MarshalIndent(keys, "", "  ")
	if err != nil {
		panic(err) // it was JSON before
	}
	return string(body)
}

// cutsTraffic does not count writes of whole objects: what they change shows in the
// state of the cloud.
func cutsTraffic(e sim.Entry) bool { return strings.HasSuffix(strings.ToLower(e.Operation), "delete") }
