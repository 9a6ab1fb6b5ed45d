// SPDX-License-Identifier: Apache-2.0

package lsp

import "encoding/json"

// The parts of the protocol that the server uses. Names are the protocol's.

type textDocument struct {
	URI string `json:"uri"`
}

type textDocumentItem struct {
	URI        string `json:"uri"`
	LanguageID string `json:"languageId"`
	Version    int32  `json:"version"`
	Text       string `json:"text"`
}

type didOpenParams struct {
	TextDocument textDocumentItem `json:"textDocument"`
}

type didChangeParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int32  `json:"version"`
	} `json:"textDocument"`
	ContentChanges []contentChange `json:"contentChanges"`
}

// contentChange replaces the Range or, if that is absent, the whole text.
type contentChange struct {
	Range *Range `json:"range"`
	Text  string `json:"text"`
}

type documentParams struct {
	TextDocument textDocument `json:"textDocument"`
}

type positionParams struct {
	TextDocument textDocument `json:"textDocument"`
	Position     Position     `json:"position"`
}

type renameParams struct {
	TextDocument textDocument `json:"textDocument"`
	Position     Position     `json:"position"`
	NewName      string       `json:"newName"`
}

type commandParams struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
}

type location struct {
	URI   string `json:"uri"`
	Range Range  `json:"range"`
}

type relatedInformation struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type diagnostic struct {
	Range    Range                `json:"range"`
	Severity int                  `json:"severity"`
	Code     string               `json:"code"`
	Source   string               `json:"source"`
	Message  string               `json:"message"`
	Related  []relatedInformation `json:"relatedInformation,omitempty"`
}

// The severities.
const (
	severityError   = 1
	severityWarning = 2
)

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int32       `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type messageParams struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
}

type hover struct {
	Contents markup `json:"contents"`
	Range    Range  `json:"range"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type textEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

type prepared struct {
	Range       Range  `json:"range"`
	Placeholder string `json:"placeholder"`
}

// symbolKind selects the icon that an outline shows beside a name.
type symbolKind int

const (
	kindModule    symbolKind = 2
	kindClass     symbolKind = 5
	kindMethod    symbolKind = 6
	kindProperty  symbolKind = 7
	kindInterface symbolKind = 11
	kindFunction  symbolKind = 12
	kindVariable  symbolKind = 13
	kindConstant  symbolKind = 14
	kindKey       symbolKind = 20
	kindStruct    symbolKind = 23
	kindEvent     symbolKind = 24
)

type documentSymbol struct {
	Name      string           `json:"name"`
	Detail    string           `json:"detail,omitempty"`
	Kind      symbolKind       `json:"kind"`
	Range     Range            `json:"range"`
	Selection Range            `json:"selectionRange"`
	Children  []documentSymbol `json:"children,omitempty"`
}

type codeAction struct {
	Title   string  `json:"title"`
	Kind    string  `json:"kind"`
	Command command `json:"command"`
}

type command struct {
	Title     string   `json:"title"`
	Command   string   `json:"command"`
	Arguments []string `json:"arguments"`
}

type applyEditParams struct {
	Label string        `json:"label"`
	Edit  workspaceEdit `json:"edit"`
}

// translateCommand is the name of the command that translates an algorithm.
const translateCommand = "ashlar.translate"

// initializeResult describes the capabilities of the server.
func initializeResult() any {
	type object = map[string]any
	return object{
		"capabilities": object{
			"positionEncoding":           "utf-16",
			"textDocumentSync":           object{"openClose": true, "change": 2, "save": object{}},
			"hoverProvider":              true,
			"definitionProvider":         true,
			"renameProvider":             object{"prepareProvider": true},
			"documentSymbolProvider":     true,
			"documentFormattingProvider": true,
			"codeActionProvider":         object{"codeActionKinds": []string{"source.translate"}},
			"executeCommandProvider":     object{"commands": []string{translateCommand}},
		},
		"serverInfo": object{"name": "ashlar"},
	}
}
