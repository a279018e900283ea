package model

import "github.com/berth-lb/berth/annotations"

// Judge returns the problems of a new Service that follow from its annotations and fields alone.
func Judge(in Input) annotations.Problems {
	b := &builder{in: in}
	b.otherFamily()
	return b.problems
}
