package model

import (
	"strings"

	"github.com/berth-lb/berth/stack"
)

// Tags of load balancers that controllers create.
// Source: https://cloud.tencent.com/document/product/457/45491.
const (
	TagCreated = "tke-createdBy-flag"
	TagCluster = "tke-clusterId"
	TagService = "tke-lb-serviceuuid"
	// createdByUs is the value of TagCreated. Without it the load balancer stays when its Service is
	// deleted.
	createdByUs = "yes"
	// oldClaim is the value of a tag whose key is the UID of a Service, of clusters before August 2020.
	oldClaim = "tke-lb-serviceId"
)

// ListenerName is the name of every listener that controllers create. One with another name is the
// user's. Source: https://cloud.tencent.com/document/product/457/45491.
const ListenerName = "TKE-DEDICATED-LISTENER"

// Annotations that the official controller writes.
const (
	outID   = "service.kubernetes.io/loadbalance-id"
	outIPv6 = "service.kubernetes.io/loadbalance-nat-ipv6"
)

// DefaultName returns the name of a new load balancer. The official controller's is not published.
func DefaultName(cluster string, o stack.Owner) string {
	name := strings.Join([]string{cluster, o.Namespace, o.Name}, "_")
	return name[:min(len(name), longestName)]
}

// Mark says what the tags of a load balancer tell about its owner.
type Mark int

// The marks.
const (
	Unmarked Mark = iota
	Ours          // a controller created it for this Service
	Kept          // the same, and the user has taken the tag away by which it is deleted
	Partial       // some of the tags are this Service's
	Foreign       // it is of another Service or cluster
)

// MarkOf returns the mark of a load balancer for a Service.
func MarkOf(tags map[string]string, cluster, uid string) Mark {
	switch {
	case tags[TagService] == uid && tags[TagCluster] == cluster && tags[TagCreated] == createdByUs:
		return Ours
	case tags[TagService] == uid && tags[TagCluster] == cluster && tags[TagCreated] == "":
		return Kept
	case tags[TagService] == uid, tags[uid] == oldClaim:
		return Partial
	case tags[TagService] != "", tags[TagCreated] != "", tags[TagCluster] != "" && tags[TagCluster] != cluster:
		return Foreign
	}
	return Unmarked
}

// NoteOf returns the name of the note with the listeners of a Service on existing load balancers.
func NoteOf(o stack.Owner) string { return "berth-tencent-" + o.UID }

// Keys of the note.
const (
	NoteBalancer  = "load-balancer"
	NoteListeners = "listeners" // ids, separated by commas
)
