package permissions

import (
	"bytes"
	"fmt"
)

// GCE is Google Cloud. A permission is the collection and a verb; what a written
// resource refers to needs a permission to use it.
// Source: Compute Engine API reference, "IAM Permissions" of each method.
func GCE() Cloud {
	reference := func(method string, needs ...string) implied {
		for i := range needs {
			needs[i] = "compute." + needs[i]
		}
		return implied{needs, "Compute Engine API reference, " + method}
	}
	backends := func(method string) implied {
		return reference(method, "healthChecks.useReadOnly", "instanceGroups.use", "networkEndpointGroups.use", "networks.use", "regionHealthChecks.useReadOnly")
	}
	return Cloud{
		File: "gce.yaml",
		verb: gcePermission,
		implied: map[string]implied{
			"addresses.insert": reference("addresses.insert", "addresses.createInternal", "subnetworks.use"),
			"addresses.delete": reference("addresses.delete", "addresses.deleteInternal"),
			"firewalls.insert": reference("firewalls.insert", "networks.updatePolicy"),
			"firewalls.patch":  reference("firewalls.patch", "networks.updatePolicy"),
			"firewalls.delete": reference("firewalls.delete", "networks.updatePolicy"),
			"forwardingRules.insert": reference("forwardingRules.insert", "addresses.use", "addresses.useInternal", "networks.use", "regionBackendServices.use",
				"subnetworks.use", "targetPools.use"),
			"instanceGroups.addInstances":                  reference("instanceGroups.addInstances", "instances.use"),
			"instanceGroups.insert":                        reference("instanceGroups.insert", "networks.use"),
			"networkEndpointGroups.attachNetworkEndpoints": reference("networkEndpointGroups.attachNetworkEndpoints", "instances.use"),
			"networkEndpointGroups.insert":                 reference("networkEndpointGroups.insert", "networks.use", "subnetworks.use"),
			"regionBackendServices.insert":                 backends("regionBackendServices.insert"),
			"regionBackendServices.update":                 backends("regionBackendServices.update"),
			"targetPools.addHealthCheck":                   reference("targetPools.addHealthCheck", "httpHealthChecks.useReadOnly"),
			"forwardingRules.setTarget":                    reference("forwardingRules.setTarget", "targetPools.use"),
			"targetPools.addInstance":                      reference("targetPools.addInstance", "instances.use"),
			"targetPools.insert":                           reference("targetPools.insert", "httpHealthChecks.useReadOnly", "instances.use"),
		},
		rare: map[string]string{
			"compute.firewalls.get":                 "a rule of the cluster that another client has just created",
			"compute.forwardingRules.setTarget":     "a rule that was pointed elsewhere",
			"compute.healthChecks.get":              "a check of the cluster that another client has just created",
			"compute.healthChecks.patch":            "a check that was changed by hand",
			"compute.httpHealthChecks.patch":        "a check that was changed by hand",
			"compute.networks.get":                  "a configuration that names a network and no subnet",
			"compute.projects.get":                  "a configuration that has a project's number",
			"compute.regionHealthChecks.get":        "a check of the cluster that another client has just created",
			"compute.regionHealthChecks.patch":      "a check that was changed by hand",
			"compute.subnetworks.get":               "a host project whose subnets may not be listed",
			"compute.targetPools.addHealthCheck":    "a pool whose checks were changed",
			"compute.targetPools.get":               "a pool from which members are removed already",
			"compute.targetPools.removeHealthCheck": "a pool whose checks were changed",
		},
		free: map[string]string{"oauth2": "issues tokens to every client with the machine's account"},
		file: gceRole,
	}
}

// gcePermission is the permission of a method. Most are called like it; the
// others are here.
// Source: cloud.google.com/compute/docs/reference/rest/v1.
func gcePermission(service, collection, method string) (string, bool) {
	if service != "compute" {
		return "", false
	}
	others := map[string]string{
		"insert": "create", "patch": "update", "aggregatedList": "list", "wait": "get", "addInstances": "update", "removeInstances": "update",
		"listInstances": "list", "listNetworkEndpoints": "list",
	}
	same := map[string]bool{
		"get": true, "list": true, "delete": true, "update": true, "setTarget": true, "attachNetworkEndpoints": true, "detachNetworkEndpoints": true,
		"addInstance": true, "removeInstance": true, "addHealthCheck": true, "removeHealthCheck": true,
	}
	verb := others[method]
	if same[method] {
		verb = method
	}
	return "compute." + collection + "." + verb, verb != ""
}

// gceRole is a custom role as gcloud reads it.
func gceRole(needs []string) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("title: Berth load balancers\ndescription: Load balancers for the Services of a Kubernetes cluster.\nstage: GA\nincludedPermissions:\n")
	for _, n := range needs {
		fmt.Fprintf(&out, "- %s\n", n)
	}
	return out.Bytes(), nil
}
