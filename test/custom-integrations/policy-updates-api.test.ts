import { afterAll, beforeAll, expect, test } from 'vitest'
import { fromStored, toStored } from '#domain/event.ts'
import { newId } from '#infra/ids.ts'
import { policyEvents } from '#domain/policies/events.ts'
import { OrganisationId, PolicyId } from '#domain/values.ts'
import { samples } from '../stored-events/samples.ts'
import { openInbound, type Inbound } from './fixture.ts'

let inbound: Inbound
beforeAll(async () => {
  inbound = await openInbound()
}, 60_000)
afterAll(async () => inbound[Symbol.asyncDispose]())

const sample = samples.findLast(({ event }) => event.type === 'PolicyBound')?.event
if (!sample) throw new Error('There is no sample of a policy.')

/** A policy of a firm, as it was bound. */
const bind = async (organisation: string): Promise<string> => {
  const organisation_id = OrganisationId.parse(organisation)
  const policy_id = PolicyId.parse(crypto.randomUUID())
  const bound = fromStored({ PolicyBound: policyEvents.PolicyBound }, sample)
  await inbound.parts.eventLog.append(`policy-${policy_id}`, 'no_stream', [
    {
      id: newId(),
      ...toStored(policyEvents, { ...bound, policy_id, organisation_id }),
      metadata: { ...sample.metadata, organisation_id },
    },
  ])
  return policy_id
}

type Entry = { readonly type: string; readonly document: { readonly update_type?: string } }

const timelineOf = async (policy_id: string): Promise<readonly string[]> => {
  const path = `/admin/v1/policies/${policy_id}/timeline?organisation_id=${inbound.organisation_id}`
  const { status, body } = await inbound.send<readonly Entry[]>('GET', path)
  // The read model may not have it yet.
  return status === 200 ? body.data.map(({ type }) => type) : []
}

const update = (ours: string | null, id: string) => ({ event: { name: 'policy.changed' }, id, policy: { ours } })

test('each matching event is recorded once on the timeline of the firm’s policy', async () => {
  const policy_id = await bind(inbound.organisation_id)
  const event = update(policy_id, 'change-1')

  const answers = await Promise.all([inbound.post(event), inbound.post(event), inbound.post(event)])
  const types = await inbound.eventually(async () => {
    const found = await timelineOf(policy_id)
    return found.includes('PolicyUpdated') ? found : undefined
  })
  await inbound.post(update(policy_id, 'change-2'))
  const later = await inbound.eventually(async () => {
    const found = await timelineOf(policy_id)
    return found.filter((type) => type === 'PolicyUpdated').length > 1 ? found : undefined
  })

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(types.filter((type) => type === 'PolicyUpdated')).toHaveLength(1)
  expect(later.filter((type) => type === 'PolicyUpdated')).toHaveLength(2)
})

test('events with no policy id, or for a policy that is not the firm’s, are accepted and ignored', async () => {
  const foreign = await bind(await inbound.organisation('another'))
  const own = await bind(inbound.organisation_id)

  const answers = [
    await inbound.post(update(null, 'nobody')),
    await inbound.post(update(foreign, 'foreign')),
    await inbound.post(update(own, 'own')),
  ]
  await inbound.eventually(async () => (await timelineOf(own)).includes('PolicyUpdated') || undefined)

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  const stored = await inbound.parts.eventLog.read(`policy-${foreign}`)
  // What follows from buying may have come to it by now.
  expect(stored.map(({ type }) => type)).not.toContain('PolicyUpdated')
})
