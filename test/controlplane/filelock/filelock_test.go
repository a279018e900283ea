package filelock

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

func TestTryIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Try(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Try(path); !errors.Is(err, ErrHeld) {
		t.Fatalf("second lock: want ErrHeld, got %v", err)
	}
	first.Unlock()
	second, err := Try(path)
	if err != nil {
		t.Fatalf("after unlock: %v", err)
	}
	second.Unlock()
}

func TestWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Try(path)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	second, err := Wait(t.Context(), path, func() { told++; first.Unlock() })
	if err != nil {
		t.Fatal(err)
	}
	if told != 1 {
		t.Errorf("told of waiting: want once, got %d times", told)
	}

	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Wait(ctx, path, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: want context.Canceled, got %v", err)
	}
	second.Unlock()
}
