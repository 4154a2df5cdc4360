import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
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
  firm = await openFirm({ SIGN_IN_ATTEMPTS: '1000' })
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
    '/console/..',
    '/console/%2e%2e/admin/v1/x',
  ])('is never sent to %s afterwards', async (opens) => {
    const { html } = await page(makeBrowser(firm.service), `/console/sign_in?opens=${encodeURIComponent(opens)}`)
    expect(html).toContain('data-opens="/console"')
  })

  test.each([
    `${own}/rate_tables/life.level/versions/1`,
    '/console/operations/consumers/a%20b',
    `${own}/leads/new?since=2026-01-01T00:00`,
  ])('goes back to %s afterwards', async (opens) => {
    const { html } = await page(makeBrowser(firm.service), `/console/sign_in?opens=${encodeURIComponent(opens)}`)
    expect(html).toContain(`data-opens="${opens}"`)
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

  test('a list says of each row whose it is and which', async () => {
    const [application_id] = [await firm.sendReferral('Listed'), await firm.sendHeld(), await firm.sellPolicy()]
    const row = (html: string, text: string) =>
      [...html.matchAll(/<tr>.*?<\/tr>/gs)].map(([each]) => each).find((each) => each.includes(text)) ?? ''
    const [lee, fin, uma] = [
      await signedIn(firm.people.lee),
      await signedIn(firm.people.fin),
      await signedIn(firm.people.uma),
    ]

    const held = row((await page(lee, `${own}/ingests?status=held`)).html, 'Hetty Held')
    expect(held).toContain('not an address')
    const premium = row((await page(fin, `${own}/premiums`)).html, 'Number 1')
    expect(premium).toMatch(/Person[^>]*>[A-Z]\w+/)
    expect(premium).toMatch(/Policy[^>]*>[A-Z]+-?\d/)
    const application = row((await page(uma, `${own}/applications`)).html, 'Rita Listed')
    expect(application).toContain(`${application_id.slice(-8, -4)}-${application_id.slice(-4)}`.toUpperCase())
    expect(application).toContain('Northlight Term Life')
  })

  test('answers stand under the questions that were asked, and reasons are offered as the set-up has them', async () => {
    const { html } = await page(
      await signedIn(firm.people.uma),
      `${own}/applications/${await firm.sendReferral('Asked')}`,
    )

    expect(html).toContain('How tall are you, in centimetres?')
    expect(html).toMatch(/<datalist[^>]*>.*<option value="blood_pressure_uncontrolled">/s)
    const others = await page(
      await signedIn(firm.people.lee),
      `${own}/applications/${(await firm.sendQuote()).application_id}`,
    )
    expect(others.html).toContain('<dt>Height (cm)</dt>')
    expect(others.html).toContain('<dt>BMI</dt>')
  })

  test('what is looked for by the box that finds records is said before it is opened', async () => {
    const { html } = await page(await signedIn(firm.people.aud), `${own}/work`)
    expect(html).toMatch(/<button[^>]*data-find[^>]*>.*Find a person, .* by email, number or name/s)
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
      work: '/admin/v1/organisations/:organisation_id/work',
      figures: '/admin/v1/organisations/:organisation_id/work',
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

    for (const { path, roles } of areas) expect([path, roles.toSorted()]).toEqual([path, rolesOf(lists[path] ?? '')])
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

describe('figures', () => {
  const around = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  const period = `from=${around(-30)}&until=${around(2)}&every=month`

  const figuresOf = async (name: string, { key }: Member) => {
    const address = `/admin/v1/organisations/${organisation_id}/figures/${name}?${period}`
    const { status, body } = await firm.service.send<readonly Figure[]>('GET', address, { token: key })
    expect([name, status]).toEqual([name, 200])
    return body.data
  }
  type Figure = {
    readonly starts_on: string
    readonly stage?: string
    readonly step?: string
    readonly status?: string
    readonly count: number
    readonly amount_pence?: number
  }
  const sumOf = (figures: readonly Figure[], wanted: Partial<Figure>): number =>
    figures
      .filter((each) => Object.entries(wanted).every(([name, value]) => each[name as keyof Figure] === value))
      .reduce((sum, { count }) => sum + count, 0)

  test('200 each route counts what its list has', async () => {
    await firm.sendLead('Counted')
    await firm.sendQuote()
    await firm.sellPolicy()
    const { lee, pat, fin } = firm.people
    const leads = await firm.service.send<readonly unknown[]>(
      'GET',
      `/admin/v1/organisations/${organisation_id}/leads?limit=200`,
      { token: lee.key },
    )

    expect(sumOf(await figuresOf('leads', lee), {})).toBe(leads.body.data.length)
    const sales = await vi.waitUntil(async () => {
      const found = await figuresOf('sales', pat)
      return sumOf(found, { step: 'quoted' }) > 0 ? found : undefined
    })
    expect(sumOf(sales, { step: 'started' })).toBeGreaterThanOrEqual(sumOf(sales, { step: 'quoted' }))
    const premiums = await firm.service.send<readonly { readonly status: string; readonly amount_pence: number }[]>(
      'GET',
      `/admin/v1/premiums?organisation_id=${organisation_id}&status=collected&limit=200&since=${around(-30)}T00:00:00Z`,
      { token: fin.key },
    )
    expect(sumOf(await figuresOf('premiums', fin), { status: 'collected' })).toBe(premiums.body.data.length)
  })

  test('the page draws them, says them in tables, and leads to the lists', async () => {
    const figures = await figuresOf('leads', firm.people.aud)

    const { status, html } = await page(await signedIn(firm.people.aud), `${own}/figures?${period}`)

    expect(status).toBe(200)
    const chart = /<figure class="chart">.*?Leads by source.*?<\/figure>/s.exec(html)?.[0] ?? ''
    const cells = [...chart.matchAll(/<td[^>]*>(?:<a[^>]*>)?([\d,]+)/g)].map(([, count = '']) => Number(count))
    expect(cells.reduce((sum, count) => sum + count, 0)).toBe(sumOf(figures, {}) * (chart.split('<figure').length - 1))
    expect(html).toMatch(/href="[^"]*\/premiums\?status=collected&#x26;since=[\d-]+T00:00&#x26;until=/)
    expect(html).toMatch(/<h3>From applications to policies/)
    expect(html).not.toMatch(/ style="/)
  })

  test('the list of a figure of leads has as many as it counts', async () => {
    const lee = await signedIn(firm.people.lee)
    const { html } = await page(lee, `${own}/figures?${period}`)
    const figures = [
      ...html.matchAll(/<td[^>]*><a href="([^"]*\/leads\/new\?(?:stage|source)=[^"]*)"[^>]*>([1-9]\d*)</g),
    ]
    const lists = await Promise.all(
      figures.map(async ([, href = '', count]) => {
        const list = await page(lee, href.replaceAll('&#x26;', '&'))
        return [href, Number(count), (list.html.match(/<tr>/g)?.length ?? 1) - 1] as const
      }),
    )

    expect(lists.length).toBeGreaterThan(1)
    expect(lists.filter(([, counted, listed]) => Math.min(counted, 25) !== listed)).toEqual([])
  })

  test('each is shown the pictures of their roles alone', async () => {
    const { html } = await page(await signedIn(firm.people.fin), `${own}/figures`)

    expect([...html.matchAll(/<h3>([^<]*)/g)].map(([, title]) => title)).toEqual(['Premiums'])
  })

  test.each([
    ['until=2026-01-01&from=2026-01-01', 'must be 1 to 366 days after from'],
    ['from=2024-01-01&until=2026-01-01', 'must be 1 to 366 days after from'],
    ['from=9999-12-01&until=9999-12-31&every=month', 'must be between 1900-01-01 and 2999-12-31'],
    ['from=0001-01-01&until=0001-02-01', 'must be between 1900-01-01 and 2999-12-31'],
  ])('422 says which period can be asked for: %s', async (asked, fault) => {
    const address = `/admin/v1/organisations/${organisation_id}/figures/leads?${asked}`
    const { status, body } = await firm.service.send('GET', address, { token: firm.people.lee.key })

    expect([status, JSON.stringify(body).includes(fault)]).toEqual([422, true])
  })
})

describe('operations', () => {
  const shown = async (who: keyof Firm['people'], path: string) => page(await signedIn(firm.people[who]), path)

  test('are for whoever works for the installation, who comes to each page from the first', async () => {
    const { html } = await shown('opal', '/console/organisations')
    expect(html).toContain('href="/console/operations"')

    const overview = await shown('opal', '/console/operations')
    expect(overview.status).toBe(200)
    for (const path of ['/console/erasures', '/console/checkpoints', '/console/consumers/applications'])
      expect([path, overview.html.includes(`href="${path}"`)]).toEqual([path, true])
    expect((await shown('olga', '/console/operations')).status).toBe(403)
    expect((await shown('olga', `${own}/work`)).html).not.toContain('/console/operations')
  })

  test('of one that follows the log, what it has set aside is shown, without a word of the fault', async () => {
    await firm.service.database.pool.query(
      `insert into consumer_set_aside (consumer, record, stream, revision, event_id, type, reason)
       values ('erased-people', 'erasure-1', 'erasure-1', 0, gen_random_uuid(), 'ErasureRequested', 'Jane Roe')`,
    )

    const { status, html } = await shown('opal', '/console/consumers/erased-people')
    await firm.service.database.pool.query(`delete from consumer_set_aside where consumer = 'erased-people'`)

    expect(status).toBe(200)
    expect(html).toContain('erasure-1')
    expect(html).toContain('data-address="/admin/v1/consumers/erased-people/resume"')
    expect(html).not.toContain('Jane')
  })

  test('rows of several records are not resumed one by one', async () => {
    const { html } = await shown('opal', '/console/consumers/payments')
    expect(html).toContain('Its rows belong to several records')
  })

  test.each(['nothing%20(version%204)', 'a%2Fb', '..%2Fclock', 'x%3Fy'])(
    '404 there is none called %s',
    async (name) => {
      expect((await shown('opal', `/console/consumers/${name}`)).status).toBe(404)
    },
  )

  test('the log of the installation is shown with its checkpoints, and erasures by organisation', async () => {
    const log = await vi.waitUntil(
      async () => {
        const found = await shown('opal', '/console/checkpoints')
        return found.html.includes('The signature is that of a key of this log') ? found : undefined
      },
      { timeout: 90_000, interval: 500 },
    )
    expect(log.html).not.toContain('not right')
    expect((await shown('opal', '/console/erasures')).html).toContain(`href="${own}/erasures"`)
    expect((await shown('opal', `${own}/erasures`)).html).toContain('Nobody of this organisation was erased.')
  })
})

describe('the history', () => {
  let aud: ReturnType<typeof makeBrowser>
  beforeAll(async () => {
    aud = await signedIn(firm.people.aud)
  })

  const text = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
  const linksIn = (html: string) =>
    [...html.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href.replaceAll('&#x26;', '&'))
  const linkTo = (html: string, title: string) =>
    new RegExp(`href="([^"]*)"[^>]*>${title}<`).exec(html)?.[1]?.replaceAll('&#x26;', '&') ?? ''
  const eventsOf = (stream: string) => firm.service.parts.eventLog.read(stream, {})
  const patience = { timeout: 90_000, interval: 200 }

  /** A lead whose status a colleague changed: its stages and its last event. */
  const lostLead = async (name: string) => {
    const contact_id = await firm.sendLead(name)
    const { status } = await firm.service.send(
      'POST',
      `/admin/v1/organisations/${organisation_id}/leads/${contact_id}/acts`,
      {
        token: firm.people.lee.key,
        body: { acts: [{ act: 'change_status', status: 'lost', reason: 'price' }] },
      },
    )
    expect(status).toBe(200)
    const events = await eventsOf(`lead-${contact_id}`)
    return { contact_id, events, changed: events.findLast(({ type }) => type === 'LeadStatusChanged') }
  }

  test('is searched by what fits, and read page by page in both directions', async () => {
    for (let number = 0; number < 15; number++) await firm.sendLead(`Searched${number}`)
    const first = await page(aud, `${own}/history?actor_type=api`)
    const second = await page(aud, linkTo(first.html, 'Next page'))
    const back = await page(aud, linkTo(second.html, 'Previous page'))

    const idsIn = (html: string) => linksIn(html).filter((href) => href.includes('/history/events/'))
    expect(idsIn(first.html)).toHaveLength(25)
    expect(idsIn(second.html).some((id) => idsIn(first.html).includes(id))).toBe(false)
    expect(idsIn(back.html)).toEqual(idsIn(first.html))
    expect(text((await page(aud, `${own}/history?recorded_until=2001-01-01T00:00`)).html)).toContain('Nothing fits.')
  })

  test('of a record is reached by its type and id, each event with who did it and what it changed', async () => {
    const { contact_id, changed } = await lostLead('Henry')
    const { location } = await page(aud, `${own}/history?type=lead&id=${contact_id}`)
    const { html } = await page(aud, location ?? '')

    const entry = html.slice(html.indexOf(`id="event-${changed?.id}"`))
    expect(text(entry)).toContain('user · Lee Leads')
    expect(text(entry)).toMatch(/status.*open.*lost/)
    expect(linksIn(entry)).toContain(`${own}/history/requests/${changed?.metadata.correlation_id}`)
  })

  test('shows a record at each of its events, and between them: every stop is an address', async () => {
    const { contact_id, events, changed } = await lostLead('Stop')
    const now = await page(aud, `${own}/leads/${contact_id}`)
    const stops = linksIn(now.html.slice(now.html.indexOf('class="moments"'))).filter((href) =>
      href.includes('position='),
    )
    expect(stops).toHaveLength(events.length)
    const before = events[events.findIndex(({ id }) => id === changed?.id) - 1]
    const then = await page(aud, stops.find((href) => href.includes(`position=${before?.position}`)) ?? '')

    expect(text(then.html)).toMatch(/As it was after the event.*Status open/)
    expect(text((await page(aud, linkTo(then.html, 'One event later'))).html)).toMatch(/Status lost/)
  })

  test('a time that no clock shows is told as such', async () => {
    const { contact_id } = await lostLead('Untimely')
    for (const known_at of ['2026-02-31T10:00', '2026-13-01T10:00', '2026-11-28T25:61', '+275760-09-13T00:00']) {
      const { status, html } = await page(aud, `${own}/leads/${contact_id}?known_at=${encodeURIComponent(known_at)}`)

      expect([known_at, status, text(html)]).toEqual([known_at, 422, expect.stringMatching(/known_at/)])
    }
  })

  test('shows what differs between two moments', async () => {
    const { contact_id, events } = await lostLead('Differ')
    const address = `${own}/history/records/lead/${contact_id}/difference`
    const { html } = await page(aud, `${address}?from_position=${events[0]?.position}&from_known_at=&to_position=`)

    expect(text(html)).toMatch(/data\.shown\.status open lost/)
    expect(text((await page(aud, address)).html)).toContain('After the event')
  })

  test('of a record without a page of its own is shown as of a moment, too', async () => {
    const { quote_id } = await firm.sendQuote()
    const { html } = await page(aud, `${own}/history/records/quote/${quote_id}`)
    const then = await page(aud, linkTo(html, 'The record then').replace(/#.*/, ''))

    expect(text(then.html)).toMatch(/premium_pence 1250/)
  })

  test('shows all that one request caused, and what is still to happen', async () => {
    const { application_id } = await firm.sendQuote()
    const issued = (await eventsOf(`application-${application_id}`)).find(({ type }) => type === 'QuoteIssued')
    const { html } = await page(aud, `${own}/history/requests/${issued?.metadata.correlation_id}`)

    expect(text(html)).toContain('Quote issued')
    expect(text(html)).toMatch(/Still to happen: quote expiry of application/)
  })

  test('shows who looked at a record', async () => {
    const contact_id = await firm.sendLead('Looked')
    await page(await signedIn(firm.people.lee), `${own}/leads/${contact_id}`)
    const { html } = await page(aud, `${own}/history/accesses?record_id=${contact_id}`)

    expect(text(html)).toMatch(/Lee Leads.*GET \/admin\/v1\/organisations\/:organisation_id\/leads\/:contact_id/)
    expect(html).toContain(contact_id)
  })

  test('shows that an event is in the signed log, and that the log holds what was signed before', async () => {
    const { changed } = await lostLead('Proven')
    const { location } = await page(aud, `${own}/history/log?event_id=${changed?.id}`)
    const proven = await vi.waitUntil(async () => {
      const { html } = await page(aud, location ?? '')
      return html.includes('is entry') ? html : undefined
    }, patience)
    expect(text(proven)).toMatch(
      /right The event, as it is stored now, is entry \d+ of the log of \d+ that is signed\./,
    )
    expect(linksIn(proven)).toContain(`${own}/history/requests/${changed?.metadata.correlation_id}`)

    const log = await page(aud, `${own}/history/log`)
    expect(text(log.html)).toContain('right The signature is that of a key of this log')
    const compared = await page(aud, linkTo(log.html, 'with the newest'))
    expect(text(compared.html)).toMatch(/right The log of \d+ entries begins with the \d+ that were signed before/)
  })

  test('an event that was altered in the database is shown as not right', async () => {
    const { changed } = await lostLead('Altered')
    const address = `${own}/history/events/${changed?.id}`
    await vi.waitUntil(async () => (await page(aud, address)).html.includes('is entry'), patience)
    const { rowCount } = await firm.service.database.pool.query(
      `update event_log.event set data = replace(data::text, '"lost"', '"open"')::json where id = $1`,
      [changed?.id],
    )
    expect(rowCount).toBe(1)

    expect(text((await page(aud, address)).html)).toContain(
      'not right The event, as it is stored now, is not what was recorded',
    )
  })

  test.each([
    'accesses',
    'log',
    'requests/6f8f3a52-6f39-4f0e-9c5b-0d2c65d1a001',
    'records/lead/6f8f3a52-6f39-4f0e-9c5b-0d2c65d1a001',
  ])('403 %s is for auditors', async (path) => {
    expect((await page(await signedIn(firm.people.lee), `${own}/history/${path}`)).status).toBe(403)
  })
})
