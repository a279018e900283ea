// Command sdk prints what the vendor's SDK knows of the CLB API, as JSON: for each action the
// shapes of its request and its answer.
//
// It is a module of its own: this release of the SDK, the last one that is one module, and the
// part of a later release that the provider uses have packages of one path.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	clb "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/clb/v20180317"
)

// Shape is what a value may be.
type Shape struct {
	Kind   string           // object, list, text, number or truth
	Fields map[string]Shape `json:",omitempty"` // of an object
	Item   *Shape           `json:",omitempty"` // of a list
}

// Action has the shapes of a call.
type Action struct{ Request, Answer Shape }

func main() {
	all := map[string]Action{}
	client := reflect.TypeFor[*clb.Client]()
	for i := range client.NumMethod() {
		m := client.Method(i)
		if m.Type.NumIn() != 2 || m.Type.In(1).Kind() != reflect.Pointer || m.Type.In(1).Elem().Name() != m.Name+"Request" {
			continue
		}
		all[m.Name] = Action{shapeOf(m.Type.In(1)), shapeOf(m.Type.Out(0))}
	}
	if err := json.NewEncoder(os.Stdout).Encode(all); err != nil {
		fmt.Fprintln(os.Stderr, "sdk:", err)
		os.Exit(1)
	}
}

// shapeOf returns the shape of the values of a type. Types that contain a type of their own name are
// cut there.
func shapeOf(t reflect.Type, in ...reflect.Type) Shape {
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem(), in...)
	case reflect.Slice:
		item := shapeOf(t.Elem(), in...)
		return Shape{Kind: "list", Item: &item}
	case reflect.String:
		return Shape{Kind: "text"}
	case reflect.Bool:
		return Shape{Kind: "truth"}
	case reflect.Int64, reflect.Uint64, reflect.Float64:
		return Shape{Kind: "number"}
	}
	out := Shape{Kind: "object", Fields: map[string]Shape{}}
	if slices.Contains(in, t) {
		return out
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" {
			out.Fields[name] = shapeOf(t.Field(i).Type, append(slices.Clone(in), t)...)
		}
	}
	return out
}
