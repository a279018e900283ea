package arm

import (
	"net/http"
	"strings"
)

// Call is a request with the operation that it means.
type Call struct {
	*Request
	// Service and Name go into the journal and are what faults match.
	Service, Name string
	Write         bool
	// ID is of the resource, of the group for lists of a group, and has only a
	// subscription for lists of all.
	ID ID
	// AsyncError is how the operation of a write is to end, nil for well; the
	// write itself is accepted.
	AsyncError *Error
	// Svc is set before the call runs.
	Svc *Service

	kind *Kind
	part *partKind
	run  func(*Call) *Response
}

// Find tells which operation a request means. The call is never nil; a request
// that means nothing is answered by an error when it runs.
func (s *Service) Find(req *Request) *Call {
	c := &Call{Request: req, Service: "arm", Name: "Unknown", Svc: s}
	if !s.findExtra(c) && !s.findResource(c) {
		c.Name = "Unknown." + req.Method
		c.run = unknownRoute
	}
	return c
}

// Run does the operation against a service, which may be an earlier state.
func (c *Call) Run(s *Service) *Response {
	c.Svc = s
	if err := c.checkVersion(); err != nil {
		return Refuse(err)
	}
	return c.run(c)
}

func unknownRoute(c *Call) *Response {
	return Refuse(Failf(http.StatusNotFound, "InvalidResourceType", "The request %s '%s' does not match any resource type or action that is simulated.", c.Method, c.Path))
}

// Segment is the n-th part of the path, from 0.
func (c *Call) Segment(n int) string {
	parts := strings.Split(strings.Trim(c.Path, "/"), "/")
	if n >= len(parts) {
		return ""
	}
	return parts[n]
}

func (s *Service) findExtra(c *Call) bool {
	parts := strings.Split(strings.ToLower(strings.Trim(c.Path, "/")), "/")
	for _, e := range s.extra {
		if e.Method == c.Method && matchesRoute(parts, strings.Split(strings.Trim(e.Pattern, "/"), "/")) {
			c.Service, c.Name, c.Write, c.run = e.Service, e.Name, e.Write, e.Run
			return true
		}
	}
	return false
}

func matchesRoute(parts, pattern []string) bool {
	if len(parts) != len(pattern) {
		return false
	}
	for i, p := range pattern {
		if p != parts[i] && !strings.HasPrefix(p, "{") {
			return false
		}
	}
	return true
}

// findResource reads paths that follow the pattern of resources: an odd number
// of segments after the provider is a list, an even one a resource.
func (s *Service) findResource(c *Call) bool {
	path := "/" + strings.Trim(c.Path, "/")
	if id, ok := ParseID(path); ok {
		return s.findSingle(c, id)
	}
	if parts := strings.Split(path[1:], "/"); len(parts) == 5 && strings.EqualFold(parts[0], "subscriptions") && strings.EqualFold(parts[2], "providers") {
		// A list over all groups; the group stays empty.
		id := ID{Subscription: parts[1], Provider: parts[3], Types: []string{parts[4]}, Names: []string{""}}
		return s.findList(c, id, ".ListAll")
	}
	id, ok := ParseID(path + "/_")
	if !ok || len(id.Types) == 0 {
		return false
	}
	return s.findList(c, id, ".List")
}

// routed is the kind of a type that has calls of its own.
func (s *Service) routed(id ID) *Kind {
	if kind := s.kinds[strings.ToLower(id.Type())]; kind != nil && kind.Client != "" {
		return kind
	}
	return nil
}

// verb is what a method does to a resource, or to a part of one.
type verb struct {
	name           string
	resource, part func(*Call) *Response
}

// resourceVerbs are the methods; nil: parts have none of their own.
func resourceVerbs() map[string]verb {
	return map[string]verb{
		http.MethodGet: {"Get", serveGet, getPart}, http.MethodHead: {"CheckExistence", serveHead, nil},
		http.MethodPut: {"CreateOrUpdate", servePut, putPart}, http.MethodPatch: {"Update", servePut, nil}, http.MethodDelete: {"Delete", serveDelete, removePart},
	}
}

func (s *Service) findSingle(c *Call, id ID) bool {
	c.ID = id
	v, ok := resourceVerbs()[c.Method]
	c.Write = c.Method != http.MethodGet && c.Method != http.MethodHead
	if kind := s.routed(id); kind != nil {
		if !ok || kind.GetOnly && c.Write {
			return false
		}
		c.kind, c.Service, c.Name, c.run = kind, kind.Service, kind.Client+"."+v.name, v.resource
		return true
	}
	part, known := s.parts[strings.ToLower(id.Type())]
	writes := part.Writable || c.Method == http.MethodDelete && part.Delete != nil
	if !known || v.part == nil || c.Write && !writes {
		return false
	}
	c.kind, c.part, c.Service, c.Name, c.run = part.Kind, &part, part.Service, part.Collection.Client+"."+v.name, v.part
	return true
}

func (s *Service) findList(c *Call, id ID, verb string) bool {
	if c.Method != http.MethodGet {
		return false
	}
	kind := s.routed(id)
	if kind == nil {
		return false
	}
	c.ID, c.kind, c.Service, c.Name, c.run = id, kind, kind.Service, kind.Client+verb, serveList
	return true
}
