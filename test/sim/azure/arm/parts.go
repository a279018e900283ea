package arm

import (
	"maps"
	"net/http"
	"strconv"
	"strings"
)

// parent finds the resource that a part is in.
func (c *Call) parent() (*Resource, *Error) {
	if err := c.locate(); err != nil {
		return nil, err
	}
	r := c.Svc.State.Get(c.ID.Parent())
	if r == nil {
		return nil, notFound(c.ID.Parent())
	}
	return r, nil
}

func getPart(c *Call) *Response {
	r, err := c.parent()
	if err != nil {
		return Refuse(err)
	}
	part := c.part.Part(c.Svc.Render(r), c.ID.Name())
	if part == nil {
		return Refuse(childNotFound(c.ID))
	}
	return Reply(http.StatusOK, part)
}

// putPart writes one part by writing the whole resource with it.
func putPart(c *Call) *Response {
	if r, err := c.parent(); r == nil {
		if err.Code == "ResourceNotFound" {
			err = parentNotFound(c.ID)
		}
		return Refuse(err)
	}
	w, err := c.begin(c.ID.Parent())
	if err != nil {
		return Refuse(err)
	}
	if err := c.members(Doc{"properties": Doc{c.part.Property: []any{c.Body}}}); err != nil {
		return Refuse(err)
	}
	created := c.part.Part(w.Old.Doc, c.ID.Name()) == nil
	body := Clone(c.Body)
	body["name"] = c.ID.Name()
	w.Doc = Clone(w.Old.Doc)
	c.part.replace(w.Doc, c.ID.Name(), body)
	if err := w.prepare(); err != nil {
		return Refuse(err)
	}
	out := c.finish(w, func(r *Resource) Doc { return c.part.Part(c.Svc.Render(r), c.ID.Name()) })
	if created && out.Status == http.StatusOK {
		out.Status = http.StatusCreated
	}
	return out
}

func removePart(c *Call) *Response {
	r, err := c.parent()
	if err != nil {
		return Refuse(err)
	}
	if c.part.Part(c.Svc.Render(r), c.ID.Name()) == nil {
		return Reply(http.StatusNoContent, nil)
	}
	w, err := c.begin(c.ID.Parent())
	if err != nil {
		return Refuse(err)
	}
	if c.part.Delete != nil {
		if err := c.part.Delete(w, c.ID.Name()); err != nil {
			return Refuse(err)
		}
		return c.accept(w, c.Svc.track(c, w, func(*Error) {}))
	}
	w.Doc = Clone(w.Old.Doc)
	c.part.replace(w.Doc, c.ID.Name(), nil)
	if err := w.prepare(); err != nil {
		return Refuse(err)
	}
	c.Svc.commit(w, Updating)
	return c.accept(w, c.Svc.track(c, w, c.Svc.settler(w)))
}

// Page answers one page of a list, with the link to the next.
func (c *Call) Page(total int, show func(int) Doc) *Response {
	from := 0
	if token := c.Query.Get("$skiptoken"); token != "" {
		n, err := strconv.Atoi(token)
		if err != nil || n < 0 || n > total {
			return Refuse(Badf("InvalidSkipToken", "The skip token '%s' is invalid.", token))
		}
		from = n
	}
	to := min(total, from+c.Svc.PageSize)
	value := make([]any, 0, to-from)
	for n := from; n < to; n++ {
		value = append(value, show(n))
	}
	body := Doc{"value": value}
	if to < total {
		query := maps.Clone(c.Query)
		query.Set("$skiptoken", strconv.Itoa(to))
		body["nextLink"] = c.linkBase() + c.Path + "?" + query.Encode()
	}
	return Reply(http.StatusOK, body)
}

// linkBase is scheme and host of the link to the next page. Compute names the port of the
// scheme also where the caller does not. Sources: Azure/azure-xplat-cli issue 2961;
// Azure/azure-sdk-for-java issue 27991.
func (c *Call) linkBase() string {
	scheme, host, _ := strings.Cut(c.Base, "://")
	if !strings.Contains(strings.ToLower(c.Path), "/providers/microsoft.compute/") || strings.Contains(host, ":") {
		return c.Base
	}
	return c.Base + map[string]string{"http": ":80", "https": ":443"}[scheme]
}
