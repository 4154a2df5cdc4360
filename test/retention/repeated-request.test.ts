import { expect, test, vi } from 'vitest'
import { fromStored } from '#domain/event.ts'
import { leadEvents } from '#domain/leads/events.ts'
import { recordErasureEvents } from '#domain/retention/events.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { makeCommandSide } from '../../command-api/command-side.ts'
import { makeHoldOrErase } from '../../command-api/erasures/hold-or-erase.ts'
import { contextOf } from '../../command-api/reactions/reaction.ts'
import { whenRecordErasureRequestedEraseRecord } from '../../command-api/retention/when-record-erasure-requested-erase-record.ts'
import { leadService } from '../ingests/fixture.ts'

const patience = { timeout: 60_000, interval: 50 }

test('a request that is reacted to once more takes nothing of a lead that has begun again since', async () => {
  await using service = await leadService()
  const identity = { email: 'dora@example.com', first_name: 'Dora' }
  const { contact_id = '' } = await service.process({ identity, declared: { pet: 'a tortoise' } })
  const acts = [{ act: 'change_status', status: 'lost', reason: 'Nobody wants a tortoise.' }]
  await service.send('POST', `${service.admin}/leads/${contact_id}/acts`, { body: { acts } })
  await service.send('POST', '/admin/v1/clock', { body: { forward_seconds: 29 * 86_400 } })
  // This keeps their person.
  await service.process({ campaign: 'spring', identity })
  await service.setUp('organisations:\n  - { slug: firm, name: A firm, retention: [{ leads: 28 days }] }\n')
  await service.send('POST', '/admin/v1/clock', { body: { forward_seconds: 86_400 } })
  const receipts = () =>
    service.send<readonly { record: { type: string; id: string } }[]>(
      'GET',
      `${service.admin}/record_erasures?state=erased`,
    )
  await vi.waitUntil(async () => (await receipts()).body.data.some(({ record }) => record.type === 'lead'), patience)
  await service.process({ identity, declared: { pet: 'a parrot' } })
  const pets = async () =>
    (await service.parts.eventLog.read(`lead-${contact_id}`)).flatMap((recorded) => {
      const event = fromStored(leadEvents, recorded)
      return event.type === 'LeadFactsRecorded' ? [event.facts['pet']] : []
    })
  expect(await pets()).toContain('a parrot')

  const side = await makeCommandSide(service.parts)
  const reaction = whenRecordErasureRequestedEraseRecord({ ...side, holdOrErase: makeHoldOrErase(side) })
  const { rows } = await service.parts.pool.query<{ stream: string }>(
    `select distinct stream from event_log.event where type = 'RecordErasureRequested'`,
  )
  for (const { stream } of rows) {
    const [recorded] = await service.parts.eventLog.read(stream)
    if (!recorded) continue
    const event = fromStored(recordErasureEvents, recorded)
    if (event.type !== 'RecordErasureRequested') continue
    await reaction.react(event, recorded, contextOf(reaction, recorded, new AbortController().signal))
  }
  service.parts.dataKeys.forget()

  expect(rows.length).toBeGreaterThan(0)
  expect(await pets()).toContain('a parrot')

  // As where a start has destroyed its keys again, before it has begun again.
  await service.parts.pool.query(sql`
    insert into record_erased_again (organisation_id, stream, since)
    select organisation_id, ${`lead-${contact_id}`}, created_at from data_key where subject = ${`person:${contact_id}/lead-${contact_id}`}`)
  const left = () => service.parts.pool.query('select from record_erased_again')
  await vi.waitUntil(async () => (await left()).rows.length === 0, patience)
  service.parts.dataKeys.forget()
  expect(await pets()).toContain('a parrot')
}, 240_000)
