package azure_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/golden"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

const armRoot = "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/"

// sdk is what the source of the SDK says about its models.
type sdk struct {
	// enums are the values of every type of constants, by package and name.
	enums map[string]map[string]bool
	// readOnly are the fields that only the service fills in, by type and field.
	readOnly map[string]bool
}

// readSDK parses models and constants of both clients.
func readSDK(t *testing.T) sdk {
	t.Helper()
	out := sdk{enums: map[string]map[string]bool{}, readOnly: map[string]bool{}}
	for pkg, path := range map[string]string{"armnetwork": armRoot + "network/armnetwork/v9", "armcompute": armRoot + "compute/armcompute/v7"} {
		source := sourceOf(t, path)
		for _, name := range []string{"constants.go", "models.go"} {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(source, name), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			out.read(pkg, file)
		}
	}
	return out
}

func (s sdk) read(pkg string, file *ast.File) {
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				s.constant(pkg, spec)
			case *ast.TypeSpec:
				s.model(pkg, spec)
			}
		}
	}
}

func (s sdk) constant(pkg string, spec *ast.ValueSpec) {
	kind, ok := spec.Type.(*ast.Ident)
	if !ok || len(spec.Values) != 1 {
		return
	}
	value, ok := spec.Values[0].(*ast.BasicLit)
	if !ok {
		return
	}
	name := pkg + "." + kind.Name
	if s.enums[name] == nil {
		s.enums[name] = map[string]bool{}
	}
	s.enums[name][strings.Trim(value.Value, `"`)] = true
}

func (s sdk) model(pkg string, spec *ast.TypeSpec) {
	fields, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range fields.Fields.List {
		if len(f.Names) == 1 && strings.HasPrefix(f.Doc.Text(), "READ-ONLY") {
			s.readOnly[pkg+"."+spec.Name.Name+"."+f.Names[0].Name] = true
		}
	}
}

// judge collects what is wrong with answers, each sentence once.
type judge struct {
	sdk
	wrong map[string]bool
	// filled tells of every read-only field that was met whether it was ever filled in.
	filled map[string]bool
}

// answer checks one answer against a model, which it is decoded into.
func (j judge) answer(what string, body []byte, model any) {
	if err := json.Unmarshal(body, model); err != nil {
		j.wrong[fmt.Sprintf("%s: %v", what, err)] = true
		return
	}
	again, err := json.Marshal(model)
	if err != nil {
		j.wrong[fmt.Sprintf("%s: %v", what, err)] = true
		return
	}
	var sent, known any
	if err := json.Unmarshal(body, &sent); err != nil {
		j.wrong[fmt.Sprintf("%s: %v", what, err)] = true
	}
	if err := json.Unmarshal(again, &known); err != nil {
		j.wrong[fmt.Sprintf("%s: %v", what, err)] = true
	}
	j.fields(what, sent, known)
	j.values(reflect.ValueOf(model).Elem())
}

// fields tells what the model has lost: it does not know those.
func (j judge) fields(at string, sent, known any) {
	switch s := sent.(type) {
	case map[string]any:
		k, _ := known.(map[string]any)
		for name, v := range s {
			if k[name] == nil && v != nil {
				j.wrong[at+"."+name+": not in the model"] = true
				continue
			}
			j.fields(at+"."+name, v, k[name])
		}
	case []any:
		k, _ := known.([]any)
		for i, v := range s {
			if i < len(k) {
				j.fields(at, v, k[i])
			}
		}
	}
}

// always are the read-only fields that every answer fills in where the model has
// them. Others depend on what the resource is used by; what no answer ever has is
// listed in testdata/never-answered.golden.
var always = []string{"ID", "Name", "Type", "Etag", "ProvisioningState"}

// values checks constants, and what the service is to fill in.
func (j judge) values(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			j.values(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			j.values(v.Index(i))
		}
	case reflect.String:
		if known := j.enums[v.Type().String()]; known != nil && !known[v.String()] {
			j.wrong[fmt.Sprintf("%s: no value %q", v.Type(), v.String())] = true
		}
	case reflect.Struct:
		j.object(v)
	default:
	}
}

func (j judge) object(v reflect.Value) {
	// An object with an id only refers to another.
	refers := true
	for i := range v.NumField() {
		if f := v.Field(i); v.Type().Field(i).Name != "ID" && !f.IsZero() {
			refers = false
		}
	}
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		if key := v.Type().String() + "." + name; j.readOnly[key] {
			j.filled[key] = j.filled[key] || !f.IsZero()
		}
		if !refers && slices.Contains(always, name) && j.readOnly[v.Type().String()+"."+name] && f.IsZero() {
			j.wrong[v.Type().String()+"."+name+": missing"] = true
		}
		if v.Type().Field(i).IsExported() {
			j.values(f)
		}
	}
}

// send makes a call without the SDK, and gives the body of the answer.
func (w *world) send(method, path, body string) string {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.URL+path+"?api-version=2025-05-01", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer simulated")
	req.Header.Set("Content-Type", "application/json")
	resp, err := w.Client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := io.ReadAll(resp.Body)
	if closed := resp.Body.Close(); err != nil || closed != nil {
		w.t.Fatalf("%s: %v, %v", path, err, closed)
	}
	return string(out)
}

// putBack writes what a GET answers.
func (w *world) putBack(path string) error {
	w.t.Helper()
	var answer struct {
		Error *struct{ Code, Message string }
	}
	if err := json.Unmarshal([]byte(w.send(http.MethodPut, path, w.send(http.MethodGet, path, ""))), &answer); err != nil || answer.Error == nil {
		return err
	}
	return fmt.Errorf("%s: %s", answer.Error.Code, answer.Error.Message)
}

// sdkModels returns constructors of the SDK's types for answers, by type.
func sdkModels() map[string]func() any {
	network, compute, instances := "Microsoft.Network/", "Microsoft.Compute/", "Microsoft.Compute/virtualMachineScaleSets/virtualMachines"
	return map[string]func() any{
		network + "loadBalancers":             func() any { return &armnetwork.LoadBalancer{} },
		network + "publicIPAddresses":         func() any { return &armnetwork.PublicIPAddress{} },
		network + "publicIPPrefixes":          func() any { return &armnetwork.PublicIPPrefix{} },
		network + "networkSecurityGroups":     func() any { return &armnetwork.SecurityGroup{} },
		network + "virtualNetworks":           func() any { return &armnetwork.VirtualNetwork{} },
		network + "routeTables":               func() any { return &armnetwork.RouteTable{} },
		network + "networkInterfaces":         func() any { return &armnetwork.Interface{} },
		network + "privateLinkServices":       func() any { return &armnetwork.PrivateLinkService{} },
		network + "privateEndpoints":          func() any { return &armnetwork.PrivateEndpoint{} },
		network + "applicationSecurityGroups": func() any { return &armnetwork.ApplicationSecurityGroup{} },
		network + "natGateways":               func() any { return &armnetwork.NatGateway{} },
		network + "serviceGateways":           func() any { return &armnetwork.ServiceGateway{} },
		compute + "availabilitySets":          func() any { return &armcompute.AvailabilitySet{} },
		compute + "virtualMachines":           func() any { return &armcompute.VirtualMachine{} },
		compute + "virtualMachineScaleSets":   func() any { return &armcompute.VirtualMachineScaleSet{} },
		instances:                             func() any { return &armcompute.VirtualMachineScaleSetVM{} },
		instances + "/networkInterfaces":      func() any { return &armnetwork.Interface{} },
	}
}

// TestModels walks the answers of clouds with everything in them: the SDK knows
// every field and every constant, and finds what only the service knows.
func TestModels(t *testing.T) {
	j := judge{sdk: readSDK(t), wrong: map[string]bool{}, filled: map[string]bool{}}
	if n := len(j.enums["armnetwork.ProvisioningState"]); n < 4 || !j.readOnly["armnetwork.ServiceGateway.Etag"] {
		t.Fatalf("the source of the SDK gives %d provisioning states and %d read-only fields", n, len(j.readOnly))
	}
	seen := map[string]bool{}
	for _, seed := range []simazure.SeedOptions{
		{Nodes: 2, Outbound: true, DualStack: true, Addresses: 1}, {Nodes: 2, NodesAs: simazure.VM, Pools: simazure.NodeNIC, Outbound: true}, {Nodes: 2, NodesAs: simazure.Flex}, {Nodes: 2, Pools: simazure.PodIP},
	} {
		w := startWorld(t, simazure.Options{Seed: seed, NoZones: seed.NodesAs == simazure.VM})
		w.furnish()
		for _, r := range w.Cloud.ARM.State.Everything() {
			if model := sdkModels()[r.ID.Type()]; model != nil {
				seen[r.ID.Type()] = true
				j.answer(r.ID.Type(), []byte(w.send(http.MethodGet, r.ID.String(), "")), model())
			}
		}
		if gateway := w.seed.ServiceGateway; gateway != "" {
			id := w.id("serviceGateways", gateway)
			j.answer("services", []byte(w.send(http.MethodGet, id+"/services", "")), &armnetwork.GetServiceGatewayServicesResult{})
			j.answer("addressLocations", []byte(w.send(http.MethodGet, id+"/addressLocations", "")), &armnetwork.GetServiceGatewayAddressLocationsResult{})
		}
	}
	for kind := range sdkModels() {
		if !seen[kind] {
			t.Errorf("%s: none was answered", kind)
		}
	}
	var never []string
	for field, ever := range j.filled {
		if !ever {
			never = append(never, field)
		}
	}
	slices.Sort(never)
	golden.Check(t, "testdata/never-answered.golden", strings.Join(never, "\n")+"\n")
	if diff := cmp.Diff(knownDifferences(), j.wrong); diff != "" {
		t.Errorf("what the SDK does not know (-known +got)\n%s", diff)
	}
}

// knownDifferences lists where answers correctly differ from the models.
func knownDifferences() map[string]bool {
	out := map[string]bool{
		// The list of sizes in the SDK is an old one, and the field takes any.
		`armcompute.VirtualMachineSizeTypes: no value "Standard_D2s_v5"`: true,
		// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/servicegateway/difftracker/resource_helpers_v9_wire_guard_test.go.
		`armnetwork.LoadBalancerSKUName: no value "Service"`: true,
	}
	// Source: kubernetes-sigs/cloud-provider-azure:tests/e2e/servicegateway/slb_suite_test.go.
	for _, field := range []string{"id", "type", "etag", "properties.provisioningState"} {
		out["services.value."+field+": not in the model"] = true
	}
	return out
}

// furnish makes one of everything that the seeds do not have.
func (w *world) furnish() {
	w.t.Helper()
	t := w.t
	if w.seed.ServiceGateway != "" {
		w.container("web")
		if err := w.services(partialServices, w.inbound("web")); err != nil {
			t.Fatal(err)
		}
		if err := w.locations(partialLocations, newLocation("10.240.0.4", fullAddresses, "10.64.0.2 web")); err != nil {
			t.Fatal(err)
		}
	}
	mustSucceed[armnetwork.PublicIPAddress](t)(w.putIP("label", func(ip *armnetwork.PublicIPAddress) {
		ip.Zones, ip.Tags = nil, map[string]*string{"a": to.Ptr("b")}
		ip.Properties.DNSSettings = &armnetwork.PublicIPAddressDNSSettings{DomainNameLabel: to.Ptr("label")}
	}))
	mustSucceed[armnetwork.LoadBalancer](t)(w.putLB("public", w.publicLB("public", "label"), ""))
	lb := mustSucceed[armnetwork.LoadBalancer](t)(w.putLB("inner", w.internalLB("inner"), ""))
	mustSucceed[armnetwork.SecurityGroup](t)(w.putGroup(allowRule("rule", 500)))
	subnets, ctx, group := w.net.NewSubnetsClient(), t.Context(), w.seed.ResourceGroup
	s := mustSucceed[armnetwork.SubnetsClientGetResponse](t)(subnets.Get(ctx, w.seed.NetworkGroup, w.seed.Network, w.seed.LinkSubnet, nil)).Subnet
	s.Properties.PrivateLinkServiceNetworkPolicies = to.Ptr(armnetwork.VirtualNetworkPrivateLinkServiceNetworkPoliciesDisabled)
	sp, err := subnets.BeginCreateOrUpdate(ctx, w.seed.NetworkGroup, w.seed.Network, w.seed.LinkSubnet, s, nil)
	mustSucceed[armnetwork.SubnetsClientCreateOrUpdateResponse](t)(pollDone(ctx, sp, err))
	subnet := &armnetwork.Subnet{ID: to.Ptr(w.seed.SubnetID(w.seed.LinkSubnet))}
	lp, err := w.net.NewPrivateLinkServicesClient().BeginCreateOrUpdate(ctx, group, "link", armnetwork.PrivateLinkService{Location: to.Ptr("eastus"), Properties: &armnetwork.PrivateLinkServiceProperties{
		LoadBalancerFrontendIPConfigurations: []*armnetwork.FrontendIPConfiguration{{ID: lb.Properties.FrontendIPConfigurations[0].ID}},
		IPConfigurations: []*armnetwork.PrivateLinkServiceIPConfiguration{{Name: to.Ptr("a"), Properties: &armnetwork.PrivateLinkServiceIPConfigurationProperties{
			Primary: to.Ptr(true), Subnet: subnet, PrivateIPAllocationMethod: to.Ptr(armnetwork.IPAllocationMethodDynamic),
		}}},
	}}, nil)
	link := mustSucceed[armnetwork.PrivateLinkServicesClientCreateOrUpdateResponse](t)(pollDone(ctx, lp, err))
	ep, err := w.net.NewPrivateEndpointsClient().BeginCreateOrUpdate(ctx, group, "endpoint", armnetwork.PrivateEndpoint{Location: to.Ptr("eastus"), Properties: &armnetwork.PrivateEndpointProperties{
		Subnet: subnet, PrivateLinkServiceConnections: []*armnetwork.PrivateLinkServiceConnection{{Name: to.Ptr("c"), Properties: &armnetwork.PrivateLinkServiceConnectionProperties{PrivateLinkServiceID: link.ID}}},
	}}, nil)
	mustSucceed[armnetwork.PrivateEndpointsClientCreateOrUpdateResponse](t)(pollDone(ctx, ep, err))
	ap, err := w.net.NewApplicationSecurityGroupsClient().BeginCreateOrUpdate(ctx, group, "asg", armnetwork.ApplicationSecurityGroup{Location: to.Ptr("eastus")}, nil)
	mustSucceed[armnetwork.ApplicationSecurityGroupsClientCreateOrUpdateResponse](t)(pollDone(ctx, ap, err))
}
