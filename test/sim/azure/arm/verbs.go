package arm

import (
	"net/http"
	"strings"
)

// locate checks what is around the resource: subscription, group, parent.
func (c *Call) locate() *Error {
	if !strings.EqualFold(c.ID.Subscription, c.Svc.Subscription) {
		return Failf(http.StatusNotFound, "SubscriptionNotFound", "The subscription '%s' could not be found.", c.ID.Subscription)
	}
	if c.ID.Group == "" || len(c.ID.Types) == 0 {
		return nil
	}
	group := c.Svc.State.Get(c.ID.GroupID())
	if group == nil {
		return groupNotFound(c.ID)
	}
	if c.Method == http.MethodPut && group.Provisioning == Deleting {
		return Conflictf("ResourceGroupBeingDeleted", "The resource group '%s' is in deprovisioning state and cannot perform this operation.", c.ID.Group)
	}
	if c.part == nil && len(c.ID.Types) > 1 && c.Svc.State.Get(c.ID.Parent()) == nil {
		return parentNotFound(c.ID)
	}
	return nil
}

func serveGet(c *Call) *Response {
	if err := c.locate(); err != nil {
		return Refuse(err)
	}
	r := c.Svc.State.Get(c.ID)
	if r == nil {
		return Refuse(notFound(c.ID))
	}
	return c.show(http.StatusOK, r)
}

func serveHead(c *Call) *Response {
	out := serveGet(c)
	out.Body = nil
	if out.Status == http.StatusOK {
		out.Status = http.StatusNoContent
	}
	return out
}

func (c *Call) show(status int, r *Resource) *Response {
	out := Reply(status, c.render(r))
	if !c.kind.NoEtag {
		out.Header.Set("ETag", r.Etag)
	}
	return out
}

// render is Render with what the caller asks for besides.
func (c *Call) render(r *Resource) Doc {
	d := c.Svc.Render(r)
	if expand := c.Query.Get("$expand"); expand != "" && c.kind.Expand != nil {
		c.kind.Expand(expand, c.Svc.State, r, d)
	}
	return d
}

// Render is a resource as a GET shows it.
func (s *Service) Render(r *Resource) Doc {
	kind := s.kinds[strings.ToLower(r.ID.Type())]
	d := Clone(r.Doc)
	Default(d, Doc{}, "properties")
	d["id"], d["name"], d["type"] = r.ID.String(), r.ID.Name(), kind.Type
	Put(d, r.Provisioning, "properties", "provisioningState")
	for _, x := range kind.Shows {
		x.show(Object(d, "properties"), s.State.ReferredBy(r.ID.String()))
	}
	if kind.View != nil {
		kind.View(s.State, r, d)
	}
	for _, c := range kind.Collections {
		for _, part := range List(d, "properties", c.Property) {
			for _, x := range c.Shows {
				x.show(Object(part, "properties"), s.State.ReferredBy(Text(part, "id")))
			}
			part["type"] = kind.Type + "/" + c.Property
			Put(part, r.Provisioning, "properties", "provisioningState")
			if !kind.NoEtag {
				part["etag"] = r.Etag
			}
		}
	}
	if !kind.NoEtag {
		d["etag"] = r.Etag
	}
	return d
}

// servePut serves PUT and PATCH.
func servePut(c *Call) *Response {
	w, err := c.begin(c.ID)
	if err != nil {
		return Refuse(err)
	}
	if err := c.members(c.Body); err != nil {
		return Refuse(err)
	}
	body := c.Body
	if c.Method == http.MethodPatch {
		if w.Old == nil {
			return Refuse(notFound(c.ID))
		}
		body = Merge(w.Old.Doc, body)
	}
	w.Doc = Clone(body)
	if c.kind.Patches && w.Old != nil {
		w.Doc = Merge(w.Old.Doc, w.Doc)
	}
	if err := w.prepare(); err != nil {
		return Refuse(err)
	}
	return c.finish(w, func(r *Resource) Doc { return c.Svc.Render(r) })
}

// members checks the names in a body, if the type has rules for them.
func (c *Call) members(body Doc) *Error {
	if c.kind.Members == nil {
		return nil
	}
	return c.kind.Members(body)
}

// begin checks everything that does not depend on the body.
func (c *Call) begin(id ID) (*Write, *Error) {
	if err := c.locate(); err != nil {
		return nil, err
	}
	w := &Write{Request: c.Request, State: c.Svc.State, Kind: c.kind, ID: id, Old: c.Svc.State.Get(id), svc: c.Svc}
	etag := ""
	if w.Old != nil {
		w.ID, etag = w.Old.ID, w.Old.Etag
	} else if group := c.Svc.State.Get(id.GroupID()); group != nil {
		provider, _, _ := strings.Cut(c.kind.Type, "/")
		w.ID.Subscription, w.ID.Group, w.ID.Provider = group.ID.Subscription, group.ID.Group, provider
		w.ID.Types = strings.Split(c.kind.Type, "/")[1:]
	}
	if err := checkETag(c.Request, etag); err != nil {
		return nil, err
	}
	if c.Body == nil && c.Method != http.MethodDelete {
		return nil, Badf("InvalidRequestContent", "The request content was invalid and could not be deserialized: the body is missing.")
	}
	return w, c.Svc.overlap(w)
}

func serveDelete(c *Call) *Response {
	if err := c.locate(); err != nil {
		return Refuse(err)
	}
	if c.Svc.State.Get(c.ID) == nil {
		if len(c.ID.Types) == 0 {
			return Refuse(groupNotFound(c.ID))
		}
		return Reply(http.StatusNoContent, nil)
	}
	w, err := c.begin(c.ID)
	if err != nil {
		return Refuse(err)
	}
	ids := append(Parts(w.ID.String(), w.Old.Doc), w.ID.String())
	if len(w.ID.Types) == 0 {
		ids = groupContent(c.Svc.State, w.ID)
	}
	if err := freeRefs(w, OutsideRefs(c.Svc.State, w.ID.String(), ids)); err != nil {
		return Refuse(err)
	}
	return c.finishDelete(w)
}

func serveList(c *Call) *Response {
	if err := c.locate(); err != nil {
		return Refuse(err)
	}
	parent := c.ID.Parent()
	if c.ID.Group == "" {
		parent = ID{Subscription: c.ID.Subscription}
	}
	filter := c.Query.Get("$filter")
	var found []*Resource
	prefix := parent.Key() + "/"
	for _, r := range c.Svc.State.All(c.kind.Type) {
		inside := strings.HasPrefix(r.key, prefix)
		if c.ID.Group == "" {
			inside = strings.EqualFold(r.ID.Subscription, parent.Subscription)
		}
		if inside && (filter == "" || c.kind.Filter == nil || c.kind.Filter(filter, r)) {
			found = append(found, r)
		}
	}
	return c.Page(len(found), func(n int) Doc { return c.render(found[n]) })
}
