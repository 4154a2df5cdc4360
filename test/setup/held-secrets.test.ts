import { expect, test } from 'vitest'
import { memberOf } from '../users/team.ts'
import { wholeService } from '../whole-service.ts'

const firm = (rest = '') => `organisations:\n  - slug: acme\n    name: Acme Life\n${rest}`

test('a secret that is held is kept only where it goes to where it went before', async () => {
  await using service = await wholeService()
  await service.setUp(firm())
  const { body } = await service.send<{ id: string }[]>('GET', '/admin/v1/organisations')
  const organisation_id = body.data[0]?.id ?? expect.fail()
  const admin = `/admin/v1/organisations/${organisation_id}`
  const owner = await memberOf(service, organisation_id, ['owner'])
  const held = { secret_key: 'sk_live_held', base_url: 'https://api.stripe.com' }
  expect((await service.send('PUT', `${admin}/payment_accounts/live`, { body: held })).status).toBe(200)
  const declared = (base_url: string) =>
    firm(
      `    payment_accounts:\n      - { mode: live, base_url: ${base_url}, secret_key: { missing: live.secret_key } }\n`,
    )
  const apply = (base_url: string) =>
    service.send('POST', '/admin/v1/setup?apply=true', { token: owner.key, body: declared(base_url) })

  const moved = await apply('https://elsewhere.example')

  expect(moved.status).toBe(422)
  expect(JSON.stringify(moved.body)).toContain('live.secret_key')
  const { body: shown } = await service.send('GET', `${admin}/payment_accounts`)
  expect(JSON.stringify(shown)).not.toContain('elsewhere.example')
  expect((await apply('https://api.stripe.com')).status).toBe(200)
})
