import { expect, test } from 'vitest'
import { applicationStreamEvents } from '#domain/applications/record.ts'
import { organisationOf, type RecordedEvent } from '#domain/event.ts'
import { OrganisationId } from '#domain/values.ts'
import { ErasedEvent, UnreadableEvent } from '#infra/crypto/erased.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { readTimeline } from '../query-api/timeline.ts'
import { sampleOf } from './stored-events/samples.ts'

const [started, saved] = [sampleOf('ApplicationStarted'), sampleOf('CustomerSaved')]
const id = 'a0000000-0000-4000-8000-00000000000a'
const application: readonly RecordedEvent[] = [started, saved, saved, saved].map((event, revision) => ({
  ...event,
  stream: `application-${id}`,
  revision,
}))
const log: Pick<EventLog, 'read'> = {
  read: async (stream, { from = 0, limit } = {}) =>
    stream === `application-${id}` ? application.slice(from, limit && from + limit) : [],
}

const kind = { category: 'application', events: applicationStreamEvents }
const organisation_id = OrganisationId.parse(organisationOf(started))
const read = (asked: { readonly limit: number; readonly cursor?: number }, of = id) =>
  readTimeline(log, kind, of, { organisation_id, order: 'oldest_first', ...asked })

test('a record’s timeline is its stream, oldest first, with who did what and when', async () => {
  const { data, next_cursor } = await read({ limit: 20 }, id.toUpperCase())
  expect(data.map(({ revision, type }) => [revision, type])).toEqual([
    [0, 'ApplicationStarted'],
    [1, 'CustomerSaved'],
    [2, 'CustomerSaved'],
    [3, 'CustomerSaved'],
  ])
  const { actor, occurred_at } = started.metadata
  expect(data[0]).toMatchObject({ event_id: started.id, actor, occurred_at })
  expect(data[0]?.details).toMatchObject({ product_id: started.data['product_id'] })
  expect(next_cursor).toBeNull()
})

test('nothing personal stands on it', async () => {
  const { data } = await read({ limit: 20 })
  const { personal } = applicationStreamEvents.CustomerSaved
  const personalIn = (fields: object) => Object.keys(fields).filter((name) => personal.includes(name))
  expect(personalIn(saved.data)).not.toEqual([])
  expect(data.flatMap(({ details }) => personalIn(details))).toEqual([])
})

test('its pages follow each other, each event once', async () => {
  const first = await read({ limit: 3 })
  expect(first).toMatchObject({ data: [{ revision: 0 }, { revision: 1 }, { revision: 2 }], next_cursor: '2' })
  expect(await read({ limit: 3, cursor: 2 })).toMatchObject({ data: [{ revision: 3 }], next_cursor: null })
  expect(await read({ limit: 4 })).toMatchObject({ next_cursor: null })
})

test.each([UnreadableEvent, ErasedEvent])(
  'an event that cannot be read (%o) hides no other: who did it and when is shown',
  async (Why) => {
    const unreadable: RecordedEvent = {
      ...saved,
      data: Object.defineProperty({}, '$personal', {
        enumerable: true,
        get: () => {
          throw new Why('its data key is missing')
        },
      }),
    }
    const events = [started, unreadable, saved].map((event, revision) => ({ ...event, revision }))

    const { data } = await readTimeline({ read: async () => events }, kind, id, {
      organisation_id,
      limit: 20,
      order: 'oldest_first' as const,
    })

    expect(data.map(({ type }) => type)).toEqual(['ApplicationStarted', 'CustomerSaved', 'CustomerSaved'])
    const { actor, occurred_at } = saved.metadata
    expect(data[1]).toMatchObject({ event_id: saved.id, actor, occurred_at, details: {} })
    expect(data[2]?.details).not.toEqual({})
  },
)

test('404: another organisation finds nothing, nor does anybody at an id that no record has', async () => {
  const stranger = OrganisationId.parse('99999999-0000-4000-8000-000000000001')
  const missing = { code: 'not_found', message: 'There is no application with this id. Check the address.' }
  const limit = 20
  await expect(
    readTimeline(log, kind, id, { organisation_id: stranger, limit, order: 'oldest_first' }),
  ).rejects.toMatchObject(missing)
  await expect(
    readTimeline(log, kind, id, { organisation_id: stranger, limit, cursor: 3, order: 'oldest_first' }),
  ).rejects.toMatchObject(missing)
  await expect(read({ limit }, 'b0000000-0000-4000-8000-00000000000b')).rejects.toMatchObject(missing)
  expect(await read({ limit, cursor: 3 })).toEqual({ data: [], next_cursor: null })
})
