package model

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// outRegion is the annotation by which Berth records that the load balancer of a Service is in another region than the
// cluster: it is found there whatever the user writes later.
const outRegion = "berth-lb.io/tencent-region"

// regionMark is what separates the region of an identifier from the rest. No region and no identifier of the API has it.
const regionMark = "/"

// IDIn returns the identifier of something in a region, as stacks have it; an empty region is that of the cluster.
func IDIn(region, id string) string {
	if region == "" {
		return id
	}
	return region + regionMark + id
}

// SplitID returns the region of an identifier, empty for that of the cluster, and the identifier that the API has.
func SplitID(id string) (region, rest string) {
	region, rest, found := strings.Cut(id, regionMark)
	if !found {
		return "", id
	}
	return region, rest
}

// regionPattern is the form of regions, such as ap-guangzhou and ap-shenzhen-fsi.
var regionPattern = regexp.MustCompile(`^[a-z]+(-[a-z0-9]+)+$`)

func parseRegion(raw string) (string, error) {
	if !regionPattern.MatchString(raw) {
		return "", errors.New("is not the id of a region")
	}
	return raw, nil
}

// awayIn returns a region if it is another one than that of the cluster; else nothing.
func awayIn(c Config, region string) string {
	if region == c.Region {
		return ""
	}
	return region
}

// regionOf returns the region in which a Service wants its load balancer; empty: that of the cluster.
func regionOf(in Input) string { return awayIn(in.Config, regionsKey.Get(in.Values)) }

// regionsOf returns the other regions in which a Service may have a load balancer: the one that it names, and the one that
// is recorded on it.
func regionsOf(id Identity) []string {
	var out []string
	for _, key := range []string{regionsKey.Name, outRegion} {
		region := awayIn(id.Config, id.Places[key])
		if _, err := parseRegion(region); err == nil && !slices.Contains(out, region) {
			out = append(out, region)
		}
	}
	return out
}

// OtherRegions returns the regions of the configuration besides that of the cluster.
func (c Config) OtherRegions() []string {
	return slices.DeleteFunc(slices.Clone(c.Regions), func(region string) bool { return awayIn(c, region) == "" })
}
