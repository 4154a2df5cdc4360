import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rolesFor } from '#infra/http/team.ts'
import { areas } from '../../query-api/console/areas.ts'
import { routesByApi } from '../../scripts/openapi.ts'
import { makeBrowser } from '../sign-in/browser.ts'
import { memberOf, type Member } from '../users/team.ts'
import { openFirm, organisation_id, type Firm } from './firm.ts'

/** The pages of the console as a browser gets them, before any script has run. */

const own = `/console/organisations/${organisation_id}`

let firm: Firm
let stranger: Member
beforeAll(async () => {
  firm = await openFirm()
  stranger = await memberOf(firm.service, await firm.service.organisation('strangers'), ['leads'], {
    sees_personal_data: true,
  })
}, 120_000)
afterAll(() => firm[Symbol.asyncDispose]())

const signedIn = async ({ key }: Member) => {
  const browser = makeBrowser(firm.service)
  expect((await browser.signIn(key)).status).toBe(201)
  return browser
}

const page = async (browser: ReturnType<typeof makeBrowser>, path: string) => {
  const response = await fetch(`${firm.service.origin}${path}`, {
    redirect: 'manual',
    headers: { cookie: [...browser.jar].map(([name, value]) => `${name}=${value}`).join('; ') },
  })
  const { status, headers } = response
  return { status, headers, location: headers.get('location'), html: await response.text() }
}

describe('who is not signed in', () => {
  test('303 is sent to sign in, and then to the page that was asked for', async () => {
    const { status, location } = await page(makeBrowser(firm.service), `${own}/leads?status=open`)

    expect([status, location]).toEqual([
      303,
      `/console/sign_in?opens=${encodeURIComponent(`${own}/leads?status=open`)}`,
    ])
  })

  test('nothing is read for them, which would count as asked for by the service itself', async () => {
    const reads = async () =>
      (await firm.service.parts.metrics.requests.get()).values
        .filter(({ labels, metricName }) => metricName?.endsWith('_count') && labels['address'] === '/admin/v1/session')
        .reduce((sum, { value }) => sum + value, 0)
    const before = await reads()
    for (let number = 0; number < 5; number++) await page(makeBrowser(firm.service), `${own}/leads`)

    expect(await reads()).toBe(before)
  })

  test.each([
    'https://elsewhere.example',
    '//elsewhere.example',
    '/console//elsewhere.example',
    '/admin/v1/x',
    '/console/"x',
  ])('is never sent to %s afterwards', async (opens) => {
    const { html } = await page(makeBrowser(firm.service), `/console/sign_in?opens=${encodeURIComponent(opens)}`)
    expect(html).toContain('data-opens="/console"')
  })

  test('303 a session that was ended in another process opens nothing more', async () => {
    const browser = await signedIn(firm.people.lee)
    expect((await page(browser, `${own}/leads`)).status).toBe(200)
    await firm.service.database.pool.query('delete from user_session where user_id = $1', [firm.people.lee.id])

    expect((await page(browser, `${own}/leads`)).status).toBe(303)
  })
})

describe('a page', () => {
  test('has no script and no style of its own, may load from nowhere else, and is not kept', async () => {
    const { headers, html } = await page(await signedIn(firm.people.lee), `${own}/leads`)

    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('access-control-allow-origin')).toBeNull()
    expect(html).not.toMatch(/<script(?![^>]* src="\/console\/assets\/)|<style| style="| on\w+="/)
  })

  test('names nobody in its address', async () => {
    const contact_id = await firm.sendLead('Nadia', 'Unnamed')
    const { html } = await page(await signedIn(firm.people.lee), `${own}/leads`)

    expect(html).toContain('Nadia Unnamed')
    expect([...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toContain(`${own}/leads/${contact_id}`)
    expect([...html.matchAll(/href="([^"]*)"/g)].join()).not.toMatch(/nadia/i)
  })

  test('shows what somebody typed as text, whatever it is', async () => {
    const typed = `<img src=x onerror="alert(1)">&amp;`
    const contact_id = await firm.sendLead('Mal', typed)
    const browser = await signedIn(firm.people.lee)

    const { html } = await page(browser, `${own}/leads/${contact_id}`)

    expect(html).toContain('&#x3C;img src=x onerror=')
    expect(html).not.toContain('<img')
  })

  test('each list has a first page and a next, until there is no more', async () => {
    for (let number = 0; number < 30; number++) await firm.sendLead(`Number${number}`)
    const browser = await signedIn(firm.people.lee)
    const seen = new Set<string>()
    let path: string | undefined = `${own}/leads`
    while (path !== undefined) {
      const { html }: { readonly html: string } = await page(browser, path)
      for (const [, id = ''] of html.matchAll(/leads\/([\da-f-]{36})"/g)) seen.add(id)
      path = /href="([^"]*cursor=[^"]*)"/.exec(html)?.[1]?.replaceAll('&#x26;', '&')
    }

    expect(seen.size).toBeGreaterThanOrEqual(30)
  })

  test('422 says what is wrong with an address that was changed by hand', async () => {
    const { status, html } = await page(await signedIn(firm.people.lee), `${own}/leads?status=unheard_of`)

    expect(status).toBe(422)
    expect(html).toContain('Correct status and send the request again.')
  })
})

describe('an address that was changed', () => {
  test.each([
    'leads/..%2F..%2F..%2Fconsole%2Forganisations%23',
    'people/01a21f68-7185-746c-b203-f8b062a45d5c%23',
    'applications/%2e%2e',
    'policies/1?x=%3f',
    'nowhere',
  ])('404 leads to no other: %s', async (path) => {
    const { status, html } = await page(await signedIn(firm.people.aud), `${own}/${path}`)

    expect(status).toBe(404)
    expect(html).toContain('There is nothing')
    expect(html).not.toContain('data-address')
  })
})

describe('whose pages', () => {
  test('404 another organisation is as one that does not exist', async () => {
    const contact_id = await firm.sendLead('Owned')
    const browser = await signedIn(stranger)
    for (const path of ['work', 'leads', `leads/${contact_id}`, 'applications', 'approvals'])
      expect([path, (await page(browser, `${own}/${path}`)).status]).toEqual([path, 404])
  })

  test('403 a page is for those who may read what it shows, and the others are told who may', async () => {
    const { status, html } = await page(await signedIn(firm.people.uma), `${own}/leads`)

    expect(status).toBe(403)
    expect(html).toContain('Your roles do not allow this: it is for leads or auditor of the organisation')
  })

  test('each area is offered to the roles that the route of its list names', () => {
    const routes = [...routesByApi().query, ...routesByApi().command]
    const rolesOf = (address: string) => {
      const { spec } = routes.find((each) => each.spec.method === 'get' && each.spec.address === address) ?? {}
      return spec?.access.kind === 'team'
        ? rolesFor({ method: 'get', access: spec.access }).organisation.toSorted()
        : []
    }
    const lists: Readonly<Record<string, string>> = {
      leads: '/admin/v1/organisations/:organisation_id/leads',
      ingests: '/admin/v1/organisations/:organisation_id/ingests',
      applications: '/admin/v1/team_applications',
      policies: '/admin/v1/policies',
      claims: '/admin/v1/claims',
      premiums: '/admin/v1/premiums',
      approvals: '/admin/v1/organisations/:organisation_id/approvals',
      deliveries: '/admin/v1/deliveries',
      setup: '/admin/v1/organisations/:organisation_id/set_up_changes',
      people: '/admin/v1/organisations/:organisation_id/users',
      history: '/audit/v1/organisations/:organisation_id/events',
    }

    for (const { path, roles } of areas.filter((area) => area.path !== 'work'))
      expect([path, roles.toSorted()]).toEqual([path, rolesOf(lists[path] ?? '')])
  })

  test('each reading is recorded as one of the user', async () => {
    const contact_id = await firm.sendLead('Recorded')
    await page(await signedIn(firm.people.lee), `${own}/leads/${contact_id}`)

    const { rows } = await firm.service.database.pool.query<{ route: string }>(
      `select distinct route from access_record where actor_id = $1 and record_ids @> array[$2::uuid]`,
      [firm.people.lee.id, contact_id],
    )
    expect(rows.map(({ route }) => route)).toContain('/admin/v1/organisations/:organisation_id/leads/:contact_id')
  })
})
