package model

import "testing"

// TestRealServices: what the owners of Services of public repositories see.
func TestRealServices(t *testing.T) { suite().Real(t, 9, false) }
