package model

import (
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
)

// The parts of listeners have the name of their listener.
const (
	KindListenerAttr stack.Kind = "listener-attributes"
	KindCertificates stack.Kind = "listener-certificates" // besides the default one
)

// Certificates are the certificates of a TLS listener besides its default one.
type Certificates struct {
	ARNs []string // sorted
}

// certificatesPart: AWS accepts one certificate a call. Source: API reference, AddListenerCertificates.
func certificatesPart() part {
	return part{
		kind: KindCertificates,
		rule: diff.Rule{
			Within: diff.Within{Inherent: true, Default: func(stack.Resource) stack.Spec { return Certificates{} }},
			Fields: diff.Fields{Sets: map[string]diff.Set{"ARNs": {Chunk: 1}}},
		},
		asked: func(in input) bool { return len(certsKey.Get(in.Values)) > 0 },
	}
}

func listenerAttributesPart() part {
	return part{
		kind: KindListenerAttr,
		rule: diff.Rule{
			Within: diff.Within{Inherent: true, Default: defaultListenerAttributes},
			Fields: diff.Fields{Ignore: []string{"Type"}, Subset: []string{"Values"}},
		},
		asked: func(in input) bool { return len(listenerAttrKey.All(in.Values)) > 0 },
	}
}
