import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { complaintEvents, ComplaintId, type ComplaintEvent } from '#domain/complaints/events.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { ApplicationId, PolicyId } from '#domain/values.ts'
import { startReceiver } from '../../demo/receiver.ts'
import { complaints } from '../../projections/complaints/projection.ts'
import { policies } from '../../projections/policies/projection.ts'
import { organisation_id, product_id } from '../delivery/applications.ts'
import { deliveryFixture, secret } from '../delivery/fixture.ts'
import { sampleEvent } from '../stored-events/samples.ts'

const types = [
  'complaint.opened',
  'complaint.decided',
  'complaint.redressed',
  'complaint.referred',
  'complaint.closed',
] as const

/** Of what somebody wrote in a complaint nothing may be sent. */
const written = 'WRITTEN-BY-SOMEBODY'
type Opened = Extract<ComplaintEvent, { type: 'ComplaintOpened' }>
const opened: Opened = {
  ...sampleEvent(complaintEvents, 'ComplaintOpened'),
  organisation_id,
  product_id,
  description: written,
}
const { contact_id } = opened
const later: readonly ComplaintEvent[] = [
  { ...sampleEvent(complaintEvents, 'ComplaintNoteAdded'), note: written },
  { ...sampleEvent(complaintEvents, 'ComplaintFellOverdue') },
  { ...sampleEvent(complaintEvents, 'ComplaintDecided'), reason: written },
  { ...sampleEvent(complaintEvents, 'ComplaintRedressed'), action: written },
  { ...sampleEvent(complaintEvents, 'ComplaintReferred'), reference: written },
  sampleEvent(complaintEvents, 'ComplaintClosed'),
]

type Hook = { readonly type: string; readonly payload: Record<string, unknown>; readonly aggregate: { id: string } }

test('complaints are told of with the policy or the application that they concern, and without what was written', async () => {
  await using fixture = await deliveryFixture({ readModels: [complaints, policies] })
  const hooks = await startReceiver({ secret })
  await fixture.setUp(hooks.url, types)
  await fixture.startWorker()
  const application = await fixture.startApplication()
  await application.saveCustomer('Grace')
  const policy_id = PolicyId.parse(randomUUID())
  const bound = { ...sampleEvent(policyEvents, 'PolicyBound', 2), organisation_id, policy_id }
  await fixture.append(policyEvents, `policy-${policy_id}`, [bound])

  const tell = async (concerned: Partial<Opened>, events: readonly ComplaintEvent[] = []) => {
    const complaint_id = ComplaintId.parse(randomUUID())
    const first = { ...opened, complaint_id, policy_id: null, claim_id: null, ...concerned }
    await fixture.append(complaintEvents, `complaint-${complaint_id}`, [first, ...events])
    return complaint_id
  }
  const ofPolicy = await tell({ policy_id, claim_id: opened.claim_id }, later)
  const ofApplication = await tell({ application_id: ApplicationId.parse(application.application_id) })
  const ofNothing = await tell({ product_id: null })
  await hooks.untilReceived(7)
  await hooks.close()

  const received = hooks.received as unknown as readonly Hook[]
  // They arrive in any order.
  const about = (id: string) =>
    types.flatMap((type) => received.filter((each) => each.type === type && each.aggregate.id === id))
  const { cause, received_at, respond_by, claim_id } = opened
  expect(about(ofPolicy)).toMatchObject(
    [
      { contact_id, policy_id, application_id: null, claim_id, cause, received_at, respond_by },
      {
        decision: 'partly_upheld',
        response: 'final_response',
        decided_at: '2027-04-30T09:00:00.000Z',
        refer_by: '2027-10-30',
      },
      { redress_id: 'ce000000-0000-4000-8000-000000000003', amount_pence: 5_000 },
      { referred_on: '2027-05-20' },
      { withdrawn: false, keep_until: '2030-08-02' },
    ].map((payload, index) => ({
      type: types[index],
      occurred_at: '2026-01-15T12:00:00.000Z',
      aggregate: { type: 'complaint', id: ofPolicy },
      payload: { complaint_id: ofPolicy, ...payload },
      product_id,
      organization_id: organisation_id,
      policy: { id: policy_id },
    })),
  )
  expect(about(ofApplication)).toMatchObject([
    { type: 'complaint.opened', application: { id: application.application_id }, customer: { first_name: 'Grace' } },
  ])
  const [alone] = about(ofNothing)
  expect(alone).toMatchObject({ type: 'complaint.opened', product_id: null })
  expect(Object.keys(alone ?? {}).toSorted()).toEqual(
    ['aggregate', 'id', 'occurred_at', 'organization_id', 'payload', 'product_id', 'type'].toSorted(),
  )
  expect(JSON.stringify(received)).not.toContain(written)
})
