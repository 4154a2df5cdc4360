import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Organisation } from '#domain/access/record.ts'
import { SubjectErased } from '#infra/crypto/erased.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { makeLinks } from '../../command-api/outreach/links.ts'
import { outreachPages, type Withdraw } from '../../command-api/outreach/pages.ts'
import { serve } from '../serve.ts'
import { contact_id, message_id, startedStream } from './builders.ts'

const keys = deriveKeys(randomBytes(32).toString('base64'))
const stream = startedStream()

/** What the page answers to who presses its button, or whose mail program does. */
const unsubscribe = async (withdraw: Withdraw) => {
  const organisation = { name: 'A firm', time_zone: 'Europe/London' } as Organisation // nothing else of it is asked for
  const routes = outreachPages({
    keys,
    live: { streams: new Map([[stream.id, stream]]), settings: new Map() },
    organisations: new Map([[stream.organisation_id, organisation]]),
    withdraw,
    people: {} as Parameters<typeof outreachPages>[0]['people'], // for surveys
  })
  await using served = await serve(routes)
  const { unsubscribe: link } = makeLinks({ keys, baseUrl: served.origin })(stream, contact_id, message_id)
  const response = await fetch(link, { method: 'POST' })
  return { status: response.status, html: await response.text() }
}

test('an unsubscribe withdraws consent for the purpose of the stream on every channel of messages', async () => {
  const said: unknown[] = []
  const { status, html } = await unsubscribe(async (_organisation, contact, { entries }) => {
    said.push(
      contact,
      entries.map(({ purpose, channel, state }) => `${purpose} ${channel} ${state}`),
    )
  })
  expect([status, html.includes('A firm sends you no more messages')]).toEqual([200, true])
  expect(said).toEqual([
    contact_id,
    ['email', 'sms', 'whatsapp'].map((channel) => `first_party_marketing ${channel} withdrawn`),
  ])
})

test('somebody who was erased meanwhile is told the same: nothing more is sent to them', async () => {
  const { status, html } = await unsubscribe(async () => {
    throw new SubjectErased('erased')
  })
  expect([status, html.includes('A firm sends you no more messages')]).toEqual([200, true])
})
