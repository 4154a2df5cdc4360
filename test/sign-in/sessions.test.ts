import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { makeCookie } from '#infra/http/cookies.ts'
import { memberOf, usersAddress, type Member } from '../users/team.ts'
import { wholeService } from '../whole-service.ts'
import { makeBrowser } from './browser.ts'

type Service = Awaited<ReturnType<typeof wholeService>>
const environment = { TRUSTED_PROXIES: '1', SIGN_IN_ATTEMPTS: '0' }
let service: Service
let beside: Service
let firm: string
let ada: Member
beforeAll(async () => {
  service = await wholeService(environment)
  beside = await wholeService(environment, service.database)
  firm = await service.organisation('firm')
  ada = await memberOf(service, firm, ['owner', 'leads'], { name: 'Ada' })
}, 120_000)
afterAll(async () => {
  await beside[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

const here = '/admin/v1/session'
const ownFirm = () => `/admin/v1/organisations/${firm}`
const signedIn = async (key = ada.key) => {
  const browser = makeBrowser(service)
  const answer = await browser.signIn(key)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return browser
}
const colleague = async (name: string, details = {}) => memberOf(service, firm, ['leads'], { name, ...details })

test('with a key a user signs in, and their cookie then opens what the key opens', async () => {
  const browser = makeBrowser(service)

  const answer = await browser.signIn(ada.key)

  expect(answer).toMatchObject({
    status: 201,
    body: { data: { user: { id: ada.id, name: 'Ada', email: ada.email, roles: ['owner', 'leads'] } } },
  })
  const who = await browser.ask('GET', here)
  expect(who.body.data).toMatchObject({ user: { id: ada.id }, program: null, session: { signed_in_by: 'key' } })
  expect([await browser.get(ownFirm()), await browser.get(`${ownFirm()}/leads`)]).toEqual([200, 200])
})

test('what is done in a session is the user’s own act', async () => {
  const browser = await signedIn()

  const made = await browser.ask('POST', `${ownFirm()}/campaigns`, { key: 'by-cookie', name: 'By cookie' })

  expect(made.status).toBe(201)
  const all = await service.parts.eventLog.readAll({})
  expect(all.at(-1)?.metadata.actor).toEqual({ type: 'user', id: ada.id })
})

test('the cookie is for this host alone, for TLS, out of the reach of script, and not sent by forms of other sites', async () => {
  const answer = await makeBrowser(service).signIn(ada.key)

  expect(answer.headers.getSetCookie()).toEqual([
    expect.stringMatching(
      /^__Host-coverstream_session=[\w-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    ),
  ])
})

test.each([
  ['http://localhost:4000', false, false],
  ['http://127.0.0.1:4000', false, false],
  ['http://[::1]:4000', false, false],
  ['http://localhost:4000', true, true],
  ['http://localhost.example.com', false, true],
  ['https://localhost', false, true],
])('of %s (production: %s) the cookie is Secure: %s', (baseUrl, isProduction, isSecure) => {
  const set = makeCookie('name', { baseUrl, isProduction }).set('value', 60)

  expect([set.includes('; Secure'), set.startsWith('__Host-name=')]).toEqual([isSecure, isSecure])
})

test('the id is stored as its hash alone, and nothing of it is in an address or an answer', async () => {
  const browser = makeBrowser(service)
  const { body } = await browser.signIn(ada.key)
  const [id = ''] = [...browser.jar.values()]

  const { rows } = await service.database.pool.query<object>('select * from user_session')

  expect(JSON.stringify(rows)).not.toContain(id)
  expect(JSON.stringify(body)).not.toContain(id)
})

test('each sign-in has an id of its own, and ends the session before it', async () => {
  const browser = await signedIn()
  const former = [...browser.jar.values()][0] ?? ''

  await browser.signIn((await colleague('signs in after')).key)

  const other = makeBrowser(service)
  other.jar.set('__Host-coverstream_session', former)
  expect([await other.get(ownFirm()), await browser.get(ownFirm())]).toEqual([401, 200])
})

test('signed out in one process, a session has ended in the other; signing out again is fine', async () => {
  const browser = await signedIn()
  const id = [...browser.jar.values()][0] ?? ''
  expect(await browser.get(ownFirm(), beside)).toBe(200)

  const out = await browser.ask('DELETE', here)

  expect(out).toMatchObject({ status: 200, body: { data: { signed_out: true } } })
  expect(browser.jar.size).toBe(0)
  browser.jar.set('__Host-coverstream_session', id)
  expect([await browser.get(ownFirm()), await browser.get(ownFirm(), beside)]).toEqual([401, 401])
  expect((await browser.ask('DELETE', here)).body.data).toEqual({ signed_out: false })
})

test('with the key, or with the user, the session ends in both processes', async () => {
  const [one, other] = [await colleague('loses the key'), await colleague('leaves')]
  const [first, second] = [await signedIn(one.key), await signedIn(other.key)]
  const shown = await service.send<{ keys: { id: string }[] }>('GET', `${usersAddress(firm)}/${one.id}`)

  await service.send('DELETE', `${usersAddress(firm)}/${one.id}/keys/${shown.body.data.keys[0]?.id}`)
  await service.send('DELETE', `${usersAddress(firm)}/${other.id}`)

  expect([await first.get(ownFirm()), await second.get(ownFirm())]).toEqual([401, 401])
  await vi.waitUntil(async () => (await first.get(ownFirm(), beside)) === 401, { timeout: 20_000 })
  await vi.waitUntil(async () => (await second.get(ownFirm(), beside)) === 401, { timeout: 20_000 })
})

/** As if so much time had gone by since. */
const age = async (user_id: string, column: 'started_at' | 'used_at', hours: string) =>
  service.database.pool.query(`update user_session set ${column} = now() - interval '${hours}' where user_id = $1`, [
    user_id,
  ])

test.each([
  ['used_at', '7 hours 59 minutes', 200],
  ['used_at', '8 hours', 401],
  ['started_at', '23 hours 59 minutes', 200],
  ['started_at', '24 hours', 401],
] as const)('%s %s ago: %i', async (column, ago, status) => {
  const user = await colleague(`idle ${column} ${ago}`)
  const browser = await signedIn(user.key)

  await age(user.id, column, ago)

  expect(await browser.get(ownFirm())).toBe(status)
})

test('a request keeps a session from being idle', async () => {
  const user = await colleague('works on')
  const browser = await signedIn(user.key)
  await age(user.id, 'used_at', '7 hours')
  await browser.get(ownFirm())

  const { rows } = await service.database.pool.query<{ fresh: boolean }>(
    `select used_at > now() - interval '1 minute' as fresh from user_session where user_id = $1`,
    [user.id],
  )
  expect(rows).toEqual([{ fresh: true }])
})

test('a user has twenty sessions at most: the oldest ends for another, and what is over is taken away', async () => {
  const user = await colleague('everywhere')
  const other = await colleague('long gone')
  await signedIn(other.key)
  await age(other.id, 'started_at', '25 hours')
  const browsers = []
  for (let number = 0; number < 21; number++) {
    await service.parts.pool.query(`update user_session set started_at = started_at - interval '1 minute'`)
    browsers.push(makeBrowser(service))
    await browsers.at(-1)?.signIn(user.key)
  }

  expect([await browsers[0]?.get(ownFirm()), await browsers[1]?.get(ownFirm())]).toEqual([401, 200])
  const { rows } = await service.database.pool.query('select 1 from user_session where user_id = $1', [other.id])
  expect(rows).toEqual([])
})

test.each([
  ['without Origin', { origin: '' }],
  ['of another port of the same host', { origin: 'http://service.test:8080' }],
  ['of another site', { origin: 'https://evil.example' }],
  ['of an opaque origin', { origin: 'null' }],
  ['of a sister site', { 'sec-fetch-site': 'same-site' }],
  ['of another site, as the browser says', { 'sec-fetch-site': 'cross-site' }],
  ['as a form', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['as plain text', { 'content-type': 'text/plain' }],
  ['as a file, where none is taken', { 'content-type': 'application/yaml' }],
])('403: a change in a session that is sent %s, and nothing is changed', async (_, headers) => {
  const browser = await signedIn()
  const key = `forged-${++attempts}`

  const forged = await browser.ask('POST', `${ownFirm()}/campaigns`, { key, name: 'Forged' }, headers)
  const signIn = await makeBrowser(service).ask('POST', here, { key: ada.key }, headers)
  const out = await browser.ask('DELETE', here, undefined, headers)

  expect([forged.status, signIn.status, out.status]).toEqual([403, 403, 403])
  expect(signIn.headers.getSetCookie()).toEqual([])
  expect(await browser.get(ownFirm())).toBe(200)
  const { body } = await browser.ask('GET', `${ownFirm()}/campaigns`)
  expect(JSON.stringify(body)).not.toContain(key)
})
let attempts = 0

test('a set-up file may be sent in a session as what it is', async () => {
  const browser = await signedIn()
  const plan = async (headers: Record<string, string>) =>
    (await browser.ask('POST', '/admin/v1/setup/plan', 'organisations: [{ slug: firm, name: firm }]', headers)).status

  expect(await plan({ 'content-type': 'application/yaml', 'sec-fetch-site': 'same-origin' })).toBe(200)
  expect(await plan({ 'content-type': 'text/plain' })).toBe(403)
})

test('the cookie opens neither the API of applications nor the token endpoint', async () => {
  const browser = await signedIn()

  expect(await browser.get('/api/v1/products')).toBe(401)
  const token = await browser.ask('POST', '/oauth/token', 'grant_type=client_credentials', {
    'content-type': 'application/x-www-form-urlencoded',
  })
  expect(token.status).toBe(401)
})

test('no other page is let in by CORS, neither to look nor to ask beforehand', async () => {
  const browser = await signedIn()
  await service.client(firm, ['read'], ['https://page.example'])
  const from = { origin: 'https://page.example', 'access-control-request-method': 'POST' }

  for (const [method, path] of [
    ['GET', ownFirm()],
    ['OPTIONS', ownFirm()],
    ['OPTIONS', here],
    ['GET', `/audit/v1/organisations/${firm}/events`],
  ] as const) {
    const { headers } = await browser.ask(method, path, undefined, from)
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  }
})

test('a key that is sent beside the cookie counts in its place, whatever it is', async () => {
  const browser = await signedIn()

  const wrong = await browser.ask('GET', ownFirm(), undefined, { authorization: 'Bearer nonsense-nonsense-nonsense' })

  expect(wrong.status).toBe(401)
})

test('403 while the organisation is not active: at sign-in and afterwards', async () => {
  const asleep = await service.organisation('asleep')
  const user = await memberOf(service, asleep, ['owner'])
  const browser = await signedIn(user.key)
  await service.send('POST', `/admin/v1/organisations/${asleep}/deactivate`)

  expect([await browser.get(here), await browser.get(`/admin/v1/organisations/${asleep}`)]).toEqual([403, 403])
  expect((await makeBrowser(service).signIn(user.key)).status).toBe(403)
})

test('401: a key that is nobody’s, and a program’s, which signs nobody in', async () => {
  const browser = makeBrowser(service)

  expect((await browser.signIn('nobodys-key')).status).toBe(401)
  expect((await browser.signIn('the operator key of the tests')).status).toBe(401)
  expect((await browser.ask('GET', here)).status).toBe(401)
})

test('each sign-in is recorded: by whom and when, never with what', async () => {
  const user = await colleague('is recorded')
  await signedIn(user.key)

  const { body } = await service.send<object[]>('GET', `/audit/v1/organisations/${firm}/accesses?record_id=${user.id}`)

  expect(body.data[0]).toMatchObject({ actor: { type: 'user', id: user.id }, route: here, method: 'POST' })
  expect(JSON.stringify(body)).not.toContain(user.key)
})

test('who one is, with a key', async () => {
  const mine = await service.send('GET', here, { token: ada.key })
  const programs = await service.send('GET', here)

  expect(mine.body.data).toMatchObject({ user: { id: ada.id }, session: null })
  expect(programs.body.data).toEqual({ user: null, program: 'OPERATOR_KEY', session: null })
})

test('requests in a session are not counted as the API’s; attempts to sign in are, by address and by user', async () => {
  await using counted = await wholeService({ RATE_LIMIT_REQUESTS: '20', SIGN_IN_ATTEMPTS: '5', TRUSTED_PROXIES: '1' })
  const organisation_id = await counted.organisation('counted')
  const user = await memberOf(counted, organisation_id, ['owner'])
  const browser = makeBrowser(counted)
  await browser.signIn(user.key)
  const statuses = async (times: number, ask: () => Promise<number>) => {
    const all = []
    for (let time = 0; time < times; time++) all.push(await ask())
    return all
  }

  const asked = await statuses(30, async () => browser.get(`/admin/v1/organisations/${organisation_id}`))
  expect(new Set(asked)).toEqual(new Set([200]))

  const guesser = makeBrowser(counted)
  expect(await statuses(6, async () => (await guesser.signIn('a guess')).status)).toEqual([
    401, 401, 401, 401, 401, 429,
  ])
  const elsewhere = async () => (await makeBrowser(counted).signIn(user.key)).status
  expect(await statuses(5, elsewhere)).toEqual([201, 201, 201, 201, 429])
  expect(await browser.get(here)).toBe(200)
})
