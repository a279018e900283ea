package providers

import (
	"context"
	"fmt"
)

// Result is the answer to one check of a setup.
type Result string

// The results. NotChecked is not a fault: the check could not be made, and Cause says why.
const (
	Fine       Result = "ok"
	Doubtful   Result = "warning"
	Faulty     Result = "error"
	NotChecked Result = "not checked"
)

// Codes of the checks that a session contributes. docs/reference/doctor.md explains them.
const (
	CheckCredentials = "BRT501"
	CheckPermission  = "BRT502"
	CheckQuota       = "BRT503"
)

// Diagnosis is the result of a check for one object, such as a permission.
type Diagnosis struct {
	Code   string `json:"code"`
	Result Result `json:"result"`
	About  string `json:"about"` // the object
	State  string `json:"state"`
	Cause  string `json:"cause,omitempty"`
	Next   string `json:"next,omitempty"` // what to do
}

// Roles are the roles of a cloud in docs/permissions, by the names of their files.
type Roles map[string][]byte

// Diagnoser is a Session that can check its credentials, permissions and quotas. It writes
// nothing: permissions are evaluated by the cloud, or used in calls that have no effect.
type Diagnoser interface {
	// Diagnose returns the results, at least one for each of the codes above. A call that fails
	// is a result as well.
	Diagnose(ctx context.Context, roles Roles) []Diagnosis
}

// diagnoseOf is the function of a session that is a Diagnoser.
func diagnoseOf(session any) func(context.Context, Roles) []Diagnosis {
	if d, ok := session.(Diagnoser); ok {
		return d.Diagnose
	}
	return nil
}

// Permitted returns the result for a permission that the cloud has evaluated.
func Permitted(name string, granted bool, cause, next string) Diagnosis {
	if granted {
		return Diagnosis{Code: CheckPermission, Result: Fine, About: name, State: "granted"}
	}
	return Diagnosis{Code: CheckPermission, Result: Faulty, About: name, State: "not granted", Cause: cause, Next: next}
}

// Unchecked returns the result of a check that could not be made.
func Unchecked(code, about, cause, next string) Diagnosis {
	return Diagnosis{Code: code, Result: NotChecked, About: about, State: "unknown", Cause: cause, Next: next}
}

// nearQuota is the number of free objects below which a quota is reported.
const nearQuota = 2

// WithinQuota returns the result for a quota.
func WithinQuota(name string, used, most int) Diagnosis {
	d := Diagnosis{Code: CheckQuota, Result: Fine, About: name, State: fmt.Sprintf("%d of %d in use", used, most)}
	next := "Delete what is unused, such as orphans (berth orphans), or have the quota raised."
	switch free := most - used; {
	case free <= 0:
		d.Result, d.Cause, d.Next = Faulty, "the cloud refuses to create another one", next
	case free < nearQuota:
		d.Result, d.Cause, d.Next = Doubtful, "the quota is nearly exhausted", next
	}
	return d
}

// WithinDefault returns the result for a quota of which only the documented default is known. The quota of the
// account may have been raised, so that even a full one is no error.
func WithinDefault(name string, used, most int) Diagnosis {
	d := WithinQuota(name, used, most)
	d.State = fmt.Sprintf("%d in use, the default quota is %d", used, most)
	if d.Result != Fine {
		d.Result, d.Cause = Doubtful, "the default quota is exhausted or nearly exhausted, and the cloud does not report the quota of the account"
	}
	return d
}
