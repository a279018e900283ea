package model

import (
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
)

// OwnerMark returns the value of the tags, and the description of every part, of a Service.
func OwnerMark(cluster, uid string) string { return cluster + "/Service/UID/" + uid }

// DefaultName returns the name of a new load balancer: that of the open controller, with a hash where it
// is too long. Source: baidu/cloud-provider-baiducloud:pkg/cloud-provider/load_balancer_util.go.
func DefaultName(cluster string, o stack.Owner) string {
	name := strings.Join([]string{"CCE/SVC", cluster, o.Namespace, o.Name}, "/")
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
		strings.Join([]string{"CCE/SVC", cluster, o.Namespace, o.Name}, "/"), cut(strings.Join([]string{cluster, o.Namespace, o.Name}, "/"), longestName),
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
	created, used := tags[TagCreated], tags[TagUsed]
	switch {
	case created == own:
		return Ours
	case created != "":
		return Foreign
	case used == own:
		return Partial
	case used != "" && used != cluster:
		return Foreign
	}
	return Unmarked
}

// UIDOf returns the UID of the Service that a tag names; empty: it names none of the cluster.
func UIDOf(mark, cluster string) string {
	uid, ok := strings.CutPrefix(mark, OwnerMark(cluster, ""))
	if !ok || strings.Contains(uid, "/") {
		return ""
	}
	return uid
}

// NoteOf returns the name of the note with the listeners of a Service on normal load balancers.
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
