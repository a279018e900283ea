package compute

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// born is the creation time of projects, regions and zones.
const born = "2026-01-01T00:00:00.000-07:00"

func (a *API) servePlaces() {
	a.serve("projects.get", http.MethodGet, "projects/{project}", (*call).showProject)
	a.serve("projects.getXpnHost", http.MethodGet, "projects/{project}/getXpnHost", (*call).hostProject)
	a.servePlace("region", (*call).regionDocs)
	a.servePlace("zone", (*call).zoneDocs)
}

// servePlace serves the list of all regions or zones, and each of them.
func (a *API) servePlace(kind string, docs func(*call) []wire.Object) {
	path := "projects/{project}/" + kind + "s"
	a.serve(kind+"s.list", http.MethodGet, path, func(c *call) (wire.Object, error) {
		return c.listOf("projects/"+c.project()+"/"+kind+"s", "compute#"+kind+"List", docs(c), byName)
	})
	a.serve(kind+"s.get", http.MethodGet, path+"/{"+kind+"}", func(c *call) (wire.Object, error) {
		for _, doc := range docs(c) {
			if doc.Text("name") == c.Path[kind] {
				return doc, nil
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

func (c *call) regionDocs() []wire.Object {
	base := wire.SelfBase + "projects/" + c.project() + "/"
	var out []wire.Object
	for _, r := range c.api.opt.Regions {
		var zones []any
		for _, z := range r.Zones {
			zones = append(zones, base+"zones/"+r.Name+"-"+z)
		}
		out = append(out, wire.Object{
			"kind": "compute#region", "id": placeID(r.Name), "name": r.Name, "description": r.Name, "status": "UP", "creationTimestamp": born,
			"selfLink": base + "regions/" + r.Name, "zones": zones, "quotas": c.quotas(c.project(), "regions/"+r.Name, regionQuotas()),
		})
	}
	return out
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
	if c.usage(col, c.project(), region, metric) >= limit {
		return wire.QuotaExceeded(metric, limit, place)
	}
	return nil
}

// usage counts what a project has of a metric in a collection: in a region with its zones
// or, for the metrics of the whole project, everywhere.
func (c *call) usage(col *collection, project, region, metric string) float64 {
	n := 0.0
	c.st.each(col.name, func(e *entry) bool {
		if e.ref.Project == project && (region == "" || regionOf(e.ref.Scope) == region) && col.quota(e.doc) == metric {
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
		used := 0.0
		for _, col := range c.api.collections {
			if col.quota != nil {
				used += c.usage(col, project, region, metric)
			}
		}
		out = append(out, wire.Object{"metric": metric, "limit": c.api.limit(metric, defaults), "usage": used})
	}
	return out
}
