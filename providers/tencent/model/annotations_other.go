package model

import "github.com/berth-lb/berth/annotations"

// later is a key that is not served. A Service that has it is refused, because without it more might
// be opened, changed or deleted than is meant.
type later struct {
	name, group, doc, example, reason, source string
	names                                     annotations.Names
}

// laterTable lists the keys that do not work yet.
func laterTable() []later {
	nothing := annotations.NamesNothing()
	return []later{
		{cloud + "hybrid-type", groupBackends, "Makes registered nodes targets by their addresses.", "CCN", "no published source says what distinguishes registered nodes from super nodes, which have no instance either; with " + directKey.Name + " pods are targets by their addresses", sourceSample, nothing},
		{cloud + "target-groups", groupBackends, "Binds target groups to listeners.", `[{"protocol":"TCP","port":80}]`, "the calls and marks of target groups of version 2 are not published in full, and a listener cannot return from a group to targets of its own; without the key targets are bound to the listener", "https://cloud.tencent.com/document/product/457/122522", nothing},
	}
}

func laterKeys() []annotations.Declaration {
	var out []annotations.Declaration
	for _, l := range laterTable() {
		out = append(out, &annotations.Key[string]{
			Name: l.name, Names: l.names, Group: l.group, Example: l.example, Doc: l.doc,
			Forms: []annotations.Form[string]{{Type: annotations.String(), Empty: annotations.EmptyAbsent, Support: annotations.Later, Reason: l.reason, Source: l.source}},
		})
	}
	return out
}

// hintKey is the id of the load balancer that the Service had last.
var hintKey = annotations.Reported(outID, groupOutput, "Id of the load balancer.", "lb-6swtxxxx", sourceDoc)

func outputKeys() []annotations.Declaration {
	const misspelt = "published text misspells the key; use "
	return []annotations.Declaration{
		hintKey,
		annotations.Reported(outIPv6, groupOutput, "IPv6 address of a load balancer of NAT64.", "2402:4e00::1", sourceDoc),
		annotations.Reported(outRegion, groupOutput, "Region of a load balancer that is in another region than the cluster, written by Berth.", "ap-chongqing", sourceCross),
		annotations.Reported(cloud+"client-token", groupOutput, "Idempotency token of the official controller. Here the token follows from the UID, so that a copied manifest gets a load balancer of its own.", "ed7a31f0-24cd-4aea-ab10-e00d63994dd8", "tke-workshop/tke-workshop.github.io:src/content/docs/networking/service/02-loadbalancer-service.md"),
		annotations.Reported(cloud+"sync-begin-time", groupOutput, "Start of the last run of the official controller.", "2026-01-04T16:24:42+08:00", sourceSample),
		annotations.Reported(cloud+"sync-end-time", groupOutput, "End of the last run of the official controller.", "2026-01-04T16:24:44+08:00", sourceSample),
		annotations.Ineffective(kube+"qcloud-share-existed-lb", groupPlace, "Allows several Services to use one existing load balancer.", "true", "Services can always share an existing load balancer", "https://cloud.tencent.com/document/product/457/46370"),
		annotations.Ineffective(kube+"qcloud-loadbalancer-internal", groupPlace, "Number of a subnet, beside the id in old manifests.", "96194", "the number has no meaning for the API; "+subnetKey.Name+" counts", sourceSample),
		annotations.Ineffective(kube+"qcloud-loadbalancer-clusterid", groupPlace, "Id of the cluster in old manifests.", "cls-6swtxxxx", "the id of the cluster is that of the configuration", sourceSample),
		annotations.Ineffective(cloud+"tke-service-config-auto", groupListener, "Has the official controller write an object of kind TkeServiceConfig.", "true", "no such object is written; use "+configKey.Name, "https://cloud.tencent.com/document/product/457/45490"),
		annotations.Ineffective(cloud+"custom-weight", groupBackends, "Weight of all targets.", "10", "no controller is known to read it", sourceSample),
		annotations.Ineffective(cloud+"local-svc-only-bind-node-with-pod", groupBackends, "A misspelt key.", "true", misspelt+bindKey.Name, sourceSample),
		annotations.Ineffective(cloud+"loadbalance-id", groupPlace, "A misspelt key.", "lb-6swtxxxx", misspelt+existedKey.Name, sourceSample),
	}
}

// Labels of nodes that keep them out of the targets by their presence.
func excludingLabels() []string {
	return []string{"node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane", "alpha.service-controller.kubernetes.io/exclude-balancer"}
}

func objectKeys() []annotations.Declaration {
	out := []annotations.Declaration{annotations.ExcludeNode(groupObjects), &annotations.Key[string]{
		Name: cloud + "loadbalance-type", On: annotations.ServiceLabel, Group: groupObjects, Example: Open, Doc: "Network type of the load balancer, which the official controller writes.", Writer: annotations.ByController, Names: annotations.NamesNothing(),
		Forms: []annotations.Form[string]{{Type: annotations.String(), Source: sourceSample}},
	}}
	for _, name := range excludingLabels() {
		out = append(out, &annotations.Key[string]{
			Name: name, On: annotations.NodeLabel, Group: groupObjects, Example: "true", Doc: "Keeps the node out of the targets, whatever the value.",
			Forms: []annotations.Form[string]{{Type: annotations.String(), Source: sourceNodes}},
		})
	}
	return out
}
