import type { Browser, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { findBrowser, openBrowser } from '../explorer/browser.ts'
import { freePort } from '../journeys/service-process.ts'
import { startProvider } from '../sign-in/provider.ts'
import { openAs } from './colleague.ts'
import { openFirm, organisation_id, type Firm } from './firm.ts'
import { startOtherPages } from './other-pages.ts'

/**
 * Pages of others in the browser of somebody who is signed in, in a Chromium: those on another port of the same host,
 * to which a browser sends the same cookies, and those of another site, at 127.0.0.1 where the console is at localhost.
 */

const found = await findBrowser()
const named = (title: string) =>
  found === undefined ? `${title} (SKIPPED: no Chromium was found; set CHROMIUM)` : title

const own = `/console/organisations/${organisation_id}`
const sessionCookie = 'coverstream_session'

let firm: Firm
let origin: string
let browser: Browser
beforeAll(async () => {
  // The provider of the tests says that it is not for production.
  vi.spyOn(console, 'info').mockReturnValue()
  vi.spyOn(console, 'warn').mockReturnValue()
  const port = await freePort()
  origin = `http://localhost:${port}`
  firm = await openFirm({ PORT: String(port), BASE_URL: origin, SIGN_IN_ATTEMPTS: '1000' })
  if (found) browser = await openBrowser(found)
}, 120_000)
afterAll(async () => {
  if (found) await browser.close()
  await firm[Symbol.asyncDispose]()
})

const actsOf = (contact_id: string) => `/admin/v1/organisations/${organisation_id}/leads/${contact_id}/acts`
const lost = JSON.stringify({ acts: [{ act: 'change_status', status: 'lost', reason: 'price' }] })

const eventsOf = async (contact_id: string) => {
  const events = await firm.service.parts.eventLog.read(`lead-${contact_id}`, {})
  return events.map(({ id }) => id)
}

type Sent = { readonly page: Page; readonly isIt: (request: Request) => boolean }

/** The status of a page that was gone to, and the cookie that the browser went with. */
const goneTo = async ({ page, isIt }: Sent, go: () => Promise<unknown>) => {
  const [response] = await Promise.all([page.waitForResponse((answered) => isIt(answered.request())), go()])
  const { cookie = '' } = await response.request().allHeaders()
  return { status: response.status(), hasCookie: cookie.includes(sessionCookie) }
}

const isPost = (request: Request): boolean => request.method() === 'POST'

/** Asks as a script of the page can; undefined where the browser does not let it see the answer. */
const read = (page: Page, path: string, options = '{}') =>
  page.evaluate(`fetch('${origin}${path}', { credentials: 'include', ...${options} }).then(
    async (answer) => (answer.type === 'opaque' ? undefined : answer.text()), () => undefined)`)

/** A form as another page may send it, whose text a careless server would read as JSON. */
const formTo = (path: string, enctype: string) =>
  `<form method="post" action="${origin}${path}" enctype="${enctype}">
    <input name='${lost.slice(0, -1)}, "x": "' value='"}' /><button>Send</button></form>`

test.skipIf(found === undefined)(
  named(
    'a page on another port of the same host neither reads nor acts with the cookie, which the browser sends it with',
  ),
  async () => {
    const contact_id = await firm.sendLead('Paula', 'Ported')
    await using lee = await openAs({ browser, origin, who: firm.people.lee })
    await using others = await startOtherPages(formTo(actsOf(contact_id), 'text/plain'))
    const before = await eventsOf(contact_id)
    const page = await lee.page.context().newPage()
    await page.goto(others.sameHost)
    const path = `${own}/leads/${contact_id}`

    const session = () => read(page, '/admin/v1/session')
    expect([await session(), await read(page, path)]).toEqual([undefined, undefined])
    const plain = JSON.stringify({ method: 'POST', mode: 'no-cors', body: lost })
    expect(await read(page, actsOf(contact_id), plain)).toBeUndefined()
    for (const method of ['POST', 'DELETE']) {
      const asJson = JSON.stringify({ method, headers: { 'content-type': 'application/json' }, body: lost })
      expect(await read(page, method === 'POST' ? actsOf(contact_id) : '/admin/v1/session', asJson)).toBeUndefined()
    }
    expect(await page.evaluate(framed(path))).toBe('not readable')
    const send = () => page.getByRole('button', { name: 'Send' }).click()
    expect(await goneTo({ page, isIt: isPost }, send)).toEqual({ status: 403, hasCookie: true })

    expect(await eventsOf(contact_id)).toEqual(before)
    await lee.page.goto(`${origin}${path}`)
    await lee.page.getByRole('heading', { level: 1, name: 'Paula Ported' }).waitFor()
  },
)

/** Puts a page of the console into a frame, and tries to read what stands there. */
const framed = (path: string) => `new Promise((resolve) => {
  const frame = document.createElement('iframe')
  frame.addEventListener('load', () => {
    try { resolve(frame.contentWindow.document.body.textContent) } catch { resolve('not readable') }
  })
  frame.src = '${origin}${path}'
  document.body.append(frame)
})`

test.skipIf(found === undefined)(
  named(
    'a link of another site opens the page in the session, as SameSite=Lax says, and whatever it sends does nothing',
  ),
  async () => {
    const contact_id = await firm.sendLead('Linda', 'Linked')
    await using lee = await openAs({ browser, origin, who: firm.people.lee })
    const path = `${own}/leads/${contact_id}`
    const form = formTo(actsOf(contact_id), 'text/plain')
    await using others = await startOtherPages(`<a href="${origin}${path}">Her page</a>${form}`)
    const before = await eventsOf(contact_id)
    const page = await lee.page.context().newPage()
    await page.goto(others.otherSite)

    expect(await read(page, '/admin/v1/session')).toBeUndefined()
    const plain = JSON.stringify({ method: 'POST', mode: 'no-cors', body: lost })
    expect(await read(page, actsOf(contact_id), plain)).toBeUndefined()
    const send = () => page.getByRole('button', { name: 'Send' }).click()
    expect(await goneTo({ page, isIt: isPost }, send)).toEqual({ status: 401, hasCookie: false })
    expect(await eventsOf(contact_id)).toEqual(before)

    await page.goto(others.otherSite)
    const isPage = (request: Request) => request.url().endsWith(path)
    const click = () => page.getByRole('link').click()
    expect(await goneTo({ page, isIt: isPage }, click)).toEqual({ status: 200, hasCookie: true })
    await page.getByRole('heading', { level: 1, name: 'Linda Linked' }).waitFor()
    expect(await eventsOf(contact_id)).toEqual(before)
  },
)

test.skipIf(found === undefined)(
  named('by a provider of another site somebody signs in, and is at the address that was asked for before'),
  async () => {
    const contact_id = await firm.sendLead('Petra', 'Provided')
    await using provider = await startProvider(`${origin}/admin/v1/session/callback`)
    const set = await firm.service.send('PUT', `/admin/v1/organisations/${organisation_id}/sign_in_providers/entra`, {
      body: {
        issuer: provider.issuer,
        client_id: 'coverstream',
        client_secret: 'the secret of the client',
        roles_of: [{ value: 'agents', roles: ['leads'] }],
      },
    })
    expect(set.status).toBe(200)
    const { email } = firm.people.lee
    provider.people.set('lee', { email, email_verified: true, groups: ['agents'] })
    provider.signIn('lee')
    const context = await browser.newContext()
    const page = await context.newPage()
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.isNavigationRequest()) asked.push(new URL(request.url()).origin)
    })
    const path = `${own}/leads/${contact_id}`

    await page.goto(`${origin}${path}?tab=facts`)
    await page.waitForURL(/\/console\/sign_in\?opens=/)
    await page.getByLabel('Its short name').fill('northlight')
    await page.getByLabel('Its short name').press('Enter')
    await page.getByRole('button', { name: 'Sign in by entra' }).click()

    await page.getByRole('heading', { level: 1, name: 'Petra Provided' }).waitFor()
    expect(page.url()).toBe(`${origin}${path}?tab=facts`)
    expect([...new Set(asked)].toSorted()).toEqual([provider.issuer, origin].toSorted())
    const cookies = await context.cookies(origin)
    expect(cookies.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite }))).toEqual([
      { name: sessionCookie, httpOnly: true, sameSite: 'Lax' },
    ])
    expect(await page.evaluate('[localStorage.length, sessionStorage.length]')).toEqual([0, 0])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(/\/console\/sign_in/)
    expect(await context.cookies(origin)).toEqual([])
    await context.close()
  },
)
