package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// wire gives a request as a contestant takes it: SQLite's handler has a path
// for each workload, the others take GraphQL. Repeated requests may find the
// answers that ours keeps.
func (r *request) wire(contestant, mode string) []byte {
	if contestant == sqlite {
		q := url.Values{}
		for name, value := range r.Variables {
			q.Set(name, value)
		}
		return []byte("GET /" + r.Workload + "?" + q.Encode() + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}
	path := plainPath
	if contestant == ours && mode == repeated {
		path = cachedPath
	}
	return slices.Concat([]byte("POST "+path+" HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n"+
		"Content-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(r.Body))+"\r\n\r\n"), r.Body)
}

// verify sends each request once and compares the answer with the one that it
// must have. It gives the answers.
func verify(ctx context.Context, address, contestant, mode string, list []request) ([][]byte, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	answers := make([][]byte, len(list))
	for i, r := range list {
		if _, err := c.Write(r.wire(contestant, mode)); err != nil {
			return nil, err
		}
		if answers[i], err = readWhole(in); err != nil {
			return nil, fmt.Errorf("%s, %s %v: %w", contestant, r.Workload, r.Variables, err)
		}
		if err := sameJSON(r.Answer, answers[i]); err != nil {
			return nil, fmt.Errorf("%s, %s %v: %w; it is %.500s", contestant, r.Workload, r.Variables, err, answers[i])
		}
	}
	return answers, nil
}

func readWhole(in *bufio.Reader) ([]byte, error) {
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", response.StatusCode, body)
	}
	return body, err
}

// tolerance is by how much two scores may differ that are computed in
// different ways.
const tolerance = 1e-9

// sameJSON tells where two JSON texts differ: in more than the order of
// members and the last digits of fractions.
func sameJSON(want, got []byte) error {
	var w, g any
	if err := json.Unmarshal(want, &w); err != nil {
		return err
	}
	if err := json.Unmarshal(got, &g); err != nil {
		return err
	}
	return sameValue(w, g, "")
}

func sameValue(want, got any, path string) error {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			break
		}
		for name := range w {
			if _, ok := g[name]; !ok {
				return fmt.Errorf("%s has no %s", path, name)
			}
			if err := sameValue(w[name], g[name], path+"/"+name); err != nil {
				return err
			}
		}
		return nil
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			if err := sameValue(w[i], g[i], path+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
		return nil
	case float64:
		if g, ok := got.(float64); ok && math.Abs(w-g) <= tolerance {
			return nil
		}
	default:
		if want == got {
			return nil
		}
	}
	return fmt.Errorf("%s is %.300s, not %.300s", path, fmt.Sprint(got), fmt.Sprint(want))
}
