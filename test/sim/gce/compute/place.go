package compute

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// born is the creation time of projects, regions and zones.
const born = "2026-01-01T00:00:00.000-07:00"

func (a *API) servePlaces() {
	a.serve("projects.get", http.MethodGet, "projects/{project}", (*call).showProject)
	a.serve("projects.getXpnHost", http.MethodGet, "projects/{project}/getXpnHost", (*call).hostProject)
	a.serve("regions.list", http.MethodGet, "projects/{project}/regions", func(c *call) (wire.Object, error) {
		var docs []wire.Object
		for _, r := range c.api.opt.Regions {
			docs = append(docs, c.regionDoc(r))
		}
		return c.listOf("projects/"+c.project()+"/regions", "compute#regionList", docs, byName)
	})
	a.serve("regions.get", http.MethodGet, "projects/{project}/regions/{region}", func(c *call) (wire.Object, error) {
		for _, r := range c.api.opt.Regions {
			if r.Name == c.Path["region"] {
				return c.regionDoc(r), nil
			}
		}
		return nil, wire.NotFound("projects/" + c.project() + "/" + c.scope())
	})
	a.serve("zones.list", http.MethodGet, "projects/{project}/zones", func(c *call) (wire.Object, error) {
		return c.listOf("projects/"+c.project()+"/zones", "compute#zoneList", c.zoneDocs(), byName)
	})
	a.serve("zones.get", http.MethodGet, "projects/{project}/zones/{zone}", func(c *call) (wire.Object, error) {
		for _, z := range c.zoneDocs() {
			if z.Str("name") == c.Path["zone"] {
				return z, nil
			}
		}
		return nil, wire.NotFound("projects/" + c.project() + "/" + c.scope())
	})
}

func (c *call) showProject() (wire.Object, error) {
	return c.projectDoc(c.api.project(c.project())), nil
}

func (c *call) projectDoc(p *Project) wire.Object {
	doc := wire.Object{
		"kind": "compute#project", "id": strconv.FormatUint(p.Number, 10), "name": p.ID, "creationTimestamp": born,
		"selfLink": wire.SelfBase + "projects/" + p.ID, "defaultNetworkTier": "PREMIUM", "xpnProjectStatus": "UNSPECIFIED_XPN_PROJECT_STATUS",
		"defaultServiceAccount":  strconv.FormatUint(p.Number, 10) + "-compute@developer.gserviceaccount.com",
		"commonInstanceMetadata": wire.Object{"kind": "compute#metadata", "fingerprint": wire.Object{}.Fingerprint()},
		"quotas":                 c.quotas(p.ID, "global", projectQuotas()),
	}
	for _, other := range c.api.opt.Projects {
		if other.Host == p.ID {
			doc["xpnProjectStatus"] = "HOST"
		}
	}
	return doc
}

func (c *call) hostProject() (wire.Object, error) {
	host := c.api.project(c.api.project(c.project()).Host)
	if host == nil {
		// A project without a host is answered with an empty document.
		return wire.Object{}, nil
	}
	return c.projectDoc(host), nil
}

func (c *call) regionDoc(r Region) wire.Object {
	base := wire.SelfBase + "projects/" + c.project() + "/"
	var zones []any
	for _, z := range r.Zones {
		zones = append(zones, base+"zones/"+r.Name+"-"+z)
	}
	return wire.Object{
		"kind": "compute#region", "id": placeID(r.Name), "name": r.Name, "description": r.Name, "status": "UP", "creationTimestamp": born,
		"selfLink": base + "regions/" + r.Name, "zones": zones, "quotas": c.quotas(c.project(), "regions/"+r.Name, regionQuotas()),
	}
}

func (c *call) zoneDocs() []wire.Object {
	base := wire.SelfBase + "projects/" + c.project() + "/"
	var out []wire.Object
	for _, r := range c.api.opt.Regions {
		for _, z := range r.Zones {
			name := r.Name + "-" + z
			out = append(out, wire.Object{
				"kind": "compute#zone", "id": placeID(name), "name": name, "description": name, "status": "UP", "creationTimestamp": born,
				"selfLink": base + "zones/" + name, "region": base + "regions/" + r.Name,
			})
		}
	}
	return out
}

func placeID(name string) string {
	sum := 0
	for _, b := range []byte(name) {
		sum = sum*31 + int(b)
	}
	return strconv.Itoa(1000 + sum%9000)
}

// projectQuotas are the default limits of a whole project, by metric. The real
// ones depend on age and history of the project; these are of a common size.
// Source: Compute Engine quotas page.
func projectQuotas() map[string]float64 {
	return map[string]float64{"FIREWALLS": 200, "HEALTH_CHECKS": 75, "NETWORKS": 15, "ROUTES": 250, "SUBNETWORKS": 175}
}

// regionQuotas are the default limits per region, by metric.
func regionQuotas() map[string]float64 {
	return map[string]float64{
		"STATIC_ADDRESSES": 8, "INTERNAL_ADDRESSES": 200, "STATIC_EXTERNAL_IPV6_ADDRESS_RANGES": 8, "FORWARDING_RULES": 45,
		"INTERNAL_FORWARDING_RULES": 500, "TARGET_POOLS": 50, "REGIONAL_EXTERNAL_NETWORK_LB_BACKEND_SERVICES": 50,
		"REGIONAL_INTERNAL_LB_BACKEND_SERVICES": 500, "INSTANCE_GROUPS": 500, "NETWORK_ENDPOINT_GROUPS": 300,
	}
}

// limit is the quota of the project for a metric.
func (a *API) limit(metric string, defaults map[string]float64) float64 {
	if n, ok := a.opt.Quotas[metric]; ok {
		return n
	}
	return defaults[metric] * max(1, a.opt.QuotaFactor)
}

// quotaCollections returns the collections with quotas.
func quotaCollections() []*collection {
	return slices.DeleteFunc(newCollections(), func(col *collection) bool { return col.quota == nil })
}

// usage counts what the project has of a metric, in a region with its zones or,
// for the metrics of the whole project, everywhere.
func (a *API) usage(st *state, project, region, metric string) float64 {
	n := 0.0
	for _, col := range quotaCollections() {
		for _, scope := range a.scopes() {
			if region != "" && scope != "regions/"+region && !strings.HasPrefix(scope, "zones/"+region+"-") {
				continue
			}
			for _, e := range st.all(project, scope, col.name) {
				if col.quota(e.doc) == metric {
					n++
				}
			}
		}
	}
	return n
}

func (c *call) checkQuota(col *collection, doc wire.Object) error {
	if col.quota == nil {
		return nil
	}
	metric := col.quota(doc)
	region, place, defaults := "", "globally", projectQuotas()
	if _, ok := regionQuotas()[metric]; ok {
		region, defaults = regionOf(c.scope()), regionQuotas()
		place = "in region " + region
	}
	limit := c.api.limit(metric, defaults)
	if c.countOf(col, region, metric) >= limit {
		return wire.QuotaExceeded(metric, limit, place)
	}
	return nil
}

// countOf counts one collection; every metric counts just one.
func (c *call) countOf(col *collection, region, metric string) float64 {
	n := 0.0
	c.st.each(col.name, func(e *entry) bool {
		if e.ref.Project == c.project() && (region == "" || regionOf(e.ref.Scope) == region) && col.quota(e.doc) == metric {
			n++
		}
		return true
	})
	return n
}

// regionOf is the region that a scope lies in, empty for global.
func regionOf(scope string) string {
	ref := wire.Ref{Scope: scope}
	if region, ok := ref.ZoneOf(); ok {
		return region
	}
	return ref.Place()
}

// quotas lists limits and usage. Only metrics that the API has a word for are shown.
func (c *call) quotas(project, scope string, defaults map[string]float64) []any {
	var out []any
	region := regionOf(scope)
	for _, metric := range slices.Sorted(maps.Keys(defaults)) {
		if metric == "INTERNAL_FORWARDING_RULES" {
			continue
		}
		out = append(out, wire.Object{"metric": metric, "limit": c.api.limit(metric, defaults), "usage": c.api.usage(c.st, project, region, metric)})
	}
	return out
}
