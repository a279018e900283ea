package arm

import (
	"net/http"
	"slices"
	"strings"
)

// Limits of tags. Source: Azure Resource Manager documentation, tag limits.
const (
	maxTags     = 50
	maxTagName  = 512
	maxTagValue = 256
	maxName     = 80
)

// ValidName is the rule of nearly all names in Microsoft.Network.
// Source: Azure naming rules, Microsoft.Network.
func ValidName(name string) bool {
	if name == "" || len(name) > maxName || strings.ContainsAny(name[:1]+name[len(name)-1:], ".-") {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_.-", r)
	})
}

// Location brings "East US" into the form of ids.
func Location(text string) string { return strings.ToLower(strings.ReplaceAll(text, " ", "")) }

// prepare brings the body into the stored form and applies all rules.
func (w *Write) prepare() *Error {
	Bare(w.Doc)
	Drop(w.Doc, "id", "name", "type", "etag", "systemData")
	Default(w.Doc, Doc{}, "properties")
	return First(w.checkBasics, w.prepareParts, w.prepareProperties, w.checkReferences, w.checkRemoved)
}

func (w *Write) prepareProperties() *Error {
	p := w.Props()
	Drop(p, "provisioningState")
	Drop(p, w.Kind.ReadOnly...)
	dropShown(p, w.Kind.Shows)
	for _, name := range w.Kind.Links {
		OnlyID(p, name)
	}
	for name, word := range w.Kind.GUIDs {
		p[name] = Text(w.OldDoc(), "properties", name)
		if w.Old == nil {
			p[name] = w.GUID(word)
		}
	}
	if w.Kind.Prepare == nil {
		return nil
	}
	return w.Kind.Prepare(w)
}

func (w *Write) checkBasics() *Error {
	if w.Old == nil && !ValidName(w.ID.Name()) {
		return Badf("InvalidResourceName", "Resource name %s is invalid. The name can be up to %d characters long. It must begin with a word character, and it must end with a word character or with '_'.", w.ID.Name(), maxName)
	}
	if err := checkTags(w.Doc); err != nil {
		return err
	}
	location := Location(Text(w.Doc, "location"))
	if location == "" {
		return Badf("LocationRequired", "The location property is required for this definition.")
	}
	if w.Old != nil && location != Text(w.Old.Doc, "location") {
		return Conflictf("InvalidResourceLocation", "The resource '%s' already exists in location '%s' in resource group '%s'. A resource with the same name cannot be created in location '%s'. Please select a new resource name.",
			w.ID.Name(), Text(w.Old.Doc, "location"), w.ID.Group, location)
	}
	w.Doc["location"] = location
	return nil
}

func checkTags(d Doc) *Error {
	tags := Object(d, "tags")
	if len(tags) > maxTags {
		return Badf("InvalidTagCount", "The number of tags %d exceeds the maximum of %d.", len(tags), maxTags)
	}
	for name, v := range tags {
		value, ok := v.(string)
		switch {
		case !ok:
			return Badf("InvalidRequestContent", "The value of the tag '%s' is no text.", name)
		case name == "" || len(name) > maxTagName || strings.ContainsAny(name, "<>%&\\?/"):
			return Badf("InvalidTagNameCharacters", "The tag name '%s' is invalid or longer than %d characters.", name, maxTagName)
		case len(value) > maxTagValue:
			return Badf("InvalidTagValueLength", "Tag value too large. The value of '%s' is longer than %d characters.", name, maxTagValue)
		}
	}
	return nil
}

// prepareParts writes the ids of parts and takes out what the service knows
// better. Ids that the client sends are not looked at: names decide.
func (w *Write) prepareParts() *Error {
	p := w.Props()
	for _, c := range w.Kind.Collections {
		if c.Derived {
			Drop(p, c.Property)
			continue
		}
		seen := map[string]bool{}
		for _, part := range List(p, c.Property) {
			name := Text(part, "name")
			if !ValidName(name) {
				return Badf("InvalidResourceName", "Resource name %s is invalid. The name can be up to %d characters long.", name, maxName)
			}
			if seen[strings.ToLower(name)] {
				return Badf("InvalidRequestFormat", "Cannot parse the request: resource %s has duplicate name in %s.", name, c.Property)
			}
			seen[strings.ToLower(name)] = true
			w.preparePart(c, part, name)
		}
	}
	return nil
}

func (w *Write) preparePart(c Collection, part Doc, name string) {
	if old := c.Part(w.OldDoc(), name); old != nil {
		name = Text(old, "name")
	}
	Drop(part, "etag", "type")
	part["name"], part["id"] = name, w.Part(c.Property, name)
	Default(part, Doc{}, "properties")
	props := Object(part, "properties")
	Drop(props, "provisioningState")
	Drop(props, c.ReadOnly...)
	dropShown(props, c.Shows)
	for _, link := range c.Links {
		OnlyID(props, link)
	}
	for _, link := range c.LinkLists {
		OnlyIDs(props, link)
	}
}

// checkReferences wants everything referred to to exist, as far as its type is simulated.
func (w *Write) checkReferences() *Error {
	own := map[string]bool{w.ID.Key(): true}
	for _, id := range Parts(w.ID.String(), w.Doc) {
		own[Key(id)] = true
	}
	for _, ref := range References(w.ID.String(), w.Doc) {
		if own[Key(ref.To)] || w.exists(ref.To) {
			continue
		}
		return Badf("InvalidResourceReference", "Resource %s referenced by resource %s was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.", ref.To, ref.From)
	}
	return nil
}

func (w *Write) exists(text string) bool {
	id, ok := ParseID(text)
	if !ok || Within(text, w.ID.String()) {
		return false
	}
	if kind := strings.ToLower(id.Type()); w.svc.kinds[kind] == nil && w.svc.parts[kind].Kind == nil {
		return true
	}
	d, _ := w.State.Part(text)
	return d != nil
}

// checkRemoved applies the rules to parts that the body leaves out while other resources
// refer to them.
func (w *Write) checkRemoved() *Error {
	if w.Old == nil {
		return nil
	}
	kept := map[string]bool{}
	for _, id := range Parts(w.ID.String(), w.Doc) {
		kept[Key(id)] = true
	}
	gone := slices.DeleteFunc(Parts(w.ID.String(), w.Old.Doc), func(id string) bool { return kept[Key(id)] })
	return freeRefs(w, OutsideRefs(w.State, w.ID.String(), gone))
}

func freeRefs(w *Write, refs []Ref) *Error {
	if len(refs) == 0 {
		return nil
	}
	if w.Kind.Vacate != nil {
		return w.Kind.Vacate(w, refs)
	}
	return Badf("InUseResourceCannotBeDeleted", "Resource %s is in use by %s and cannot be deleted.", refs[0].To, refs[0].From)
}

// checkETag checks If-Match and If-None-Match against an etag, "" for none.
func checkETag(r *Request, etag string) *Error {
	want, not := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	switch {
	case want == "*" && etag == "", want != "" && want != "*" && want != etag:
		return Failf(http.StatusPreconditionFailed, "PreconditionFailed", "Precondition failed. Etag provided in if-match header %s does not match etag %s of resource.", want, etag)
	case not == "*" && etag != "":
		return Failf(http.StatusPreconditionFailed, "PreconditionFailed", "Precondition failed. The resource exists, and if-none-match is *.")
	}
	return nil
}
