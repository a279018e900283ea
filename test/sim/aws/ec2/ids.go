package ec2

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// idKind is how one kind of resource is named in ids and in errors.
type idKind struct{ prefix, noun, malformed, notFound string }

// idKinds lists the kinds. The codes differ in "ID" and "Id" as the real ones do. Kinds without
// a malformed code answer the not found one to any text that is no id of theirs.
// Source: EC2 API reference, error codes.
func idKinds() []idKind {
	return []idKind{
		{"vpc", "vpc ID", "", "InvalidVpcID.NotFound"},
		{"subnet", "subnet ID", "", "InvalidSubnetID.NotFound"},
		{"sg", "security group", "InvalidGroupId.Malformed", "InvalidGroup.NotFound"},
		{"sgr", "security group rule ID", "InvalidSecurityGroupRuleId.Malformed", "InvalidSecurityGroupRuleId.NotFound"},
		{"i", "instance ID", "InvalidInstanceID.Malformed", "InvalidInstanceID.NotFound"},
		{"eni", "networkInterface ID", "InvalidNetworkInterfaceId.Malformed", "InvalidNetworkInterfaceID.NotFound"},
		{"eipalloc", "allocation ID", "", "InvalidAllocationID.NotFound"},
		{"rtb", "routeTable ID", "InvalidRouteTableId.Malformed", "InvalidRouteTableID.NotFound"},
		{"pl", "prefix list ID", "InvalidPrefixListId.Malformed", "InvalidPrefixListId.NotFound"},
	}
}

// kindOf returns the kind of a prefix.
func kindOf(prefix string) idKind {
	kinds := idKinds()
	return kinds[slices.IndexFunc(kinds, func(k idKind) bool { return k.prefix == prefix })]
}

// wellFormed accepts both lengths that EC2 knows, 8 and 17 digits.
func (k idKind) wellFormed(id string) bool {
	digits, ok := strings.CutPrefix(id, k.prefix+"-")
	return ok && (len(digits) == 8 || len(digits) == 17) && strings.Trim(digits, "0123456789abcdef") == ""
}

// check refuses a malformed id.
func (k idKind) check(id string) error {
	if k.malformed == "" || k.wellFormed(id) {
		return nil
	}
	if strings.HasPrefix(id, k.prefix+"-") {
		return query.Errorf(k.malformed, "Invalid id: %q", id)
	}
	return query.Errorf(k.malformed, "Invalid id: %q (expecting \"%s-...\")", id, k.prefix)
}

func (k idKind) missing(ids ...string) error {
	if len(ids) > 1 {
		return query.Errorf(k.notFound, "The %ss '%s' do not exist", k.noun, strings.Join(ids, ", "))
	}
	return query.Errorf(k.notFound, "The %s '%s' does not exist", k.noun, strings.Join(ids, ""))
}

// findByID finds an object by its id; an error has the code of its kind.
func findByID[T any](m map[string]T, k idKind, id string) (T, error) {
	o, ok := m[id]
	if ok {
		return o, nil
	}
	if err := k.check(id); err != nil {
		return o, err
	}
	return o, k.missing(id)
}

// requireParam returns a parameter that is required.
func requireParam(c *call, name string) (string, error) {
	v := c.Str(name)
	if v == "" {
		return "", missingParameter(name)
	}
	return v, nil
}

func missingParameter(name string) error {
	return query.Errorf("MissingParameter", "The request must contain the parameter %s", strings.ToLower(name[:1])+name[1:])
}

// requireObject reads a required id and finds its object.
func requireObject[T any](c *call, m map[string]T, k idKind, name string) (T, error) {
	id, err := requireParam(c, name)
	if err != nil {
		var none T
		return none, err
	}
	return findByID(m, k, id)
}

func badValue(name, value, why string) error {
	return query.Errorf("InvalidParameterValue", "Value (%s) for parameter %s is invalid. %s", value, name, why)
}
