package conform

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/conform/models"
)

// judge compares calls with the models of their actions.
type judge map[string]models.Action

// Judge returns the action of a call and its differences from the model.
func (j judge) Judge(c models.Call) (name string, differences []string) {
	api, known := apiVersions()[c.HTTP.Header.Get("X-Acs-Version")]
	if !known {
		return "", nil // credentials
	}
	name = api + "." + c.HTTP.Header.Get("X-Acs-Action")
	m, known := j[name]
	if !known {
		return name, []string{name + ": no model"}
	}
	body, err := url.ParseQuery(string(c.Request))
	if err != nil {
		return name, []string{name + " request: " + err.Error()}
	}
	var answer any
	if err := json.Unmarshal(c.Answer, &answer); err != nil {
		return name, []string{name + " answer: " + err.Error()}
	}
	request := typedValue(nestParams(c.HTTP.URL.Query(), body), m.Request)
	return name, slices.Concat(m.Request.Compare(name+" request", request), m.Answer.Compare(name+" answer", answer))
}

// apiVersions returns the APIs by their versions.
func apiVersions() map[string]string {
	return map[string]string{"2014-05-15": "slb", "2014-05-26": "ecs", "2016-04-28": "vpc", "2022-04-30": "nlb", "2020-05-10": "quotas"}
}

// commonParams are parameters of every action, which are part of the signature.
func commonParams() []string {
	return []string{"Action", "Version", "Format", "RegionId", "Timestamp", "SignatureMethod", "SignatureVersion", "SignatureNonce", "AccessKeyId", "SecurityToken", "Signature"}
}

// nestParams returns flat parameters such as Tag.1.Key as the objects and lists that they are.
func nestParams(all ...url.Values) any {
	root := map[string]any{}
	for _, params := range all {
		for name, values := range params {
			if slices.Contains(commonParams(), name) {
				continue
			}
			at, parts := root, strings.Split(name, ".")
			for _, part := range parts[:len(parts)-1] {
				inner, ok := at[part].(map[string]any)
				if !ok {
					inner = map[string]any{}
					at[part] = inner
				}
				at = inner
			}
			at[parts[len(parts)-1]] = values[0]
		}
	}
	return listNumbered(root)
}

// listNumbered returns objects whose keys are the numbers from 1 on as lists.
func listNumbered(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	for name, part := range object {
		object[name] = listNumbered(part)
	}
	var list []any
	for n := 1; object[strconv.Itoa(n)] != nil; n++ {
		list = append(list, object[strconv.Itoa(n)])
	}
	if len(list) > 0 && len(list) == len(object) {
		return list
	}
	return object
}

// typedValue returns a value of texts with the types of a shape, where the texts have them.
func typedValue(value any, s models.Shape) any {
	switch v := value.(type) {
	case map[string]any:
		for name, part := range v {
			v[name] = typedValue(part, s.Fields[name])
		}
	case []any:
		for i := range v {
			if s.Item != nil {
				v[i] = typedValue(v[i], *s.Item)
			}
		}
	case string:
		var typed any
		if s.Kind != "text" && s.Kind != "any" && json.Unmarshal([]byte(v), &typed) == nil {
			return typed
		}
	}
	return value
}
