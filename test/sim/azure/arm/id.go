package arm

import "strings"

// ID is a parsed resource id. Ids are compared without letter case, and keep
// the case of the request that made the resource.
// Source: Azure Resource Manager documentation, resource ids.
type ID struct {
	Subscription, Group, Provider string
	// Types and Names are the path after the provider, one of each per level.
	Types, Names []string
}

// Key is the form of an id that two spellings of it share.
func Key(id string) string { return strings.ToLower(strings.TrimRight(id, "/")) }

// ParseID reads the id of a resource or of a resource group.
func ParseID(text string) (ID, bool) {
	parts := strings.Split(strings.Trim(text, "/"), "/")
	if len(parts) < 4 || !strings.EqualFold(parts[0], "subscriptions") || !strings.EqualFold(parts[2], "resourceGroups") {
		return ID{}, false
	}
	id := ID{Subscription: parts[1], Group: parts[3]}
	if len(parts) == 4 {
		return id, id.Subscription != "" && id.Group != ""
	}
	if len(parts) < 8 || len(parts)%2 != 0 || !strings.EqualFold(parts[4], "providers") {
		return ID{}, false
	}
	id.Provider = parts[5]
	for i := 6; i < len(parts); i += 2 {
		if parts[i] == "" || parts[i+1] == "" {
			return ID{}, false
		}
		id.Types, id.Names = append(id.Types, parts[i]), append(id.Names, parts[i+1])
	}
	return id, true
}

// GroupID is the id of the group that the resource is in.
func (id ID) GroupID() ID { return ID{Subscription: id.Subscription, Group: id.Group} }

// Child is the id of something one level below.
func (id ID) Child(kind, name string) ID {
	id.Types = append(append([]string{}, id.Types...), kind)
	id.Names = append(append([]string{}, id.Names...), name)
	return id
}

// Parent is the id one level above: that of the group for a top level resource.
func (id ID) Parent() ID {
	if len(id.Types) <= 1 {
		return id.GroupID()
	}
	id.Types, id.Names = id.Types[:len(id.Types)-1], id.Names[:len(id.Names)-1]
	return id
}

// Name is the last name of the path.
func (id ID) Name() string {
	if len(id.Names) == 0 {
		return id.Group
	}
	return id.Names[len(id.Names)-1]
}

// Type is the full type, such as Microsoft.Network/virtualNetworks/subnets.
func (id ID) Type() string {
	if len(id.Types) == 0 {
		return GroupType
	}
	return id.Provider + "/" + strings.Join(id.Types, "/")
}

// Key is the id in the form that two spellings share.
func (id ID) Key() string { return Key(id.String()) }

func (id ID) String() string {
	var b strings.Builder
	b.WriteString("/subscriptions/" + id.Subscription + "/resourceGroups/" + id.Group)
	if id.Provider != "" {
		b.WriteString("/providers/" + id.Provider)
	}
	for i, kind := range id.Types {
		b.WriteString("/" + kind + "/" + id.Names[i])
	}
	return b.String()
}

// LastName is the last path segment of an id in text form.
func LastName(id string) string { return id[strings.LastIndex(id, "/")+1:] }

// Within reports whether an id is that of a part of another resource.
func Within(id, of string) bool {
	id, of = strings.TrimRight(id, "/"), strings.TrimRight(of, "/")
	return len(id) > len(of) && id[len(of)] == '/' && strings.EqualFold(id[:len(of)], of)
}
