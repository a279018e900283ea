package arm

import (
	"net/http"
	"strings"
)

// groupKind is resource groups themselves.
func groupKind() *Kind {
	return &Kind{
		Type: GroupType, Service: "resources", Client: "ResourceGroups", NoEtag: true, Sync: true,
		Vacate: func(w *Write, refs []Ref) *Error {
			return Conflictf("ResourceGroupDeletionBlocked", "Deletion of resource group '%s' failed as resource %s is in use by %s.", w.ID.Group, refs[0].To, refs[0].From)
		},
		Stored: func(w *Write) {
			if w.Doc != nil {
				return
			}
			for _, r := range w.State.Everything() {
				if Within(r.ID.String(), w.ID.String()) {
					w.State.remove(r.ID)
				}
			}
		},
	}
}

// groupContent gives the ids of all that is in a group.
func groupContent(s *State, group ID) []string {
	var out []string
	for _, r := range s.Everything() {
		if Within(r.ID.String(), group.String()) {
			out = append(append(out, r.ID.String()), Parts(r.ID.String(), r.Doc)...)
		}
	}
	return out
}

// builtin are the calls of Resource Manager itself.
func (s *Service) builtin() []Extra {
	return []Extra{
		{Method: http.MethodGet, Pattern: "/subscriptions", Service: "resources", Name: "Subscriptions.List", Run: listSubscriptions},
		{Method: http.MethodGet, Pattern: "/subscriptions/{s}", Service: "resources", Name: "Subscriptions.Get", Run: getSubscription},
		{Method: http.MethodGet, Pattern: "/subscriptions/{s}/resourcegroups", Service: "resources", Name: "ResourceGroups.List", Run: listGroups},
		{Method: http.MethodGet, Pattern: "/subscriptions/{s}/resourcegroups/{g}/resources", Service: "resources", Name: "Resources.ListByResourceGroup", Run: listResources},
		{Method: http.MethodGet, Pattern: "/subscriptions/{s}/resources", Service: "resources", Name: "Resources.List", Run: listResources},
		{Method: http.MethodGet, Pattern: "/subscriptions/{s}/providers/{p}/locations/{l}/operations/{o}", Service: "arm", Name: "Operations.Get", Run: pollOperation},
		{Method: http.MethodGet, Pattern: "/subscriptions/{s}/providers/{p}/locations/{l}/operationresults/{o}", Service: "arm", Name: "OperationResults.Get", Run: pollOperation},
	}
}

func (s *Service) subscription(id string) Doc {
	return Doc{"id": "/subscriptions/" + id, "subscriptionId": id, "tenantId": s.Tenant, "displayName": "Simulator", "state": "Enabled"}
}

func listSubscriptions(c *Call) *Response {
	all := append([]string{c.Svc.Subscription}, c.Svc.OtherSubscriptions...)
	return page(c, len(all), func(n int) Doc { return c.Svc.subscription(all[n]) })
}

func getSubscription(c *Call) *Response {
	c.ID = ID{Subscription: c.Segment(1)}
	if err := c.locate(); err != nil {
		return Refuse(err)
	}
	return Reply(http.StatusOK, c.Svc.subscription(strings.ToLower(c.Segment(1))))
}

func listGroups(c *Call) *Response {
	c.ID = ID{Subscription: c.Segment(1)}
	if err := c.locate(); err != nil {
		return Refuse(err)
	}
	var found []*Resource
	for _, r := range c.Svc.State.All(GroupType) {
		if strings.EqualFold(r.ID.Subscription, c.ID.Subscription) {
			found = append(found, r)
		}
	}
	return page(c, len(found), func(n int) Doc { return c.Svc.Render(found[n]) })
}

// listResources shows the heads of all resources, of a group or of the subscription.
func listResources(c *Call) *Response {
	c.ID = ID{Subscription: c.Segment(1)}
	prefix := "/subscriptions/" + c.Segment(1)
	if strings.EqualFold(c.Segment(2), "resourceGroups") {
		c.ID.Group, prefix = c.Segment(3), prefix+"/resourceGroups/"+c.Segment(3)
	}
	err := c.locate()
	if err == nil && c.ID.Group != "" && c.Svc.State.Get(c.ID) == nil {
		err = groupNotFound(c.ID)
	}
	if err != nil {
		return Refuse(err)
	}
	var found []*Resource
	for _, r := range c.Svc.State.Everything() {
		if len(r.ID.Types) == 1 && Within(r.ID.String(), prefix) {
			found = append(found, r)
		}
	}
	return page(c, len(found), func(n int) Doc {
		d := c.Svc.Render(found[n])
		Drop(d, "properties", "etag")
		return d
	})
}
