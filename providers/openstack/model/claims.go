package model

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Claim says that a Service asks for a port of a load balancer that it names.
type Claim struct {
	Owner stack.Owner
	Since int64 // when the Service was made, in seconds of Unix
}

// Older reports whether a claim precedes another one: the claim of the older Service or, at
// equal age, of the first name.
func (c Claim) Older(o Claim) bool {
	return cmp.Or(cmp.Compare(c.Since, o.Since), c.Owner.Compare(o.Owner)) < 0
}

// claimLookups returns the look-ups that show what a Service claims, so that the older
// one of two new Services gets it. What the cloud has already decides without them.
func claimLookups(in Input) []providers.Lookup {
	balancer := idKey.Get(in.Values)
	if balancer == "" {
		return nil
	}
	var out []providers.Lookup
	for _, p := range in.Backends.Ports {
		listener, _ := protocolsOf(in, p.Protocol)
		out = append(out, providers.Lookup{Kind: FactClaim, By: balancer, Value: fmt.Sprintf("%s %d", PortKey(listener, p.Port), in.Service.CreationTimestamp.Unix())})
	}
	return out
}

// ClaimOf reads a look-up of a Service: the claim, and the port of the load balancer that
// it is for, as ClaimKey has it.
func ClaimOf(l providers.Lookup, o stack.Owner) (key string, c Claim) {
	port, since, _ := strings.Cut(l.Value, " ")
	c.Owner = o
	c.Since, _ = strconv.ParseInt(since, 10, 64) // claims wrote it
	return ClaimKey(l.By, port), c
}

// ClaimKey is a port of a load balancer, as PortKey names ports.
func ClaimKey(balancer, port string) string { return balancer + " " + port }

// claimMark is the prefix of the tag of a pool that names its claimed port and the Service.
const claimMark = "berth-claim"

// claimTerm is how long a claim counts: as long as it may take to make a listener. One
// that is older is of a controller that has died.
const claimTerm = 10 * time.Minute

// claimFor returns a claim to a port, named as by PortKey. since is the creation time of
// the Service, in Unix seconds. name is the name of the Service's own load balancer, which
// is unique across clusters.
func claimFor(port string, since int64, name string) string {
	return fmt.Sprintf("%s %d %s", port, since, name)
}

// ClaimTag returns the tag of a pool by which controllers of other clusters see the claim
// to a port before any listener has it: the claim, and its creation time.
func ClaimTag(claim string, now time.Time) string {
	return truncateText(fmt.Sprintf("%s %d %s", claimMark, now.Unix(), claim))
}

// YieldsTo returns the one of the tags that is an older claim to the same port than a
// Service's own claim, as the name of the Service that has it; empty if none is.
func YieldsTo(own string, tags []string, now time.Time) string {
	mine, ok := readClaim(ClaimTag(own, now))
	for _, tag := range tags {
		its, is := readClaim(tag)
		if !ok || !is || its.port != mine.port || its.name == mine.name || now.Sub(its.made) > claimTerm {
			continue
		}
		if cmp.Or(cmp.Compare(its.since, mine.since), cmp.Compare(its.name, mine.name)) < 0 {
			return its.name
		}
	}
	return ""
}

// tagged is a claim as a tag says it.
type tagged struct {
	made       time.Time
	port, name string
	since      int64
}

// readClaim reads a ClaimTag; false if it is none.
func readClaim(tag string) (c tagged, ok bool) {
	parts := strings.SplitN(tag, " ", 5)
	if len(parts) < 5 || parts[0] != claimMark {
		return c, false
	}
	made, err := strconv.ParseInt(parts[1], 10, 64)
	since, wrong := strconv.ParseInt(parts[3], 10, 64)
	return tagged{made: time.Unix(made, 0), port: parts[2], since: since, name: parts[4]}, err == nil && wrong == nil
}
