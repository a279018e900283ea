package console

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/berth-lb/berth/service/page"
	"github.com/berth-lb/berth/test/golden"
)

// TestHeadlampDocuments records the answers that the tests of the plugin for Headlamp read. The token
// is in the header that the API server forwards.
func TestHeadlampDocuments(t *testing.T) {
	s := newSite(t)
	for name, path := range map[string]string{"services": list, "service": web, "shared": shared} {
		r := httptest.NewRequest(http.MethodGet, "https://berth.example"+path, http.NoBody)
		r.Header.Set(page.TokenHeader, "token-of-admin")
		w := httptest.NewRecorder()
		s.page.ServeHTTP(w, r)
		var text bytes.Buffer
		if err := json.Indent(&text, w.Body.Bytes(), "", "  "); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s: %d, %v: %s", path, w.Code, err, w.Body)
		}
		golden.Check(t, "../../integrations/headlamp/test/documents/"+name+".json", text.String())
	}
}
