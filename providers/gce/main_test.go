package gce_test

import (
	"os"
	"testing"

	"github.com/berth-lb/berth/test/sim/gce/simtest"
)

func TestMain(m *testing.M) { os.Exit(simtest.Main(m)) }
