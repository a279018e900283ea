package oci

import (
	"net/http"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/rest"
)

// classicProduct returns the Load Balancer service. Source: API reference, version
// 20170115.
func classicProduct() product {
	p := product{
		api: apiLB, table: balancers, work: workLB, noun: "LoadBalancer", what: "load balancer", path: pathLB + "loadBalancers", quota: "load-balancer/lb-flexible-count",
		accepted: http.StatusNoContent, place: (*visit).placeClassic, move: (*visit).moveClassic,
		limits: func(l Limits) balancerLimits {
			return balancerLimits{l.LoadBalancers, l.Listeners, l.BackendSets, unlimited, l.Backends}
		},
		parts: []part{certificatePart(), ruleSetPart(), classicSetPart(), classicListenerPart()},
		update: tagSchema().with(schema{
			"displayName": prop{kind: aText, min: 1, max: 1024}, "ipMode": oneOf("IPV4", "IPV6"), "ipv6SubnetCidr": textProp(), "reservedIps": listProp(objectProp(schema{"id": idProp()})),
			"isDeleteProtectionEnabled": boolProp(), "isRequestIdEnabled": boolProp(), "requestIdHeader": textProp(),
		}),
	}
	p.create = p.update.with(schema{
		"compartmentId": idProp().must(), "displayName": prop{kind: aText, need: true, min: 1, max: 1024}, "shapeName": textProp().must(), "shapeDetails": objectProp(bandwidthSchema()),
		"subnetIds": idsProp().must(), "isPrivate": boolProp().otherwise(false), "ipMode": oneOf("IPV4", "IPV6").otherwise("IPV4"), "networkSecurityGroupIds": idsProp(),
	})
	for _, of := range p.parts {
		p.create[of.key] = mapOf(of.body.with(schema{of.name: textProp()}))
	}
	return p
}

func bandwidthSchema() schema {
	return schema{"minimumBandwidthInMbps": numberProp(10, 8000).must(), "maximumBandwidthInMbps": numberProp(10, 8000).must()}
}

// knownShapes lists the known shapes. Source: API reference, ListShapes.
func knownShapes() []string {
	return []string{"flexible", "10Mbps-Micro", "10Mbps", "100Mbps", "400Mbps", "8000Mbps"}
}

// checkShape gives the keys of a shape. Source: API reference, ShapeDetails: the minimum is
// not above the maximum; new tenancies have no limit left for fixed shapes.
func (v *visit) checkShape(body rest.Object) (rest.Object, error) {
	name := body.Text("shapeName")
	if !slices.Contains(knownShapes(), name) && !strings.EqualFold(name, "flexible") {
		return nil, invalidParam("shapeName %q: must be one of %v", name, knownShapes())
	}
	if !strings.EqualFold(name, "flexible") {
		if v.cloud.opt.NoFixedShapes {
			return nil, tooMany("load balancers of the shape "+name, 0)
		}
		return rest.Object{"shapeName": name, "shapeDetails": nil}, nil
	}
	details := body.Object("shapeDetails")
	if details == nil {
		return nil, missingParam("shapeDetails")
	}
	low, _ := details.Number("minimumBandwidthInMbps")
	high, _ := details.Number("maximumBandwidthInMbps")
	if low > high {
		return nil, invalidParam("shapeDetails: the minimum %d is above the maximum %d", low, high)
	}
	return rest.Object{"shapeName": "flexible", "shapeDetails": details}, nil
}

// setShape changes the shape. Source: Load Balancing documentation, "Changing a Load
// Balancer's Bandwidth Shape": from fixed to flexible, and not back.
func setShape(v *visit, lb, body rest.Object) (rest.Object, error) {
	shape, err := v.checkShape(body)
	if err != nil {
		return nil, err
	}
	if lb.Text("shapeName") == "flexible" && shape.Text("shapeName") != "flexible" {
		return nil, invalidParam("shapeName: a flexible load balancer cannot get a fixed shape")
	}
	return lb.With(shape), nil
}

func (v *visit) placeClassic(lb, body rest.Object) (rest.Object, error) {
	in, err := v.checkSubnets(body.Texts("subnetIds"), body.Truth("isPrivate"))
	if err != nil {
		return nil, err
	}
	if err := v.checkGroups(body.Texts("networkSecurityGroupIds"), in[0].Text("vcnId")); err != nil {
		return nil, err
	}
	shape, err := v.checkShape(body)
	if err != nil {
		return nil, err
	}
	lb = lb.With(body.Only("subnetIds", "isPrivate", "ipMode")).With(shape).With(rest.Object{
		"hostnames": rest.Object{}, "sslCipherSuites": rest.Object{}, "pathRouteSets": rest.Object{}, "routingPolicies": rest.Object{},
		"isDeleteProtectionEnabled": body.Truth("isDeleteProtectionEnabled"), "isRequestIdEnabled": body.Truth("isRequestIdEnabled"),
	})
	return v.readdress(lb, addressFamilies(lb.Text("ipMode")), body.Objects("reservedIps"))
}

// addressFamilies returns the address families of a mode. Source: Load Balancing
// documentation: a load balancer in the mode IPV6 has an address of both.
func addressFamilies(mode string) []string {
	switch mode {
	case "IPV6", "IPV4_AND_IPV6":
		return []string{"IPV4", "IPV6"}
	}
	return []string{"IPV4"}
}

// moveClassic changes the mode: the IPv4 address stays, and an IPv6 address is added or
// removed.
func (v *visit) moveClassic(lb, body rest.Object) (rest.Object, error) {
	next := lb.With(body.Only("isDeleteProtectionEnabled", "isRequestIdEnabled", "ipMode"))
	if next.Text("ipMode") == lb.Text("ipMode") {
		if len(body.List("reservedIps")) > 0 {
			return nil, invalidParam("reservedIps: the addresses of a load balancer cannot be changed")
		}
		return next, nil
	}
	return v.readdress(next, addressFamilies(next.Text("ipMode")), body.Objects("reservedIps"))
}
