package model

import "testing"

// TestExplained: the explanation of every case is complete and right.
func TestExplained(t *testing.T) { suite().Explained(t) }
