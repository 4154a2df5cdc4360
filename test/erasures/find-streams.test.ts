import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { atRest } from '#domain/ingests/record.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { EventOf, Position, RecordedEvent } from '#domain/event.ts'
import type { erasureEvents } from '#domain/erasures/events.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { findNamed, findStreams } from '#infra/people/find-streams.ts'
import { findHindrances, telling, untilShownAll } from '../../command-api/erasures/find-hindrances.ts'
import { whenErasureRequestedErasePerson } from '../../command-api/erasures/when-erasure-requested-erase-person.ts'
import type { Customer } from '#domain/customers/record.ts'
import type { Context } from '../../command-api/writing/handle.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { applications } from '../../projections/applications/projection.ts'
import { claims } from '../../projections/claims/projection.ts'
import { legalHolds } from '../../projections/legal-holds/projection.ts'
import { complaints } from '../../projections/complaints/projection.ts'
import { ingests } from '../../projections/ingests/projection.ts'
import { memberships } from '../../projections/loyalty/projection.ts'
import { messageNews } from '../../projections/message-news/projection.ts'
import { heldOutcomes, outcomes } from '../../projections/outcomes/projection.ts'
import { customers } from '../../projections/customers/projection.ts'
import { payments } from '../../projections/payments/projection.ts'
import { policies } from '../../projections/policies/projection.ts'
import { premiums } from '../../projections/premiums/projection.ts'
import { readModel } from '../read-model.ts'
import { samples } from '../stored-events/samples.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const first = { organisation_id, contact_id: CustomerId.parse('c0000000-0000-4000-8000-000000000001') }
const second = { organisation_id, contact_id: CustomerId.parse('c0000000-0000-4000-8000-000000000002') }
const application = 'a0000000-0000-4000-8000-000000000001'
const policy = '90000000-0000-5000-8000-000000000010'
const news = 'inbound_event-b0000000-0000-5000-8000-000000000001'

type PersonErasureRequested = Extract<EventOf<typeof erasureEvents>, { type: 'PersonErasureRequested' }>

let model: Awaited<ReturnType<typeof readModel>>
beforeAll(async () => {
  model = await readModel(
    applications,
    policies,
    claims,
    complaints,
    legalHolds,
    memberships,
    payments,
    premiums,
    ingests,
    messageNews,
    outcomes,
    heldOutcomes,
    customers,
  )
})
afterAll(() => model[Symbol.asyncDispose]())
beforeEach(async () => {
  await model.pool.query('truncate applications, policies, premiums, payments, claims, complaints, legal_holds')
  const document = JSON.stringify({ policy_id: policy })
  await model.pool.query(sql`
    insert into applications (organisation_id, id, customer_id, partner_id, status, document)
    values (${organisation_id}, ${application}, ${first.contact_id}, ${second.contact_id}, 'bound', ${document})`)
})

const bound = async (status: string, joint_customer: object | null = { id: second.contact_id }) => {
  const document = JSON.stringify({ joint_customer })
  await model.pool.query(sql`
    insert into policies (organisation_id, id, policy_number, customer_id, status, document)
    values (${organisation_id}, ${policy}, 'POL-000000000', ${first.contact_id}, ${status}, ${document})`)
}
const counts = async () =>
  Promise.all([first, second].map(async (each) => (await findHindrances(model.pool, each)).length))

describe('a policy in force', () => {
  test('needs its second person as much as its first', async () => {
    await bound('active')
    expect(await counts()).toEqual([1, 1])
  })

  test('needs nobody who is a second person of the application alone', async () => {
    await bound('active', null)
    expect(await counts()).toEqual([1, 0])
  })

  test('is one that was sold just now, although no read model shows it yet', async () => {
    expect(await counts()).toEqual([1, 1])
  })

  test.each([
    ['open', 1],
    ['evidence_requested', 1],
    ['approved', 1],
    ['declined', 0],
    ['paid', 0],
    ['closed', 0],
  ])('or that has ended with a claim that is %s: %i', async (status, count) => {
    await bound('lapsed')
    await model.pool.query(sql`
      insert into claims (organisation_id, id, policy_id, status)
      values (${organisation_id}, 'b4000000-0000-5000-8000-000000000001', ${policy}, ${status})`)
    expect(await counts()).toEqual([count, count])
  })

  test.each([
    ['owed', 1],
    ['refunded', 0],
    ['waived', 0],
  ])('or of whose premiums a refund is %s: %i', async (status, count) => {
    await bound('cancelled')
    const document = JSON.stringify({ refunds: [{ status: 'refunded' }, { status }] })
    await model.pool.query(sql`
      insert into premiums (organisation_id, id, policy_id, document)
      values (${organisation_id}, 'b5000000-0000-5000-8000-000000000001', ${policy}, ${document})`)
    expect(await counts()).toEqual([count, count])
  })

  test.each([
    ['returning', 1],
    ['returned', 0],
  ])('or of whose application a card payment is %s: %i', async (status, count) => {
    await bound('cancelled')
    await model.pool.query(sql`
      insert into payments (organisation_id, id, application_id, status)
      values (${organisation_id}, 'b6000000-0000-5000-8000-000000000001', ${application}, ${status})`)
    expect(await counts()).toEqual([count, count])
  })

  test.each([
    ['open', 1],
    ['decided', 1],
    ['referred', 1],
    ['closed', 0],
  ])('a complaint that is %s counts %i for whoever complains, and for nobody else', async (state, count) => {
    await bound('cancelled')
    await model.pool.query(sql`
      insert into complaints (organisation_id, id, contact_id, state)
      values (${organisation_id}, 'ce000000-0000-4000-8000-000000000001', ${first.contact_id}, ${state})`)
    expect(await counts()).toEqual([count, 0])
  })

  const onSecond = { id: 'd0000000-0000-4000-8000-000000000001', contact_id: second.contact_id }
  test.each([
    ['on one of them as such counts for both, whose details go together', null, 'in_force', [1, 1]],
    ['for the policy that they share counts for both', { type: 'policy', id: policy }, 'in_force', [1, 1]],
    ['for their application counts for both', { type: 'application', id: application }, 'in_force', [1, 1]],
    [
      'for another record of one of them counts for that one',
      { type: 'ingest', id: news.slice(14) },
      'in_force',
      [0, 1],
    ],
    ['that has ended counts for nobody', null, 'ended', [0, 0]],
  ])('a legal hold %s', async (_, record, state, count) => {
    await bound('cancelled')
    await model.pool.query(sql`
      insert into legal_holds (organisation_id, id, contact_id, state, document)
      values (${organisation_id}, ${onSecond.id}, ${onSecond.contact_id}, ${state}, ${JSON.stringify({ record })})`)
    expect(await counts()).toEqual(count)
  })

  test('is none that was cancelled, and none of another organisation', async () => {
    await bound('cancelled')
    expect(await counts()).toEqual([0, 0])
    const elsewhere = OrganisationId.parse('99999999-0000-4000-8000-000000000001')
    expect(await findHindrances(model.pool, { ...first, organisation_id: elsewhere })).toEqual([])
  })
})

describe('a membership of the person', () => {
  const enrol = async (customer_id: string | null, policy_number: string) => {
    const id = 'ae000000-0000-4000-8000-000000000001'
    await model.pool.query(sql`
      insert into memberships (organisation_id, id, programme_id, customer_id, policy_number, document)
      values (${organisation_id}, ${id}, ${id}, ${customer_id}, ${policy_number}, '{}')`)
    const [sample] = samples
    if (!sample) throw new Error('There is no sample.')
    const stream = `membership-${id}`
    const read = async (asked: string) => (asked === stream ? [sample.event] : [])
    return { stream, find: async (of: typeof first) => findStreams({ pool: model.pool, eventLog: { read } }, of, []) }
  }
  beforeEach(async () => {
    await model.pool.query('truncate memberships')
  })

  test('is found also where the policy was sold elsewhere', async () => {
    const { stream, find } = await enrol(first.contact_id, 'OLD-000000001')
    expect(await find(first)).toEqual({ streams: [stream], sealed: [], byDetails: [] })
    expect(await find(second)).toEqual({ streams: [], sealed: [], byDetails: [] })
  })

  test('that was enrolled by the number of the policy alone has a key of its own, which goes with theirs', async () => {
    await bound('cancelled', null)
    const { stream, find } = await enrol(null, 'POL-000000000')
    expect(await find(first)).toEqual({ streams: [stream], sealed: [stream], byDetails: [] })
  })
})

test('what a joint policy follows from is found for its first person, and stays readable when the second is erased', async () => {
  await bound('cancelled')
  const [sample] = samples
  if (!sample) throw new Error('There is no sample.')
  const cause = { reaction: 'when-something-happened', stream: news, position: '1' as Position }
  const told = { ...sample.event, metadata: { ...sample.event.metadata, cause } }
  const known = [`policy-${policy}`, `application-${application}`, news]
  const eventLog: Pick<EventLog, 'read'> = {
    read: async (stream) => (known.includes(stream) ? [told] : []),
  }

  const ofSecond = await findStreams({ pool: model.pool, eventLog }, second, [])
  const ofFirst = await findStreams({ pool: model.pool, eventLog }, first, [])

  expect(ofSecond).toEqual({ streams: [`application-${application}`, `policy-${policy}`], sealed: [], byDetails: [] })
  const sealed = [`application-${application}`, news, `policy-${policy}`]
  expect(ofFirst).toEqual({ streams: known.toSorted(), sealed, byDetails: [] })
})

test('what only details lead to, and what that follows from, is told apart: it may be about somebody else', async () => {
  await bound('cancelled')
  const [sample] = samples
  if (!sample) throw new Error('There is no sample.')
  const ingest = 'ingest-b1000000-0000-5000-8000-000000000001'
  const cause = { reaction: 'when-something-happened', stream: news, position: '1' as Position }
  const told = { ...sample.event, metadata: { ...sample.event.metadata, cause } }
  const read = async (stream: string) => (stream === ingest ? [told] : [sample.event])

  const { sealed, byDetails } = await findStreams({ pool: model.pool, eventLog: { read } }, second, [
    ingest,
    `policy-${policy}`,
  ])

  expect(byDetails).toEqual([ingest, news])
  expect(sealed).toEqual(expect.arrayContaining([ingest, news]))
})

describe('what nobody knows to be about the person, by the details that it names', () => {
  const details = { email: 'zelda@example.com', phone_number: '+447700900321', external_id: 'CRM-7' }
  const held = async (id: string, named: Readonly<Record<string, string | null>>) => {
    const { named_id = null, external_id = null, email = null, phone_digits = null } = named
    await model.pool.query(sql`
      insert into held_outcomes (organisation_id, id, named_id, external_id, email, phone_digits)
      values (${organisation_id}, ${id}, ${named_id}, ${external_id}, ${email}, ${phone_digits})`)
  }
  const sent = async (
    id: string,
    status: string,
    { named_id = null, external_id = null, email = null, phone_digits = null }: Record<string, string | null>,
  ) =>
    model.pool.query(sql`
      insert into ingests (organisation_id, id, status, named_id, external_id, email, phone_digits)
      values (${organisation_id}, ${id}, ${status}, ${named_id}, ${external_id}, ${email}, ${phone_digits})`)
  const id = (place: number) => `00000000-0000-4000-8000-0000000000${String(place).padStart(2, '0')}`
  const found = async () => {
    const streams = await findNamed(model.pool, first, details, atRest)
    return streams.map((stream) => [stream.slice(0, stream.indexOf('-')), Number(stream.slice(-2))])
  }

  beforeEach(async () => {
    await model.pool.query('truncate held_outcomes, ingests, customers')
    await held(id(1), { named_id: first.contact_id })
    await held(id(2), { email: details.email, phone_digits: '700900999' })
    await held(id(3), { phone_digits: '700900321' })
    await held(id(4), { email: 'yorick@example.com', phone_digits: '700900321' })
    await held(id(5), { named_id: second.contact_id, email: 'yorick@example.com' })
    await sent(id(6), 'held', { email: details.email })
    await sent(id(7), 'needs_review', { phone_digits: '700900321' })
    await sent(id(8), 'received', { email: details.email })
    await sent(id(9), 'failed', { email: 'yorick@example.com', phone_digits: '700900321' })
  })

  test('is found by id, by email address, and by a telephone number that is nobody else’s', async () => {
    expect(await found()).toEqual([
      ['ingest', 6],
      ['ingest', 7],
      ['outcome_report', 1],
      ['outcome_report', 2],
      ['outcome_report', 3],
    ])
  })

  test('is found by the id in the organisation’s own system, and by ours, whichever way it is told', async () => {
    await model.pool.query('truncate held_outcomes, ingests')
    await held(id(11), { external_id: 'CRM-7' })
    await held(id(12), { external_id: first.contact_id })
    await held(id(13), { external_id: 'CRM-8' })
    await sent(id(14), 'held', { external_id: 'CRM-7', email: 'yorick@example.com' })
    await sent(id(15), 'discarded', { named_id: first.contact_id })
    await sent(id(16), 'needs_review', { external_id: first.contact_id })
    await sent(id(17), 'held', { external_id: 'CRM-8' })
    await sent(id(18), 'received', { external_id: 'CRM-7' })

    expect(await found()).toEqual([
      ['ingest', 14],
      ['ingest', 15],
      ['ingest', 16],
      ['outcome_report', 11],
      ['outcome_report', 12],
    ])
  })

  test('is not found by a telephone number that another person has, too', async () => {
    await model.pool.query(sql`
      insert into customers (organisation_id, id, phone_number)
      values (${organisation_id}, ${first.contact_id}, ${details.phone_number}),
        (${organisation_id}, ${second.contact_id}, ${details.phone_number})`)

    expect(await found()).toEqual([
      ['ingest', 6],
      ['outcome_report', 1],
      ['outcome_report', 2],
    ])
  })
})

test('503: read models that are behind decide nothing', async () => {
  const waited: string[] = []
  const behind = untilShownAll({
    eventLog: { head: async () => '1' as Position },
    progress: {
      wait: async (category) => {
        waited.push(category)
        return category !== 'policy'
      },
    },
    withinMs: 0,
  })
  await expect(behind).rejects.toMatchObject({ code: 'unavailable' })
  expect(waited).toEqual(telling)
})

describe('the erasure itself', () => {
  const stream = `application-${application}`
  const requested: PersonErasureRequested = {
    type: 'PersonErasureRequested',
    ...first,
    requested_by: 'office',
    streams: [],
  }
  type Told = {
    readonly pool?: Database
    readonly shown?: () => Promise<unknown>
    readonly event?: PersonErasureRequested
    readonly whyPersonKept?: () => Promise<string | undefined>
  }

  const erasing = async ({
    pool = model.pool,
    shown = async () => undefined,
    event = requested,
    whyPersonKept = async () => undefined,
  }: Told) => {
    const [sample] = samples
    if (!sample) throw new Error('There is no sample.')
    const erased = new Set<string>()
    const appended: string[] = []
    const eventLog = {
      head: async () => '1' as Position,
      read: async (asked: string) => (asked === stream ? [sample.event] : []),
      append: async (to: string) => {
        appended.push(to)
        return { outcome: 'appended', revision: 0, position: '2' }
      },
    } as unknown as EventLog
    const { react } = whenErasureRequestedErasePerson({
      writer: makeWriter({ log: eventLog, seen: async () => undefined }),
      pool,
      people: { record: async () => nobody },
      leads: { find: async () => undefined },
      whyPersonKept,
      holdOrErase: async (_organisation_id, act) => act({ db: pool, require: async () => undefined }),
      eventLog,
      dataKeys: {
        decide: async (_db, { subjects }) => {
          for (const subject of subjects) erased.add(subject)
        },
        destroyDecided: async () => undefined,
        erase: async ({ subject }) => void erased.add(subject),
        isErased: async () => false,
      },
      shown: {
        eventLog,
        progress: {
          wait: async () => {
            if (erased.size > 0) await shown()
            return true
          },
        },
        withinMs: 0,
      },
    })
    const refusal = await react(event, {} as RecordedEvent, {} as Context).then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    )
    return { refusal, erased: [...erased], appended }
  }
  const nobody = { email: null, phone_number: null } as unknown as Customer
  const keysOfPerson = [`person:${first.contact_id}`, first.contact_id]

  test('is set aside while a record that may tell of the person is, and destroys nothing', async () => {
    const pool = { query: async () => ({ rows: [{ stream: 'membership-7' }] }) } as unknown as Database

    const { refusal, ...done } = await erasing({ pool })

    expect(refusal).toContain('membership-7 is set aside')
    expect(done).toEqual({ erased: [], appended: [] })
  })

  test.each(['a claim was opened', 'a policy was sold'])(
    'is set aside where %s after their policies were counted, and destroys nothing until that has ended',
    async (happened) => {
      await bound(happened === 'a claim was opened' ? 'lapsed' : 'pending_start')
      if (happened === 'a claim was opened')
        await model.pool.query(sql`
          insert into claims (organisation_id, id, policy_id, status)
          values (${organisation_id}, 'b4000000-0000-5000-8000-000000000001', ${policy}, 'open')`)

      const { refusal, ...done } = await erasing({})
      await model.pool.query(`update policies set status = 'lapsed'; update claims set status = 'closed'`)
      const resumed = await erasing({})

      expect(refusal).toContain('while the erasure was asked for')
      expect(done).toEqual({ erased: [], appended: [] })
      expect(resumed).toMatchObject({ refusal: undefined, erased: [...keysOfPerson, stream] })
    },
  )

  test.each([
    ['nothing is kept', undefined, 'erased'],
    ['something is kept again', 'No period is set any more.', 'given up'],
  ])('that nobody has asked for by hand is looked at again: where %s', async (_, because, outcome) => {
    await model.pool.query('truncate applications, ingests, held_outcomes')
    const { erased } = await erasing({
      event: { ...requested, requested_by: null },
      whyPersonKept: async () => because,
    })

    expect(erased).toEqual(outcome === 'erased' ? keysOfPerson : [])
  })

  test('that nobody has asked for by hand is given up where a policy is in force', async () => {
    await bound('active')

    expect(await erasing({ event: { ...requested, requested_by: null } })).toMatchObject({
      refusal: undefined,
      erased: [],
    })
  })

  test('finds an application that was started for the person until nothing more could be stored of them', async () => {
    await model.pool.query('truncate applications')
    const shown = async () =>
      model.pool.query(sql`
        insert into applications (organisation_id, id, customer_id, status, document)
        values (${organisation_id}, ${application}, ${first.contact_id}, 'in_capture', '{}') on conflict do nothing`)

    expect(await erasing({ shown })).toMatchObject({ refusal: undefined, erased: [...keysOfPerson, stream] })
  })
})
