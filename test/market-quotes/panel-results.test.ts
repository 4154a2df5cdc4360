import { expect, test } from 'vitest'
import { marketPanel } from '#infra/market-panel/panel.ts'

/** What a panel tells of its providers, as far as it can be shown to customers. */

const account = { base_url: 'https://panel.example', account: null, secret: 'panel-key' }
const panelThatAnswers = (json: string) =>
  marketPanel({
    request: async () => ({ outcome: 'answered', status: 200, headers: {}, body: Buffer.from(json) }) as never,
  })
const told = async (...results: readonly object[]) =>
  (await panelThatAnswers(JSON.stringify({ status: 'completed', results })).read(account, 'search-1'))?.results
const albion = { provider_id: 'albion', provider_name: 'Albion Mutual', status: 'success', premium_pence: 1234 }

test.each(['https://albion.example/logo.svg', 'http://albion.example/logo.svg', null])(
  'a logo is shown from where it is: %s',
  async (logo_url) => {
    expect(await told({ ...albion, logo_url })).toMatchObject([{ provider_name: 'Albion Mutual', logo_url }])
  },
)

test.each(['javascript:alert(1)', 'data:text/html,<script>alert(1)</script>', 'logo.svg', 7])(
  'what is no address of a picture on the web is no logo, and the price stands: %s',
  async (logo_url) => {
    expect(await told({ ...albion, logo_url })).toMatchObject([{ premium_pence: 1234, logo_url: null }])
  },
)

test.each([{ premium_pence: -1 }, { premium_pence: 12.5 }, { plan_fee_pence: -1 }, { expiry_date: '0000-01-01' }])(
  'a result that cannot be read is left out, and the others stand: %o',
  async (unreadable) => {
    expect(await told({ ...albion, provider_id: 'north', ...unreadable }, albion)).toMatchObject([
      { provider_id: 'albion' },
    ])
  },
)

test('an answer that is nested too deep to be stored is none', async () => {
  const features = '['.repeat(30_000) + ']'.repeat(30_000)
  const answer = `{ "status": "completed", "results": [{ "provider_id": "albion", "features": ${features} }] }`
  expect(await panelThatAnswers(answer).read(account, 'search-1')).toBeUndefined()
})

test.each(['', '\ud800', 'x'.repeat(201)])('a panel has not begun a search that it names %j', async (search_id) => {
  expect(await panelThatAnswers(JSON.stringify({ search_id })).begin(account, 'request-1', {})).toBeUndefined()
})
