package providers

import (
	"context"
	"slices"

	"github.com/berth-lb/berth/providers/fault"
)

// Trial is a call without effect by which a permission is checked.
type Trial struct {
	Call func(context.Context) error
	// Absent means that the call is about an object that does not exist, so that even a write
	// changes nothing. A cloud may look for the object before it judges the permission.
	Absent bool
}

// Trials check credentials and permissions of a cloud that evaluates permissions only when they
// are used. They declare every permission of the role, in Calls or in Untried. One that is in neither
// is not tried: an unclassified call could create something.
type Trials struct {
	About string // the credentials
	Login string // what to do if they are not accepted
	Role  string // file in docs/permissions
	// Permissions reads the permissions of the file.
	Permissions func(role []byte) ([]string, error)
	Calls       map[string][]Trial // by permission
	Untried     []string           // permissions without a call that has no effect
	// ListsOnly means that all calls are lists. Permissions that are not in Calls need no declaration.
	ListsOnly bool
}

// Causes of permissions that are not tried.
const (
	whenUsed = "the cloud judges this permission only when it is used"
	// Undeclared is the cause of a permission that is neither in Calls nor in Untried.
	Undeclared = "no call without effect is declared for this permission"
)

// Diagnose makes the trials of each permission of the role. It stops when the credentials are not accepted.
func (x Trials) Diagnose(ctx context.Context, roles Roles) []Diagnosis {
	permissions, err := x.Permissions(roles[x.Role])
	if err != nil {
		return []Diagnosis{Unchecked(CheckPermission, x.Role, err.Error(), "")}
	}
	credentials := Unchecked(CheckCredentials, x.About, "no call was answered", "See the results of BRT502.")
	var out []Diagnosis
	for _, name := range permissions {
		result := Unchecked(CheckPermission, name, x.causeOf(name), x.compareNext())
		for i, trial := range x.Calls[name] {
			err := trial.Call(ctx)
			if err != nil && fault.CauseOf(err) == fault.Unauthenticated {
				credentials.Result, credentials.State, credentials.Cause, credentials.Next = Faulty, "not accepted", err.Error(), x.Login
				return []Diagnosis{credentials, Unchecked(CheckPermission, "permissions", "the credentials are not accepted", x.Login)}
			}
			found := x.judgeCall(name, trial, err)
			if found.Result != NotChecked {
				credentials.Result, credentials.State, credentials.Cause, credentials.Next = Fine, "accepted", "", ""
			}
			if i == 0 || found.Result != Fine && result.Result != Faulty {
				result = found
			}
		}
		out = append(out, result)
	}
	return append([]Diagnosis{credentials}, out...)
}

// causeOf returns why a permission without a trial is not checked.
func (x Trials) causeOf(name string) string {
	if x.ListsOnly || slices.Contains(x.Untried, name) {
		return whenUsed
	}
	return Undeclared
}

// compareNext is the next step for a permission that was not checked.
func (x Trials) compareNext() string {
	return "Compare the role of the controller with docs/permissions/" + x.Role + "."
}

// judgeCall returns the result of a trial.
func (x Trials) judgeCall(name string, trial Trial, err error) Diagnosis {
	switch {
	case err == nil:
		return Permitted(name, true, "", "")
	case fault.Is(err, fault.Denied):
		return Permitted(name, false, err.Error(), "Add the permission to the role of the controller as docs/permissions/"+x.Role+" has it.")
	case trial.Absent && fault.Is(err, fault.NotFound):
		return Diagnosis{Code: CheckPermission, Result: Fine, About: name, State: "not refused for a call about what does not exist"}
	}
	return Unchecked(CheckPermission, name, err.Error(), x.compareNext())
}
