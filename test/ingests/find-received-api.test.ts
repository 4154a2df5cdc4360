import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { IngestId, OrganisationId } from '#domain/values.ts'
import { transaction } from '#infra/postgres/postgres.ts'
import { makeFindReceived } from '../../query-api/ingests/find-received.ts'
import { leadService, stranger, type LeadService } from './fixture.ts'

let service: LeadService
beforeAll(async () => {
  service = await leadService()
}, 60_000)
afterAll(async () => service[Symbol.asyncDispose]())

/** Does something while the read model of ingests cannot be written to. */
const heldUp = <Result>(work: () => Promise<Result>): Promise<Result> =>
  transaction(service.parts.pool, async (db) => {
    await db.query('lock table ingests in exclusive mode')
    return work()
  })

const findReceived = (withinMs: number) => makeFindReceived({ log: service.parts.storedLog, withinMs })
const nothing = async () => undefined

test('the 202 does not wait for the read model; who reads the lead at its Location does, by sender and team', async () => {
  const reading = await heldUp(async () => {
    const { status, body } = await service.post({ identity: stranger() })
    expect([status, body.data.status]).toEqual([202, 'received'])
    const { id } = body.data
    return {
      id,
      bySender: service.get(id),
      byTeam: service.send('GET', `${service.admin}/ingests/${id}`),
    }
  })
  const { id, bySender, byTeam } = reading
  expect(await bySender).toMatchObject({ status: 200, body: { data: { id } } })
  expect(await byTeam).toMatchObject({ status: 200, body: { data: { id } } })
}, 60_000)

test('a lead that was received and is not shown in time is 503, never 404', async () => {
  const { body } = await heldUp(async () => service.post({ identity: stranger() }))
  const organisation_id = OrganisationId.parse(service.organisation_id)
  await expect(findReceived(20)(organisation_id, IngestId.parse(body.data.id), nothing)).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The lead was received and cannot be read yet. Send the request again.',
  })
})

test('a lead that is shown just before the time is over is answered', async () => {
  const { body } = await service.post({ identity: stranger() })
  const organisation_id = OrganisationId.parse(service.organisation_id)
  const shownAt = performance.now() + 800
  const find = async () => (performance.now() >= shownAt ? 'shown' : undefined)

  expect(await findReceived(1_000)(organisation_id, IngestId.parse(body.data.id), find)).toBe('shown')
})

test('nobody waits for an ingest that there is not: an unknown one, one of another firm, an Idempotency-Key', async () => {
  const organisation_id = OrganisationId.parse(service.organisation_id)
  const first = { identity: stranger(), source_reference: 'the same' }
  const { body } = await service.post(first)
  await service.post(first, { 'idempotency-key': 'a second name' })
  const streams = await service.parts.pool.query<{ id: string }>(
    `select substr(stream, 8) as id from event_log.event where type = 'IngestKeyUsed'`,
  )
  const hour = findReceived(3_600_000)
  expect(await hour(organisation_id, IngestId.parse(randomUUID()), nothing)).toBeUndefined()
  expect(await hour(OrganisationId.parse(randomUUID()), IngestId.parse(body.data.id), nothing)).toBeUndefined()
  expect(streams.rows).toHaveLength(1)
  for (const { id } of streams.rows) expect(await hour(organisation_id, IngestId.parse(id), nothing)).toBeUndefined()
})
