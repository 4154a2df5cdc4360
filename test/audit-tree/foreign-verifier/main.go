// Verifies what an audit log serves with the packages of Go's checksum database. It reads a document from its input or, with the argument
// "export", an export, and says "verified", or what is wrong and ends with 1.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type given struct {
	Key    string // A verifier key.
	Former string // The note of a former checkpoint, and that of the newest.
	Newest string
	Leaves []struct {
		Index  int64
		Record string
		Proof  []string
	}
	Consistency []string
	Tiles       map[string]string // By path below the log's address.
}

func check(err error, doing string) {
	if err != nil {
		fmt.Printf("%s: %v\n", doing, err)
		os.Exit(1)
	}
}

func hashes(encoded []string) []tlog.Hash {
	var found []tlog.Hash
	for _, each := range encoded {
		hash, err := tlog.ParseHash(each)
		check(err, "hash")
		found = append(found, hash)
	}
	return found
}

func open(text string, keys []string) *note.Note {
	var verifiers []note.Verifier
	for _, key := range keys {
		verifier, err := note.NewVerifier(key)
		check(err, "key")
		verifiers = append(verifiers, verifier)
	}
	opened, err := note.Open([]byte(text), note.VerifierList(verifiers...))
	check(err, "note")
	return opened
}

// Tlog.ParseTree knows only Go's own log, so the three lines are parsed here.
func openTree(text string, keys ...string) tlog.Tree {
	opened := open(text, keys)
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != opened.Sigs[0].Name {
		check(errors.New("it has not the three lines of this log"), "checkpoint")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err, "size")
	root, err := tlog.ParseHash(lines[2])
	check(err, "root")
	return tlog.Tree{N: size, Hash: root}
}

type tiles map[string]string

func (tiles) Height() int { return 8 }

func (tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func (known tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var found [][]byte
	for _, tile := range wanted {
		// Go's own path names the height, which is always 8 here.
		path := strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
		encoded, isThere := known[path]
		if !isThere {
			return nil, fmt.Errorf("there is no %s", path)
		}
		bytes, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, err
		}
		found = append(found, bytes)
	}
	return found, nil
}

type manifest struct {
	Format, Origin, Checkpoint string
	Keys                       []string
}

// The lines are canonical JSON, so that the bytes of a part are those of which its fingerprint was made.
type entry struct {
	Index                  int64
	Record, Data, Metadata json.RawMessage
	Proof                  []string
	End                    string
}

func checkDigest(part []byte, expected string, doing string) {
	digest := sha256.Sum256(part)
	if hex.EncodeToString(digest[:]) != expected {
		check(errors.New("its event is not what was recorded"), doing)
	}
}

func verifyExport() {
	input := bufio.NewReader(os.Stdin)
	first, err := input.ReadBytes('\n')
	check(err, "line 1")
	var head manifest
	check(json.Unmarshal(first, &head), "line 1")
	tree := openTree(head.Checkpoint, head.Keys...)
	entries := sha256.New()
	for number := 2; ; number++ {
		doing := fmt.Sprintf("line %d", number)
		line, err := input.ReadBytes('\n')
		check(err, doing)
		var found entry
		check(json.Unmarshal(line, &found), doing)
		if found.End != "" {
			manifestDigest := sha256.Sum256(first)
			expected := fmt.Sprintf("%s\n%s\n%d\n%s\n%s\n", head.Format, head.Origin, number-2,
				base64.StdEncoding.EncodeToString(manifestDigest[:]), base64.StdEncoding.EncodeToString(entries.Sum(nil)))
			if open(found.End, head.Keys).Text != expected {
				check(errors.New("it does not sign the lines before it"), doing)
			}
			return
		}
		entries.Write(line)
		var record struct{ Data_sha256, Metadata_sha256 string }
		check(json.Unmarshal(found.Record, &record), doing)
		checkDigest(found.Data, record.Data_sha256, doing)
		checkDigest(found.Metadata, record.Metadata_sha256, doing)
		check(tlog.CheckRecord(hashes(found.Proof), tree.N, tree.Hash, found.Index, tlog.RecordHash(found.Record)), doing)
	}
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "export" {
		verifyExport()
		fmt.Println("verified")
		return
	}
	var document given
	check(json.NewDecoder(os.Stdin).Decode(&document), "document")
	former := openTree(document.Former, document.Key)
	newest := openTree(document.Newest, document.Key)
	check(tlog.CheckTree(hashes(document.Consistency), newest.N, newest.Hash, former.N, former.Hash), "consistency")

	reader := tlog.TileHashReader(newest, tiles(document.Tiles))
	for _, leaf := range document.Leaves {
		hash := tlog.RecordHash([]byte(leaf.Record))
		proof := hashes(leaf.Proof)
		check(tlog.CheckRecord(proof, newest.N, newest.Hash, leaf.Index, hash), fmt.Sprintf("entry %d", leaf.Index))
		found, err := reader.ReadHashes([]int64{tlog.StoredHashIndex(0, leaf.Index)})
		check(err, "tiles")
		if found[0] != hash {
			check(errors.New("the tiles hold another hash"), fmt.Sprintf("entry %d", leaf.Index))
		}
	}
	fmt.Println("verified")
}
