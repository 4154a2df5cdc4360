import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Browser, Locator, Page, Request } from 'playwright-core'
import type { UserRole } from '#domain/values.ts'
import { mayCall } from '#infra/http/team.ts'
import { countedUnknownKeys } from '#infra/http/unknown-keys.ts'
import { routesByApi } from '../../scripts/openapi.ts'
import { findBrowser, openBrowser } from '../explorer/browser.ts'
import { freePort } from '../journeys/service-process.ts'
import { openAs, unfold } from './colleague.ts'
import { openFirm, organisation_id, type Firm } from './firm.ts'

/** Each act that a page offers is one that the API takes, from whoever is offered it. */

const found = await findBrowser()
const named = (title: string) =>
  found === undefined ? `${title} (SKIPPED: no Chromium was found; set CHROMIUM)` : title
const own = `/console/organisations/${organisation_id}`
/** Of a path of the organisation, or of the console. */
const addressOf = (path: string): string => (path.startsWith('/console/') ? path : `${own}${path}`)
const admin = `/admin/v1/organisations/${organisation_id}`

let firm: Firm
let origin: string
let browser: Browser
beforeAll(async () => {
  const port = await freePort()
  origin = `http://localhost:${port}`
  firm = await openFirm({ PORT: String(port), BASE_URL: origin })
  if (found) browser = await openBrowser(found)
}, 120_000)
afterAll(async () => {
  await browser.close()
  await firm[Symbol.asyncDispose]()
})

const typed: Readonly<Record<string, string>> = {
  text: 'Words',
  lines: 'Words',
  date: '2026-03-01',
  instant: '2030-12-01T10:00',
  pounds: '10.50',
  'whole number': '3',
}
/** Fields that take only what looks like this. */
const typedAs: Readonly<Record<string, string>> = {
  email: 'nell@firm.test',
  base_url: 'https://firm.example/hooks',
  'allowed_origins.0': 'https://www.firm.example',
  'loadings.0.value': '50',
  'acts.0.next_action.type': 'call',
}

const fill = async (control: Locator): Promise<void> => {
  const [kind, name] = [await control.getAttribute('data-kind'), (await control.getAttribute('name')) ?? '']
  if (kind === 'choice') await control.selectOption({ index: (await control.locator('option').count()) - 1 })
  else if (kind === 'several') await control.check()
  else if (kind !== 'yes or no') await control.fill(typedAs[name] ?? typed[kind ?? ''] ?? '')
}

const isPreview = (url: string): boolean => url.endsWith('/preview')

/** Sends an act, which never arrives, and answers what was sent. */
const sentBy = async (page: Page, form: Locator): Promise<Request> => {
  for (const control of await form.locator('[data-kind]').all()) await fill(control)
  const sent = page.waitForRequest(
    (request) => request.method() !== 'GET' && request.url().includes('/v1/') && !isPreview(request.url()),
  )
  await form.locator('button[type="submit"]').click()
  const confirmation = page.locator('dialog button[value="yes"]')
  if ((await form.getAttribute('data-ask')) !== null) await confirmation.click()
  return sent
}

const routes = [...routesByApi().query, ...routesByApi().command]

const routeOf = (request: Request) => {
  const { pathname } = new URL(request.url())
  return routes.find(
    ({ spec }) =>
      spec.method === request.method().toLowerCase() &&
      new RegExp(`^${spec.address.replaceAll(/:\w+/g, '[^/]+')}$`).test(pathname),
  )
}

/** Nothing, where whoever sends this may, and the API takes it as it is. */
const faultOf = (request: Request, roles: readonly UserRole[]): unknown => {
  const spec = routeOf(request)?.spec
  if (spec?.access.kind !== 'team') return 'there is no such route of the team'
  const may = mayCall({ method: spec.method, access: spec.access }, {
    organisation_id: roles.includes('operator') ? null : organisation_id,
    roles,
    sees_personal_data: true,
  } as never)
  if (may !== true) return may
  const body: unknown = request.postDataJSON()
  if (!spec.body) return body === null ? undefined : 'it takes no body'
  const unknown = countedUnknownKeys(spec.body, body ?? {})
  return spec.body.safeParse(body ?? {}).error?.issues ?? (unknown.count > 0 ? unknown.named : undefined)
}

const claimOn = async (policy_id: string, decision?: 'approve'): Promise<void> => {
  const token = firm.people.cleo.key
  const address = `${admin}/policies/${policy_id}/claims`
  const body = { claim_type: 'life', happened_on: '2026-03-01' }
  const opened = await firm.service.send<{ claim_id: string }>('POST', address, { token, body })
  if (opened.status !== 201) throw new Error(JSON.stringify(opened.body))
  if (decision === undefined) return
  const decided = await firm.service.send('POST', `${address}/${opened.body.data.claim_id}/decisions`, {
    token,
    body: { decision, amount_pence: 1_000 },
  })
  if (decided.status !== 200) throw new Error(JSON.stringify(decided.body))
}

/** The page of the first of a list of the set-up. */
const firstOf = async (list: string): Promise<string> => {
  const { body } = await firm.service.send<readonly { readonly id?: string; readonly client_id?: string }[]>(
    'GET',
    `${admin}/${list}`,
  )
  return `/${list}/${body.data[0]?.id ?? body.data[0]?.client_id}`
}

test.skipIf(found === undefined)(
  named('the API takes each act of each page, from the roles that are offered it'),
  async () => {
    const { people } = firm
    const lead = await firm.sendLead('Ann', 'Acted')
    await firm.service.send('POST', `${admin}/leads/${lead}/acts`, {
      token: people.lee.key,
      body: { acts: [{ act: 'add_task', title: 'Ring' }] },
    })
    const [over, active] = [await firm.sellPolicy(), await firm.sellPolicy('active')]
    await claimOn(over)
    await claimOn(active, 'approve')
    const { application_id } = await firm.sendQuote()
    const proposal = await firm.proposeAccount()
    await firm.service.database.pool.query(
      `insert into consumer_set_aside (consumer, record, stream, revision, event_id, type, reason)
       values ('erased-people', 'erasure-1', 'erasure-1', 0, gen_random_uuid(), 'ErasureRequested', 'unknown')`,
    )
    const setUp = await Promise.all(
      ['campaigns', 'workflows', 'lifecycle_actions', 'endpoint_connections', 'api_applications'].map(firstOf),
    )
    const visits: readonly [keyof typeof people, readonly UserRole[], readonly string[]][] = [
      ['lee', ['leads'], [`/leads/${lead}`, `/ingests/${await firm.sendHeld()}`]],
      [
        'uma',
        ['underwriting'],
        [`/applications/${await firm.sendReferral('Acted')}`, `/applications/${application_id}`],
      ],
      ['pat', ['policies'], [`/policies/${active}`]],
      ['cleo', ['claims'], [`/policies/${over}`, `/policies/${active}`]],
      ['fin', ['finance'], [`/policies/${over}`]],
      [
        'olga',
        ['owner'],
        [
          '/people',
          `/people/${people.lee.id}`,
          `/approvals/${proposal}`,
          ...setUp,
          '/endpoint_connections',
          '/api_applications',
        ],
      ],
      ['odo', ['owner'], [`/approvals/${proposal}`]],
      ['opal', ['operator'], ['/console/consumers/erased-people', '/console/consumers/payments']],
      [
        'aud',
        ['auditor'],
        [`/leads/${lead}`, `/policies/${active}`, `/approvals/${proposal}`, `/people/${people.lee.id}`],
      ],
    ]

    const offered: Record<string, string[]> = {}
    const previewed: (readonly [string, string, unknown])[] = []
    for (const [name, roles, paths] of visits) {
      await using colleague = await openAs({ browser, origin, who: people[name] })
      const { page } = colleague
      // Nothing is to change between two acts.
      await page.route(/\/(admin|audit)\/v1\//, (route) => {
        const request = route.request()
        if (!isPreview(request.url()))
          return route.fulfill({ status: 422, json: { error: { code: 'validation_failed', message: 'Not now.' } } })
        previewed.push([name, request.url(), faultOf(request, roles)])
        return route.fulfill({ status: 200, json: { data: { is_new: false } } })
      })
      for (const path of paths) {
        expect((await page.goto(`${origin}${addressOf(path)}`))?.status()).toBe(200)
        await unfold(page)
        for (const form of await page.locator('form[data-act]').all()) {
          const title = (await form.getAttribute('data-act')) ?? ''
          expect([name, title, faultOf(await sentBy(page, form), roles)]).toEqual([name, title, undefined])
          await form.getByText('Not now.').waitFor()
          ;(offered[name] ??= []).push(title)
        }
      }
    }

    expect(previewed.length).toBeGreaterThan(5)
    expect(previewed.filter(([, , fault]) => fault !== undefined)).toEqual([])
    expect(offered).toEqual({
      lee: [
        'Done: Ring',
        'Record a withdrawal or a new consent',
        'Record a call or note',
        'Move to a stage',
        'Change the status',
        'Set the next action',
        'Add a task',
        'Snooze',
        'Give it to somebody of the team',
        'Record what is known',
        'Mark as vulnerable',
        'Change the marks',
        "Run the workflow “Send this lead to the team's system”",
        'Take it in',
        'Discard',
      ],
      uma: ['Accept', 'Accept with a loading', 'Decline', 'Postpone', 'Give back to the customer', 'Withdraw'],
      pat: ['Suspend the cover', 'Amend', 'Cancel the policy'],
      cleo: ['Approve', 'Ask for evidence', 'Decline', 'Open a claim', 'Record the payment', 'Decline', 'Open a claim'],
      fin: ['Give a part back', 'Give all of it back'],
      olga: [
        'Add a colleague',
        'Replace',
        'End',
        'Make a key',
        'Change the roles',
        'End this user',
        'Withdraw',
        'Change the state',
        'Change the state',
        'Stop sending',
        'Send a test',
        'Replace the signing secret',
        'Move it to another address',
        'Remove it',
        'Replace the secret',
        'Change what it may',
        'End it',
        'Connect an endpoint',
        'Make an API application',
      ],
      odo: ['Approve', 'Reject'],
      opal: ['Resume', 'Resume all records', 'Rebuild'],
    })
  },
)
