package model

import (
	"encoding/json"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// Descriptions name the Service as JSON. Every byte is that of the official
// controllers, since some of it is compared.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_util.go;
// kubernetes/ingress-gce:pkg/utils/description.go, pkg/l4/utils.
const (
	KeyServiceName   = "kubernetes.io/service-name"
	KeyServiceNameV2 = "networking.gke.io/service-name"
	keyServiceIP     = "kubernetes.io/service-ip"
	keyClusterID     = "kubernetes.io/cluster-id"
	apiVersionGA     = "ga"

	// laterIP stands in a description for an IP that is known only once the
	// forwarding rule exists.
	laterIP = "<ip>"
)

// ServiceName is how descriptions write a Service.
func ServiceName(o stack.Owner) string { return o.Namespace + "/" + o.Name }

func legacyDescription(name string) string { return `{"` + KeyServiceName + `":"` + name + `"}` }

func legacyIPDescription(o stack.Owner, ip string) string {
	return `{"` + KeyServiceName + `":"` + ServiceName(o) + `", "` + keyServiceIP + `":"` + ip + `"}`
}

func clusterDescription(id string) string { return `{"` + keyClusterID + `":"` + id + `"}` }

// v2Description is the description of the newer kinds; empty parts are left out.
type v2Description struct {
	ServiceName string `json:"networking.gke.io/service-name"`
	APIVersion  string `json:"networking.gke.io/api-version,omitempty"`
	ServiceIP   string `json:"networking.gke.io/service-ip,omitempty"`
	Resource    string `json:"networking.gke.io/resource-description,omitempty"`
}

func (d v2Description) String() string {
	text, _ := json.Marshal(d) // a struct of texts cannot fail
	return string(text)
}

// sharedDescription describes what the Services of one sort share; the sort is
// ILB or XLB, and empty for firewalls, which both sorts share.
func sharedDescription(sort string) string {
	return v2Description{
		APIVersion: apiVersionGA,
		Resource:   "This resource is shared by all L4 " + sort + " Services using ExternalTrafficPolicy: Cluster.",
	}.String()
}

// negDescription says whose an endpoint group is.
type negDescription struct {
	ClusterUID  string `json:"cluster-uid,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	ServiceName string `json:"service-name,omitempty"`
	Port        string `json:"port,omitempty"`
}

func negDescriptionOf(c Config, o stack.Owner) negDescription {
	return negDescription{ClusterUID: c.SystemUID, Namespace: o.Namespace, ServiceName: o.Name, Port: "0"}
}

func (d negDescription) String() string {
	text, _ := json.Marshal(d) // a struct of texts cannot fail
	return string(text)
}

// NegIsOurs reports whether an endpoint group's description allows that it is the
// Service's: one that names another is never taken over.
// Source: kubernetes/ingress-gce:pkg/utils/neg_description.go.
func NegIsOurs(c Config, o stack.Owner, description string) bool {
	var found negDescription
	if json.Unmarshal([]byte(description), &found) != nil {
		return true // empty or free text: the name alone decides
	}
	return found == negDescription{} || found == negDescriptionOf(c, o)
}

// NamesService reports whether a description of either scheme names the Service.
func NamesService(description string, o stack.Owner) bool {
	newer, older := servicesIn(description)
	return newer == ServiceName(o) || older == ServiceName(o)
}

// servicesIn returns the Services that a description names in the newer and in the older
// scheme, as namespace/name; empty where it names none.
func servicesIn(description string) (newer, older string) {
	var found map[string]string
	if json.Unmarshal([]byte(description), &found) != nil {
		return "", ""
	}
	return found[KeyServiceNameV2], found[KeyServiceName]
}

// At puts the load balancer's IP in, now that it is known.
func (f Firewall) At(ip string) Firewall {
	f.Description = strings.ReplaceAll(f.Description, laterIP, ip)
	f.Destination = stack.RefID(ip)
	return f
}
