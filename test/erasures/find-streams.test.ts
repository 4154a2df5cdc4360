import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import { LogUnavailable, type EventLog } from '#infra/event-log/event-log.ts'
import { sql } from '#infra/postgres/postgres.ts'
import type { Position } from '#domain/event.ts'
import { countPoliciesInForce, findStreams, untilShown } from '../../command-api/erasures/find-streams.ts'
import { applications } from '../../projections/applications/projection.ts'
import { ingests } from '../../projections/ingests/projection.ts'
import { memberships } from '../../projections/loyalty/projection.ts'
import { messageNews } from '../../projections/message-news/projection.ts'
import { outcomes } from '../../projections/outcomes/projection.ts'
import { policies } from '../../projections/policies/projection.ts'
import { readModel } from '../read-model.ts'
import { samples } from '../stored-events/samples.ts'

const organisation_id = OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f')
const first = { organisation_id, contact_id: CustomerId.parse('c0000000-0000-4000-8000-000000000001') }
const second = { organisation_id, contact_id: CustomerId.parse('c0000000-0000-4000-8000-000000000002') }
const application = 'a0000000-0000-4000-8000-000000000001'
const policy = '90000000-0000-5000-8000-000000000010'
const news = 'inbound_event-b0000000-0000-5000-8000-000000000001'

let model: Awaited<ReturnType<typeof readModel>>
beforeAll(async () => {
  model = await readModel(applications, policies, memberships, ingests, messageNews, outcomes)
})
afterAll(() => model[Symbol.asyncDispose]())
beforeEach(async () => {
  await model.pool.query('truncate applications, policies')
  const document = JSON.stringify({ policy_id: policy, partner: { id: second.contact_id } })
  await model.pool.query(sql`
    insert into applications (organisation_id, id, customer_id, status, document)
    values (${organisation_id}, ${application}, ${first.contact_id}, 'bound', ${document})`)
})

const bound = async (status: string, joint_customer: object | null = { id: second.contact_id }) => {
  const document = JSON.stringify({ joint_customer })
  await model.pool.query(sql`
    insert into policies (organisation_id, id, policy_number, customer_id, status, document)
    values (${organisation_id}, ${policy}, 'POL-000000000', ${first.contact_id}, ${status}, ${document})`)
}
const counts = async () => Promise.all([first, second].map(async (each) => countPoliciesInForce(model.pool, each)))

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

  test('is none that was cancelled, and none of another organisation', async () => {
    await bound('cancelled')
    expect(await counts()).toEqual([0, 0])
    const elsewhere = OrganisationId.parse('99999999-0000-4000-8000-000000000001')
    expect(await countPoliciesInForce(model.pool, { ...first, organisation_id: elsewhere })).toBe(0)
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

  expect(ofSecond).toEqual({ streams: [`application-${application}`, `policy-${policy}`], sealed: [] })
  expect(ofFirst).toEqual({ streams: known.toSorted(), sealed: [`application-${application}`, news] })
})

test('503: read models that are behind decide nothing', async () => {
  const waited: string[] = []
  const behind = untilShown(
    {
      eventLog: { head: async () => '1' as Position },
      progress: {
        wait: async (category) => {
          waited.push(category)
          return category !== 'policy'
        },
      },
    },
    ['application', 'policy'],
  )
  await expect(behind).rejects.toThrow(LogUnavailable)
  expect(waited).toEqual(['application', 'policy'])
})
