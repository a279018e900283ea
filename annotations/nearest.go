package annotations

// Nearest returns the text of a list that a misspelt one most likely means, or "" if none is
// near.
func Nearest(text string, legal []string) string {
	limit := distanceLimit(text)
	best, distance := "", limit+1
	for _, candidate := range legal {
		if d := editDistance(text, candidate, limit); d < distance {
			best, distance = candidate, d
		}
	}
	return best
}
