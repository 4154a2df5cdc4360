import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { leadService, type LeadService, type Shown } from './fixture.ts'

let service: LeadService
beforeAll(async () => {
  service = await leadService()
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

let people = 0
const stranger = () => ({ email: `team-${++people}@example.com`, first_name: 'Ada' })
const act = (id: string, what: string, body: object = {}) =>
  service.send<Shown>('POST', `${service.admin}/ingests/${id}/${what}`, { body })
const list = async (query: string) =>
  (await service.send<readonly { id: string }[]>('GET', `${service.admin}/ingests?${query}`)).body
const held = () => service.process({ campaign: 'spring', identity: stranger() })
const inReview = () => service.process({ data: { colour: 'red', number: ++people } })

describe('a lead that is held', () => {
  test('200: is accepted by a person, and applied', async () => {
    const { id } = await held()
    const accepted = await act(id, 'accept')
    const again = await act(id, 'accept')

    expect([accepted.status, again.status]).toEqual([200, 200])
    expect(accepted.body.data.status).toBe('resolving')
    expect(accepted.body.data.explanation).toMatch(/checking/)
    const shown = await service.settled(id)
    expect(shown).toMatchObject({ status: 'applied', contact_id: expect.any(String) as unknown })
    expect(shown).not.toHaveProperty('validation_failures')
  })

  test('200: is discarded, with a note that the sender reads', async () => {
    const { id } = await held()
    await act(id, 'discard', { note: 'A test of ours.' })

    expect(await service.settled(id)).toMatchObject({
      status: 'discarded',
      explanation: 'Somebody of the team discarded the lead: A test of ours.',
    })
    expect((await act(id, 'accept')).body.error?.code).toBe('invalid_transition')
  })

  test('200: is listed by status, newest first, with cursors', async () => {
    const [first, second] = [await held(), await held()]
    const one = await list('status=held&limit=1')
    const next = await list(`status=held&limit=1&cursor=${one.next_cursor ?? ''}`)

    expect(one.data.map(({ id }) => id)).toEqual([second.id])
    expect(next.data.map(({ id }) => id)).toEqual([first.id])
    expect((await list('status=applied&source=website')).data.map(({ id }) => id)).not.toContain(first.id)
  })

  test('200: names its person as it was sent, and once they are known as they are', async () => {
    type Named = { readonly id: string; readonly person: unknown }
    const identity = { first_name: 'Hetty', last_name: 'Held', email: `Team-${++people}@Example.com` }
    const { id } = await service.process({ campaign: 'spring', identity })
    const listed = async (query: string) => {
      const { body } = await service.send<readonly Named[]>('GET', `${service.admin}/ingests?${query}`)
      return body.data.find((each) => each.id === id)?.person
    }
    const sent = { name: 'Hetty Held', email: identity.email, phone_number: null }
    expect(await listed('status=held')).toEqual(sent)
    const { body } = await service.send<Named>('GET', `${service.admin}/ingests/${id}`)
    expect(body.data.person).toEqual(sent)

    await act(id, 'accept')
    await service.settled(id)

    expect(await listed('status=applied')).toEqual({ ...sent, email: identity.email.toLowerCase() })
  })

  test('422: a cursor that this list has not given', async () => {
    expect((await service.send('GET', `${service.admin}/ingests?cursor=none`)).status).toBe(422)
  })
})

describe('a lead in review', () => {
  test('200: becomes that of the person who is picked', async () => {
    const known = await service.process({ identity: stranger() })
    const { id } = await inReview()
    const picked = await act(id, 'pick_person', { contact_id: known.contact_id })

    expect([picked.status, picked.body.data.status]).toEqual([200, 'resolving'])
    expect(await service.settled(id)).toMatchObject({
      status: 'applied',
      contact_id: known.contact_id,
      facts_written: 2,
      activities_written: 1,
    })
  })

  test('200: the external id of somebody else stays theirs', async () => {
    const [one, other] = [stranger(), stranger()]
    const external_id = `CRM-${one.email}`
    const owner = await service.process({ identity: { ...one, external_id } })
    const picked = await service.process({ identity: other })
    const { id, status } = await service.process({ identity: { ...other, external_id } })
    expect(status).toBe('needs_review')

    await act(id, 'pick_person', { contact_id: picked.contact_id })

    expect(await service.settled(id)).toMatchObject({ status: 'applied', contact_id: picked.contact_id })
    const marked = async (contact_id: string | undefined) =>
      (await service.send<{ marks: object }>('GET', `${service.admin}/leads/${contact_id}`)).body.data.marks
    expect(await marked(owner.contact_id)).toMatchObject({ external_system_id: external_id })
    expect(await marked(picked.contact_id)).toMatchObject({ external_system_id: null })
  })

  test('200: our id of somebody else, which the sender keeps as its own, stays theirs', async () => {
    const [one, other] = [stranger(), stranger()]
    const owner = await service.process({ identity: one })
    const picked = await service.process({ identity: other })
    const { id, status } = await service.process({ identity: { ...other, external_id: owner.contact_id } })
    expect(status).toBe('needs_review')

    await act(id, 'pick_person', { contact_id: picked.contact_id })
    await service.settled(id)

    const again = await service.process({ identity: { external_id: owner.contact_id } })
    expect(again).toMatchObject({ status: 'applied', contact_id: owner.contact_id })
  })

  test('200: is not judged again when a person is picked: neither by blocked sources nor by how soon they came', async () => {
    const known = await service.process({ campaign: 'once', identity: stranger() })
    const { id } = await service.process({ campaign: 'once', source: 'later-blocked', data: { number: ++people } })
    const blocked_sources = ['bulk-lists', 'later-blocked']
    await service.send('PATCH', `${service.admin}/lead_intake`, { body: { blocked_sources } })

    await act(id, 'pick_person', { contact_id: known.contact_id })

    const shown = await service.settled(id)
    await service.send('PATCH', `${service.admin}/lead_intake`, { body: { blocked_sources: ['bulk-lists'] } })
    expect(shown).toMatchObject({ status: 'applied', contact_id: known.contact_id })
  })

  test('200: becomes that of somebody new', async () => {
    const { id } = await inReview()
    await act(id, 'pick_person', { contact_id: null })

    const shown = await service.settled(id)
    expect(shown.status).toBe('applied')
    expect(shown.contact_id).toBeDefined()
    expect(shown.explanation).toContain('The lead is about somebody new.')
  })

  test('200: somebody new is not the person who has the email address already', async () => {
    const [one, other] = [stranger(), stranger()]
    const known = await service.process({ identity: one })
    const owner = await service.process({ identity: { ...other, external_id: `CRM-${other.email}` } })
    const { id, status } = await service.process({ identity: { ...one, external_id: `CRM-${other.email}` } })
    expect(status).toBe('needs_review')

    await act(id, 'pick_person', { contact_id: null })

    const shown = await service.settled(id)
    expect(shown.status).toBe('applied')
    expect([known.contact_id, owner.contact_id]).not.toContain(shown.contact_id)
  })

  test('422: nobody has this id; 409: it is not in review; 404: another organisation’s', async () => {
    const { id } = await inReview()
    const applied = await service.process({ identity: stranger() })
    const nobody = { contact_id: '00000000-0000-4000-8000-000000000000' }
    const elsewhere = `/admin/v1/organisations/${await service.organisation('elsewhere')}/ingests/${id}`

    expect((await act(id, 'pick_person', nobody)).body.error?.fields).toHaveProperty('contact_id')
    expect((await act(applied.id, 'pick_person', { contact_id: null })).status).toBe(409)
    expect((await act(applied.id, 'accept')).status).toBe(409)
    expect((await service.send('POST', `${elsewhere}/discard`, { body: {} })).status).toBe(404)
  })

  test('200: what was sent can be read', async () => {
    const { id } = await inReview()
    const { body } = await service.send('GET', `${service.admin}/ingest_contents/${id}`)

    expect(body.data).toMatchObject({ data: { colour: 'red' }, text: null })
    expect((await service.send('GET', `${service.admin}/ingests/${id}`)).body.data).toMatchObject({
      status: 'needs_review',
      review: { reason: 'nobody_named', candidates: [] },
    })
  })
})

describe('details that differ from those held', () => {
  const proposal = async () => {
    const who = stranger()
    const first = await service.process({ identity: who })
    const again = await service.process({ identity: { ...who, first_name: 'Adele' } })
    return { contact_id: first.contact_id ?? '', source_id: again.id }
  }
  const settle = (contact_id: string, body: object) =>
    service.send<Record<string, unknown>>('POST', `${service.admin}/people/${contact_id}/proposed_details`, { body })
  const listed = async () =>
    (await service.send<readonly { contact_id: string }[]>('GET', `${service.admin}/proposed_details`)).body.data
  /** Until the read model has what was done: another test's transaction may hide it for a while. */
  const soonListed = <Result>(check: (people: Awaited<ReturnType<typeof listed>>) => Result) =>
    vi.waitFor(async () => check(await listed()), { timeout: 60_000, interval: 20 })

  test('200: are listed, and accepted', async () => {
    const { contact_id, source_id } = await proposal()
    const proposed = { [source_id]: { first_name: 'Adele' } }
    await soonListed((people) => expect(people).toContainEqual(expect.objectContaining({ contact_id, proposed })))

    const settled = await settle(contact_id, { source_id, accept: ['first_name'] })

    expect(settled.body.data).toMatchObject({ contact_id, first_name: 'Adele' })
    await soonListed((people) => expect(people.map((each) => each.contact_id)).not.toContain(contact_id))
  })

  test('200: are refused, and nothing changes', async () => {
    const { contact_id, source_id } = await proposal()
    const settled = await settle(contact_id, { source_id, refuse: ['first_name'] })

    expect(settled.body.data).toMatchObject({ first_name: 'Ada' })
    await soonListed((people) => expect(people.map((each) => each.contact_id)).not.toContain(contact_id))
  })

  test('409: the email address of another person is not accepted', async () => {
    const [one, other] = [stranger(), stranger()]
    const first = await service.process({ identity: { ...one, external_id: one.email } })
    await service.process({ identity: { ...one, external_id: one.email, email: other.email } })
    const proposed = await soonListed((people) => {
      const found = people.find(({ contact_id }) => contact_id === first.contact_id)
      expect(found).toBeDefined()
      return found as { contact_id: string; proposed: Record<string, unknown> } | undefined
    })
    await service.process({ identity: other })

    const source_id = Object.keys(proposed?.proposed ?? {})[0]
    const refused = await settle(first.contact_id ?? '', { source_id, accept: ['email'] })

    expect(proposed?.contact_id).toBe(first.contact_id)
    expect(refused.body.error?.code).toBe('conflict')
  })
})

test('200: campaigns and what every lead must meet are listed and changed', async () => {
  const campaigns = await service.send<readonly { id: string; key: string }[]>('GET', `${service.admin}/campaigns`)
  const [first] = campaigns.body.data
  const one = await service.send('GET', `${service.admin}/campaigns/${first?.id ?? ''}`)
  const intake = await service.send('PATCH', `${service.admin}/lead_intake`, { body: { trap_fields: ['fax'] } })

  expect(campaigns.body.data.map(({ key }) => key)).toEqual(['archived', 'once', 'paused', 'plain', 'spring'])
  expect(one.body.data).toEqual(first)
  expect(intake.body.data).toMatchObject({ trap_fields: ['fax'], blocked_sources: ['bulk-lists'] })
  expect((await service.send('GET', `${service.admin}/lead_intake`)).body).toEqual(intake.body)
  const taken = await service.send('POST', `${service.admin}/campaigns`, { body: { key: 'once', name: 'Once' } })
  expect(taken.status).toBe(409)
})
