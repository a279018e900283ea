package conform

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"

	"github.com/baidubce/bce-sdk-go/bce"
	"github.com/baidubce/bce-sdk-go/services/appblb"
	"github.com/baidubce/bce-sdk-go/services/blb"
	"github.com/baidubce/bce-sdk-go/services/eip"
	"github.com/baidubce/bce-sdk-go/services/quotacenter"
)

// model is what the SDK knows of one call.
type model struct {
	request, answer reflect.Type // nil: no document
	parameters      url.Values
}

// modelsOf returns the models of all calls that the clients of the SDK make, by the names of the
// calls. Several methods can make calls of one name.
//
// Each method is called once with arguments that have a value everywhere. It shows the path and the
// parameters of its call, and its signature has the types of the documents.
func modelsOf() (map[string][]model, error) {
	var seen []*http.Request
	var bodies [][]byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is missing is no document
		seen, bodies = append(seen, r), append(bodies, bytes.TrimSpace(body))
		_, _ = io.WriteString(w, "{}")
	}))
	defer server.Close()
	load, err := appblb.NewClient("id", "secret", server.URL)
	if err != nil {
		return nil, err
	}
	plain, err := blb.NewClient("id", "secret", server.URL)
	if err != nil {
		return nil, err
	}
	addresses, err := eip.NewClient("id", "secret", server.URL)
	if err != nil {
		return nil, err
	}
	quotas, err := quotacenter.NewClient("id", "secret", server.URL)
	if err != nil {
		return nil, err
	}
	out := map[string][]model{}
	for _, client := range []any{load, plain, addresses, quotas} {
		v := reflect.ValueOf(client)
		for i := range v.NumMethod() {
			if _, promoted := reflect.TypeFor[*bce.BceClient]().MethodByName(v.Type().Method(i).Name); promoted {
				continue
			}
			seen, bodies = nil, nil
			callMethod(v.Method(i))
			if len(seen) != 1 {
				continue // the method makes no call with these arguments
			}
			name := nameOf(seen[0])
			out[name] = append(out[name], modelOf(v.Method(i).Type(), seen[0], len(bodies[0]) > 0))
		}
	}
	return out, nil
}

// callMethod calls a method with filled arguments. One that cannot take them makes no call.
func callMethod(method reflect.Value) {
	defer func() { _ = recover() }() //nolint:errcheck // the caller sees that there was no call
	var in []reflect.Value
	for i := range method.Type().NumIn() {
		arg := reflect.New(method.Type().In(i)).Elem()
		fillValue(arg)
		in = append(in, arg)
	}
	method.Call(in)
}

// fillValue gives a value and its parts a value other than zero.
func fillValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillValue(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillValue(v.Field(i))
			}
		}
	}
}

// modelOf returns the model of a call that a method has made: the document of the request is its last
// argument, that of the answer its first result.
func modelOf(method reflect.Type, r *http.Request, sent bool) model {
	m := model{parameters: r.URL.Query()}
	if sent {
		m.request = method.In(method.NumIn() - 1)
	}
	if method.NumOut() > 1 {
		m.answer = method.Out(0)
	}
	return m
}

// nameOf names a call by its method, its path without the id, and its actions, which are parameters
// without a value.
func nameOf(r *http.Request) string {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) > 2 {
		parts[2] = "*"
	}
	name := r.Method + " " + strings.Join(parts, "/")
	for _, action := range []string{"batchdelete", "delete", "update", "bind", "unbind", "resize"} {
		if r.URL.Query().Has(action) {
			name += "?" + action
		}
	}
	return name
}
