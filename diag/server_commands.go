package diag

import (
	"encoding/binary"
	"errors"
	"io"
	"time"
)

// An exchange is a request and its answer.
type exchange struct {
	s        *Server
	port     *servedPort // that it came by
	c        conn
	in       *message
	retained bool // the connection is a session's
}

// served maps commands to their handlers. A handler that returns an error has not
// answered yet.
var served = map[command]func(*exchange) error{
	cmdStopTracing:        (*exchange).stopTracing,
	cmdCollectTracing:     (*exchange).collectTracing,
	cmdCollectTracing2:    (*exchange).collectTracing,
	cmdCollectTracing3:    (*exchange).collectTracing,
	cmdCollectTracing4:    (*exchange).collectTracing,
	cmdCollectTracing5:    (*exchange).collectTracing,
	cmdCollectTracing6:    (*exchange).collectTracing,
	cmdProcessInfo:        (*exchange).processInfo,
	cmdProcessInfo2:       (*exchange).processInfo,
	cmdProcessInfo3:       (*exchange).processInfo,
	cmdResumeRuntime:      (*exchange).resumeRuntime,
	cmdProcessEnvironment: (*exchange).processEnvironment,
}

// serve answers the request, or returns why it is refused.
func (x *exchange) serve() error {
	if answer, ok := served[x.in.cmd]; ok {
		return answer(x)
	}
	if _, known := commandNames[x.in.cmd]; known && x.in.cmd < answerOK {
		return NotSupported
	}
	return UnknownCommand
}

// refuse sends the reason to the client, if it is still connected.
func (x *exchange) refuse(why error) {
	code := Fail
	header, isHeader := errors.AsType[*headerError](why)
	wanted, isCode := errors.AsType[HRESULT](why)
	switch {
	case isHeader:
		code = header.code
	case isCode:
		code = wanted
	case errors.Is(why, io.ErrUnexpectedEOF):
		code = BadEncoding
	case timedOut(why), errors.Is(why, io.EOF), reset(why):
		return // there is not a client to answer
	}
	m := newRequest(answerError)
	m.u32((*uint32)(&code))
	_ = x.send(m, nil)
}

// send sends an answer, and the bytes that follow it outside of the message.
func (x *exchange) send(m *message, behind []byte) error {
	b, err := m.encode()
	if err != nil {
		return err
	}
	_ = x.c.SetDeadline(time.Now().Add(requestTimeout))
	_, err = x.c.Write(append(b, behind...))
	return err
}

func (x *exchange) processInfo() error {
	m := newRequest(answerOK)
	info := x.s.opt.Info
	info.layout(x.in.cmd, m)
	return x.send(m, nil)
}

func (x *exchange) resumeRuntime() error {
	x.s.resume(x.port)
	m := newRequest(answerOK)
	m.u32(new(uint32))
	return x.send(m, nil)
}

// processEnvironment answers with the size of the environment, which follows.
func (x *exchange) processEnvironment() error {
	block := newRequest(answerOK)
	vars := x.s.opt.Environment
	environment(block, &vars)
	if block.err != nil {
		return block.err
	}
	behind := block.b[headerSize:]
	size, end := uint32(len(behind)), [2]byte{}
	m := newRequest(answerOK)
	m.u32(&size)
	m.bytes(end[:])
	return x.send(m, behind)
}

func (x *exchange) collectTracing() error {
	var r collectRequest
	r.layout(x.in)
	switch {
	case r.output == userEvents:
		return Fail // as of a runtime on a system that has none
	case x.in.err != nil:
		return BadEncoding
	}
	t, err := x.s.opt.Collect(r.Config)
	if err != nil {
		return err
	}
	id := x.s.begin(t, x.c)
	x.retained = true
	m := newRequest(answerOK)
	m.u64(&id)
	_ = x.send(m, nil) // a client that does not take it does not take the trace either
	x.s.work.Go(func() { x.s.stream(id) })
	return nil
}

// stopTracing ends a session. Like a runtime, it does not distinguish an unknown one.
func (x *exchange) stopTracing() error {
	var id uint64
	if x.in.u64(&id); x.in.err != nil {
		return BadEncoding
	}
	x.s.stop(id)
	m := newRequest(answerOK)
	m.u64(&id)
	return x.send(m, nil)
}

// advertise returns the message with which a connecting runtime identifies
// itself.
func (i *Info) advertise() []byte {
	b := append(make([]byte, 0, advertiseSize), advertiseMagic...)
	b = append(b, i.Cookie[:]...)
	b = binary.LittleEndian.AppendUint64(b, i.PID)
	return append(b, 0, 0)
}
