import { afterAll, beforeAll, expect, test } from 'vitest'
import { organisation_id } from '../leads/builders.ts'
import { openLeads, type Fixture } from '../leads/fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openLeads()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const upload = async (body: object) =>
  (await fixture.post(`/admin/v1/organisations/${organisation_id}/uploaded_outcomes`, body)).body

test('amounts of a file are in the currency of their row, or else of the organisation', async () => {
  const contact_id = await fixture.send()
  const row = (line: number, premium: string, currency?: string) => ({
    line,
    fields: { type: 'quoted', occurred_at: '2026-01-15', contact_id, premium, ...(currency && { currency }) },
  })
  const rows = [
    row(2, '£1,250.5'),
    row(3, '1,250', 'JPY'),
    row(4, '1.25', 'KWD'),
    row(5, '12.50', 'JPY'),
    // Elsewhere that is a thousand, and something.
    row(6, '1.250', 'EUR'),
  ]
  expect(await upload({ upload: 'currencies', rows })).toMatchObject({
    data: {
      taken: 3,
      faults: [
        { line: 5, field: 'premium', reason: 'must be an amount in JPY, as 1250' },
        { line: 6, field: 'premium', reason: 'must be an amount in EUR, as 12.50' },
      ],
    },
  })
  await fixture.settled()

  const { body } = await fixture.get(`/api/v1/crm/outcomes?contact_id=${contact_id}`)
  expect(body).toMatchObject({
    data: [
      { currency: 'GBP', values: { premium: 125_050 } },
      { currency: 'JPY', values: { premium: 1_250 } },
      { currency: 'KWD', values: { premium: 1_250 } },
    ],
  })
})

test('a dry run of a file names the rows that the file itself will, by their columns', async () => {
  const contact_id = await fixture.send()
  const rows = [
    { line: 2, fields: { type: 'lost', occurred_at: '2026-01-15', external_id: 'nobody' } },
    { line: 3, fields: { type: 'quoted', occurred_at: '2026-01-15', contact_id, premium: '12.505' } },
    { line: 4, fields: { type: 'lost', occurred_at: 'soon', contact_id } },
  ]
  const send = (dry_run: boolean) => upload({ upload: 'dry', dry_run, rows })

  const dry = await send(true)

  expect(dry).toMatchObject({
    data: {
      taken: 0,
      held: 0,
      faults: [
        { line: 2, field: 'external_id', reason: 'is the id of no lead' },
        { line: 3, field: 'premium', reason: 'must be an amount in pounds, as 12.50' },
        { line: 4, field: 'occurred_at', reason: expect.stringContaining('a date and time') as string },
      ],
    },
  })
  expect(await send(false)).toEqual(dry)
})
