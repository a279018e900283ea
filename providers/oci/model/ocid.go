package model

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// oldOCID begins identifiers of the form before today's, which old tenancies have.
const oldOCID = "ocidv1:"

// ocidType accepts the identifiers of sorts of resources: version, sort, realm, region, maybe one
// part more, and what is the resource's own. A tenancy and a compartment have no region.
// Source: https://docs.oracle.com/en-us/iaas/Content/General/Concepts/identifiers.htm.
func ocidType(legal string, sorts ...string) annotations.Type[string] {
	return annotations.Custom("OCID", legal, func(raw string) (string, error) {
		parts := regexp.MustCompile(`^ocid1\.([a-z0-9-]+)\.[a-z0-9-]+\.[A-Za-z0-9-]*(\.[A-Za-z0-9_-]*)?\.[A-Za-z0-9_-]+$`).FindStringSubmatch(raw)
		switch {
		case slices.ContainsFunc(sorts, func(sort string) bool { return strings.HasPrefix(raw, oldOCID+sort+":") }):
		case parts == nil:
			return "", errors.New("is no OCID")
		case !slices.Contains(sorts, parts[1]):
			return "", fmt.Errorf("is the OCID of a %s", parts[1])
		}
		return raw, nil
	})
}

// What identifiers are of, as they say it themselves.
const (
	sortSubnet      = "subnet"
	sortCompartment = "compartment"
	sortTenancy     = "tenancy"
	sortGroup       = "networksecuritygroup"
	sortPrivateIP   = "privateip"
)

func subnetID() annotations.Type[string] {
	return ocidType("the OCID of a subnet, as in "+exampleSubnet, sortSubnet)
}

func compartmentID() annotations.Type[string] {
	return ocidType("the OCID of a compartment, as in "+exampleCompartment, sortCompartment, sortTenancy)
}

func groupID() annotations.Type[string] {
	return ocidType("the OCID of a network security group, as in "+exampleGroup, sortGroup)
}

// checkSubnets checks the two subnet keys against each other. A regional subnet is used
// alone, whatever the second key names; the cloud refuses any other subnet given twice.
func checkSubnets(_ string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	first, _, _ := subnetKey.Lookup(bag)
	second, _, said := secondSubnetKey.Lookup(bag)
	if !said || second == "" || first != second {
		return nil
	}
	return annotations.Problems{secondSubnetKey.Warning(bag, "is the subnet of "+subnetKey.Name+" as well, so it has no effect", legalSecond)}
}

// legalSecond is what the second subnet may be.
const legalSecond = "the OCID of a subnet in another domain, or a regional subnet alone"
