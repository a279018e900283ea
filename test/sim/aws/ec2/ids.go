package ec2

import (
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// idKind is how one kind of resource is named in ids and in errors. The codes
// differ in "ID" and "Id" as the real ones do. Kinds without a malformed code
// answer the not found one to any text that is no id of theirs.
// Source: EC2 API reference, error codes.
type idKind struct {
	prefix, resourceType, noun, malformed, notFound string
}

func kindVPC() idKind {
	return idKind{"vpc", "vpc", "vpc ID", "", "InvalidVpcID.NotFound"}
}

func kindSubnet() idKind {
	return idKind{"subnet", "subnet", "subnet ID", "", "InvalidSubnetID.NotFound"}
}

func kindGroup() idKind {
	return idKind{"sg", "security-group", "security group", "InvalidGroupId.Malformed", "InvalidGroup.NotFound"}
}

func kindRule() idKind {
	return idKind{"sgr", "security-group-rule", "security group rule ID", "InvalidSecurityGroupRuleId.Malformed", "InvalidSecurityGroupRuleId.NotFound"}
}

func kindInstance() idKind {
	return idKind{"i", "instance", "instance ID", "InvalidInstanceID.Malformed", "InvalidInstanceID.NotFound"}
}

func kindInterface() idKind {
	return idKind{"eni", "network-interface", "networkInterface ID", "InvalidNetworkInterfaceId.Malformed", "InvalidNetworkInterfaceID.NotFound"}
}

func kindAddress() idKind {
	return idKind{"eipalloc", "elastic-ip", "allocation ID", "", "InvalidAllocationID.NotFound"}
}

func kindTable() idKind {
	return idKind{"rtb", "route-table", "routeTable ID", "InvalidRouteTableId.Malformed", "InvalidRouteTableID.NotFound"}
}

func kindList() idKind {
	return idKind{"pl", "prefix-list", "prefix list ID", "InvalidPrefixListId.Malformed", "InvalidPrefixListId.NotFound"}
}

func idKinds() []idKind {
	return []idKind{kindVPC(), kindSubnet(), kindGroup(), kindRule(), kindInstance(), kindInterface(), kindAddress(), kindTable()}
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
