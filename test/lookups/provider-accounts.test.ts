import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setupApi } from '../setup/setup-api.ts'

describe('a set-up file', () => {
  let api: Awaited<ReturnType<typeof setupApi>>
  beforeAll(async () => {
    api = await setupApi()
  })
  afterAll(() => api[Symbol.asyncDispose]())

  const file = (accounts: string) =>
    `organisations:\n  - slug: harbour\n    name: Harbour\n    provider_accounts:\n${accounts}`

  test('sets accounts, keeps their secrets sealed and changes nothing when applied again', async () => {
    const text = file('      - { provider: ideal_postcodes, secret: a-key-of-the-firm }\n')
    expect((await api.apply(text)).status).toBe(200)
    expect(JSON.stringify(await api.eventLog.readAll())).not.toContain('a-key-of-the-firm')
    const written = await api.written()
    await api.apply(text)
    expect(await api.written()).toEqual(written)
  })

  test('says what is wrong, and where', async () => {
    const accounts =
      '      - { provider: market_panel, secret: key }\n' +
      '      - { provider: os_places, secret: key }\n' +
      '      - { provider: os_places, secret: key }\n'
    const { status, body } = await api.plan(file(accounts))
    expect(status).toBe(422)
    expect((body as { error: { fields: Record<string, string> } }).error.fields).toMatchObject({
      'organisations[0].provider_accounts[0].base_url': expect.stringContaining('whole address') as string,
      'organisations[0].provider_accounts[2].provider': expect.stringContaining('provider_accounts[1]') as string,
    })
  })
})
