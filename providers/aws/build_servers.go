package aws

import (
	"fmt"

	"github.com/berth-lb/berth/annotations"
)

// tellServers warns before what servers receive changes under them: the attributes of a target
// group that is there already. AWS applies them to new connections at once, and answers as to
// any other attribute.
// Source: AWS, User Guide for Network Load Balancers: "Edit target group attributes".
func (b *builder) tellServers() {
	for _, res := range b.out.Of(KindTargetAttr) {
		found, there := b.found(res.Key)
		was, _ := found.Spec.(Attributes)
		wanted, _ := res.Spec.(Attributes)
		if group, _ := b.found(res.In); !there || group.ID == "" {
			continue
		}
		for _, change := range []struct{ attribute, text string }{
			{attrProxyV2, "new connections begin with the PROXY protocol version 2 or no longer do: servers that expect the other fail all of them"},
			{attrPreserveIP, "servers see other addresses of clients on new connections"},
		} {
			before, after := was.Values[change.attribute], wanted.Values[change.attribute]
			if before != "" && after != "" && before != after {
				b.tell(said(targetAttrKey.Name, "", fmt.Sprintf("changes %s of a target group that serves from %s to %s: %s", change.attribute, before, after, change.text), "", annotations.Warning))
			}
		}
	}
	b.problems = b.problems.Distinct()
}
