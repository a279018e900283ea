package azure_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	"github.com/berth-lb/berth/test/golden"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// sourceOf returns the folder with the source of a package. The go command knows it also where the
// paths in the program are trimmed.
func sourceOf(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// jsonNames are the names that a package of the SDK writes, by type and field.
func jsonNames(t *testing.T, path string) map[string]map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(sourceOf(t, path), "models_serde.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]string{}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Name.Name != "MarshalJSON" {
			continue
		}
		kind, ok := f.Recv.List[0].Type.(*ast.Ident)
		if !ok {
			continue
		}
		names := map[string]string{}
		ast.Inspect(f, func(n ast.Node) bool {
			// Such as populate(objectMap, "sku", l.SKU).
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 3 {
				return true
			}
			name, isText := call.Args[1].(*ast.BasicLit)
			field, isField := call.Args[2].(*ast.SelectorExpr)
			if isText && isField {
				names[field.Sel.Name] = strings.Trim(name.Value, `"`)
			}
			return true
		})
		out[kind.Name] = names
	}
	return out
}

// table is what bodies may say: the types that are reached, with their members.
type table struct {
	names map[string]map[string]string
	lines map[string]string
}

func (b table) add(kind reflect.Type) string {
	for kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Slice {
		kind = kind.Elem()
	}
	names := b.names[kind.Name()]
	if kind.Kind() != reflect.Struct || names == nil {
		return ""
	}
	if _, done := b.lines[kind.Name()]; done {
		return kind.Name()
	}
	b.lines[kind.Name()] = "" // Types may hold themselves.
	var words []string
	for i := range kind.NumField() {
		f := kind.Field(i)
		if names[f.Name] == "" {
			continue
		}
		word := names[f.Name]
		if inner := b.add(f.Type); inner != "" {
			word += ":" + inner
		}
		words = append(words, word)
	}
	slices.Sort(words)
	b.lines[kind.Name()] = kind.Name() + " " + strings.Join(words, " ")
	return kind.Name()
}

// text is the table as the simulator reads it, for bodies of some types.
func (b table) text(roots map[string]any, more map[string]string) string {
	var out []string
	for _, root := range slices.Sorted(maps.Keys(roots)) {
		out = append(out, fmt.Sprintf("%s body:%s", root, b.add(reflect.TypeOf(roots[root]))))
	}
	for _, name := range slices.Sorted(maps.Keys(b.lines)) {
		out = append(out, b.lines[name]+more[name])
	}
	return strings.Join(out, "\n") + "\n"
}

// TestMembers keeps what the simulator takes from bodies as the SDK sends it.
func TestMembers(t *testing.T) {
	network, compute := map[string]any{
		"Microsoft.Network/serviceGateways/updateServices":         &armnetwork.ServiceGatewayUpdateServicesRequest{},
		"Microsoft.Network/serviceGateways/updateAddressLocations": &armnetwork.ServiceGatewayUpdateAddressLocationsRequest{},
	}, map[string]any{}
	for kind, model := range sdkModels() {
		switch {
		case strings.HasPrefix(kind, "Microsoft.Network/"):
			network[kind] = model()
		case !strings.HasSuffix(kind, "/networkInterfaces"): // Those of instances are written with them.
			compute[kind] = model()
		}
	}
	// Services may come back as the gateway answers them, with more than the SDK knows.
	// Source: kubernetes-sigs/cloud-provider-azure:tests/e2e/servicegateway/slb_suite_test.go.
	services := map[string]string{"ServiceGatewayService": " etag id type", "ServiceGatewayServicePropertiesFormat": " provisioningState"}
	b := table{names: jsonNames(t, armRoot+"network/armnetwork/v9"), lines: map[string]string{}}
	golden.Check(t, "network/members.txt", b.text(network, services))
	b = table{names: jsonNames(t, armRoot+"compute/armcompute/v7"), lines: map[string]string{}}
	golden.Check(t, "compute/members.txt", b.text(compute, nil))
}

func TestUnknownMembers(t *testing.T) {
	for _, nodesAs := range []simazure.NodesAs{simazure.VM, simazure.VMSS, simazure.Flex} {
		// What was answered may come back.
		w := startWorld(t, simazure.Options{Seed: simazure.SeedOptions{Nodes: 1, NodesAs: nodesAs, Pools: simazure.NodeNIC, Outbound: true}, NoZones: nodesAs == simazure.VM})
		for _, r := range w.Cloud.ARM.State.Everything() {
			if strings.Contains(r.ID.String(), "/virtualMachines/0/") {
				continue // Written with its instance.
			}
			if err := w.putBack(r.ID.String()); err != nil {
				t.Errorf("%s: %v", r.ID, err)
			}
		}
		if nodesAs != simazure.VMSS {
			continue
		}
		set := strings.Replace(w.id("virtualMachineScaleSets", w.seed.ScaleSet), "Microsoft.Network", "Microsoft.Compute", 1)
		if got := w.send("PUT", set, `{"location":"eastus","properties":{"virtualMachineProfile":{"network":{}}}}`); !strings.Contains(got, "Path 'properties.virtualMachineProfile.network'") {
			t.Errorf("a scale set: %s", got)
		}
	}
	w := startWorld(t, simazure.Options{})
	mustSucceed[armnetwork.PublicIPAddress](t)(w.putIP("ip", nil))
	mustSucceed[armnetwork.LoadBalancer](t)(w.putLB("lb", w.publicLB("lb", "ip"), ""))
	for body, want := range map[string]string{
		`{"location":"eastus","colour":"red"}`:                                                                               "colour",
		`{"location":"eastus","properties":{"probes":[{"name":"p","properties":{"interval":5}}]}}`:                           "properties.probes[0].properties.interval",
		`{"location":"eastus","properties":{"frontendIPConfigurations":[{"name":"f","properties":{"subnet":{"ID":"/x"}}}]}}`: "properties.frontendIPConfigurations[0].properties.subnet.ID",
	} {
		if got := w.send("PUT", w.id("loadBalancers", "bad"), body); !strings.Contains(got, "InvalidRequestFormat") || !strings.Contains(got, "Path '"+want+"'") {
			t.Errorf("%s: %s, want a refusal of %s", body, got, want)
		}
	}
	if got := w.send("PUT", w.id("loadBalancers", "lb")+"/backendAddressPools/pool", `{"properties":{"addresses":[]}}`); !strings.Contains(got, "Path 'properties.backendAddressPools[0].properties.addresses'") {
		t.Errorf("a pool alone: %s", got)
	}
	if _, err := w.putLB("lb", armnetwork.LoadBalancer{Location: to.Ptr("eastus"), Tags: map[string]*string{"any": to.Ptr("name")}, SKU: w.publicLB("lb", "ip").SKU, Properties: w.publicLB("lb", "ip").Properties}, ""); err != nil {
		t.Errorf("tags: %v", err)
	}
}
