import { createServer, type AddressInfo, type Socket } from 'node:net'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { expect, test } from 'vitest'
import { makeLog } from '#infra/log.ts'
import { misconfiguration } from '#infra/postgres/misconfiguration.ts'
import { createPool, isUnavailable } from '#infra/postgres/postgres.ts'
import { waitForStore } from '#infra/wait-for-store.ts'
import { testDatabase } from '../database.ts'
import { certificate, privateKey } from '../delivery/certificate.ts'

test('a Unix socket that the process may not use is a wrong setting, and no outage to wait for', () => {
  const refused = Object.assign(new Error('connect EACCES /run/postgresql/.s.PGSQL.5432'), { code: 'EACCES' })

  expect(misconfiguration(refused, '/run/postgresql')?.message).toBe(
    'DATABASE_URL: this user of the machine may not use the socket of PostgreSQL (/run/postgresql: connect EACCES /run/postgresql/.s.PGSQL.5432)',
  )
})

/** Speaks TLS when a client asks for it, as PostgreSQL does, with a certificate that nobody trusts. */
const startTlsServer = async () => {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write('S')
      new TLSSocket(socket, { isServer: true, cert: certificate, key: privateKey }).on('error', () => undefined)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

const start = async (url: string): Promise<unknown> => {
  const pool = createPool(url)
  const options = { log: makeLog('silent', 'test'), signal: AbortSignal.timeout(15_000) }
  try {
    return await waitForStore({ variable: 'DATABASE_URL', url }, () => pool.query('select 1'), options)
  } finally {
    await pool.end()
  }
}

test('TLS to PostgreSQL that cannot work ends the start with one line that names DATABASE_URL', async () => {
  await using server = await startTlsServer()
  await using folder = await mkdtempDisposable(join(tmpdir(), 'coverstream-tls-'))
  const notPem = join(folder.path, 'not.pem')
  await writeFile(notPem, 'no certificate')
  const url = `postgres://us:secret@127.0.0.1:${server.port}/db?sslmode=verify-full`

  await expect(start(url)).rejects.toThrow(
    /^DATABASE_URL: the certificate of 127\.0\.0\.1:\d+ does not fit \(self-signed certificate.*\): check sslrootcert and the host$/,
  )
  await expect(start(`${url}&sslrootcert=/no/such/file`)).rejects.toThrow(
    "DATABASE_URL: a file that it names cannot be read: ENOENT: no such file or directory, open '/no/such/file'",
  )
  await expect(start(`${url}&sslcert=${notPem}&sslkey=${notPem}`)).rejects.toThrow(
    'DATABASE_URL: a file that it names holds no usable certificate or key (',
  )
})

test('no part of a password is printed, not even of one with an @ in it', async () => {
  await using database = await testDatabase()
  const { host, pathname } = new URL(database.url)

  await expect(start(`postgres://nobody:p@rt@${host}${pathname}`)).rejects.toThrow(
    `DATABASE_URL: the user or password is wrong, or the user may not connect (${host}: `,
  )
})

test('a user that may no longer connect is an outage for a service that runs, so that nothing is set aside', async () => {
  await using database = await testDatabase()
  const role = `r${new URL(database.url).pathname.slice(1)}`
  await database.pool.query(`create role ${role} login password 'right'`)
  const url = Object.assign(new URL(database.url), { username: role, password: 'right' }).href
  const pool = createPool(url)
  try {
    await pool.query('select 1')
    await database.pool.query(`alter role ${role} nologin`)
    await database.pool.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = '${role}'`)

    const failure: unknown = await pool.query('select 1').catch((error: unknown) => error)

    expect(failure).toMatchObject({ code: '28000' })
    expect(isUnavailable(failure)).toBe(true)
  } finally {
    await pool.end()
    await database.pool.query(`drop role ${role}`)
  }
})
