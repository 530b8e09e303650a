package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// process names a process for good: a pid alone may be given to another one later.
type process struct {
	Pid int `json:"pid"`
	// Ticks since boot at its start: field 22 of /proc/PID/stat.
	Start uint64 `json:"start"`
}

func processOf(pid int) process {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	check(err)
	// the second field is the name in brackets, which may hold spaces and brackets
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	start, err := strconv.ParseUint(fields[22-3], 10, 64)
	check(err)
	return process{pid, start}
}

// component is one child.
type component struct {
	Name string `json:"name"`
	// The context of its cluster; empty for etcd, which serves all.
	Context string  `json:"context,omitempty"`
	Process process `json:"process"`
}

// state is what DIR/state.json tells others: who runs, and whether all is ready.
type state struct {
	Ready      bool        `json:"ready"`
	Supervisor process     `json:"supervisor"`
	Contexts   []string    `json:"contexts"`
	Nodes      int         `json:"nodes"`
	Components []component `json:"components"`
}

// write replaces the file in one step, so that nobody reads half of it.
func (s *state) write(dir string) {
	data, err := json.MarshalIndent(s, "", "  ")
	check(err)
	path := filepath.Join(dir, "state.json")
	write(path+".new", append(data, '\n'))
	check(os.Rename(path+".new", path))
}
