import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { EventStoreDBClient } from '@eventstore/db-client'
import { expect, test } from 'vitest'
import { readConnectionString } from '#infra/event-log/eventstoredb/settings.ts'
import { certificatePath, startEventStoreDb } from './server.ts'

// The guide for operators says what can be done.

const guide = readFile(new URL('../../docs/eventstoredb.md', import.meta.url), 'utf8')

test('every connection string of the guide can be used', async () => {
  const urls = (await guide).match(/^esdb\S+$/gm) ?? []

  expect(urls.length).toBeGreaterThanOrEqual(3)
  for (const url of urls) readConnectionString(url.replace('/run/secrets/ca.crt', certificatePath('ca.crt')))
})

test('the script of the guide gives the rights that it names', async () => {
  await using server = await startEventStoreDb()
  const script = /--eval '\n(?<script>[^']+)'/.exec(await guide)?.groups?.['script'] ?? ''

  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, ADMIN_URL: server.url },
  })

  const client = EventStoreDBClient.connectionString(server.url)
  const last = async (stream: string) => (await Array.fromAsync(client.readStream(stream))).at(-1)?.event?.data
  expect(await last('$$$all')).toEqual({ $acl: { $r: ['$admins', 'coverstream'] } })
  expect(await last('$settings')).toMatchObject({ $userStreamAcl: { $r: ['$admins', 'coverstream'], $d: '$admins' } })
  await client.dispose()
})
