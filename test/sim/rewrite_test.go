package sim_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/berth-lb/berth/test/sim"
)

// TestRewrite: an answer keeps its status and headers, and has the other body; the control API stays.
func TestRewrite(t *testing.T) {
	c := &sim.Control{Rewrite: sim.ReverseLists, State: func() any { return []int{1, 2} }}
	answer := func(path, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		c.Handle(w, httptest.NewRequest(http.MethodGet, path, nil), func() (*sim.Visit, sim.Answer) {
			return &sim.Visit{}, func(w http.ResponseWriter, _ int) {
				w.Header().Set("X-Request", "7")
				w.Header().Set("Content-Length", "99")
				w.WriteHeader(http.StatusAccepted)
				_, _ = w.Write([]byte(body)) // a recorder takes everything
			}
		})
		return w
	}
	for body, want := range map[string]string{
		`{"a":[1,{"b":["x","y"]}],"c":9007199254740993}`: `{"a":[{"b":["y","x"]},1],"c":9007199254740993}`,
		"<none/>": "<none/>", `{"a":[1,2]} {}`: `{"a":[1,2]} {}`, "": "",
	} {
		got := answer("/things", body)
		if got.Code != http.StatusAccepted || got.Body.String() != want || got.Header().Get("X-Request") != "7" || got.Header().Get("Content-Length") != "" {
			t.Errorf("%s: %d %s %v, want %s", body, got.Code, got.Body, got.Header(), want)
		}
	}
	if got := answer(sim.ControlPath+"state", ""); got.Body.String() != "[\n  1,\n  2\n]\n" {
		t.Errorf("the state is %s", got.Body)
	}
}

// TestOmitEmpty: entries of lists lose what is empty, false or 0, and a document keeps its lists.
func TestOmitEmpty(t *testing.T) {
	got := string(sim.OmitEmpty([]byte(`{"list":[],"note":null,"all":[{"a":"","b":null,"c":[],"d":{},"e":false,"f":0,"g":{"h":"","i":1}}],"last":false}`)))
	if want := `{"all":[{"g":{"i":1}}],"last":false,"list":[],"note":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestChangeTexts: a text is changed by the name of its member, and in a list by that of the list.
func TestChangeTexts(t *testing.T) {
	upper := sim.ChangeTexts(func(name, text string) string {
		if name == "a" {
			return strings.ToUpper(text)
		}
		return text
	})
	got := string(upper([]byte(`{"a":"x","b":"y","c":[{"a":["z",{"b":"z"}]}],"d":1}`)))
	if want := `{"a":"X","b":"y","c":[{"a":["Z",{"b":"z"}]}],"d":1}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
