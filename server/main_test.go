package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain puts the program on the path, for scripts and for exec.Command.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){programName: main})
}

// TestScript drives the program through the scripts in testdata/script. They
// have these commands more:
//
//	status N COMMAND ARG…   runs a command that must end with the status N
//	serve ARG…              starts a server on a free port
//	stop                    stops it, which must go well
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status": scriptStatus,
			"serve":  scriptServe,
			"stop":   scriptStop,
		},
		Setup: func(e *testscript.Env) error {
			sample, err := os.ReadFile("testdata/sample.json")
			if err != nil {
				return err
			}
			e.Values[runningServer{}] = new(scriptServer)
			return os.WriteFile(e.WorkDir+"/sample.json", sample, 0o600)
		},
	})
}

// runningServer is where a script keeps the server that it has started.
type runningServer struct{}

func scriptStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND ARG…")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("usage: status N COMMAND ARG…")
	}
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("status %d, want %d\n%s", got, want, ts.ReadFile("stderr"))
	}
}

func scriptServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("unsupported: ! serve")
	}
	p, err := startProcess(ts.MkAbs("."), append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	if err != nil {
		ts.Fatalf("serve: %v", err)
	}
	ts.Defer(func() { _ = p.stop() })
	if err := p.waitForAddress(); err != nil {
		ts.Fatalf("serve: %v", err)
	}
	ts.Setenv("URL", p.url)
	ts.Setenv("PID", strconv.Itoa(p.cmd.Process.Pid))
	ts.Value(runningServer{}).(*scriptServer).process = p
}

func scriptStop(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: stop")
	}
	if err := ts.Value(runningServer{}).(*scriptServer).stop(); err != nil {
		ts.Fatalf("stop: %v", err)
	}
}

type scriptServer struct{ *process }
