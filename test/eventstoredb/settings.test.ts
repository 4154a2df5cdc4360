import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { LogMisconfigured } from '#infra/event-log/event-log.ts'
import { readConnectionString } from '#infra/event-log/eventstoredb/settings.ts'
import { certificatePath } from './server.ts'

test.each([
  { url: 'esdb://one', hosts: ['one:2113'], isDnsName: false },
  { url: 'esdb://one:1,two:2/?tls=false', hosts: ['one:1', 'two:2'], isDnsName: false },
  { url: 'kurrentdb+discover://cluster.example.org:2114', hosts: ['cluster.example.org:2114'], isDnsName: true },
  { url: 'esdb://[::1]:2115?tls=false', hosts: ['[::1]:2115'], isDnsName: false },
])('$url names the servers $hosts', ({ url, hosts, isDnsName }) => {
  const settings = readConnectionString(url)

  expect(settings.hosts.map(({ address, port }) => `${address}:${port}`)).toEqual(hosts)
  expect(settings.isDnsName).toBe(isDnsName)
})

test('a user and a password may hold any character, written with %', () => {
  const { user } = readConnectionString('esdb://some%40one:p%3A%40ss:word@host')

  expect(user).toEqual({ username: 'some@one', password: 'p:@ss:word' })
})

test('a connection is encrypted unless the string says otherwise', async () => {
  const path = certificatePath('ca.crt')

  expect(readConnectionString('esdb://host').tls).toEqual({})
  expect(readConnectionString('esdb://host?tls=false').tls).toBeUndefined()
  expect(readConnectionString(`esdb://host?tlsCaFile=${encodeURIComponent(path)}`).tls).toEqual({
    ca: await readFile(path),
  })
})

test('options of other clients are accepted, whatever their case', () => {
  const { keepAlive, connectionName } = readConnectionString(
    'esdb://host?nodePreference=leader&KEEPALIVEINTERVAL=2000&keepAliveTimeout=-1&connectionName=api&defaultDeadline=1',
  )

  expect(keepAlive).toEqual({ intervalMs: 2_000, timeoutMs: 2 ** 31 - 1 })
  expect(connectionName).toBe('api')
})

test.each([
  { url: 'postgres://host', says: 'must be of the form' },
  { url: 'esdb://user:secret@', says: 'must be of the form' },
  { url: 'esdb://user:secret@host:port', says: '"host:port" is no host' },
  { url: 'esdb://user:secret@host:65536', says: 'is no host' },
  { url: 'esdb://user:sec%ret@host', says: 'must be written as %25' },
  { url: 'esdb+discover://user:secret@one,two', says: 'a single host' },
  { url: 'esdb://user:secret@host?tsl=false', says: 'there is no option "tsl"' },
  { url: 'esdb://user:secret@host?tls=no', says: 'tls must be true or false' },
  { url: 'esdb://user:secret@host?keepAliveInterval=often', says: 'keepaliveinterval must be a number' },
  { url: 'esdb://user:secret@host?tlsCAFile=/not/there.crt', says: 'tlsCAFile cannot be read: ENOENT' },
  {
    url: `esdb://user:secret@host?tlsCAFile=${encodeURIComponent(import.meta.filename)}`,
    says: 'tlsCAFile holds no certificate in PEM (',
  },
  { url: 'esdb://user:secret@host?userCertFile=/some.crt', says: 'must be given together' },
])('$url is refused in one line that names the variable and not the password', ({ url, says }) => {
  const reading = () => readConnectionString(url)

  expect(reading).toThrow(LogMisconfigured)
  expect(reading).toThrow(says)
  expect(reading).toThrow(/^EVENTSTOREDB_URL: (?!.*secret).+$/)
})
