package view

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/incident"
)

// drawingOf makes nodes of labels, and edges between neighbors.
func drawingOf(labels []string) ([]drawnNode, []drawnEdge) {
	nodes := make([]drawnNode, len(labels))
	var edges []drawnEdge
	for i, l := range labels {
		nodes[i] = drawnNode{id: nodeID(incidentID, "case:"+string(rune('a'+i))), label: l, typ: "Incident", key: "case:" + string(rune('a'+i)), degree: i, hop: 1}
		if i > 0 {
			edges = append(edges, drawnEdge{nodes[i-1].id, nodes[i].id, "RELATED", 1.5, i%2 == 0})
		}
	}
	nodes[0].date = incident.Date(2015)<<16 | 9<<8
	return nodes, edges
}

var hardLabels = []string{
	"plain", `"quoted" \ and \n`, "two\nlines\r\nand\tmore", "<b>&amp; &#34; ]]>", "한글 ‘제목’ 🙂", "bell\x07 nul\x00 end", `ends with \`, "",
}

func TestCytoscapeIsRead(t *testing.T) {
	nodes, edges := drawingOf(hardLabels)
	text, err := cytoscape(nodes, edges)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Elements struct {
			Nodes, Edges []struct{ Data map[string]any }
		}
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Elements.Nodes) != len(nodes) || len(file.Elements.Edges) != len(edges) {
		t.Fatalf("%d nodes and %d edges, want %d and %d", len(file.Elements.Nodes), len(file.Elements.Edges), len(nodes), len(edges))
	}
	ids := map[any]bool{}
	for i, n := range file.Elements.Nodes {
		ids[n.Data["id"]] = true
		if n.Data["label"] != hardLabels[i] {
			t.Errorf("label = %q, want %q", n.Data["label"], hardLabels[i])
		}
		if _, dated := n.Data["date"]; dated != (i == 0) {
			t.Errorf("node %d = %v, want a date on the first only", i, n.Data)
		}
	}
	for i, e := range file.Elements.Edges {
		if !ids[e.Data["source"]] || !ids[e.Data["target"]] || ids[e.Data["id"]] || e.Data["weight"] != 1.5 || e.Data["kind"] != "RELATED" {
			t.Errorf("edge %d = %v, want ends that are there", i, e.Data)
		}
		ids[e.Data["id"]] = true
	}
}

// TestGraphMLKeepsItsSchema checks what the schema of GraphML 1.0 asks of the
// elements used: their order, ids that are name tokens and unique, edges
// between nodes that are there, and data of keys that are declared for the
// kind of element.
func TestGraphMLKeepsItsSchema(t *testing.T) {
	nodes, edges := drawingOf(hardLabels)
	text, err := graphML(nodes, edges)
	if err != nil {
		t.Fatal(err)
	}
	type data struct {
		Key  string `xml:"key,attr"`
		Text string `xml:",chardata"`
	}
	var file struct {
		XMLName xml.Name
		Keys    []struct {
			ID   string `xml:"id,attr"`
			For  string `xml:"for,attr"`
			Type string `xml:"attr.type,attr"`
		} `xml:"http://graphml.graphdrawing.org/xmlns key"`
		Graphs []struct {
			EdgeDefault string `xml:"edgedefault,attr"`
			Nodes       []struct {
				ID   string `xml:"id,attr"`
				Data []data `xml:"data"`
			} `xml:"node"`
			Edges []struct {
				ID       string `xml:"id,attr"`
				Source   string `xml:"source,attr"`
				Target   string `xml:"target,attr"`
				Directed string `xml:"directed,attr"`
				Data     []data `xml:"data"`
			} `xml:"edge"`
		} `xml:"http://graphml.graphdrawing.org/xmlns graph"`
	}
	if err := xml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	if want := (xml.Name{Space: "http://graphml.graphdrawing.org/xmlns", Local: "graphml"}); file.XMLName != want || len(file.Graphs) != 1 {
		t.Fatalf("the root is %v with %d graphs, want %v with one", file.XMLName, len(file.Graphs), want)
	}
	keys := map[string]string{}
	for _, k := range file.Keys {
		keys[k.ID] = k.For
		switch k.Type {
		case "string", "int", "double":
		default:
			t.Errorf("the key %s has the type %q", k.ID, k.Type)
		}
	}
	checkData := func(list []data, of string) {
		for _, d := range list {
			if keys[d.Key] != of {
				t.Errorf("data of the key %q in a %s", d.Key, of)
			}
		}
	}
	graph := file.Graphs[0]
	if graph.EdgeDefault != "undirected" {
		t.Errorf("edgedefault = %q", graph.EdgeDefault)
	}
	ids := map[string]bool{}
	unique := func(id string) {
		if ids[id] || id == "" || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" {
			t.Errorf("id %q is no name token, or there twice", id)
		}
		ids[id] = true
	}
	for i, n := range graph.Nodes {
		unique(n.ID)
		checkData(n.Data, "node")
		// XML cannot say control characters.
		want := strings.NewReplacer("\x07", "\ufffd", "\x00", "\ufffd").Replace(hardLabels[i])
		if n.Data[0].Key != "label" || n.Data[0].Text != want {
			t.Errorf("label = %q, want %q", n.Data[0].Text, want)
		}
	}
	for i, e := range graph.Edges {
		if !ids[e.Source] || !ids[e.Target] || (e.Directed == "true") != edges[i].directed {
			t.Errorf("edge %+v, want ends that are there", e)
		}
		checkData(e.Data, "edge")
	}
	for _, e := range graph.Edges {
		unique(e.ID)
	}
	if len(graph.Nodes) != len(nodes) || len(graph.Edges) != len(edges) {
		t.Errorf("%d nodes and %d edges, want %d and %d", len(graph.Nodes), len(graph.Edges), len(nodes), len(edges))
	}
	// The order of the elements: keys, then the graph; in it nodes, then edges;
	// nothing but blanks between.
	var order []string
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && (len(order) == 0 || order[len(order)-1] != start.Name.Local) {
			order = append(order, start.Name.Local)
		}
	}
	if diff := cmp.Diff([]string{"graphml", "key", "graph"}, order[:3]); diff != "" {
		t.Errorf("elements (-want +got):\n%s", diff)
	}
}

// TestDotIsRead gives the text to Graphviz, where that is installed, and reads
// back what it understood.
func TestDotIsRead(t *testing.T) {
	program, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("Graphviz is not installed")
	}
	nodes, edges := drawingOf(hardLabels)
	run := exec.CommandContext(t.Context(), program, "-Tdot_json")
	run.Stdin = strings.NewReader(dot(nodes, edges))
	out, err := run.Output()
	if err != nil {
		t.Fatalf("dot: %v\n%s", err, dot(nodes, edges))
	}
	var read struct {
		Directed bool
		Objects  []struct {
			Name, Label, Key, Date string
		}
		Edges []struct{ Kind, Cost, Dir string }
	}
	if err := json.Unmarshal(out, &read); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if read.Directed || len(read.Objects) != len(nodes) || len(read.Edges) != len(edges) {
		t.Fatalf("dot read %d nodes and %d edges, want %d and %d", len(read.Objects), len(read.Edges), len(nodes), len(edges))
	}
	for i, n := range read.Objects {
		want := nodes[i]
		// Graphviz gives labels as they are written, but for escaped quotes.
		written := dotString(want.label)
		label := strings.ReplaceAll(written[1:len(written)-1], `\"`, `"`)
		if n.Name != want.id || n.Key != want.key || n.Date != want.date.String() || n.Label != label {
			t.Errorf("node = %+v, want %+v with the label %q", n, want, label)
		}
	}
	for i, e := range read.Edges {
		if e.Kind != "RELATED" || e.Cost != "1.5" || (e.Dir == "forward") != edges[i].directed {
			t.Errorf("edge = %+v, want %+v", e, edges[i])
		}
	}
}
