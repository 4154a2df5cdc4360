import { expect, test } from 'vitest'
import { productEvents, Release, StageType, type Draft } from '#domain/catalogue/events.ts'
import { fromStored, toStored } from '#domain/event.ts'
import { became, draft, drafted, published, release } from './builders.ts'

/** As version 1 stored it: no headcounts of covers, and of buying only how premiums are paid. */
const asVersion1 = <Content extends Draft>({ covers, checkout, ...rest }: Content) => ({
  ...rest,
  covers: covers.map(({ members_min: _min, members_max: _max, ...cover }) => cover),
  checkout: { inline_bacs_mandate: checkout.inline_bacs_mandate, direct_debit_first: checkout.direct_debit_first },
})
const asVersion2 = <Content extends Draft>(content: Content) => ({ ...asVersion1(content), covers: content.covers })

const before = {
  stripe_test_mode: null,
  policy_number_prefix: 'POL',
  collection_days: Array.from({ length: 28 }, (_, index) => index + 1),
  demands_and_needs: { required: false, statement: null },
  key_documents: [],
  cancellation: null,
  confirmation: null,
}
const { inline_bacs_mandate, direct_debit_first } = draft().checkout
const lifted = { ...before, inline_bacs_mandate, direct_debit_first }

test.each([
  ['version 1', 1, asVersion1],
  ['version 2', 2, asVersion2],
] as const)('a product stored as %s is read as the newest', (_, schema_version, asStored) => {
  const read = (type: string, data: object) => fromStored(productEvents, { type, schema_version, data: { ...data } })

  expect(read('ProductDrafted', { draft: asStored(draft()) })).toMatchObject({
    draft: { ...draft(), checkout: lifted },
  })
  expect(read('ReleasePublished', { release: asStored(release()) })).toMatchObject({
    release: { ...release(), checkout: lifted },
  })
})

test('what an older version said of buying stays', () => {
  const data = { draft: { ...asVersion2(draft()), checkout: { ...lifted, policy_number_prefix: 'ACME' } } }

  expect(fromStored(productEvents, { type: 'ProductDrafted', schema_version: 2, data })).toMatchObject({
    draft: { checkout: { policy_number_prefix: 'ACME' } },
  })
})

test('what happens to a product is read as it was stored', () => {
  for (const event of [drafted(), published(), became('archived')])
    expect(fromStored(productEvents, toStored(productEvents, event))).toEqual(event)
})

test('a release pins any version of a rate table from 1, and has a number from 1', () => {
  expect(Release.parse({ ...release(), number: 7, rate_tables: { 'life.level': 9 } })).toMatchObject({ number: 7 })
  expect(Release.safeParse({ ...release(), rate_tables: { 'life.level': 0 } }).success).toBe(false)
  expect(Release.safeParse({ ...release(), number: 0 }).success).toBe(false)
  expect(Release.safeParse({ ...release(), quote_valid_days: 0 }).success).toBe(false)
})

test('stages are of these types', () => {
  expect(StageType.options.join(' ')).toBe(
    'soft_identity personal_details partner_details cover_capture questions interstitial quote market_quotes before_you_buy payment confirmation handoff',
  )
})
