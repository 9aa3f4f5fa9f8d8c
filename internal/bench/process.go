package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
)

// process is a server of a contestant.
type process struct {
	ready

	cmd   *exec.Cmd
	input io.Closer
}

// startProcess starts a server and waits until it is ready.
func startProcess(ctx context.Context, program string, args ...string) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, program, args...)}
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if err := json.NewDecoder(out).Decode(&p.ready); err != nil {
		return nil, errors.Join(fmt.Errorf("%s is not ready: %w", program, err), p.stop())
	}
	return p, nil
}

// stop ends the server.
func (p *process) stop() error { return errors.Join(p.input.Close(), p.cmd.Wait()) }

// runProcess runs a program to its end and decodes what it prints.
func runProcess(ctx context.Context, result any, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	return json.Unmarshal(out, result)
}

// The tasks that this program starts itself for. Each is followed by one
// argument, JSON of what it is told.
const (
	serveTask = "serve"
	loadTask  = "load"
	fireTask  = "fire"
)

// task gives the arguments of a task.
func task(name string, told any) ([]string, error) {
	b, err := json.Marshal(told)
	return []string{name, string(b)}, err
}

// runGivenTask does the task that the command line gives, and ends; it does
// nothing where it gives none.
func runGivenTask() {
	if len(os.Args) == 3 && slices.Contains([]string{serveTask, loadTask, fireTask}, os.Args[1]) {
		exit(runTask(context.Background(), os.Args[1], os.Args[2]))
	}
}

// runTask does a task.
func runTask(ctx context.Context, name, told string) error {
	switch name {
	case serveTask:
		var job serving
		if err := json.Unmarshal([]byte(told), &job); err != nil {
			return err
		}
		return serve(ctx, job)
	case loadTask:
		var job loading
		if err := json.Unmarshal([]byte(told), &job); err != nil {
			return err
		}
		l, err := load(ctx, job)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(l)
	}
	var job firing
	if err := json.Unmarshal([]byte(told), &job); err != nil {
		return err
	}
	var targets []target
	if err := readJSON(job.Targets, &targets); err != nil {
		return err
	}
	f, err := fire(ctx, job, targets)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(f)
}

func readJSON(path string, to any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

func writeJSON(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}
