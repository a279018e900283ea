package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// Tags of load balancers and addresses. Source: https://cloud.baidu.com/doc/CCE/s/zlako7b04.
const (
	// TagCreated says for which Service a controller has created the resource.
	TagCreated = "cce-created"
	// TagUsed says by which Service, or by which cluster, a load balancer is used.
	TagUsed = "cce-resource-name"
	// TagBerth replaces both for a Service with a loadBalancerClass. The official controller serves
	// other Services of the cluster then, and may delete what its own tags mark.
	TagBerth = "berth-created"
)

// OwnTags returns the tags of a public address that is created for a Service.
func OwnTags(mark string, classed bool) map[string]string {
	if classed {
		return map[string]string{TagBerth: mark}
	}
	return map[string]string{TagCreated: mark}
}

// BalancerTags returns the tags of a load balancer that is created for a Service.
func BalancerTags(mark string, classed bool) map[string]string {
	out := OwnTags(mark, classed)
	if !classed {
		out[TagUsed] = mark
	}
	return out
}

// OwnerMark returns the value of the tags, and the description of every part, of a Service.
func OwnerMark(cluster, uid string) string { return cluster + "/Service/UID/" + uid }

// Description returns the description of a new load balancer. It tells a public one whose address was deleted from
// an internal one.
func Description(o stack.Owner, public bool) string {
	if public {
		return "created for the Service " + o.String()
	}
	return "created as internal for the Service " + o.String()
}

// Beginnings of the names of new load balancers: that of the open controller, and that of Services with a
// loadBalancerClass. Source: baidu/cloud-provider-baiducloud:pkg/cloud-provider/load_balancer_util.go.
const (
	officialPrefix = "CCE/SVC"
	classPrefix    = "BERTH/SVC"
)

// DefaultName returns the name of a new load balancer, with a hash where it is too long.
func DefaultName(cluster string, o stack.Owner, classed bool) string {
	prefix := officialPrefix
	if classed {
		prefix = classPrefix
	}
	name := strings.Join([]string{prefix, cluster, o.Namespace, o.Name}, "/")
	if len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	end := "-" + hex.EncodeToString(sum[:])[:8]
	return name[:longestName-len(end)] + end
}

// OlderNames returns the names of normal load balancers that the open controllers have created.
// Source: baidu/cloud-provider-baiducloud:pkg/cloud-provider/load_balancer_util.go, also at v1.0.14.
func OlderNames(cluster string, o stack.Owner) []string {
	cut := func(name string, to int) string { return name[:min(len(name), to)] }
	return []string{
		strings.Join([]string{officialPrefix, cluster, o.Namespace, o.Name}, "/"), cut(strings.Join([]string{cluster, o.Namespace, o.Name}, "/"), longestName),
		cut("a"+strings.ReplaceAll(o.UID, "-", ""), 32),
	}
}

// GroupName returns the name of a group of a Service.
func GroupName(o stack.Owner, part string) string {
	return strings.TrimSuffix("berth-"+o.UID+"-"+part, "-")
}

// Mark says what the tags of a resource tell about its owner.
type Mark int

// The marks.
const (
	Unmarked Mark = iota
	Ours          // a controller created it for this Service
	Partial       // the Service uses it, and its creator is unknown
	Foreign       // it is of another Service or cluster
)

// MarkOf returns the mark of a load balancer or an address for a Service.
func MarkOf(tags map[string]string, cluster, uid string) Mark {
	own := OwnerMark(cluster, uid)
	created, berth, used := tags[TagCreated], tags[TagBerth], tags[TagUsed]
	switch {
	case created != "" && created != own, berth != "" && berth != own:
		return Foreign
	case created == own, berth == own:
		return Ours
	case used == own:
		return Partial
	case used != "" && used != cluster:
		return Foreign
	}
	return Unmarked
}

// UIDOf returns the UID of the Service that the tags name; empty: they name none of the cluster.
func UIDOf(tags map[string]string, cluster string) string {
	return uidOfMark(cmp.Or(tags[TagCreated], tags[TagBerth]), cluster)
}

// uidOfMark returns the UID of the Service that a mark names; empty: it names none of the cluster.
func uidOfMark(mark, cluster string) string {
	uid, ok := strings.CutPrefix(mark, OwnerMark(cluster, ""))
	if !ok || strings.Contains(uid, "/") {
		return ""
	}
	return uid
}

// NoteOf returns the name of the note with the listeners of a Service that have no mark.
func NoteOf(o stack.Owner) string { return "berth-baidu-" + o.UID }

// Keys of the note.
const (
	NoteBalancer  = "load-balancer"
	NoteListeners = "listeners" // names of ports, separated by commas
)

// PartOf returns the part of a Service whose group has a name; false: it is the name of no such group.
func PartOf(name string, o stack.Owner) (string, bool) {
	if name == GroupName(o, "") {
		return "", true
	}
	return strings.CutPrefix(name, GroupName(o, "")+"-")
}
