package model

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// What AWS allows of tags. Source: Tagging AWS Resources user guide, tag naming limits
// and requirements; Amazon EC2 user guide, tag restrictions.
const (
	tagsAtMost    = 50  // on one resource
	tagKeyLength  = 128 // characters
	tagTextLength = 256 // characters
	tagReserved   = "aws:"
	tagSigns      = "+-=._:/@ "
)

// ownTags are the tags that Berth itself sets on a load balancer: the Service's name and
// the cluster's tag, in both forms.
const ownTags = 3

// checkTags: tags that AWS refuses would be noticed when half of the Service is made.
func checkTags(_ string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	tags, from, ok := tagsKey.Lookup(bag)
	if !ok {
		return nil
	}
	var out annotations.Problems
	if len(tags) > tagsAtMost-ownTags {
		out = append(out, refuseValue(from, fmt.Sprintf("has %d tags, and %d more are written besides; AWS allows %d on one resource", len(tags), ownTags, tagsAtMost), fmt.Sprintf("at most %d tags", tagsAtMost-ownTags))...)
	}
	for _, key := range sortedKeys(tags) {
		if why := badTag(key, tags[key]); why != "" {
			out = append(out, refuseValue(from, fmt.Sprintf("has the tag %q, whose %s", shortenText(key), why), "letters, digits, blanks and "+strings.TrimSpace(tagSigns))...)
		}
	}
	return out
}

// badTag says what AWS refuses about a tag; nothing if it takes it.
func badTag(key, value string) string {
	switch {
	case key == "":
		return "key is empty"
	case strings.HasPrefix(strings.ToLower(key), tagReserved):
		return "key begins with " + tagReserved + ", which AWS keeps for itself"
	case utf8.RuneCountInString(key) > tagKeyLength:
		return fmt.Sprintf("key is longer than %d characters", tagKeyLength)
	case utf8.RuneCountInString(value) > tagTextLength:
		return fmt.Sprintf("value is longer than %d characters", tagTextLength)
	case strings.ContainsFunc(key+value, badInTag):
		return "text has a character that AWS does not allow in tags"
	}
	return ""
}

func badInTag(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(tagSigns, r)
}

// shortenText limits a text that a user wrote to one line.
func shortenText(text string) string {
	const shown = 40
	if runes := []rune(text); len(runes) > shown {
		return string(runes[:shown]) + "..."
	}
	return text
}

// checkScheme: two keys that contradict each other, of which one says that clients
// from the internet must not get in.
func checkScheme(_ string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	wanted, from, ok := schemeKey.Lookup(bag)
	internal, _, said := internalKey.Lookup(bag)
	if !ok || !said || internal == (wanted == SchemeInternal) {
		return nil
	}
	return refuseValue(from, "contradicts "+internalKey.Name, "one of the two keys")
}

// internalSaid reports whether the Service asks for private addresses only, by which
// key, and whether any such key is set.
func internalSaid(bag *annotations.Bag) (bool, annotations.Origin, bool) {
	if internal, from, said := internalKey.Lookup(bag); said {
		return internal, from, true
	}
	scheme, from, said := schemeKey.Lookup(bag)
	return scheme == SchemeInternal, from, said
}
