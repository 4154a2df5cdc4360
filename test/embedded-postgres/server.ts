import { argv, stdin, stdout } from 'node:process'
import { startEmbeddedPostgres } from '#infra/postgres/embedded/embedded-postgres.ts'

// A process of its own that starts the server of a directory, says where it is, and stops it when its input ends.
const { url, stop } = await startEmbeddedPostgres({ dataDir: argv[2] ?? '' })
stdout.write(`${url}\n`)
stdin.resume().once('end', () => void stop())
