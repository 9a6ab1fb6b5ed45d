// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// errHeader reports that the rest of the stream is unreadable, because the
// start of the next message is unknown.
var errHeader = errors.New("malformed header of a message")

// errTooLarge reports that a message was skipped.
var errTooLarge = fmt.Errorf("message larger than %d bytes", MessageBytesMax)

// frames reads the bodies of messages.
type frames struct{ r *bufio.Reader }

func newFrames(r io.Reader) *frames { return &frames{bufio.NewReaderSize(r, HeaderBytesMax)} }

// next returns the body of the next message. The error is io.EOF if the stream
// ends between messages, and errTooLarge if a message was skipped.
func (f *frames) next() ([]byte, error) {
	length := int64(-1)
	for n := 0; ; n++ {
		line, err := f.r.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0 && n == 0:
			return nil, io.EOF
		case errors.Is(err, io.EOF):
			return nil, io.ErrUnexpectedEOF
		case errors.Is(err, bufio.ErrBufferFull) || n == HeaderLinesMax:
			return nil, errHeader
		case err != nil:
			return nil, fmt.Errorf("read message: %w", err)
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, errHeader
		}
		if strings.EqualFold(name, "Content-Length") {
			length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			if err != nil || length < 0 {
				return nil, errHeader
			}
		}
	}
	if length < 0 {
		return nil, errHeader
	}
	if length > MessageBytesMax {
		if _, err := io.CopyN(io.Discard, f.r, length); err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		return nil, errTooLarge
	}
	// The buffer grows with the bytes received, so a large announced length
	// alone does not allocate memory.
	var body bytes.Buffer
	if _, err := io.CopyN(&body, f.r, length); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return body.Bytes(), nil
}

// writeFrame writes one message.
func writeFrame(w io.Writer, m any) error {
	body, err := encode(m)
	if err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	if _, err := fmt.Fprintf(w, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	return nil
}

// encode marshals to JSON without escaping < and >.
func encode(m any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// The error codes of JSON-RPC and of the protocol.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeMethod         = -32601
	codeParams         = -32602
	codeNotInitialized = -32002
	codeRequestFailed  = -32803
)

// incoming is a request, a notification (without ID), or a response (without
// Method).
type incoming struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// response answers a request. Exactly one of Result and Error is set.
type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *failure        `json:"error,omitempty"`
}

// call is a message that the server initiates: a notification or a request.
type call struct {
	Version string `json:"jsonrpc"`
	ID      string `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

// failure is the error of a response.
type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (f *failure) Error() string { return f.Message }

func fail(code int, format string, args ...any) *failure {
	return &failure{code, fmt.Sprintf(format, args...)}
}

// nobody is the ID in a response to a message whose ID is unknown.
func nobody() json.RawMessage { return json.RawMessage("null") }

// parseMessage parses a body. If it returns a failure, it also returns the ID
// for the response.
func parseMessage(body []byte) (*incoming, *failure) {
	m := &incoming{}
	if !json.Valid(body) {
		m.ID = nobody()
		return m, fail(codeParse, "the message is not JSON")
	}
	if err := json.Unmarshal(body, m); err != nil {
		m.ID = nobody()
		return m, fail(codeInvalidRequest, "the message is not a request: %v", err)
	}
	if len(m.ID) > 0 && m.ID[0] != '"' && m.ID[0] != '-' && (m.ID[0] < '0' || m.ID[0] > '9') {
		m.ID = nobody()
		return m, fail(codeInvalidRequest, "the id of a request is a number or a string")
	}
	if m.Version != "2.0" || m.Method == "" && len(m.ID) == 0 {
		if len(m.ID) == 0 {
			m.ID = nobody()
		}
		return m, fail(codeInvalidRequest, "the message is not of JSON-RPC 2.0")
	}
	return m, nil
}
