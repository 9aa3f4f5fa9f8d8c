package view

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// cytoscape writes the JSON that Cytoscape.js calls elements.
func cytoscape(nodes []drawnNode, edges []drawnEdge) (string, error) {
	type nodeData struct {
		ID     string `json:"id"`
		Label  string `json:"label"`
		Type   string `json:"type"`
		Key    string `json:"key"`
		Date   string `json:"date,omitempty"`
		Degree int    `json:"degree"`
		Hop    int    `json:"hop"`
	}
	type edgeData struct {
		ID     string  `json:"id"`
		Source string  `json:"source"`
		Target string  `json:"target"`
		Kind   string  `json:"kind"`
		Weight float64 `json:"weight"`
	}
	type element[D any] struct {
		Data D `json:"data"`
	}
	var file struct {
		Elements struct {
			Nodes []element[nodeData] `json:"nodes"`
			Edges []element[edgeData] `json:"edges"`
		} `json:"elements"`
	}
	file.Elements.Nodes = make([]element[nodeData], len(nodes))
	for i, n := range nodes {
		file.Elements.Nodes[i].Data = nodeData{n.id, n.label, n.typ, n.key, n.date.String(), n.degree, n.hop}
	}
	file.Elements.Edges = make([]element[edgeData], len(edges))
	for i, e := range edges {
		file.Elements.Edges[i].Data = edgeData{edgeID(i), e.source, e.target, e.kind, e.weight}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(file); err != nil {
		return "", fmt.Errorf("write Cytoscape JSON: %w", err)
	}
	return b.String(), nil
}

// edgeID names the i-th edge of a file. A dot is in no node id.
func edgeID(i int) string { return "e." + strconv.Itoa(i) }

// The elements of GraphML 1.0, as far as they are used, in the order of its
// schema.
type (
	graphMLFile struct {
		XMLName  xml.Name     `xml:"http://graphml.graphdrawing.org/xmlns graphml"`
		XSI      string       `xml:"xmlns:xsi,attr"`
		Location string       `xml:"xsi:schemaLocation,attr"`
		Keys     []graphMLKey `xml:"key"`
		Graph    graphMLGraph `xml:"graph"`
	}
	graphMLKey struct {
		ID   string `xml:"id,attr"`
		For  string `xml:"for,attr"`
		Name string `xml:"attr.name,attr"`
		Type string `xml:"attr.type,attr"`
	}
	graphMLGraph struct {
		ID          string        `xml:"id,attr"`
		EdgeDefault string        `xml:"edgedefault,attr"`
		Nodes       []graphMLNode `xml:"node"`
		Edges       []graphMLEdge `xml:"edge"`
	}
	graphMLNode struct {
		ID   string        `xml:"id,attr"`
		Data []graphMLData `xml:"data"`
	}
	graphMLEdge struct {
		ID       string        `xml:"id,attr"`
		Source   string        `xml:"source,attr"`
		Target   string        `xml:"target,attr"`
		Directed bool          `xml:"directed,attr,omitempty"`
		Data     []graphMLData `xml:"data"`
	}
	graphMLData struct {
		Key   string `xml:"key,attr"`
		Value string `xml:",chardata"`
	}
)

// graphML writes GraphML. Its ids are name tokens, which node ids are: letters,
// digits, hyphens and underscores.
func graphML(nodes []drawnNode, edges []drawnEdge) (string, error) {
	file := graphMLFile{
		XSI:      "http://www.w3.org/2001/XMLSchema-instance",
		Location: "http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd",
		Keys: []graphMLKey{
			{"label", "node", "label", "string"},
			{"type", "node", "type", "string"},
			{"key", "node", "key", "string"},
			{"date", "node", "date", "string"},
			{"degree", "node", "degree", "int"},
			{"hop", "node", "hop", "int"},
			{"kind", "edge", "kind", "string"},
			{"weight", "edge", "weight", "double"},
		},
		Graph: graphMLGraph{ID: "subgraph", EdgeDefault: "undirected"},
	}
	for _, n := range nodes {
		data := []graphMLData{{"label", n.label}, {"type", n.typ}, {"key", n.key}}
		if !n.date.IsZero() {
			data = append(data, graphMLData{"date", n.date.String()})
		}
		data = append(data, graphMLData{"degree", strconv.Itoa(n.degree)}, graphMLData{"hop", strconv.Itoa(n.hop)})
		file.Graph.Nodes = append(file.Graph.Nodes, graphMLNode{n.id, data})
	}
	for i, e := range edges {
		file.Graph.Edges = append(file.Graph.Edges, graphMLEdge{
			edgeID(i), e.source, e.target, e.directed,
			[]graphMLData{{"kind", e.kind}, {"weight", strconv.FormatFloat(e.weight, 'g', -1, 64)}},
		})
	}
	b, err := xml.MarshalIndent(file, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write GraphML: %w", err)
	}
	return xml.Header + string(b) + "\n", nil
}

// dotShapes tells the types of nodes apart in drawings.
var dotShapes = map[string]string{"Incident": "box", "Org": "hexagon"}

// dot writes the language of Graphviz.
func dot(nodes []drawnNode, edges []drawnEdge) string {
	var b strings.Builder
	b.WriteString("graph incidentgraph {\n  graph [charset=\"UTF-8\"];\n")
	for _, n := range nodes {
		shape := dotShapes[n.typ]
		if shape == "" {
			shape = "ellipse"
		}
		fmt.Fprintf(&b, "  %s [label=%s, shape=%s, type=%s, key=%s", dotString(n.id), dotString(n.label), shape, dotString(n.typ), dotString(n.key))
		if !n.date.IsZero() {
			fmt.Fprintf(&b, ", date=%s", dotString(n.date.String()))
		}
		fmt.Fprintf(&b, ", degree=%d, hop=%d];\n", n.degree, n.hop)
	}
	for _, e := range edges {
		// The word weight has a meaning of its own in Graphviz, the larger the
		// closer, and is left to it.
		fmt.Fprintf(&b, "  %s -- %s [kind=%s, cost=%s", dotString(e.source), dotString(e.target), dotString(e.kind), strconv.FormatFloat(e.weight, 'f', -1, 64))
		if e.directed {
			b.WriteString(", dir=forward")
		}
		b.WriteString("];\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// dotString quotes text. In labels Graphviz reads backslashes as escapes and
// ampersands as the beginning of an HTML entity. It writes control characters
// into its output as they are, where they are errors.
func dotString(s string) string {
	s = dotEscapes.Replace(s)
	return `"` + strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s) + `"`
}

var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;", "\r\n", `\n`, "\n", `\n`, "\r", `\n`, "\t", " ")
