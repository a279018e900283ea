package model

import "testing"

// TestRealServices: what the owners of Services of public repositories are told.
func TestRealServices(t *testing.T) { suite().Real(t, 9, false) }
