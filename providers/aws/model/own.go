package model

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The targets of a target group that this cluster has registered, where others register
// some as well, are listed in a note that is, byte by byte, the one of the AWS Load
// Balancer Controller: either continues where the other has stopped.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/targetgroupbinding/multicluster_manager.go.
const (
	notePrefix  = "aws-lbc-targets-" // and the name of the target group, which is that of the binding
	noteTargets = "targets"          // targets with commas between
)

// sharesTargets reports whether other clusters may register targets with the Service's
// target groups. An invalid value counts as yes, so that a mistake does no harm to
// others.
func sharesTargets(in input) bool {
	if MultiKey.Get(in.Values) {
		return true
	}
	if in.Service == nil {
		return false
	}
	raw, said := in.Service.Annotations[MultiKey.Name]
	on, err := strconv.ParseBool(raw)
	return said && (on || err != nil)
}

// NoteOf is the name of the note of a target group; empty where the ARN has no name.
func NoteOf(arn string) string {
	_, rest, _ := strings.Cut(arn, ":targetgroup/")
	name, _, _ := strings.Cut(rest, "/")
	if name == "" {
		return ""
	}
	return notePrefix + name
}

// entry is how a note calls a target.
func (t Target) entry() string {
	if t.Server != "" {
		return fmt.Sprintf("%s:%d:%s", t.ID, t.Port, t.Server)
	}
	return fmt.Sprintf("%s:%d", t.ID, t.Port)
}

// noteEntries returns the entries of a note.
func noteEntries(note map[string]string) map[string]bool {
	out := map[string]bool{}
	for entry := range strings.SplitSeq(note[noteTargets], ",") {
		if entry != "" {
			out[entry] = true
		}
	}
	return out
}

// OwnOf are those of found targets that are in a note.
func OwnOf(found []Target, note map[string]string) []Target {
	mine := noteEntries(note)
	return slices.DeleteFunc(slices.Clone(found), func(t Target) bool { return !mine[t.entry()] })
}

// Renoted is a note with some targets added and others removed. Of the rest it keeps the
// known ones: leftovers of a call with an unknown outcome are removed. A note with the
// same content stays as it is.
func Renoted(note map[string]string, known, add, remove []Target) map[string]string {
	before := noteEntries(note)
	after := map[string]bool{}
	for _, t := range known {
		if before[t.entry()] {
			after[t.entry()] = true
		}
	}
	for _, t := range add {
		after[t.entry()] = true
	}
	for _, t := range remove {
		delete(after, t.entry())
	}
	if note != nil && maps.Equal(before, after) {
		return note
	}
	out := maps.Clone(note)
	if out == nil {
		out = map[string]string{}
	}
	out[noteTargets] = strings.Join(slices.Sorted(maps.Keys(after)), ",")
	return out
}
