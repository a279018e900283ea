package lbkit

import (
	"bytes"
	"encoding/xml"
)

// Rendered is a result that is encoded already.
type Rendered struct {
	Fields string `xml:",innerxml"`
}

// Render encodes the result of an operation at once. Results share slices and
// pointers with the state, so they must be encoded before its lock is released.
// A nil result stays nil.
func Render(result any) (any, error) {
	if result == nil {
		return nil, nil
	}
	root := xml.StartElement{Name: xml.Name{Local: "r"}}
	var b bytes.Buffer
	enc := xml.NewEncoder(&b)
	if err := enc.EncodeElement(result, root); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	return Rendered{string(bytes.TrimSuffix(bytes.TrimPrefix(b.Bytes(), []byte("<r>")), []byte("</r>")))}, nil
}
