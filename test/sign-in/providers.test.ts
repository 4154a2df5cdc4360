import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { usersAddress } from '../users/team.ts'
import { wholeService } from '../whole-service.ts'
import { makeBrowser } from './browser.ts'
import { startProvider } from './provider.ts'

type Service = Awaited<ReturnType<typeof wholeService>>
let service: Service
let firm: string
let other: string
let entra: Awaited<ReturnType<typeof startProvider>>
let okta: Awaited<ReturnType<typeof startProvider>>
let ofFirm: string
let ofOther: string

const roles_of = [
  { value: 'agents', roles: ['leads'] },
  { value: 'bosses', roles: ['owner', 'leads'] },
]
const given = (issuer: string) => ({
  issuer,
  client_id: 'coverstream',
  client_secret: 'the secret of the client',
  roles_of,
})
const providersAddress = (organisation_id: string | null) =>
  organisation_id === null
    ? '/admin/v1/sign_in_providers'
    : `/admin/v1/organisations/${organisation_id}/sign_in_providers`
const put = async (organisation_id: string | null, name: string, body: object) =>
  service.send<{ id: string }>('PUT', `${providersAddress(organisation_id)}/${name}`, { body })

beforeAll(async () => {
  // The provider of the tests says that it is not for production.
  vi.spyOn(console, 'info').mockReturnValue()
  vi.spyOn(console, 'warn').mockReturnValue()
  service = await wholeService({
    TRUSTED_PROXIES: '1',
    SIGN_IN_ATTEMPTS: '0',
    DELIVERY_ALLOWED_HOSTS: '127.0.0.1',
    DELIVERY_ALLOW_HTTP: 'true',
  })
  const callback = `${service.baseUrl}/admin/v1/session/callback`
  entra = await startProvider(callback)
  okta = await startProvider(callback)
  firm = await service.organisation('firm')
  other = await service.organisation('other')
  ofFirm = (await put(firm, 'entra', given(entra.issuer))).body.data.id
  ofOther = (await put(other, 'okta', given(okta.issuer))).body.data.id
}, 120_000)
afterAll(async () => {
  await Promise.all([entra, okta].map(async (each) => each[Symbol.asyncDispose]()))
  await service[Symbol.asyncDispose]()
})

let added = 0
/** A user whom an owner has entered, and who is known to the provider with this email. */
const person = async ({ organisation_id = firm, at = entra, claims = {}, sub = `sub-${++added}` } = {}) => {
  const email = `${sub}-${added}@firm.test`
  at.people.set(sub, { email, email_verified: true, groups: ['agents'], ...claims })
  const made = await service.send<{ id: string }>('POST', usersAddress(organisation_id), {
    body: { name: sub, email, roles: ['policies'] },
  })
  return { sub, email, id: made.body.data.id }
}
const back = async (sub: string, more = {}) => {
  const browser = makeBrowser(service)
  const path = await entra.comeBack(browser, ofFirm, sub, more)
  return { browser, path, answer: await browser.ask('GET', path) }
}
const who = async (browser: ReturnType<typeof makeBrowser>) => (await browser.ask('GET', '/admin/v1/session')).body.data

test('somebody with a verified email that an owner has entered signs in, with the roles of the claims', async () => {
  const ada = await person()

  const { browser, answer } = await back(ada.sub, { opens: '/admin/v1/organisations?limit=5' })

  expect([answer.status, answer.headers.get('location')]).toEqual([
    303,
    `${service.baseUrl}/admin/v1/organisations?limit=5`,
  ])
  expect(answer.headers.getSetCookie()).toEqual([
    expect.stringMatching(
      /^__Host-coverstream_session=[\w-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    ),
    '__Host-coverstream_sign_in=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure',
  ])
  expect(await who(browser)).toMatchObject({
    user: { id: ada.id, organisation_id: firm, roles: ['leads'] },
    session: { signed_in_by: 'provider' },
  })
  expect(await browser.get(`/admin/v1/organisations/${firm}/leads`)).toBe(200)
  expect(await browser.get(`/admin/v1/policies?organisation_id=${firm}`)).toBe(403)
})

test('the link is in the log, what the provider calls the user sealed; a sign-in is no event, and is recorded', async () => {
  const { sub, id } = await person()
  await back(sub)
  await back(sub)

  const stored = await service.parts.storedLog.read(`user-${id}`, {})
  expect(stored.map(({ type }) => type)).toEqual(['UserAdded', 'UserLinked'])
  expect(JSON.stringify(stored)).not.toContain(sub)
  const accesses = await service.send<object[]>('GET', `/audit/v1/organisations/${firm}/accesses?record_id=${id}`)
  expect(accesses.body.data.filter((each) => JSON.stringify(each).includes('session/callback'))).toHaveLength(2)
})

test('what the browser keeps meanwhile is sealed, short-lived and for this host alone', async () => {
  const begun = await makeBrowser(service).ask('POST', '/admin/v1/session/provider', { provider_id: ofFirm })

  const [cookie = ''] = begun.headers.getSetCookie()
  expect(cookie).toMatch(/^__Host-coverstream_sign_in=[\w.-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
  const asked = new URL(String(begun.body.data['url'])).searchParams
  expect(Object.fromEntries(asked)).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    redirect_uri: `${service.baseUrl}/admin/v1/session/callback/${ofFirm}`,
  })
  for (const name of ['state', 'nonce', 'code_challenge'])
    expect(cookie).not.toContain(asked.get(name) ?? expect.fail(`${name} is missing`))
})

test.each([
  ['issuer', { iss: 'https://evil.example' }],
  ['audience', { aud: 'another client' }],
  ['nonce', { nonce: 'another nonce' }],
  ['time', { exp: 1_700_000_000 }],
])('403: an answer with a wrong %s signs nobody in', async (_, claims) => {
  const { sub } = await person()
  const browser = makeBrowser(service)

  const answer = await entra.saying(claims, async () => browser.ask('GET', await entra.comeBack(browser, ofFirm, sub)))

  expect(answer.status).toBe(403)
  expect(await browser.get('/admin/v1/session')).toBe(401)
})

test('403: a code that was used is no good again, and neither is an answer in another browser', async () => {
  const { sub } = await person()
  const browser = makeBrowser(service)
  const path = await entra.comeBack(browser, ofFirm, sub)
  const kept = new Map(browser.jar)
  const strange = makeBrowser(service)
  await entra.comeBack(strange, ofFirm, sub)

  expect((await makeBrowser(service).ask('GET', path)).status).toBe(403)
  expect((await strange.ask('GET', path)).status).toBe(403)
  expect((await browser.ask('GET', path)).status).toBe(303)
  const replaying = makeBrowser(service)
  for (const [name, value] of kept) replaying.jar.set(name, value)
  expect((await replaying.ask('GET', path)).status).toBe(403)
  expect(await replaying.get('/admin/v1/session')).toBe(401)
})

test('403: an answer that another provider hands on, at the address of either', async () => {
  const { sub } = await person()
  const begun = makeBrowser(service)
  const path = await entra.comeBack(begun, ofFirm, sub)
  const relayed = makeBrowser(service)
  const own = new URL(await okta.comeBack(relayed, ofOther, sub), 'http://service.test')
  const answer = new URL(path, 'http://service.test').searchParams
  answer.set('state', own.searchParams.get('state') ?? '')
  answer.delete('iss')

  for (const provider of [ofFirm, ofOther])
    expect((await relayed.ask('GET', `/admin/v1/session/callback/${provider}?${answer.toString()}`)).status).toBe(403)
  expect(await relayed.get('/admin/v1/session')).toBe(401)
})

test('403: what the provider refuses, and an answer without a code', async () => {
  const browser = makeBrowser(service)
  const { sub } = await person()
  const path = await entra.comeBack(browser, ofFirm, sub)
  const { searchParams } = new URL(path, 'http://service.test')
  const answers = [
    { error: 'access_denied', state: searchParams.get('state') ?? '', iss: entra.issuer },
    { state: searchParams.get('state') ?? '', iss: entra.issuer },
    { code: searchParams.get('code') ?? '', state: searchParams.get('state') ?? '', iss: okta.issuer },
  ]

  for (const answer of answers) {
    const query = new URLSearchParams(answer).toString()
    expect((await browser.ask('GET', `/admin/v1/session/callback/${ofFirm}?${query}`)).status).toBe(403)
  }
})

test('403: an email that the provider has not verified makes nobody known, and neither does one of nobody', async () => {
  const unverified = await person({ claims: { email_verified: false } })
  const unsaid = await person({ claims: { email_verified: undefined } })
  entra.people.set('stranger', { email: 'stranger@firm.test', email_verified: true, groups: ['agents'] })

  for (const sub of [unverified.sub, unsaid.sub, 'stranger']) expect((await back(sub)).answer.status).toBe(403)
})

test('403: claims that give no role; roles are read at each sign-in, and owner only where it is set up', async () => {
  const { sub, email } = await person()
  const claim = (groups: unknown) => entra.people.set(sub, { email, email_verified: true, groups })

  claim(['guests'])
  expect((await back(sub)).answer.status).toBe(403)
  claim(undefined)
  expect((await back(sub)).answer.status).toBe(403)
  claim('agents')
  expect(await who((await back(sub)).browser)).toMatchObject({ user: { roles: ['leads'] } })
  claim(['bosses', 'owner'])
  expect(await who((await back(sub)).browser)).toMatchObject({ user: { roles: ['owner', 'leads'] } })
})

test('403: a firm’s user at another firm, whose provider knows them by the same name and email', async () => {
  const { sub, email } = await person()
  okta.people.set(sub, { email, email_verified: true, groups: ['bosses'] })
  const browser = makeBrowser(service)

  const answer = await browser.ask('GET', await okta.comeBack(browser, ofOther, sub))

  expect(answer.status).toBe(403)
  // An answer of one provider says nothing at another.
  const begun = makeBrowser(service)
  const path = await entra.comeBack(begun, ofFirm, sub)
  await okta.comeBack(begun, ofOther, sub)
  expect((await begun.ask('GET', path)).status).toBe(403)
})

test('two firms have each a user whom their providers call the same: each is who they are', async () => {
  const one = await person({ sub: 'same' })
  const two = await person({ sub: 'same', at: okta, organisation_id: other })
  const browser = makeBrowser(service)
  await browser.ask('GET', await okta.comeBack(browser, ofOther, 'same'))

  expect(await who((await back('same')).browser)).toMatchObject({ user: { id: one.id, organisation_id: firm } })
  expect(await who(browser)).toMatchObject({ user: { id: two.id, organisation_id: other } })
})

test('an invitation links a user once, whatever the email; another account with their email is then refused', async () => {
  const { sub, id, email } = await person()
  const invite = async () => service.send<{ invitation: string }>('POST', `${usersAddress(firm)}/${id}/invitation`)
  const { invitation } = (await invite()).body.data
  entra.people.set('elsewhere', { email: 'elsewhere@private.test', email_verified: false, groups: ['agents'] })

  const { browser } = await back('elsewhere', { invitation })
  expect(await who(browser)).toMatchObject({ user: { id } })
  entra.people.set('thief', { groups: ['agents'] })
  expect((await back('thief', { invitation })).answer.status).toBe(403)
  entra.people.set(sub, { email, email_verified: true, groups: ['agents'] })
  expect((await back(sub)).answer.status).toBe(403)

  const again = (await invite()).body.data.invitation
  expect(await who((await back(sub, { invitation: again })).browser)).toMatchObject({ user: { id } })
  expect((await back('elsewhere')).answer.status).toBe(403)
  // The session ends with the link that it rests on.
  expect(await browser.get('/admin/v1/session')).toBe(401)
})

test('a refused sign-in uses up no invitation', async () => {
  const passing = await service.organisation('passing')
  const provider = (await put(passing, 'entra', given(entra.issuer))).body.data.id
  const { sub, id } = await person({ organisation_id: passing, claims: { email_verified: false } })
  const invited = await service.send<{ invitation: string }>('POST', `${usersAddress(passing)}/${id}/invitation`)
  const enter = async () => {
    const browser = makeBrowser(service)
    const { invitation } = invited.body.data
    return (await browser.ask('GET', await entra.comeBack(browser, provider, sub, { invitation }))).status
  }
  await service.send('POST', `/admin/v1/organisations/${passing}/deactivate`)
  expect(await enter()).toBe(403)

  await service.send('POST', `/admin/v1/organisations/${passing}/activate`)

  expect(await vi.waitUntil(async () => (await enter()) === 303)).toBe(true)
})

test('403: what a browser keeps of a sign-in that it has begun is good for one answer', async () => {
  const { sub } = await person()
  const browser = makeBrowser(service)
  const path = await entra.comeBack(browser, ofFirm, sub)
  const kept = new Map(browser.jar)
  const state = new URL(path, 'http://service.test').searchParams.get('state') ?? ''
  const refusal = `/admin/v1/session/callback/${ofFirm}?error=access_denied&state=${state}`
  expect((await browser.ask('GET', refusal)).status).toBe(403)

  const again = makeBrowser(service)
  for (const [name, value] of kept) again.jar.set(name, value)
  const answer = await again.ask('GET', path)

  expect([answer.status, answer.body.error?.message]).toEqual([
    403,
    'This sign-in was answered already. Begin the sign-in again, in this browser.',
  ])
})

test('403: an email with a letter that only looks like another is not that of the user', async () => {
  const { sub, email } = await person({ sub: 'kim' })
  // The sign of the kelvin, which Unicode makes a k of.
  entra.people.set(sub, { email: email.replace('k', '\u212a'), email_verified: true, groups: ['agents'] })
  expect((await back(sub)).answer.status).toBe(403)

  entra.people.set(sub, { email: email.replace('k', 'K'), email_verified: true, groups: ['agents'] })
  expect((await back(sub)).answer.status).toBe(303)
})

test('a user who has ended meanwhile is signed out, and does not sign in again', async () => {
  const { sub, id } = await person()
  const { browser } = await back(sub)
  const waiting = makeBrowser(service)
  const path = await entra.comeBack(waiting, ofFirm, sub)

  await service.send('DELETE', `${usersAddress(firm)}/${id}`)

  expect(await browser.get('/admin/v1/session')).toBe(401)
  expect((await waiting.ask('GET', path)).status).toBe(403)
})

test('whoever signed in by a provider is signed out when it is changed or removed; set again as it is, nothing happens', async () => {
  const set = async (changes = {}) => put(firm, 'passing', { ...given(okta.issuer), ...changes })
  const { id } = (await set()).body.data
  const { sub } = await person({ at: okta })
  const enter = async () => {
    const browser = makeBrowser(service)
    await browser.ask('GET', await okta.comeBack(browser, id, sub))
    return browser
  }
  const browser = await enter()
  await set()
  expect(await browser.get('/admin/v1/session')).toBe(200)

  await set({ roles_of: [{ value: 'agents', roles: ['claims'] }] })
  expect(await browser.get('/admin/v1/session')).toBe(401)
  const next = await enter()
  expect(await who(next)).toMatchObject({ user: { roles: ['claims'] } })
  const removed = await service.send('DELETE', `${providersAddress(firm)}/passing`)
  expect(removed.body.data).toEqual({ removed: true })
  expect(await next.get('/admin/v1/session')).toBe(401)
})

test.each([
  '//evil.example',
  '/\\evil.example',
  'https://evil.example',
  'javascript:alert(1)',
  '/a\n/b',
  '/\t/evil.example',
  '/.//evil.example',
  '/a\\b',
  '/é',
  '/\u202e',
  '',
])('422: %j is no address of the service to be opened after a sign-in', async (opens) => {
  const answer = await makeBrowser(service).ask('POST', '/admin/v1/session/provider', { provider_id: ofFirm, opens })

  expect(answer.body.error?.fields).toEqual({ opens: 'must be a path of this service, beginning with one /' })
})

test('the providers of an organisation, or of the installation, can be seen before a sign-in, by name alone', async () => {
  const installed = await put(null, 'ours', {
    ...given(entra.issuer),
    roles_of: [{ value: 'ops', roles: ['operator'] }],
  })
  const list = async (query: string) =>
    (await makeBrowser(service).ask('GET', `/admin/v1/session/providers${query}`)).body.data

  expect(await list('?organisation=other')).toEqual([{ id: ofOther, name: 'okta' }])
  expect(await list('?organisation=nobody')).toEqual([])
  expect(await list('')).toEqual([{ id: installed.body.data.id, name: 'ours' }])
})

test('a provider of the installation signs in only its people', async () => {
  const { sub } = await person({ claims: { groups: ['ops'] } })
  const { body } = await put(null, 'ours', {
    ...given(entra.issuer),
    roles_of: [{ value: 'ops', roles: ['operator'] }],
  })
  const enter = async (name: string) => {
    const browser = makeBrowser(service)
    const answer = await browser.ask('GET', await entra.comeBack(browser, body.data.id, name))
    return { browser, status: answer.status }
  }
  expect((await enter(sub)).status).toBe(403)

  entra.people.set('olga', { email: 'olga@ours.test', email_verified: true, groups: ['ops'] })
  await service.send('POST', '/admin/v1/users', { body: { name: 'Olga', email: 'olga@ours.test', roles: ['auditor'] } })
  const { browser } = await enter('olga')
  expect(await who(browser)).toMatchObject({ user: { organisation_id: null, roles: ['operator'] } })
  expect(await browser.get('/admin/v1/users')).toBe(200)
})

test.each([
  ['issuer', { issuer: 'nowhere' }],
  ['issuer', { issuer: 'http://login.example' }],
  ['issuer', { issuer: 'https://login.example/?a=b' }],
  ['roles_of[0].roles[0]', { roles_of: [{ value: 'ops', roles: ['operator'] }] }],
  ['roles_of', { roles_of: [] }],
  ['client_secret', { client_secret: '' }],
])('422: %s is named when a provider cannot be set up so', async (field, changes) => {
  const answer = await put(firm, 'wrong', { ...given('https://login.example'), ...changes })

  expect([answer.status, Object.keys(answer.body.error?.fields ?? {})]).toEqual([422, [field]])
})

test('503: a provider that does not answer as it must, or calls itself otherwise, is not gone to', async () => {
  const { body } = await put(firm, 'away', given(`${entra.issuer}/elsewhere`))

  const answer = await makeBrowser(service).ask('POST', '/admin/v1/session/provider', { provider_id: body.data.id })

  expect(answer.status).toBe(503)
})

test('the secret of a provider is stored sealed, and shown nowhere', async () => {
  const secret = 'the secret of the client'
  const listed = await service.send('GET', providersAddress(firm))
  const stored = await service.parts.storedLog.read(`sign_in_provider-${ofFirm}`, {})

  expect(JSON.stringify(listed.body)).toContain(ofFirm)
  for (const shown of [listed.body, stored]) expect(JSON.stringify(shown)).not.toContain(secret)
})

test('the set-up file names the providers of an organisation; applied again it changes nothing', async () => {
  const file = `
organisations:
  - slug: by-file
    name: By file
    sign_in_providers:
      - name: entra
        issuer: ${entra.issuer}
        client_id: coverstream
        client_secret: the secret of the client
        roles_of: [{ value: agents, roles: [leads] }]
`
  type Steps = { readonly steps: readonly { readonly what: string; readonly change: string }[] }
  const apply = async () => {
    const { body } = await service.send<Steps>('POST', '/admin/v1/setup?apply=true', { body: file })
    return body.data.steps.filter(({ what }) => what.startsWith('sign-in')).map(({ change }) => change)
  }
  expect(await apply()).toEqual(['create'])
  expect(await apply()).toEqual(['none'])
})
