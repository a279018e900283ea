package model

import "github.com/berth-lb/berth/annotations"

// judgeNew returns the problems of a new Service that follow from its annotations and fields alone.
func judgeNew(in input) annotations.Problems {
	v := in.Values
	if internalKey.Get(v) {
		return nil
	}
	b := &builder{in: in, families: in.Backends.Families}
	for _, family := range in.Backends.Families {
		name, _ := b.perFamily(pipNameKey, pipNameV6Key, family)
		prefix, _ := b.perFamily(pipPrefixKey, pipPrefixV6Key, family)
		if wanted, asked := wantedIP(in, family); asked && name+prefix == "" && !isPublic(wanted) {
			b.report(noPublicAddress(wantedBy(in, family), wanted))
		}
	}
	return b.problems
}
