package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

// supervisor starts children that end with it, and keeps the state file true about them.
type supervisor struct {
	dir    string
	forks  chan *child
	forked chan error
	ended  chan *child

	mu    sync.Mutex
	state state
}

// child is one part of this program in a process of its own.
type child struct {
	component
	cmd *exec.Cmd
	log string
}

func newSupervisor(dir string, contexts []string, nodes int) *supervisor {
	s := &supervisor{
		dir:    dir,
		forks:  make(chan *child),
		forked: make(chan error),
		ended:  make(chan *child),
		state:  state{Supervisor: processOf(os.Getpid()), Contexts: contexts, Nodes: nodes, Components: []component{}},
	}
	s.state.write(dir)
	return s
}

// start runs one part in dir, with its output in dir/PART.log.
func (s *supervisor) start(context, dir, part string, args ...string) {
	path := filepath.Join(dir, part+".log")
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	check(err)
	defer log.Close()
	self, err := os.Executable()
	check(err)
	cmd := exec.Command(self, append([]string{part}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	// nothing of the user's: no proxy, no home that kwok would write to
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}

	s.mu.Lock()
	defer s.mu.Unlock()
	c := &child{component{Name: part, Context: context}, cmd, path}
	s.forks <- c
	check(<-s.forked)
	s.state.Components = append(s.state.Components, c.component)
	s.state.write(s.dir)
}

// ready says in the state file that everything runs.
func (s *supervisor) ready() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Ready = true
	s.state.write(s.dir)
}

// run forks what start asks for until told to stop, and then leaves no child. It belongs on the main thread: the
// signal of a parent's death comes when the thread that forked ends. A child that ends before all is ready is a
// failure; later a test may have ended it on purpose.
func (s *supervisor) run(ready <-chan struct{}, told <-chan os.Signal) error {
	running := map[*child]bool{}
	defer func() {
		// killed, not told: an apiserver that is told drains for many seconds
		for c := range running {
			c.cmd.Process.Kill()
		}
		for len(running) > 0 {
			delete(running, <-s.ended)
		}
	}()
	for {
		select {
		case c := <-s.forks:
			err := c.cmd.Start()
			if err == nil {
				c.Process = processOf(c.cmd.Process.Pid)
				running[c] = true
				go func() {
					c.cmd.Wait()
					s.ended <- c
				}()
			}
			s.forked <- err
		case <-told:
			return nil
		case c := <-s.ended:
			delete(running, c)
			what := c.Name
			if c.Context != "" {
				what += fmt.Sprintf(" of %q", c.Context)
			}
			what += fmt.Sprintf(" ended (%v)", c.cmd.ProcessState)
			select {
			case <-ready:
				fmt.Fprintln(os.Stderr, "testcluster:", what)
			default:
				return fmt.Errorf("%s before all was ready; its log ends:\n%s", what, tail(c.log))
			}
		}
	}
}

// tail gives the last lines of a log.
func tail(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > 2000 {
		file.Seek(-2000, io.SeekEnd)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return err.Error()
	}
	if _, rest, found := bytes.Cut(text, []byte("\n")); found && len(text) == 2000 {
		text = rest // the first line is cut
	}
	return string(text)
}
