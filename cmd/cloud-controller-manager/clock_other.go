//go:build !linux

package main

import "time"

// sinceBoot returns a time that continues while the machine is suspended.
func sinceBoot() time.Duration { return sinceEpoch() }
