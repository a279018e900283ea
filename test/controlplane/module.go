package controlplane

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed go.mod
var goMod string

//go:embed go.sum
var goSum string

// GoMod returns the text of this module's go.mod.
func GoMod() string { return goMod }

// GoSum returns the text of this module's go.sum.
func GoSum() string { return goSum }

// Version returns the version that go.mod requires of the module, with its
// leading v. It is an error when go.mod does not require the module.
func Version(module string) (string, error) {
	for line := range strings.Lines(goMod) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && fields[0] == module && strings.HasPrefix(fields[1], "v") {
			return fields[1], nil
		}
	}
	return "", fmt.Errorf("module %s: not required by go.mod", module)
}
