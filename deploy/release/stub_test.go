package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// standIn obeys its first argument, and ends the program.
func standIn(args []string) {
	switch args[0] {
	case "echo":
		if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
			panic(err)
		}
		fmt.Fprintf(os.Stderr, "[%s]\n", strings.Join(args[1:], "|"))
		os.Exit(7)
	case "signals": // all until SIGTERM
		signals := make(chan os.Signal, 10)
		signal.Notify(signals, os.Interrupt, syscall.SIGHUP, syscall.SIGTERM)
		fmt.Println("ready", os.Getpid())
		for s := range signals {
			fmt.Println(s)
			if s == syscall.SIGTERM {
				os.Exit(7)
			}
		}
	case "killed":
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		panic(err)
	}
}
