import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { leadService, type LeadService } from './fixture.ts'
import { formServices } from './form-services.ts'

let service: LeadService
beforeAll(async () => {
  service = await leadService()
}, 60_000)
afterAll(async () => service[Symbol.asyncDispose]())

type Lead = { readonly facts: Readonly<Record<string, unknown>> }

const personOf = async (contact_id: string | undefined) => {
  const { rows } = await service.parts.pool.query<{ document: Record<string, unknown> }>(
    'select document from customers where id = $1',
    [contact_id],
  )
  return rows[0]?.document
}

test('202 what fourteen form and advert services send becomes fourteen people, each with the right details and facts', async () => {
  const people = new Set<string | undefined>()
  for (const { service: name, data, person, facts } of formServices) {
    const lead = await service.process({ data })
    expect([name, lead.status]).toEqual([name, 'applied'])
    people.add(lead.contact_id)
    // People and leads are read models of their own.
    await vi.waitFor(async () => {
      expect([name, await personOf(lead.contact_id)]).toMatchObject([name, person])
      const shown = await service.send<Lead>('GET', `${service.admin}/leads/${lead.contact_id}`)
      expect([name, shown.body.data.facts]).toMatchObject([name, facts])
    }, 15_000)
  }

  expect(people.size).toBe(14)
}, 120_000)
