package ec2

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// listing is how one Describe call finds its objects.
type listing[T any] struct {
	kind idKind
	// param is the list of ids in the request, such as GroupId; empty: there is none.
	param   string
	id      func(T) string
	props   properties[T]
	objects []T
	// exclusive refuses MaxResults together with ids.
	exclusive string
	// most is the largest MaxResults, 1000 unless set.
	most int
}

// parsePaging reads and validates MaxResults.
func parsePaging(c *call, most int) (int, error) {
	if most == 0 {
		most = 1000
	}
	size, ok, err := c.Int("MaxResults")
	if err != nil || !ok {
		return 0, err
	}
	switch {
	case size < 5:
		return 0, query.Errorf("InvalidParameterValue", "Value ( %d ) for parameter maxResults is invalid. Expecting a value greater than 5.", size)
	case size > most:
		return 0, query.Errorf("InvalidParameterValue", "Value ( %d ) for parameter maxResults is invalid. Expecting a value less than %d.", size, most)
	}
	return size, nil
}

// describePage runs a Describe call: ids, filters, one page.
func describePage[T any](c *call, l listing[T]) (page []T, next string, err error) {
	size, err := parsePaging(c, l.most)
	if err != nil {
		return nil, "", err
	}
	ids := c.Strs(l.param)
	if l.exclusive != "" && len(ids) > 0 && size > 0 {
		return nil, "", query.Errorf("InvalidParameterCombination", "The parameter %s cannot be used with the parameter maxResults", l.exclusive)
	}
	objects, err := byID(l, ids)
	if err != nil {
		return nil, "", err
	}
	if objects, err = selectBy(c, l.props, l.id, objects); err != nil {
		return nil, "", err
	}
	page, next, ok := query.Page(objects, l.id, c.Str("NextToken"), size)
	if !ok {
		return nil, "", query.Errorf("InvalidNextToken", "The token '%s' is invalid", c.Str("NextToken"))
	}
	return page, next, nil
}

// describeAs runs a Describe call and converts each object of its page.
func describeAs[T, X any](c *call, l listing[T], name string, show func(T) X) (any, error) {
	page, next, err := describePage(c, l)
	if err != nil {
		return nil, err
	}
	items := make([]X, len(page))
	for i, o := range page {
		items[i] = show(o)
	}
	return query.List{Name: name, Items: items, Next: next}, nil
}

func byID[T any](l listing[T], ids []string) ([]T, error) {
	if len(ids) == 0 {
		return l.objects, nil
	}
	for _, id := range ids {
		if err := l.kind.check(id); err != nil {
			return nil, err
		}
	}
	wanted, found := map[string]bool{}, map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	var out []T
	for _, o := range l.objects {
		if wanted[l.id(o)] {
			out = append(out, o)
			found[l.id(o)] = true
		}
	}
	var missing []string
	for _, id := range ids {
		if !found[id] && !slices.Contains(missing, id) {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		return nil, l.kind.missing(missing...)
	}
	return out, nil
}
