package doctor

import (
	"fmt"
	"strings"

	"github.com/berth-lb/berth/providers"
)

// Codes of the checks that read the cluster, and of the ones that read the cloud through the contract.
const (
	CodeVersion    = "BRT401"
	CodeRelease    = "BRT402"
	CodeRunning    = "BRT403"
	CodeOthers     = "BRT404"
	CodeNodes      = "BRT405"
	CodeNodePorts  = "BRT406"
	CodeWebhook    = "BRT407"
	CodeConfig     = "BRT408"
	CodeBalancer   = "BRT504"
	reportsNothing = "nothing was found that contradicts it"
)

// Check is one question about a setup.
type Check struct {
	Code  string
	Fault string // what a failed check means
	Asks  string // what is checked, and how
	Helps string // what to do
	// needs are the parts of the cluster that run reads.
	needs []Part
	run   func(Cluster) []providers.Diagnosis // nil: the caller asks the cloud
}

// Checks returns all checks, by code.
func Checks() []Check {
	return append(clusterChecks(), cloudChecks()...)
}

func clusterChecks() []Check {
	return []Check{
		{CodeVersion, "The API server is too old", "The version of the API server, which is at least 1.31.", "Upgrade the cluster.",
			[]Part{Server}, checkVersion},
		{CodeRelease, "Chart, controller and `berth` differ", "The version of the chart, the tag of the controller's image and the version of `berth`, with `--release`.", "Upgrade the release, or use the `berth` of its version: plans of another version can differ from what the controller does.",
			[]Part{Workloads}, checkRelease},
		{CodeRunning, "The controller does not run", "The available replicas of the Deployment, with `--release`, and the age of the Lease.", "Read the log and the events of the controller's pods.",
			[]Part{Workloads, Leases}, checkRunning},
		{CodeOthers, "Another controller serves the same Services", "Deployments, DaemonSets and static pods: programs that serve Services of type LoadBalancer, and their flags; and webhooks that set the class of Services. Of controllers that a managed cluster hides, that of TKE is found by its ConfigMap; others are not found.", "Switch off the service controller of the other program, or give Berth a class of its own (`--default-class=false --load-balancer-class=...`).",
			[]Part{Workloads, Webhooks, Settings}, checkOthers},
		{CodeNodes, "Nodes cannot stand behind load balancers", "Each Node's `spec.providerID`, readiness and the label `node.kubernetes.io/exclude-from-external-load-balancers`.", "Run the node controller of the cloud's cloud-controller-manager, which sets `spec.providerID`, or remove the label.",
			[]Part{Nodes}, checkNodes},
		{CodeNodePorts, "Node ports are not reachable", "`nodePortAddresses` in the configuration of kube-proxy.", "Remove `nodePortAddresses`, or name the addresses that load balancers send to.",
			[]Part{Proxy}, checkNodePorts},
		{CodeWebhook, "The API server cannot call the webhook", "The webhooks of the release: that `caBundle` is set and that it verifies the certificate in the Secret, for the name of the webhook's Service, today.", "Read the log of the controller, which maintains both. It needs the right to update the Secret and the webhook configurations.",
			[]Part{Webhooks, Secrets}, checkWebhook},
		{CodeConfig, "The cloud configuration file is faulty", "The file as the controller reads it: of `--cloud-config`, or as mounted in the release.", "Correct what the message names.", nil, nil},
	}
}

func cloudChecks() []Check {
	return []Check{
		{providers.CheckCredentials, "The cloud does not accept the credentials", "The identity of the credentials. `berth` takes them from the environment: use those of the controller.", "Give the command the credentials of the controller.", nil, nil},
		{providers.CheckPermission, "A permission is missing", "Each permission of the role in [docs/permissions](../permissions/).", "Add the permission to the role of the controller.", nil, nil},
		{providers.CheckQuota, "A quota is exhausted", "The numbers of load balancers and of what belongs to them, against the quotas of the account.", "Delete what is unused (`berth orphans`), or have the quota raised.", nil, nil},
		{CodeBalancer, "A Service would not be served", "A plan for a new Service of each kind of load balancer that an annotation requests. It reads subnets and nodes with their tags, as the controller does, and is not run.", "Follow the message. It is the one that a user's Service would have in its condition.", nil, nil},
	}
}

// Diagnose runs the checks of a cluster.
func Diagnose(c Cluster) []providers.Diagnosis {
	var out []providers.Diagnosis
	for _, check := range clusterChecks() {
		if check.run == nil {
			continue
		}
		if unread := c.unread(check.needs); unread != nil {
			out = append(out, *unread.diagnosis(check))
			continue
		}
		found := check.run(c)
		if len(found) == 0 {
			found = []providers.Diagnosis{{Code: check.Code, Result: providers.Fine, About: "cluster", State: reportsNothing}}
		}
		for i := range found {
			found[i].Code = check.Code
			if found[i].Next == "" && found[i].Result != providers.Fine {
				found[i].Next = strings.ReplaceAll(check.Helps, "`", "")
			}
		}
		out = append(out, found...)
	}
	return out
}

// Markdown returns the page of all checks.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Checks of the setup\n\nGenerated from `service/doctor/checks.go` by `make docs`.\n\n" +
		"`berth doctor` gives every result a code, which never changes its meaning. The guide is [Check a setup](../guides/doctor.md).\n\n| Code | A fault means |\n|---|---|\n")
	for _, c := range Checks() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", c.Code, strings.ToLower(c.Code), c.Fault)
	}
	for _, c := range Checks() {
		fmt.Fprintf(&b, "\n## %s\n\n**%s.**\n\nChecked: %s\n\nWhat to do: %s\n", c.Code, c.Fault, c.Asks, c.Helps)
	}
	return b.String()
}
