import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ErasurePreview } from '#domain/erasures/hindrances.ts'
import type { Erasure, Remaining } from '#domain/erasures/record.ts'
import type { RecordedEvent } from '#domain/event.ts'
import { makeLeases } from '#infra/consumers/lease.ts'
import { setAside } from '#infra/consumers/set-aside.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { compareWithRebuild } from '../../projections/compare.ts'
import { allProjections } from '../../projections/all-projections.ts'
import { commandsOf, runCommands } from '../guides/guide.ts'
import { startEventStoreDb } from '../eventstoredb/server.ts'
import { leadService, type LeadService } from '../ingests/fixture.ts'
import { readableIn } from './readable.ts'

let service: LeadService
beforeAll(async () => {
  service = await leadService()
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

const patience = { timeout: 60_000, interval: 50 }

/** Applies a migration as to the database of an earlier version. */
const upgrade = async (name: string) => {
  const file = join(import.meta.dirname, '..', '..', 'infra', 'postgres', 'migrations', name)
  await service.parts.pool.query(await readFile(file, 'utf8'))
}

/** Which of these have a key that something can be read by. */
const withKey = async (subjects: readonly string[]) => {
  const { rows } = await service.parts.pool.query<{ subject: string }>(sql`
    select subject from data_key where subject = any (${subjects}) and sealed is not null`)
  return rows.map(({ subject }) => subject)
}

type Receipt = Erasure & { readonly finished: boolean; readonly remains: readonly Remaining[] }

const erase = (contact_id: string) =>
  service.send<Erasure>('POST', `${service.admin}/people/${contact_id}/erasure`, { body: {} })
const erasureOf = (contact_id: string) => service.send<Receipt>('GET', `${service.admin}/erasures/${contact_id}`)

const finished = async (contact_id: string): Promise<Receipt> =>
  vi.waitFor(async () => {
    const { body } = await erasureOf(contact_id)
    expect(body.data).toMatchObject({ finished: true })
    return body.data
  }, patience)

const readable = (words: RegExp) => readableIn(service.parts.pool, words)

/** Of whom these tell, and what stands in their read models. */
const told: readonly string[] = ['customer', 'lead', 'outcomes', 'outcome_report', 'ingest', 'erasure']

/** Somebody of whom every kind of record of leads tells. */
const somebody = async (name: string, phone: string) => {
  const email = `${name.toLowerCase()}@example.com`
  const identity = { email, first_name: name, last_name: `${name}son`, external_id: `CRM-${name}` }
  const consent = { method: `asked ${name}`, wording: `${name} agrees`, service: { phone: true } }
  const { contact_id = '', id } = await service.process({
    identity: { ...identity, phone },
    declared: { pet: `${name} the cat` },
    data: { wish: `${name} wants a call` },
    text: `I am ${name}.`,
    source_reference: `ref-${name}`,
    consent,
  })
  await service.process({ identity: { ...identity, first_name: `${name}line` }, declared: { pet: `${name} the dog` } })
  const held = await service.process({ campaign: 'spring', identity: { email }, data: { BirthDate: '01/01/2020' } })
  await service.send('POST', `${service.admin}/ingests/${held.id}/accept`, { body: {} })
  await service.settled(held.id)
  // Nobody accepts this one.
  const waiting = await service.process({ campaign: 'spring', identity: { email, first_name: name } })
  const byTheirId = { external_id: `CRM-${name}`, first_name: name }
  const named = await service.process({ campaign: 'spring', identity: byTheirId })
  expect([waiting.status, named.status]).toEqual(['held', 'held'])
  const acts = [
    { act: 'record_activity', kind: 'call', summary: `Called ${name}`, direction: 'outbound' },
    { act: 'add_task', title: `Ring ${name}` },
    { act: 'flag_vulnerability', flagged: true, details: `${name} is ill` },
    { act: 'set_next_action', next_action: { type: 'call', summary: `To ${name}`, due_at: '2199-01-01T00:00:00Z' } },
    { act: 'change_status', status: 'lost', reason: `${name} said no` },
  ]
  await service.send('POST', `${service.admin}/leads/${contact_id}/acts`, { body: { acts } })
  const verification = { detail: 'email', value: email, method: `${name} answered` }
  await service.send('POST', `${service.admin}/people/${contact_id}/verification`, { body: verification })
  const occurred_at = '2026-01-15'
  const report = (body: object) =>
    service.send<{ id: string }>('POST', '/api/v1/crm/outcomes', {
      token: service.sender.token,
      body: { type: 'quoted', occurred_at, ...body },
    })
  await report({ contact_id, event_id: `E-${name}`, deal_ref: `D-${name}`, note: `of ${name}`, reason: name })
  const unknown = { email: `${name.toLowerCase()}.other@example.com`, match_on_details: true }
  const { body } = await report({ lead: unknown, event_id: `H-${name}`, note: `held of ${name}` })
  await service.send('POST', `${service.admin}/held_outcomes/${body.data.id}/match`, { body: { contact_id } })
  // Two have this phone, so that nobody knows which of them is meant.
  await report({ lead: { email, phone, match_on_details: true }, note: `for ${name}` })
  return { contact_id, ingest_id: id, held_ids: [waiting.id, named.id], email, identity }
}

test('202, question 4: a person is erased, nothing of them can be read anywhere, and what remains is told; what is shown is what a rebuild makes of it', async () => {
  const zelda = await somebody('Zelda', '07700 900321')
  const yorick = await somebody('Yorick', '07700 900654')
  expect(await readable(/zelda|7700900321/i)).not.toEqual([])
  const preview = `${service.admin}/people/${zelda.contact_id}/erasure_preview`
  const { body: before } = await service.send<ErasurePreview>('GET', preview)
  expect(before.data).toMatchObject({ contact_id: zelda.contact_id, may_be_erased: true, hindrances: [] })
  expect(JSON.stringify(before)).not.toMatch(/zelda/i)

  const { status, body } = await erase(zelda.contact_id)
  expect([status, body.data]).toMatchObject([
    202,
    {
      contact_id: zelda.contact_id,
      organisation_id: service.organisation_id,
      requested_by: expect.any(String) as string,
    },
  ])
  const { records, records_of_type, remains, erased_at } = await finished(zelda.contact_id)

  expect(erased_at).not.toBeNull()
  expect(records).toBeGreaterThanOrEqual(8)
  // Whoever asks later is told what went, and what remains.
  expect({ goes: records_of_type, remains }).toEqual({ goes: before.data.goes, remains: before.data.remains })
  expect((await service.send('GET', preview)).status).toBe(409)
  expect(await readable(/zelda|7700900321/i)).toEqual([])
  expect(await readable(/yorick/i)).not.toEqual([])
  const { pool, eventLog, signal } = service.parts
  for (const projection of allProjections.filter(({ categories }) => categories.some((each) => told.includes(each)))) {
    const compared = await compareWithRebuild(projection, { pool, eventLog, leases: makeLeases(pool), signal })
    expect([projection.name, compared.differences]).toEqual([projection.name, []])
  }

  const shown = await service.get(zelda.ingest_id)
  expect(shown.body.data).toMatchObject({ status: 'applied', contact_id: zelda.contact_id })
  expect(JSON.stringify(shown.body)).not.toMatch(/zelda/i)
  for (const id of [zelda.ingest_id, ...zelda.held_ids]) {
    const content = await service.send('GET', `${service.admin}/ingest_contents/${id}`)
    expect(content.status).toBe(200)
    expect(JSON.stringify(content.body)).not.toMatch(/zelda/i)
  }
  const work = { acts: [{ act: 'add_task', title: 'Ring again' }] }
  expect((await service.send('POST', `${service.admin}/leads/${zelda.contact_id}/acts`, { body: work })).status).toBe(
    404,
  )
  const again = await service.process({ identity: zelda.identity })
  expect(again.contact_id).not.toBe(zelda.contact_id)
  expect((await service.process({ identity: yorick.identity })).contact_id).toBe(yorick.contact_id)
}, 60_000)

test('20 requests at once erase once, and one that comes later is answered the same', async () => {
  const { contact_id = '' } = await service.process({ identity: { email: 'wanda@example.com' } })

  const answers = await Promise.all(Array.from({ length: 20 }, () => erase(contact_id)))
  await finished(contact_id)

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
  const stream = await service.parts.eventLog.read(`erasure-${contact_id}`)
  expect(stream.map(({ type }) => type)).toEqual(['PersonErasureRequested', 'PersonErased'])
  const later = await erase(contact_id)
  expect([later.status, later.body.data.erased_at]).toEqual([202, (await erasureOf(contact_id)).body.data.erased_at])
})

test('503: while a record that may tell of the person is set aside, nobody can say; afterwards it is erased, too', async () => {
  const { pool } = service.parts
  const { contact_id = '' } = await service.process({ identity: { email: 'vera@example.com' } })
  const other = await service.organisation('other')
  const setAsideOf = async (organisation_id: string, consumer: string, stream: string) => {
    await setAside(pool, consumer, [
      {
        event: { stream, revision: 0, id: randomUUID(), type: 'Any', metadata: { organisation_id } } as RecordedEvent,
        record: stream,
        reason: 'cannot be folded',
      },
    ])
    return async () => {
      await pool.query(sql`delete from consumer_set_aside where consumer = ${consumer} and stream = ${stream}`)
    }
  }
  const { organisation_id } = service
  const stream = 'application-00000000-0000-4000-8000-000000000009'
  const putRight = await setAsideOf(organisation_id, 'applications', stream)

  const refused = await erase(contact_id)
  await putRight()
  // What nothing of a person is found by does not matter, nor what another organisation's read models cannot fold.
  const others = [
    await setAsideOf(organisation_id, 'products', 'product-1'),
    await setAsideOf(organisation_id, 'when-erasure-requested-erase-person', 'application-1'),
    await setAsideOf(other, 'applications', stream),
  ]
  const accepted = await erase(contact_id)
  await finished(contact_id)
  for (const putRightAgain of others) await putRightAgain()

  expect(refused.status).toBe(503)
  expect(refused.body).toMatchObject({
    error: { code: 'unavailable', message: expect.stringContaining('set aside') as string },
  })
  expect(accepted.status).toBe(202)
})

test('404: a person of another organisation, or of none; 409 conflict: a policy is in force', async () => {
  const { contact_id = '' } = await service.process({ identity: { email: 'vera@example.com' } })
  const other = await service.organisation('other')
  const elsewhere = `/admin/v1/organisations/${other}/people/${contact_id}/erasure`
  expect((await service.send('POST', elsewhere, { body: {} })).status).toBe(404)
  expect((await erase(crypto.randomUUID())).status).toBe(404)
  expect((await erasureOf(contact_id)).status).toBe(404)

  const { pool } = service.parts
  const policy = crypto.randomUUID()
  const known = await pool.query(sql`
    insert into policies (organisation_id, id, customer_id, status, created_at)
    values (${service.organisation_id}, ${policy}, ${contact_id}, 'active', now())`)
  expect(known.rowCount).toBe(1)
  const refused = await erase(contact_id)
  expect([refused.status, refused.body.error?.code]).toEqual([409, 'conflict'])
  await pool.query(sql`update policies set status = 'cancelled' where id = ${policy}`)
  expect((await erase(contact_id)).status).toBe(202)
  await finished(contact_id)
  await pool.query(sql`delete from policies where id = ${policy}`)
})

type Hold = { id: string; state: string; reason: string; end_reason: string | null }

test('409 conflict: a legal hold is in force, which the refusal and the preview name; once it has ended, the person is erased with its reason', async () => {
  const { contact_id = '', id: ingest } = await service.process({ identity: { email: 'wanda@example.com' } })
  const other = await service.organisation('holding')
  const holds = `${service.admin}/people/${contact_id}/legal_holds`
  const body = { reason: 'Wanda is in court.', record: { type: 'ingest', id: ingest } }
  const headers = { 'idempotency-key': 'hold-1' }
  const elsewhere = `/admin/v1/organisations/${other}/people/${contact_id}/legal_holds`
  expect((await service.send('POST', elsewhere, { body })).status).toBe(404)
  const ofNobody = { ...body, record: { type: 'policy', id: randomUUID() } }
  const refusedRecord = await service.send('POST', holds, { body: ofNobody })
  expect([refusedRecord.status, refusedRecord.body.error?.fields]).toEqual([
    422,
    { record: 'is no record of this person' },
  ])

  const placed = await service.send<Hold>('POST', holds, { body, headers })
  const again = await service.send<Hold>('POST', holds, { body, headers })
  expect([placed.status, again.status]).toEqual([201, 201])
  expect(again.body.data).toEqual(placed.body.data)
  const { id } = placed.body.data
  const list = `${service.admin}/legal_holds?state=in_force`
  expect((await service.send<Hold[]>('GET', list)).body.data).toMatchObject([{ id, reason: 'Wanda is in court.' }])
  expect((await service.send<Hold[]>('GET', `/admin/v1/organisations/${other}/legal_holds`)).body.data).toEqual([])

  const preview = await service.send('GET', `${service.admin}/people/${contact_id}/erasure_preview`)
  expect(preview.body.data).toMatchObject({
    may_be_erased: false,
    hindrances: [{ why: 'legal_hold', record: { type: 'legal_hold', id } }],
  })
  const refused = await erase(contact_id)
  expect([refused.status, refused.body.error?.message]).toEqual([
    409,
    `The person is under the legal hold ${id}. End it first.`,
  ])

  const end = `${holds}/${id}/ending`
  expect((await service.send('POST', `${holds}/${randomUUID()}/ending`, { body: { reason: 'x' } })).status).toBe(404)
  for (const reason of ['Wanda has won.', 'Said twice.'])
    expect((await service.send<Hold>('POST', end, { body: { reason } })).body.data).toMatchObject({
      state: 'ended',
      end_reason: 'Wanda has won.',
    })
  expect((await service.send<Hold[]>('GET', list)).body.data).toEqual([])
  expect((await erase(contact_id)).status).toBe(202)
  await finished(contact_id)
  expect(await readable(/wanda/i)).toEqual([])
})

const turn = () => `holds and erasures ${service.organisation_id}`
/** Keeps holds and erasures waiting while others come, in their order. */
const meanwhile = async (...acts: readonly (() => unknown)[]) => {
  const db = await service.parts.pool.connect()
  await db.query('begin')
  await db.query(sql`select pg_advisory_xact_lock(hashtextextended(${turn()}, 0))`)
  for (const [index, act] of acts.entries()) {
    act()
    await vi.waitFor(async () => {
      const { rows } = await service.parts.pool.query(sql`
        select from pg_locks where locktype = 'advisory' and not granted
          and ((classid::bigint << 32) | objid::bigint) = hashtextextended(${turn()}, 0)`)
      expect(rows).toHaveLength(index + 1)
    }, patience)
  }
  await db.query('commit')
  db.release()
}

test('409 conflict: a legal hold that comes when the keys are being destroyed is not placed', async () => {
  const { contact_id = '' } = await service.process({ identity: { email: 'xenia@example.com' } })
  const holds = `${service.admin}/people/${contact_id}/legal_holds`
  let held: ReturnType<typeof service.send> | undefined

  await meanwhile(
    () => void erase(contact_id),
    () => (held = service.send('POST', holds, { body: { reason: 'Xenia is in court.' } })),
  )

  expect(await held).toMatchObject({
    status: 409,
    body: { error: { message: expect.stringContaining(contact_id) as unknown } },
  })
  await finished(contact_id)
})

test('a legal hold that comes just before the keys are destroyed keeps the person', async () => {
  const { contact_id = '' } = await service.process({ identity: { email: 'yves@example.com' } })
  const holds = `${service.admin}/people/${contact_id}/legal_holds`
  let held: ReturnType<typeof service.send> | undefined

  // The hold waits already when it is asked to erase, and is not to be seen yet.
  await meanwhile(
    () => (held = service.send('POST', holds, { body: { reason: 'Yves is in court.' } })),
    () => void erase(contact_id),
  )

  expect((await held)?.status).toBe(201)
  await vi.waitFor(async () => {
    const { rows } = await service.parts.pool.query(sql`
      select from consumer_set_aside where stream = ${`erasure-${contact_id}`} and reason like '%legal hold%'`)
    expect(rows).toHaveLength(1)
  }, patience)
  expect(await readable(/yves/i)).not.toEqual([])
})

test('with a person goes the key that earlier versions sealed their files under, also of those who were erased before', async () => {
  const { dataKeys } = service.parts
  const { organisation_id } = service
  const [now, before, nobody] = [
    (await service.process({ identity: { email: 'tilda@example.com' } })).contact_id ?? '',
    randomUUID(),
    randomUUID(),
  ]
  for (const subject of [now, before, nobody]) await dataKeys.of({ organisation_id, subject })
  await dataKeys.erase({ organisation_id, subject: `person:${before}` })

  await erase(now)
  await finished(now)
  await upgrade('1120-files-of-erased-people.sql')

  expect(await withKey([now, before, nobody])).toEqual([nobody])
})

test('the note of a cancelled policy goes with those who were erased before it did, and with nobody else', async () => {
  const { pool, dataKeys } = service.parts
  const { organisation_id } = service
  const other = await service.organisation('other')
  const [erased, known] = [randomUUID(), randomUUID()]
  const policies = [
    { organisation_id, customer_id: erased },
    { organisation_id, customer_id: known },
    { organisation_id: other, customer_id: erased },
  ].map((policy) => ({ ...policy, id: randomUUID() }))
  for (const policy of policies) {
    await pool.query(sql`
      insert into policies (organisation_id, id, customer_id, status, created_at)
      values (${policy.organisation_id}, ${policy.id}, ${policy.customer_id}, 'cancelled', now())`)
    for (const subject of [`policy-${policy.id}`, `person:${policy.customer_id}`])
      await dataKeys.of({ organisation_id: policy.organisation_id, subject })
  }
  await dataKeys.erase({ organisation_id, subject: `person:${erased}` })

  await upgrade('1130-cancellations-of-erased-people.sql')

  await pool.query(sql`delete from policies where id = any (${policies.map(({ id }) => id)})`)
  const subjects = policies.map(({ id }) => `policy-${id}`)
  expect((await withKey(subjects)).toSorted()).toEqual(subjects.slice(1).toSorted())
})

const runGuide = async (heading: string, contact_id: string) => {
  const [command = ''] = await commandsOf('docs/keys.md', heading)
  return runCommands(command, {
    cwd: join(import.meta.dirname, '..', '..'),
    environment: {
      BASE_URL: service.origin,
      OPERATOR_KEY: 'the operator key of the tests',
      ORGANISATION: service.organisation_id,
      CONTACT: contact_id,
    },
  })
}

test('a person is kept from being erased as the guide says', async () => {
  const { contact_id = '' } = await service.process({ identity: { email: 'una@example.com' } })

  expect(await runGuide('Keep a person from being erased', contact_id)).toContain(
    '"reason":"A court has asked for the file."',
  )
  await expect(runGuide('Erase a person', contact_id)).rejects.toThrow(/409|legal hold/)
})

test('a person is erased as the guide says', async () => {
  const { contact_id = '' } = await service.process({ identity: { email: 'ursula@example.com' } })

  const output = await runGuide('Erase a person', contact_id)

  expect(output).toContain(`"contact_id":"${contact_id}"`)
  await finished(contact_id)
})

test('erasures are listed, oldest first, with cursors', async () => {
  const { body } = await service.send<Erasure[]>('GET', `${service.admin}/erasures?limit=2`)
  const rest = await service.send<Erasure[]>('GET', `${service.admin}/erasures?limit=2&cursor=${body.next_cursor}`)

  const all = [...body.data, ...rest.body.data].map(({ requested_at }) => requested_at)
  expect(all).toHaveLength(4)
  expect(all).toEqual(all.toSorted())
})

test('404, 422: an outcome that names somebody who was erased is not theirs, uses no event_id up, and stays held', async () => {
  const [erased, other] = await Promise.all(
    ['xenia@example.com', 'xander@example.com'].map(async (email) => {
      const { contact_id = '' } = await service.process({ identity: { email } })
      return contact_id
    }),
  )
  const report = (body: object) =>
    service.send<{ id: string; contact_id: string }>('POST', '/api/v1/crm/outcomes', {
      token: service.sender.token,
      body: { type: 'quoted', occurred_at: '2026-01-15', ...body },
    })
  const held = await report({ lead: { email: 'unheard@example.com', match_on_details: true } })
  const match = (contact_id?: string) =>
    service.send('POST', `${service.admin}/held_outcomes/${held.body.data.id}/match`, { body: { contact_id } })
  await erase(erased ?? '')
  await finished(erased ?? '')

  const refused = [await match(erased), await report({ contact_id: erased, event_id: 'E-xenia' })]
  expect(refused.map(({ status, body }) => [status, body.error?.fields])).toEqual([
    [422, { contact_id: 'is no lead' }],
    [404, { contact_id: 'is the id of no lead' }],
  ])
  const file = {
    upload: 'xenia',
    rows: [{ line: 2, fields: { contact_id: erased, type: 'lost', occurred_at: '2026-01-15' } }],
  }
  for (const dry_run of [true, false]) {
    const { body } = await service.send('POST', `${service.admin}/uploaded_outcomes`, { body: { ...file, dry_run } })
    expect(body.data).toMatchObject({
      taken: 0,
      faults: [{ line: 2, field: 'contact_id', reason: 'is the id of no lead' }],
    })
  }
  expect((await report({ contact_id: other, event_id: 'E-xenia' })).status).toBe(201)
  expect((await match(other)).status).toBe(200)
}, 60_000)

test('422: a lead in review is not about somebody who was erased, and waits for another to be picked', async () => {
  const phone = '07700 900987'
  const [one, two] = ['yara@example.com', 'yann@example.com'].map((email) => ({ email, phone }))
  const first = await service.process({ identity: one })
  const second = await service.process({ identity: two })
  const pick = (id: string, contact_id: string | null = null) =>
    service.send(`POST`, `${service.admin}/ingests/${id}/pick_person`, { body: { contact_id } })
  await pick(second.id)
  const { contact_id } = await service.settled(second.id)
  const { id, status } = await service.process({ identity: { phone } })
  expect(status).toBe('needs_review')
  await erase(first.contact_id ?? '')
  await finished(first.contact_id ?? '')

  expect((await pick(id, first.contact_id)).status).toBe(422)
  expect((await pick(id, contact_id)).status).toBe(200)
  expect(await service.settled(id)).toMatchObject({ status: 'applied', contact_id })
}, 60_000)

const product = `
organisations:
  - slug: firm
    name: A firm
    rate_tables:
      - { key: life.level, version: 1, csv: "age,rate_e4\\n34,45818\\n" }
    products:
      - slug: term
        name: Term
        product_type: term
        lifecycle_state: production
        rate_tables: { life.level: 1 }
        covers:
          - cover_type: life
            rate_table: life.level
            sum_assured_min_pence: 1000000
            sum_assured_max_pence: 100000000
            age_at_entry_min: 18
            age_at_entry_max: 70
            term_years_min: 1
            term_years_max: 40
        journeys: [{ slug: standard, name: Standard, questions: [] }]
`

test('what a person did who never was a lead is erased with them', async () => {
  await service.setUp(product)
  const identity = { email: 'quentin@example.com', first_name: 'Quentin' }
  const body = { product_slug: 'term', journey_slug: 'standard', customer: { ...identity, last_name: 'Quentinson' } }
  const contact_id = await vi.waitFor(async () => {
    const { token } = service.sender
    const started = await service.send<{ customer: { id: string } }>('POST', '/api/v1/applications', { token, body })
    expect(started.status).toBe(201)
    return started.body.data.customer.id
  }, patience)
  const recorded = async () => {
    const events = await service.parts.eventLog.read(`lead-${contact_id}`)
    return events.map(({ type, data }) => [type, data['kind'], data['summary']])
  }
  await vi.waitFor(async () => {
    expect(await recorded()).toEqual([['LeadActivityRecorded', 'application_started', 'Started an application']])
  }, patience)

  expect((await erase(contact_id)).status).toBe(202)
  await finished(contact_id)

  expect(await recorded()).toEqual([['LeadActivityRecorded', 'application_started', '']])
  expect(await readable(/quentin/i)).toEqual([])
  const { pool, eventLog, signal } = service.parts
  for (const projection of allProjections.filter(({ categories }) => categories.includes('lead'))) {
    const compared = await compareWithRebuild(projection, { pool, eventLog, leases: makeLeases(pool), signal })
    expect([projection.name, compared.differences]).toEqual([projection.name, []])
  }
}, 60_000)

test('a person is erased from the log of EventStoreDB as from that of PostgreSQL', async () => {
  await using server = await startEventStoreDb()
  await using over = await leadService({ EVENT_LOG: 'eventstoredb', EVENTSTOREDB_URL: server.url })
  const identity = { email: 'tamara@example.com', first_name: 'Tamara' }
  const { contact_id = '', id } = await over.process({
    identity,
    text: 'I am Tamara.',
    declared: { pet: 'Tamara the cat' },
  })
  const held = await over.process({ campaign: 'spring', identity })
  const told = async () => {
    const streams = [`customer-${contact_id}`, `lead-${contact_id}`, `ingest-${id}`, `ingest-${held.id}`]
    return JSON.stringify(await Promise.all(streams.map(async (stream) => over.parts.eventLog.read(stream))))
  }
  expect(await told()).toMatch(/Tamara the cat/)

  const path = `${over.admin}/people/${contact_id}/erasure`
  expect((await over.send('POST', path, { body: {} })).status).toBe(202)
  await vi.waitFor(async () => {
    const { body } = await over.send('GET', `${over.admin}/erasures/${contact_id}`)
    expect(body.data).toMatchObject({ finished: true })
  }, patience)

  expect(await told()).not.toMatch(/tamara/i)
  const lead = await over.send('GET', `${over.admin}/leads/${contact_id}`)
  expect(JSON.stringify(lead.body)).not.toMatch(/tamara/i)
  const again = await over.process({ identity })
  expect([again.status, again.contact_id === contact_id]).toEqual(['applied', false])
}, 60_000)
