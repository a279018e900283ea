package conform

import (
	"encoding/json"
	"slices"

	"github.com/berth-lb/berth/test/conform/models"
)

// judge compares calls with the models of their actions.
type judge map[string]models.Action

// Judge returns the action of a call and its differences from the model. Refusals have no model.
func (j judge) Judge(c models.Call) (name string, differences []string) {
	name = c.HTTP.Header.Get("X-TC-Action")
	m, known := j[name]
	if !known {
		return name, []string{name + ": no model"}
	}
	var request, answer map[string]any
	if err := json.Unmarshal(c.Request, &request); err != nil {
		return name, []string{name + " request: " + err.Error()}
	}
	if err := json.Unmarshal(c.Answer, &answer); err != nil {
		return name, []string{name + " answer: " + err.Error()}
	}
	if inside, ok := answer["Response"].(map[string]any); ok && inside["Error"] != nil {
		return "", nil
	}
	return name, slices.Concat(m.Request.Compare(name+" request", request), m.Answer.Compare(name+" answer", answer))
}
