import { afterAll, beforeAll, expect, test } from 'vitest'
import { applicationApis, type Fixture } from './fixture.ts'
import { organisation_id } from './release.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await applicationApis()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const referredApplication = async () => (await fixture.start({ answers: { work: 'miner' } })).body.data
const decide = (id: string, body: unknown) => fixture.team('POST', `/${id}/decisions`, body)
const unknown = 'b0000000-0000-4000-8000-000000000009'

test('200: what is with the team is listed with the reason, given back, and gone from the list', async () => {
  const { id, status } = await referredApplication()
  expect(status).toBe('referred')
  const list = async () => {
    const { body } = await fixture.team('GET', `?organisation_id=${organisation_id}&status=referred`)
    return (body as { data: { id: string; decisions: unknown[] }[] }).data
  }
  expect((await list()).find((each) => each.id === id)?.decisions).toMatchObject([
    { outcome: 'referred', cause: 'answer', reason_code: 'miner_refer' },
  ])

  const { status: answered, body } = await decide(id, { decision: 'give_back', reason_message: 'Tell us more.' })
  expect(answered).toBe(200)
  expect(body).toMatchObject({ data: { id, status: 'in_capture' } })
  expect((await list()).map((each) => each.id)).not.toContain(id)
  expect((await fixture.get(id)).body.data.status).toBe('in_capture')
})

test('200: an application is shown to the team with what callers never see', async () => {
  const { id } = await referredApplication()
  await decide(id, { decision: 'decline', reason_code: 'report', reason_message: 'Not at present.' })
  const { body } = await fixture.team('GET', `/${id}?organisation_id=${organisation_id}`)
  const { decisions } = (body as { data: { decisions: unknown[] } }).data
  const decided_by = { type: 'operator', id: 'tester' }
  expect(decisions.at(-1)).toMatchObject({ outcome: 'declined', cause: 'team', reason_code: 'report', decided_by })
  expect(JSON.stringify((await fixture.get(id)).body)).not.toContain('Not at present.')
})

test('404: an application of nobody', async () => {
  expect((await decide(unknown, { decision: 'withdraw' })).status).toBe(404)
  expect((await fixture.team('GET', `/${unknown}?organisation_id=${organisation_id}`)).status).toBe(404)
})

test('409 conflict: what cannot be decided any more', async () => {
  const { id } = await referredApplication()
  await decide(id, { decision: 'decline' })
  const { status, body } = await decide(id, { decision: 'accept' })
  expect(status).toBe(409)
  expect(body).toMatchObject({ error: { code: 'conflict' } })
})

test.each([
  [{}, 'decision'],
  [{ decision: 'postpone', until: 'June' }, 'until'],
  [{ decision: 'accept', loadings: [{ code: 'a', label: 'b', basis: 'percent', value: '1.5' }] }, 'loadings[0].value'],
])('422 validation_failed: %j', async (sent, field) => {
  const { id } = await referredApplication()
  const { status, body } = await decide(id, sent)
  expect(status).toBe(422)
  expect(Object.keys((body as { error: { fields: object } }).error.fields)).toEqual([field])
})
