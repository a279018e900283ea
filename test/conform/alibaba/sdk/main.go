// Command sdk prints what the vendor's SDKs know of actions such as slb.CreateLoadBalancer, as JSON: for each
// action the shapes of its request and its answer.
//
// It reads their sources. To compile them takes minutes, and their modules are no dependencies of the provider.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Shape is what a value may be.
type Shape struct {
	Kind   string           // object, list, text, number, truth or any
	Fields map[string]Shape `json:",omitempty"` // of an object
	Item   *Shape           `json:",omitempty"` // of a list
}

// Action has the shapes of a call.
type Action struct{ Request, Answer Shape }

// placeOf returns the package of an API: a module and a folder in it.
func placeOf(api string) (module, folder string) {
	if api == "nlb" {
		return "github.com/alibabacloud-go/nlb-20220430/v3", "client"
	}
	return "github.com/aliyun/alibaba-cloud-sdk-go", "services/" + api
}

func main() {
	if err := printModels(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sdk:", err)
		os.Exit(1)
	}
}

// printModels prints the models of actions. One that the SDK lacks is left out.
func printModels(ctx context.Context, actions []string) error {
	read := map[string]structs{}
	out := map[string]Action{}
	for _, full := range actions {
		api, action, _ := strings.Cut(full, ".")
		if read[api] == nil {
			var err error
			module, folder := placeOf(api)
			if read[api], err = readStructs(ctx, module, folder); err != nil {
				return err
			}
		}
		all := read[api]
		answer := action + "Response"
		if all[answer+"Body"] != nil {
			answer += "Body"
		}
		if all[action+"Request"] != nil && all[answer] != nil {
			out[full] = Action{all.shapeOf(ast.NewIdent(action + "Request")), all.shapeOf(ast.NewIdent(answer))}
		}
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// structs are the structs of a package, by their names.
type structs map[string]*ast.StructType

// readStructs reads a package of a module, which is downloaded if need be.
func readStructs(ctx context.Context, module, folder string) (structs, error) {
	text, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", module).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", module, err)
	}
	var got struct{ Dir string }
	if err := json.Unmarshal(text, &got); err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(got.Dir, folder, "*.go"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("%s: no sources in %s: %w", module, folder, err)
	}
	out := structs{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			general, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range general.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					if s, ok := t.Type.(*ast.StructType); ok {
						out[t.Name.Name] = s
					}
				}
			}
		}
	}
	return out, nil
}

// shapeOf returns the shape of the values of a type. Types that contain a type of their own name are cut there.
func (s structs) shapeOf(t ast.Expr, in ...string) Shape {
	switch t := t.(type) {
	case *ast.StarExpr:
		return s.shapeOf(t.X, in...)
	case *ast.ArrayType:
		item := s.shapeOf(t.Elt, in...)
		return Shape{Kind: "list", Item: &item}
	case *ast.SelectorExpr: // a parameter that is a number or a truth in a text
		return Shape{Kind: map[string]string{"Integer": "number", "Float": "number", "Boolean": "truth"}[t.Sel.Name]}
	case *ast.Ident:
		kinds := map[string]string{"string": "text", "bool": "truth", "int": "number", "int32": "number", "int64": "number", "float32": "number", "float64": "number"}
		if kind := kinds[t.Name]; kind != "" {
			return Shape{Kind: kind}
		}
		if s[t.Name] != nil {
			return s.objectOf(t.Name, in)
		}
	}
	return Shape{Kind: "any"}
}

// objectOf returns the shape of a struct.
func (s structs) objectOf(name string, in []string) Shape {
	out := Shape{Kind: "object", Fields: map[string]Shape{}}
	if slices.Contains(in, name) {
		return out
	}
	for _, f := range s[name].Fields.List {
		if f.Tag == nil || len(f.Names) == 0 {
			continue
		}
		tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`"))
		field := tag.Get("name")
		if field == "" {
			field, _, _ = strings.Cut(tag.Get("json"), ",")
		}
		out.Fields[field] = s.shapeOf(f.Type, append(slices.Clone(in), name)...)
	}
	return out
}
