import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openErasedKeysFile } from '#infra/crypto/erased-keys-file.ts'
import { makeLog } from '#infra/log.ts'
import { sql, transaction } from '#infra/postgres/postgres.ts'
import { erasureEvents } from '#domain/erasures/events.ts'
import { erasure } from '#domain/erasures/erasure.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { fromStored } from '#domain/event.ts'
import { recordErasureEvents } from '#domain/retention/events.ts'
import { makeCommandSide } from '../../command-api/command-side.ts'
import { leadsNotErased } from '../../command-api/leads/live-leads.ts'
import { eraseDue } from '../../command-api/retention/erase-due.ts'
import { whenErasureRequestedErasePerson } from '../../command-api/erasures/when-erasure-requested-erase-person.ts'
import type { HoldOrErase } from '../../command-api/erasures/hold-or-erase.ts'
import { makeWhyPersonKept } from '../../command-api/retention/why-person-kept.ts'
import { contextOf } from '../../command-api/reactions/reaction.ts'
import { whenRecordErasureRequestedEraseRecord } from '../../command-api/retention/when-record-erasure-requested-erase-record.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { leadService, type LeadService } from '../ingests/fixture.ts'

const patience = { timeout: 60_000, interval: 50 }
const log = makeLog('silent', 'test')

let home: string
let file: string
let service: LeadService
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'coverstream-killed-'))
  file = join(home, 'erased-keys')
  service = await leadService({ ERASED_KEYS_FILE: file })
}, 120_000)
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await rm(home, { recursive: true, force: true })
})

/** Each stops the erasure as the end of its process would: after the step before, until it is let go on. */
const gaps = {
  'decided, and its line is not written': {
    stop: async () => {
      await rename(file, `${file}.away`)
      await mkdir(file)
    },
    goOn: async () => {
      await rmdir(file)
      await rename(`${file}.away`, file)
    },
    isReached: async (subject: string) => (await keyOf(subject))?.is_decided === true,
  },
  'its line is written, and it is not destroyed': {
    stop: () =>
      service.parts.pool.query(`
        create function ends() returns trigger language plpgsql as $$ begin raise 'The process ends here.'; end $$;
        create trigger ends before insert or update on data_key for each row when (new.erased_at is not null) execute function ends()`),
    goOn: () => service.parts.pool.query(`drop trigger ends on data_key; drop function ends`),
    isReached: async (subject: string) => (await readFile(file, 'utf8')).includes(subject),
  },
} as const

const keyOf = async (subject: string) => {
  const { rows } = await service.parts.pool.query<{ is_destroyed: boolean; is_decided: boolean }>(sql`
    select sealed is null as is_destroyed, to_jsonb(data_key) ->> 'erasing_since' is not null as is_decided
    from data_key where subject = ${subject}`)
  return rows[0]
}

const somebody = async (email = `${randomUUID()}@example.com`) => {
  const { contact_id = '' } = await service.process({ identity: { email, first_name: 'Ann' } })
  return contact_id
}

const lose = (contact_id: string) => {
  const acts = [{ act: 'change_status', status: 'lost', reason: 'Nothing came of it.' }]
  return service.send('POST', `${service.admin}/leads/${contact_id}/acts`, { body: { acts } })
}
const forward = (days: number) => service.send('POST', '/admin/v1/clock', { body: { forward_seconds: days * 86_400 } })
const keep = async (leads: string) => {
  await service.setUp(`organisations:\n  - { slug: firm, name: A firm, retention: [{ leads: ${leads} }] }\n`)
  // Until then it does not bind.
  if (leads !== 'null') await forward(1)
}

/** Nobody else of the firm places a hold or erases meanwhile. */
const inTurn = <Result>(work: () => Promise<Result>) =>
  transaction(service.parts.pool, async (db) => {
    const turn = `holds and erasures ${service.organisation_id}`
    await db.query(sql`select pg_advisory_xact_lock(hashtextextended(${turn}, 0))`)
    return work()
  })

type Side = Awaited<ReturnType<typeof makeCommandSide>>
const inTurnOf =
  ({ pool }: Side): HoldOrErase =>
  async (_organisation_id, act) =>
    act({ db: pool, require: async () => undefined })
const lost = 'The turn was lost.'
/** As where the process stood still until another had the turn. */
const inLostTurnOf =
  ({ pool }: Side): HoldOrErase =>
  async (_organisation_id, act) =>
    act({ db: pool, require: async () => Promise.reject(new Error(lost)) })

const eraseByHand = (contact_id: string) =>
  service.send('POST', `${service.admin}/people/${contact_id}/erasure`, { body: {} })
const askedByHand = { status: 202, body: { data: { requested_by: expect.any(String) as string, given_up_at: null } } }

const placeHold = (contact_id: string) =>
  service.send<{ id: string }>('POST', `${service.admin}/people/${contact_id}/legal_holds`, {
    body: { reason: 'A court asks.' },
  })

/** Once the erasure has stopped, a hold is asked for, then the process goes on where it was, and another one starts. */
const holdThere = async (gap: (typeof gaps)[keyof typeof gaps], contact_id: string, subject: string) => {
  await vi.waitUntil(async () => gap.isReached(subject), patience)
  const { status } = await placeHold(contact_id)
  const wasDestroyed = (await keyOf(subject))?.is_destroyed ?? false
  await gap.goOn()
  await openErasedKeysFile({ pool: service.parts.pool, file, log })
  return { isHeld: status === 201, wasDestroyed }
}

test.each(Object.entries(gaps))(
  'killed while a person is erased (%s): no key goes under a hold that was placed',
  async (_name, gap) => {
    const contact_id = await somebody()
    await gap.stop()

    await eraseByHand(contact_id)
    const { isHeld } = await holdThere(gap, contact_id, `person:${contact_id}`)
    const again = await placeHold(contact_id)

    expect(isHeld).toBe(false)
    expect([404, 409]).toContain(again.status)
    const isDestroyed = async () => (await keyOf(`person:${contact_id}`))?.is_destroyed
    await vi.waitUntil(isDestroyed, patience)
  },
  120_000,
)

test.each(Object.entries(gaps))(
  'killed while a record is erased (%s): no key goes under a hold that was placed',
  async (_name, gap) => {
    const contact_id = await somebody()
    await lose(contact_id)
    await forward(30)
    await gap.stop()

    await keep('28 days')
    const subject = `person:${contact_id}/lead-${contact_id}`
    const { isHeld, wasDestroyed } = await holdThere(gap, contact_id, subject)
    const again = await placeHold(contact_id)

    expect(isHeld).toBe(wasDestroyed)
    expect(again.status).toBe(201)
    expect(await keyOf(subject)).toMatchObject({ is_destroyed: true })
    await keep('null')
  },
  120_000,
)

test('a record that is changed between the last look and its keys is left for now', async () => {
  const contact_id = await somebody()
  await lose(contact_id)
  await forward(30)
  const receipt = async () => {
    const { body } = await service.send<readonly { record: { id: string }; state: string; because: string | null }[]>(
      'GET',
      `${service.admin}/record_erasures`,
    )
    return body.data.find(({ record }) => record.id === contact_id)
  }

  await inTurn(async () => {
    await keep('28 days')
    await vi.waitUntil(receipt, patience)
    const side = await makeCommandSide(service.parts)
    let isLookedAt = false
    const deps = {
      ...side,
      clock: {
        now: () => {
          isLookedAt = true
          return side.clock.now()
        },
      },
      storedLog: {
        read: async (...[stream, page]: Parameters<typeof side.storedLog.read>) => {
          const events = await side.storedLog.read(stream, page)
          const isChanged = isLookedAt && page?.direction === 'backwards'
          return isChanged ? events.map((each) => ({ ...each, revision: each.revision + 1 })) : events
        },
      },
    }
    const reaction = whenRecordErasureRequestedEraseRecord({ ...deps, holdOrErase: inTurnOf(side) })
    const late = whenRecordErasureRequestedEraseRecord({ ...deps, holdOrErase: inLostTurnOf(side) })
    const { rows } = await service.parts.pool.query<{ stream: string }>(sql`
      select stream from event_log.event where type = 'RecordErasureRequested' and data #>> '{record,id}' = ${contact_id}`)
    const recorded = (await service.parts.eventLog.read(rows[0]?.stream ?? '')).at(-1)
    if (!recorded) throw new Error('It was not asked for.')
    const event = fromStored(recordErasureEvents, recorded)
    if (event.type !== 'RecordErasureRequested') throw new Error('It is not asked for any more.')
    const { signal } = new AbortController()
    await expect(late.react(event, recorded, contextOf(late, recorded, signal))).rejects.toThrow(lost)
    expect(await receipt()).toMatchObject({ state: 'requested' })
    isLookedAt = false
    await reaction.react(event, recorded, contextOf(reaction, recorded, signal))
    await vi.waitFor(
      async () => expect(await receipt()).toMatchObject({ state: 'given_up', because: 'It was changed just now.' }),
      patience,
    )
    expect(await keyOf(`person:${contact_id}/lead-${contact_id}`)).toMatchObject({
      is_decided: false,
      is_destroyed: false,
    })
  })

  await vi.waitFor(async () => expect(await receipt()).toMatchObject({ state: 'erased' }), patience)
  await keep('null')
}, 120_000)

test('where so many erasures are set aside that no more are asked for, health says so', async () => {
  const { pool } = service.parts
  await pool.query(sql`
    insert into record_erasures (organisation_id, id, state)
    select ${service.organisation_id}, gen_random_uuid(), 'requested' from generate_series(1, 200)`)
  await pool.query(sql`
    insert into consumer_set_aside (consumer, record, stream, revision, event_id, type, organisation_id)
    values ('when-record-erasure-requested-erase-record', 'record_erasure-1', 'record_erasure-1', 0, ${randomUUID()},
      'RecordErasureRequested', ${service.organisation_id})`)
  await keep('28 days')
  const ending = new AbortController()
  const side = await makeCommandSide(service.parts)
  const leases = { take: async () => ({ signal: ending.signal, isHeld: () => true, release: async () => undefined }) }
  const { check, finished } = eraseDue({ ...side, leads: leadsNotErased(side), leases, signal: ending.signal })

  await vi.waitFor(() => expect(check().detail).toContain('record_erasure-1 is set aside'), patience)

  ending.abort()
  await finished
  await pool.query(`delete from record_erasures where record_id is null`)
  await pool.query(`delete from consumer_set_aside where record = 'record_erasure-1'`)
  await keep('null')
}, 120_000)

test('a person whose erasure nobody has asked for is kept where the period is taken back before their key goes', async () => {
  const email = `${randomUUID()}@example.com`
  const contact_id = await somebody(email)
  await lose(contact_id)
  await forward(20)
  // Their own details are kept for as long after this.
  const verification = { detail: 'email', value: email, method: 'They answered.' }
  const verified = await service.send('POST', `${service.admin}/people/${contact_id}/verification`, {
    body: verification,
  })
  expect(verified.status).toBe(200)
  await forward(10)
  await keep('28 days')
  const receipts = async () =>
    (
      await service.send<readonly { contact_id: string; state: string }[]>(
        'GET',
        `${service.admin}/record_erasures?state=erased`,
      )
    ).body.data.filter((each) => each.contact_id === contact_id)
  // Their lead, and what was sent of it.
  await vi.waitFor(async () => expect(await receipts()).toHaveLength(2), patience)
  const receipt = () =>
    service.send<{ given_up_at: string | null; because: string | null }>(
      'GET',
      `${service.admin}/erasures/${contact_id}`,
    )

  await inTurn(async () => {
    await forward(19)
    await vi.waitFor(async () => expect((await receipt()).status).toBe(200), patience)
    await keep('null')
    const side = await makeCommandSide(service.parts)
    const late = whenErasureRequestedErasePerson({
      ...side,
      leads: leadsNotErased(side),
      holdOrErase: inLostTurnOf(side),
      whyPersonKept: makeWhyPersonKept(side),
    })
    const [recorded] = await service.parts.eventLog.read(`erasure-${contact_id}`)
    if (!recorded) throw new Error('It was not asked for.')
    const event = fromStored(erasureEvents, recorded)
    if (event.type !== 'PersonErasureRequested') throw new Error('It was not asked for.')
    const { signal } = new AbortController()
    await expect(late.react(event, recorded, contextOf(late, recorded, signal))).rejects.toThrow(lost)
    expect((await receipt()).body.data).toMatchObject({ given_up_at: null })
  })

  await vi.waitFor(async () => {
    expect((await receipt()).body.data).toMatchObject({ erased_at: null, because: 'No period is set any more.' })
  }, patience)
  expect(await keyOf(`person:${contact_id}`)).toMatchObject({ is_decided: false, is_destroyed: false })
  const hold = await placeHold(contact_id)
  expect(hold.status).toBe(201)
  expect((await eraseByHand(contact_id)).status).toBe(409)
  const ending = `${service.admin}/people/${contact_id}/legal_holds/${hold.body.data.id}/ending`
  expect((await service.send('POST', ending, { body: { reason: 'It is over.' } })).status).toBe(200)

  // What was given up may be asked for by hand as if nobody had before.
  const preview = await service.send('GET', `${service.admin}/people/${contact_id}/erasure_preview`)
  expect([preview.status, preview.body.data]).toMatchObject([200, { may_be_erased: true }])
  expect(await eraseByHand(contact_id)).toMatchObject(askedByHand)
  await vi.waitUntil(async () => (await keyOf(`person:${contact_id}`))?.is_destroyed, patience)
}, 120_000)

test('whoever asks by hand for an erasure that is under way without that has it done, whatever retention keeps', async () => {
  const contact_id = await somebody()
  const { writer } = await makeCommandSide(service.parts)
  const person = {
    organisation_id: OrganisationId.parse(service.organisation_id),
    contact_id: CustomerId.parse(contact_id),
  }

  await inTurn(async () => {
    const command = { type: 'RequestErasure', ...person, requested_by: null, hindrances: [], streams: [] } as const
    await commandHandler(writer, erasure).handle(person.contact_id, command, {
      organisation_id: person.organisation_id,
      actor: { type: 'system', id: 'retention' },
      correlation_id: randomUUID(),
      now: new Date().toISOString(),
    })
    for (const _twice of [1, 2]) expect(await eraseByHand(contact_id)).toMatchObject(askedByHand)
  })

  await vi.waitUntil(async () => (await keyOf(`person:${contact_id}`))?.is_destroyed, patience)
  await vi.waitFor(async () => {
    const events = await service.parts.eventLog.read(`erasure-${contact_id}`)
    expect(events.map(({ type }) => type)).toEqual(['PersonErasureRequested', 'PersonErasureRequested', 'PersonErased'])
  }, patience)
}, 120_000)
