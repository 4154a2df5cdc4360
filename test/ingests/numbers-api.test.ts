import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { leadService, stranger, type LeadService } from './fixture.ts'

let service: LeadService
beforeAll(async () => {
  service = await leadService()
  await service.setUp(`
organisations:
  - slug: firm
    name: A firm
    custom_fields:
      - { key: income, label: Income, type: number }
      - { key: savings, label: Savings, type: money }
`)
}, 60_000)
afterAll(async () => service[Symbol.asyncDispose]())

const nines = '9'.repeat(400)

test.each([
  ['a number beyond all that JSON can hold', '{"hobby":"chess","height":1e400}'],
  ['as many digits where the firm wants a number', `{"hobby":"chess","income":"${nines}"}`],
  ['as many where it wants an amount', `{"hobby":"chess","savings":"${nines}"}`],
  ['an amount of more pence than can be counted', '{"hobby":"chess","savings":1e300}'],
])(
  '%s tells nothing, and the rest of the lead is read',
  async (_name, data) => {
    const identity = JSON.stringify(stranger())
    const { status, body } = await service.post(`{"source":"website","identity":${identity},"data":${data}}`)
    expect(status).toBe(202)
    const { contact_id, ...shown } = await service.settled(body.data.id)
    expect(shown.status).toBe('applied')
    // Ingests and leads are two read models.
    await vi.waitFor(async () => {
      const lead = await service.send<{ readonly facts: object }>('GET', `${service.admin}/leads/${contact_id}`)
      expect(lead.body.data.facts).toEqual({ hobby: 'chess' })
    }, 15_000)
  },
  60_000,
)
