// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// users are user0, user1, and so on.
type users struct {
	count  uint64
	domain string
	hashes map[uint64]string // nil: no user needs a password
}

// lookup finds the user with a name or with an address in our domain.
func (u users) lookup(name string) (uint64, bool) {
	local, domain, address := strings.Cut(name, "@")
	if address && !strings.EqualFold(domain, u.domain) {
		return 0, false
	}
	digits, ok := strings.CutPrefix(strings.ToLower(local), "user")
	n, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil || n >= u.count || digits != strconv.FormatUint(n, 10) {
		return 0, false
	}
	return n, true
}

// login checks a password. It takes equally long for an unknown user and for a
// wrong password.
func (u users) login(name, password string) (uint64, bool) {
	n, ok := u.lookup(name)
	if u.hashes == nil {
		return n, ok
	}
	stored, known := u.hashes[n]
	if !ok || !known {
		stored, ok = hashOf([]byte("nobody's salt"), ""), false
	}
	salt, _, _ := strings.Cut(stored, ":")
	raw, err := hex.DecodeString(salt)
	same := subtle.ConstantTimeCompare([]byte(hashOf(raw, password)), []byte(stored)) == 1
	return n, ok && known && same && err == nil
}

// hashRounds makes guessing slow.
const hashRounds = 100_000

// hashOf returns the stored form of a password: the salt and the hash, in
// hexadecimal.
func hashOf(salt []byte, password string) string {
	key, err := pbkdf2.Key(sha256.New, password, salt, hashRounds, sha256.Size)
	if err != nil {
		panic(err) // of lengths only, which are constant
	}
	return hex.EncodeToString(salt) + ":" + hex.EncodeToString(key)
}

// readPasswords reads lines of a user's name, a colon, and the output of
// hashOf.
func (u *users) readPasswords(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	u.hashes = map[uint64]string{}
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		line := strings.TrimSpace(in.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, hash, _ := strings.Cut(line, ":")
		salt, key, _ := strings.Cut(hash, ":")
		_, errSalt := hex.DecodeString(salt)
		raw, errKey := hex.DecodeString(key)
		user, ok := u.lookup(name)
		switch {
		case !ok:
			return fmt.Errorf("%s:%d: there is no user %q", path, n, name)
		case errSalt != nil || errKey != nil || len(raw) != sha256.Size:
			return fmt.Errorf("%s:%d: this is not a line from 'mailboat password'", path, n)
		case u.hashes[user] != "":
			return fmt.Errorf("%s:%d: %s already has a password", path, n, name)
		}
		u.hashes[user] = hash
	}
	return in.Err()
}

func newPasswordCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "password USER",
		Short: "Print the line of a password file for a user",
		Long: `Password reads a password from the first line of standard input, and prints the
user's line for the file of 'mailboat serve --passwords'. The line does not contain the
password itself.`,
		Example: `  mailboat password user0 >> passwords`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			line, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			password := strings.TrimRight(line, "\r\n")
			if password == "" {
				return errors.New("the password is empty")
			}
			salt := make([]byte, 16)
			rand.Read(salt) // never fails: it ends the program instead
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s:%s\n", args[0], hashOf(salt, password))
			return err
		},
	}
}
