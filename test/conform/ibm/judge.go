package conform

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/IBM/vpc-go-sdk/vpcv1"
)

// model is what the SDK knows of one call.
type model struct{ request, answer reflect.Type }

// modelsOf returns the models of the calls, by method and path.
func modelsOf() map[string]model {
	balancer, pool, listener := reflect.TypeFor[vpcv1.LoadBalancer](), reflect.TypeFor[vpcv1.LoadBalancerPool](), reflect.TypeFor[vpcv1.LoadBalancerListener]()
	members := reflect.TypeFor[vpcv1.LoadBalancerPoolMemberCollection]()
	return map[string]model{
		"GET load_balancers":                   {nil, reflect.TypeFor[vpcv1.LoadBalancerCollection]()},
		"POST load_balancers":                  {reflect.TypeFor[vpcv1.CreateLoadBalancerOptions](), balancer},
		"GET load_balancers/*":                 {nil, balancer},
		"PATCH load_balancers/*":               {reflect.TypeFor[vpcv1.LoadBalancerPatch](), balancer},
		"DELETE load_balancers/*":              {},
		"GET load_balancers/*/pools":           {nil, reflect.TypeFor[vpcv1.LoadBalancerPoolCollection]()},
		"POST load_balancers/*/pools":          {reflect.TypeFor[vpcv1.CreateLoadBalancerPoolOptions](), pool},
		"PATCH load_balancers/*/pools/*":       {reflect.TypeFor[vpcv1.LoadBalancerPoolPatch](), pool},
		"DELETE load_balancers/*/pools/*":      {},
		"GET load_balancers/*/listeners":       {nil, reflect.TypeFor[vpcv1.LoadBalancerListenerCollection]()},
		"POST load_balancers/*/listeners":      {reflect.TypeFor[vpcv1.CreateLoadBalancerListenerOptions](), listener},
		"PATCH load_balancers/*/listeners/*":   {reflect.TypeFor[vpcv1.LoadBalancerListenerPatch](), listener},
		"DELETE load_balancers/*/listeners/*":  {},
		"GET load_balancers/*/pools/*/members": {nil, members},
		"PUT load_balancers/*/pools/*/members": {reflect.TypeFor[vpcv1.ReplaceLoadBalancerPoolMembersOptions](), members},
		"GET vpcs":                             {nil, reflect.TypeFor[vpcv1.VPCCollection]()},
		"GET subnets":                          {nil, reflect.TypeFor[vpcv1.SubnetCollection]()},
		"GET security_groups":                  {nil, reflect.TypeFor[vpcv1.SecurityGroupCollection]()},
		"GET security_groups/*":                {nil, reflect.TypeFor[vpcv1.SecurityGroup]()},
		"POST security_groups/*/rules":         {reflect.TypeFor[vpcv1.SecurityGroupRulePrototype](), reflect.TypeFor[vpcv1.SecurityGroupRule]()},
		"DELETE security_groups/*/rules/*":     {},
		"PUT security_groups/*/targets/*":      {},
		"DELETE security_groups/*/targets/*":   {},
	}
}

// structsOf returns the struct that has the fields of all forms of an interface of the SDK.
func structsOf() map[reflect.Type]reflect.Type {
	return map[reflect.Type]reflect.Type{
		reflect.TypeFor[vpcv1.DnsInstanceIdentityIntf]():                    reflect.TypeFor[vpcv1.DnsInstanceIdentity](),
		reflect.TypeFor[vpcv1.DnsZoneIdentityIntf]():                        reflect.TypeFor[vpcv1.DnsZoneIdentity](),
		reflect.TypeFor[vpcv1.SubnetIdentityIntf]():                         reflect.TypeFor[vpcv1.SubnetIdentity](),
		reflect.TypeFor[vpcv1.LoadBalancerProfileIdentityIntf]():            reflect.TypeFor[vpcv1.LoadBalancerProfileIdentity](),
		reflect.TypeFor[vpcv1.ResourceGroupIdentityIntf]():                  reflect.TypeFor[vpcv1.ResourceGroupIdentity](),
		reflect.TypeFor[vpcv1.SecurityGroupIdentityIntf]():                  reflect.TypeFor[vpcv1.SecurityGroupIdentity](),
		reflect.TypeFor[vpcv1.SecurityGroupRuleIntf]():                      reflect.TypeFor[vpcv1.SecurityGroupRule](),
		reflect.TypeFor[vpcv1.SecurityGroupRuleLocalIntf]():                 reflect.TypeFor[vpcv1.SecurityGroupRuleLocal](),
		reflect.TypeFor[vpcv1.SecurityGroupRuleRemoteIntf]():                reflect.TypeFor[vpcv1.SecurityGroupRuleRemote](),
		reflect.TypeFor[vpcv1.SecurityGroupRuleRemotePrototypeIntf]():       reflect.TypeFor[vpcv1.SecurityGroupRuleRemotePrototype](),
		reflect.TypeFor[vpcv1.SecurityGroupTargetReferenceIntf]():           reflect.TypeFor[vpcv1.SecurityGroupTargetReference](),
		reflect.TypeFor[vpcv1.LoadBalancerPoolIdentityIntf]():               reflect.TypeFor[vpcv1.LoadBalancerPoolIdentity](),
		reflect.TypeFor[vpcv1.LoadBalancerListenerDefaultPoolPatchIntf]():   reflect.TypeFor[vpcv1.LoadBalancerListenerDefaultPoolPatch](),
		reflect.TypeFor[vpcv1.LoadBalancerPoolMemberTargetPrototypeIntf]():  reflect.TypeFor[vpcv1.LoadBalancerPoolMemberTargetPrototype](),
		reflect.TypeFor[vpcv1.LoadBalancerPoolMemberTargetIntf]():           reflect.TypeFor[vpcv1.LoadBalancerPoolMemberTarget](),
		reflect.TypeFor[vpcv1.LoadBalancerPoolHealthMonitorPrototypeIntf](): reflect.TypeFor[vpcv1.LoadBalancerPoolHealthMonitorPrototype](),
		reflect.TypeFor[vpcv1.LoadBalancerPoolHealthMonitorIntf]():          reflect.TypeFor[vpcv1.LoadBalancerPoolHealthMonitor](),
	}
}

// compareDocument lists keys of a document that a model lacks, and required keys of the model that
// the document lacks. Keys of the path of a request are no part of its document.
func compareDocument(path string, document any, t reflect.Type) []string {
	switch t.Kind() {
	case reflect.Pointer:
		return compareDocument(path, document, t.Elem())
	case reflect.Slice:
		var out []string
		list, _ := document.([]any)
		for _, item := range list {
			out = append(out, compareDocument(path+"[]", item, t.Elem())...)
		}
		return out
	case reflect.Interface:
		if s := structsOf()[t]; s != nil {
			return compareDocument(path, document, s)
		}
		return []string{path + ": the interface " + t.String() + " is not in the table"}
	case reflect.Struct:
		object, ok := document.(map[string]any)
		if !ok || t.PkgPath() != reflect.TypeFor[vpcv1.LoadBalancer]().PkgPath() {
			return nil
		}
		return fieldsOf(path, object, t)
	}
	return nil
}

// fieldsOf compares the keys of an object with the fields of a struct.
func fieldsOf(path string, object map[string]any, t reflect.Type) []string {
	var out []string
	known := map[string]reflect.StructField{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		known[name] = f
		inPath := strings.HasSuffix(t.Name(), "Options") && strings.HasSuffix(name, "_id")
		if _, given := object[name]; !given && !inPath && strings.Contains(f.Tag.Get("validate"), "required") {
			out = append(out, fmt.Sprintf("%s.%s: missing", path, name))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		f, ok := known[key]
		if !ok {
			out = append(out, fmt.Sprintf("%s.%s: unknown", path, key))
			continue
		}
		out = append(out, compareDocument(path+"."+key, object[key], f.Type)...)
	}
	return out
}
