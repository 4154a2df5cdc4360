import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const program = join(import.meta.dirname, 'foreign-verifier', 'main.go')
const settings = { GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOFLAGS: '', GOTOOLCHAIN: 'local' }
const environment = () => ({ ...process.env, ...settings, GOCACHE: mkdtempSync(join(tmpdir(), 'coverstream-go-')) })

/** True where Go is there, and its packages for transparency logs are. */
export const hasGo = spawnSync('go', ['list', 'golang.org/x/mod/sumdb/tlog'], { env: environment() }).status === 0

/** A program of Go's own packages, which says what it finds of its input. */
export const verifierInGo = (): ((input: string | Buffer, ...words: string[]) => string) => {
  const env = environment()
  const binary = join(env.GOCACHE, 'verifier')
  const built = spawnSync('go', ['build', '-o', binary, program], { env })
  if (built.status !== 0) throw new Error(String(built.stderr))
  return (input, ...words) => String(spawnSync(binary, words, { input }).stdout).trim()
}
