package wire

import (
	"os"
	"testing"

	"github.com/berth-lb/berth/test/sim/aws/simtest"
)

func TestMain(m *testing.M) { os.Exit(simtest.Main(m)) }
