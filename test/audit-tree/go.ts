import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const program = join(import.meta.dirname, 'foreign-verifier', 'main.go')
const settings = { GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOFLAGS: '', GOTOOLCHAIN: 'local' }
const environment = () => ({ ...process.env, ...settings, GOCACHE: mkdtempSync(join(tmpdir(), 'coverstream-go-')) })

/** True where Go is there, and its packages for transparency logs are. */
export const hasGo = spawnSync('go', ['list', 'golang.org/x/mod/sumdb/tlog'], { env: environment() }).status === 0

type VerifierInGo = (input: string | Buffer, ...words: string[]) => string

/** A program of Go's own packages, which says what it finds of its input. Meanwhile the process serves its connections. */
export const verifierInGo = async (): Promise<VerifierInGo> => {
  const env = environment()
  const binary = join(env.GOCACHE, 'verifier')
  await promisify(execFile)('go', ['build', '-o', binary, program], { env })
  return (input, ...words) => String(spawnSync(binary, words, { input }).stdout).trim()
}
