import { expect, test } from 'vitest'
import { marketPanel } from '#infra/market-panel/panel.ts'

/** What a panel tells of its providers, as far as it can be shown to customers. */

const account = { base_url: 'https://panel.example', account: null, secret: 'panel-key' }
const told = async (...results: readonly object[]) => {
  const body = Buffer.from(JSON.stringify({ status: 'completed', results }))
  const request = async () => ({ outcome: 'answered', status: 200, headers: {}, body }) as never
  return (await marketPanel({ request }).read(account, 'search-1'))?.results
}
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

test('a result that cannot be read is left out, and the others stand', async () => {
  expect(await told({ ...albion, provider_id: 'north', premium_pence: -1 }, albion)).toMatchObject([
    { provider_id: 'albion' },
  ])
})
