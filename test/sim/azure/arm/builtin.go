package arm

import (
	"net/http"
)

// groupKind is resource groups themselves.
func groupKind() *Kind {
	return &Kind{
		Type: GroupType, Service: "resources", Client: "ResourceGroups", NoEtag: true, Sync: true,
		Vacate: func(w *Write, refs []Ref) *Error {
			return Conflictf("ResourceGroupDeletionBlocked", "Deletion of resource group '%s' failed as resource %s is in use by %s.", w.ID.Group, refs[0].To, refs[0].From)
		},
		Stored: func(w *Write) {
			if w.Doc != nil {
				return
			}
			for _, r := range w.State.Everything() {
				if Within(r.ID.String(), w.ID.String()) {
					w.State.remove(r.ID)
				}
			}
		},
	}
}

// groupContent returns the ids of all resources in a group.
func groupContent(s *State, group ID) []string {
	var out []string
	for _, r := range s.Everything() {
		if Within(r.ID.String(), group.String()) {
			out = append(append(out, r.ID.String()), Parts(r.ID.String(), r.Doc)...)
		}
	}
	return out
}

// builtin are the calls of Resource Manager itself.
func (s *Service) builtin() []Extra {
	return []Extra{
		{Method: http.MethodGet, Pattern: "/subscriptions/{s}/providers/{p}/locations/{l}/operations/{o}", Service: "arm", Name: "Operations.Get", Run: pollOperation},
		{Method: http.MethodGet, Pattern: "/subscriptions/{s}/providers/{p}/locations/{l}/operationresults/{o}", Service: "arm", Name: "OperationResults.Get", Run: pollOperation},
	}
}
