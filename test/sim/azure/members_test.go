package azure_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
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

// jsonNames are the names that the SDK writes, by type and field.
func jsonNames(t *testing.T) map[string]map[string]string {
	t.Helper()
	found, err := build.Import(armRoot+"network/armnetwork/v9", ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(found.Dir, "models_serde.go"), nil, 0)
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

// TestMembers keeps what the simulator takes from bodies as the SDK sends it.
func TestMembers(t *testing.T) {
	b := table{names: jsonNames(t), lines: map[string]string{}}
	roots := map[string]any{
		"Microsoft.Network/serviceGateways/updateServices":         &armnetwork.ServiceGatewayUpdateServicesRequest{},
		"Microsoft.Network/serviceGateways/updateAddressLocations": &armnetwork.ServiceGatewayUpdateAddressLocationsRequest{},
	}
	for kind, model := range models() {
		if strings.HasPrefix(kind, "Microsoft.Network/") {
			roots[kind] = model()
		}
	}
	var out []string
	for _, root := range slices.Sorted(maps.Keys(roots)) {
		out = append(out, fmt.Sprintf("%s body:%s", root, b.add(reflect.TypeOf(roots[root]))))
	}
	// Services may come back as the gateway answers them, with more than the SDK knows.
	// Source: kubernetes-sigs/cloud-provider-azure:tests/e2e/servicegateway/slb_suite_test.go.
	for name, more := range map[string]string{"ServiceGatewayService": " etag id type", "ServiceGatewayServicePropertiesFormat": " provisioningState"} {
		b.lines[name] += more
	}
	for _, name := range slices.Sorted(maps.Keys(b.lines)) {
		out = append(out, b.lines[name])
	}
	golden.Check(t, "network/members.txt", strings.Join(out, "\n")+"\n")
}

func TestUnknownMembers(t *testing.T) {
	w := start(t, simazure.Options{})
	must[armnetwork.PublicIPAddress](t)(w.putIP("ip", nil))
	must[armnetwork.LoadBalancer](t)(w.putLB("lb", w.publicLB("lb", "ip"), ""))
	// What was answered may come back.
	for _, r := range w.Cloud.ARM.State.Everything() {
		if err := w.putBack(r.ID.String()); err != nil {
			t.Errorf("%s: %v", r.ID, err)
		}
	}
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
