import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import type { OutgoingMessage } from '#infra/message-channels/channel.ts'
import { makeOutbox } from '#infra/message-channels/outbox.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { testDatabase } from '../database.ts'

const organisation_id = '6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f'
const [ann, bob] = ['c0000000-0000-4000-8000-000000000001', 'c0000000-0000-4000-8000-000000000002']
const keys = deriveKeys(randomBytes(32).toString('base64'))
const latest = { at: 'infinity', id: 'ffffffff-ffff-4fff-8fff-ffffffffffff' }

const messageTo = (contact_id: string, number: number): OutgoingMessage => ({
  id: `0e000000-0000-4000-8000-00000000000${number}`,
  organisation_id,
  contact_id,
  channel: 'email',
  to: `person-${number}@example.com`,
  from_name: 'A firm',
  subject: 'Hello',
  text: `A word to person ${number}.`,
  unsubscribe_url: 'https://firm.example/outreach/unsubscribe?t=token',
  reference: 'reference-of-the-message',
  sent_at: `2026-01-16T12:00:0${number}.000Z`,
})

/** The outbox of a process on the database, and the keys that it has. */
const processOn = ({ pool }: Awaited<ReturnType<typeof testDatabase>>) => {
  const dataKeys = makeDataKeys({ pool, keys })
  const outbox = makeOutbox({ pool, dataKeys })
  return { dataKeys, outbox, texts: async () => (await outbox.list(organisation_id, latest, 10)).map(textOf) }
}

const textOf = ({ content }: { readonly content: string | null }): unknown =>
  content === null ? null : (JSON.parse(content) as { text: string }).text

test('what the outbox keeps of a message is sealed under the key of its person', async () => {
  await using database = await testDatabase()
  const { dataKeys, outbox, texts } = processOn(database)
  await outbox.send(messageTo(ann, 1))

  const { rows } = await database.pool.query<{ key_id: string; sealed: Buffer; whole: string }>(
    sql`select key_id, sealed, outreach_outbox::text as whole from outreach_outbox`,
  )

  const { id } = await dataKeys.of({ organisation_id, subject: `person:${ann}/outreach_person-${ann}` })
  expect(rows.map(({ key_id }) => key_id)).toEqual([id])
  for (const written of ['person-1@example.com', 'A word to', 'Hello']) {
    expect(rows[0]?.sealed.includes(written)).toBe(false)
    expect(rows[0]?.whole).not.toContain(written)
  }
  expect(await texts()).toEqual(['A word to person 1.'])
})

test('the messages of an erased person cannot be read any more, in any process; those of others can', async () => {
  await using database = await testDatabase()
  const { dataKeys, outbox } = processOn(database)
  await outbox.send(messageTo(ann, 1))
  await outbox.send(messageTo(bob, 2))

  await dataKeys.erase({ organisation_id, subject: `person:${ann}` })

  expect(await processOn(database).texts()).toEqual(['A word to person 2.', null])
  dataKeys.forget()
  expect((await outbox.list(organisation_id, latest, 10)).map(textOf)).toEqual(['A word to person 2.', null])
})

test('nothing more is kept of an erased person', async () => {
  await using database = await testDatabase()
  const { dataKeys, outbox, texts } = processOn(database)
  await dataKeys.erase({ organisation_id, subject: `person:${ann}` })

  await expect(outbox.send(messageTo(ann, 1))).rejects.toThrow('was erased')

  expect(await texts()).toEqual([])
})

test('a message that was sealed for one organisation and id opens nowhere else', async () => {
  await using database = await testDatabase()
  const { outbox, texts } = processOn(database)
  await outbox.send(messageTo(ann, 1))

  await database.pool.query(sql`update outreach_outbox set id = ${messageTo(ann, 2).id}`)

  await expect(texts()).rejects.toThrow('sealed for another place')
})
