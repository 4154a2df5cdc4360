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
  ['a number beyond all that we can count', '{"hobby":"chess","income":1e400}'],
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

type Content = { readonly data: object; readonly declared: object; readonly numbers?: readonly string[] }

const contactOf = async (body: string) => {
  const { status, body: answer } = await service.post(body)
  expect(status).toBe(202)
  return service.settled(answer.data.id)
}

test('an external id that is a number of any length is its own digits: two of them are two people', async () => {
  const lead = (id: string) => `{"source":"website","data":{"external_id":${id},"hobby":"chess"}}`
  const [one, other, again] = [
    await contactOf(lead('179568673700000011')),
    await contactOf(lead('179568673700000012')),
    await contactOf(lead('179568673700000011').replace('chess', 'go')),
  ]

  expect(one.id).not.toBe(other.id)
  expect(one.contact_id).not.toBe(other.contact_id)
  expect(again).toMatchObject({ contact_id: one.contact_id, status: 'applied' })
}, 60_000)

test('what is declared is kept exactly as it was given, and what was sent is shown so', async () => {
  const numbers = ['12345678901234567890', '1.10', '-0', '1e400', '1E3']
  const list = numbers.map((each, index) => `"n${index}":${each}`).join(',')
  const identity = JSON.stringify(stranger())
  const { id, contact_id } = await contactOf(
    `{"source":"website","identity":${identity},"declared":{${list},"plain":250000,"many":[${numbers[0]},1]},"data":{"x":1.10}}`,
  )
  const kept = Object.fromEntries(numbers.map((each, index) => [`n${index}`, each]))
  const declared = { ...kept, plain: 250000, many: [numbers[0], 1] }

  await vi.waitFor(async () => {
    const lead = await service.send<{ readonly facts: object }>('GET', `${service.admin}/leads/${contact_id}`)
    expect(lead.body.data.facts).toEqual({ ...declared, x: '1.10' })
  }, 15_000)
  const { body } = await service.send<Content>('GET', `${service.admin}/ingest_contents/${id}`)
  expect(body.data).toMatchObject({ declared, data: { x: '1.10' }, numbers })
}, 60_000)

test('two leads that differ in the last digit of a number are no repeat, and the same one is', async () => {
  const lead = (id: string) =>
    `{"source":"website","source_reference":"r","data":{"email":"n@example.com","deal":${id}}}`
  const sent = async (id: string) => (await service.post(lead(id))).body.data
  const first = await sent('179568673700000021')

  expect(await sent('179568673700000022')).toMatchObject({ duplicate: false })
  expect(await sent('179568673700000021')).toMatchObject({ duplicate: true, id: first.id })
}, 60_000)

test('a whole number in pence is that amount, however it is written', async () => {
  const identity = JSON.stringify(stranger())
  const { contact_id } = await contactOf(
    `{"source":"website","identity":${identity},"data":{"savings":250000.0,"income":2.5E3}}`,
  )

  await vi.waitFor(async () => {
    const lead = await service.send<{ readonly facts: object }>('GET', `${service.admin}/leads/${contact_id}`)
    expect(lead.body.data.facts).toEqual({ savings: 250_000, income: 2_500 })
  }, 15_000)
}, 60_000)
