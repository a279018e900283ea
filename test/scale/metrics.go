package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// heapProfile keeps what fills the memory after a phase in PROFILES, a folder, for
// go tool pprof. Without the variable it does nothing.
func (s *scale) heapProfile(ctx context.Context, phase string) error {
	folder := os.Getenv("PROFILES")
	if folder == "" {
		return nil
	}
	body, err := s.page.Fetch(ctx, "/debug/pprof/heap")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, s.subject.kind+"-"+phase+".heap"), body, 0o600)
}

// cpuProfile records a CPU profile of a phase's first seconds, in the same folder. The
// returned function waits for its end.
func (s *scale) cpuProfile(ctx context.Context, phase string) func() {
	folder := os.Getenv("PROFILES")
	if folder == "" {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := pollUntil(ctx, func(ctx context.Context) error { // it may have been started just now
			body, err := s.page.Fetch(ctx, "/debug/pprof/profile?seconds=20")
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(folder, s.subject.kind+"-"+phase+".cpu"), body, 0o600)
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, "scale: profile of", phase+":", err)
		}
	}()
	return func() { <-done }
}
