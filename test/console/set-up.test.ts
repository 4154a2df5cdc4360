import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import { startDeliveryWorker } from '../../delivery-worker/delivery-worker.ts'
import { findBrowser, openBrowser } from '../explorer/browser.ts'
import { freePort } from '../journeys/service-process.ts'
import { expectToFit, violations } from '../sales-page/visitor.ts'
import { makeBrowser } from '../sign-in/browser.ts'
import type { Member } from '../users/team.ts'
import { openAs, unfold, type Look } from './colleague.ts'
import { openFirm, organisation_id, type Firm } from './firm.ts'
import { keepShot } from './shots.ts'

/** What owners set up, and auditors read. */

const found = await findBrowser()
const named = (title: string) =>
  found === undefined ? `${title} (SKIPPED: no Chromium was found; set CHROMIUM)` : title
const own = `/console/organisations/${organisation_id}`

const ending = new AbortController()
let worker: Awaited<ReturnType<typeof startDeliveryWorker>>
let firm: Firm
let origin: string
let browser: Browser
beforeAll(async () => {
  const port = await freePort()
  origin = `http://localhost:${port}`
  firm = await openFirm({ PORT: String(port), BASE_URL: origin, SIGN_IN_ATTEMPTS: '1000' })
  worker = await startDeliveryWorker({ ...firm.service.parts, signal: ending.signal })
  if (found) browser = await openBrowser(found)
}, 120_000)
afterAll(async () => {
  if (found) await browser.close()
  ending.abort()
  await worker.stop()
  await firm[Symbol.asyncDispose]()
})

const signedIn = async ({ key }: Member) => {
  const signed = makeBrowser(firm.service)
  expect((await signed.signIn(key)).status).toBe(201)
  const cookie = [...signed.jar].map(([name, value]) => `${name}=${value}`).join('; ')
  return async (path: string) => {
    const response = await fetch(`${origin}${own}${path}`, { redirect: 'manual', headers: { cookie } })
    return { status: response.status, html: await response.text() }
  }
}
type Pages = Awaited<ReturnType<typeof signedIn>>

/** The address of a link by what it says, below the organisation. */
const linkTo = (html: string, title: string): string => {
  const [, path = ''] = new RegExp(`href="${own}([^"]*)"[^>]*>${title}<`).exec(html) ?? []
  expect([title, path]).not.toEqual([title, ''])
  return path.replaceAll('&#x26;', '&')
}

const follow = async (pages: Pages, path: string, ...titles: readonly string[]) => {
  let shown = await pages(path)
  for (const title of titles) shown = await pages(linkTo(shown.html, title))
  return shown
}

describe('the set-up', () => {
  test.each([
    ['/products', 'Northlight Term Life'],
    ['/rate_tables', 'life.level, version 1'],
    ['/campaigns', 'Life cover, spring'],
    ['/workflows', "Tell the team's system of new leads"],
    ['/lifecycle_actions', 'Notify the demo receiver'],
    ['/outreach_streams', 'Your quote is waiting'],
    ['/programmes', 'Northlight Active'],
  ])('%s lists what the file declares, each with a page of its own', async (list, title) => {
    const { status, html } = await follow(await signedIn(firm.people.olga), list, title)

    expect(status).toBe(200)
    expect(html).toContain(`<h1>${title}`)
  })

  test('an auditor reads all of it, and is offered no act', async () => {
    const pages = await signedIn(firm.people.aud)
    for (const path of ['', '/products', '/workflows', '/lifecycle_actions', '/outreach_streams', '/programmes'])
      expect([path, (await pages(path === '' ? '/setup' : path)).status]).toEqual([path, 200])
    const { html } = await follow(pages, '/products', 'Northlight Term Life')

    expect(html).toContain('Release 1')
    expect(html).not.toContain('data-address')
  })

  test('403 it is for owners and auditors', async () => {
    expect((await (await signedIn(firm.people.cleo))('/setup')).status).toBe(403)
  })

  test('404 a product and a release that are none, and a release of another product', async () => {
    const pages = await signedIn(firm.people.olga)
    const release = linkTo((await follow(pages, '/products', 'Northlight Term Life')).html, 'Release 1')
    const paths = [
      '/products/no-such',
      '/products/..%2F..%2Fusers',
      release.replace('term-life', 'no-such'),
      `${release}/journeys/no-such`,
      '/rate_tables/no.such/versions/1',
    ]

    expect(await Promise.all(paths.map(async (path) => (await pages(path)).status))).toEqual(paths.map(() => 404))
  })
})

describe('a journey as customers see it', () => {
  const journey = async () =>
    follow(await signedIn(firm.people.olga), '/products', 'Northlight Term Life', 'Release 1', 'On our web pages')

  test('shows each question once, with its help, its choices and when it is asked', async () => {
    const { html } = await journey()

    expect(html.match(/Have you used any nicotine in the last 12 months\?<\/strong>/g)).toHaveLength(1)
    expect(html).toContain('Cigarettes, cigars, pipes, vapes, gum and patches all count.')
    expect(html).toContain('E-cigarettes or vapes')
    expect(html).toContain('Only asked if “Have you used any nicotine in the last 12 months?” is answered: Yes')
    expect(html).not.toContain('Body mass index<')
  })

  test('marks what may be left out, and says which choice ends the application', async () => {
    const { html } = await journey()

    expect(html).toMatch(/Have you been told[^<]*<\/strong><\/p>/)
    expect(html).toContain('(optional)')
    expect(html).toContain('ends the application: decline')
  })
})

describe('a rate table', () => {
  const rates = async (query = '') => (await signedIn(firm.people.olga))(`/rate_tables/life.level/versions/1${query}`)
  /** The rows of the table of rates, with its head. */
  const rowsIn = (html: string) => html.split('<caption class="unseen">Rates</caption>')[1]?.match(/<tr>/g)

  test('shows its first rates, and how many there are', async () => {
    const { html } = await rates()

    expect(html).toMatch(/These are the first 200 of [\d,]{5}/)
    expect(rowsIn(html)).toHaveLength(201)
  })

  test('shows the rate at an age, a term and for whoever smokes', async () => {
    const { html } = await rates('?age=34&term=25&smoker=n')
    const { body } = await firm.service.send<{ cells: Record<string, number> }>(
      'GET',
      `/admin/v1/rate_tables/life.level/versions/1?organisation_id=${organisation_id}`,
    )

    expect(rowsIn(html)).toHaveLength(2)
    expect(html).toContain(`>${body.data.cells['34|25|n']?.toLocaleString('en-GB')}<`)
  })

  test('draws the rates over age, for smokers and others, and over term where an age is asked for', async () => {
    expect((await rates()).html).toMatch(/Rates by age.*smoker yes/s)
    expect((await rates('?age=34&smoker=n')).html).toContain('Rates by term')
  })

  test('says so where it has no rate', async () => {
    expect((await rates('?age=7')).html).toContain('The table has no rate there.')
  })
})

const patience = { timeout: 30_000, interval: 100 }
const ofFirm = `/admin/v1/organisations/${organisation_id}`

/** The page of the file, and the file as it was downloaded. */
const openFile = async (page: Page) => {
  const exported = await fetch(`${origin}${ofFirm}/setup?format=yaml`, {
    headers: { authorization: `Bearer ${firm.people.olga.key}` },
  })
  const downloaded = await exported.text()
  await page.goto(`${origin}${own}/setup_file`)
  return {
    /** Changes the file, gives it to the page, and shows what that changes. */
    plan: async (change: (before: string) => string) => {
      const buffer = Buffer.from(change(downloaded))
      await page.getByLabel('A file of yours').setInputFiles({ name: 'firm.yaml', mimeType: 'text/yaml', buffer })
      const text = page.getByLabel('The set-up file', { exact: true })
      await expect.poll(async () => change(downloaded).startsWith((await text.inputValue()) || '–')).toBe(true)
      await page.getByRole('button', { name: 'Show what it changes' }).click()
    },
    apply: async () => {
      await page.getByRole('button', { name: 'Apply it' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Apply it' }).click()
    },
    steps: page.locator('#plan > ol > li'),
  }
}

const openOlga = () => openAs({ browser, origin, who: firm.people.olga })

describe('the set-up file', () => {
  test('an auditor downloads it, and cannot apply it', async () => {
    const { html } = await (await signedIn(firm.people.aud))('/setup_file')

    expect(html).toContain(`href="${ofFirm}/setup?format=yaml"`)
    expect(html).not.toContain('data-setup-file')
  })

  test.skipIf(found === undefined)(named('what is set up, as it is, changes nothing'), async () => {
    await using olga = await openOlga()
    const { page } = olga
    await page.goto(`${origin}${own}/setup_file`)
    await page.getByRole('button', { name: 'Begin with what is set up' }).click()
    await expect
      .poll(() => page.getByLabel('The set-up file', { exact: true }).inputValue())
      .toContain('organisations:')
    await page.getByRole('button', { name: 'Show what it changes' }).click()

    await page.getByText('It changes nothing: all of it is so already.').waitFor()
  })

  test.skipIf(found === undefined)(
    named('what is set up is edited, planned and applied once, although the answer was lost'),
    async () => {
      await using olga = await openOlga()
      const { page, reported } = olga
      const { plan, apply, steps } = await openFile(page)
      await plan((text) =>
        text
          .replace('name: Life cover, spring', 'name: Life cover, summer')
          .replace('api_applications:', 'api_applications:\n      - { name: Made here, scopes: [read] }'),
      )
      await steps.nth(1).waitFor()
      expect(await steps.count()).toBe(2)
      expect((await steps.allTextContents()).join()).toMatch(/made API application Made here.*changed campaign/s)
      let isLost = false
      await page.route('**/setup?apply=true', async (route) => {
        if (isLost) return route.continue()
        isLost = true
        await route.fetch()
        await route.abort()
      })

      await apply()
      const secret = (await page.locator('dialog .secret').textContent()) ?? ''
      await page.getByRole('button', { name: 'I have kept it' }).click()
      await page.getByText('No answer came').waitFor()
      await apply()
      await page.getByRole('heading', { name: 'Applied' }).waitFor()

      const made = await firm.service.send<readonly { name: string; client_id: string }[]>(
        'GET',
        `${ofFirm}/api_applications`,
      )
      const own = made.body.data.filter(({ name }) => name === 'Made here')
      expect(own).toHaveLength(1)
      const token = await fetch(`${origin}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: own[0]?.client_id ?? '',
          client_secret: secret,
          scope: 'read',
          resource: `${origin}/api/v1`,
        }),
      })
      expect(token.status).toBe(200)
      expect(reported.filter((text) => !text.includes('ERR_FAILED'))).toEqual([])
    },
  )

  test.skipIf(found === undefined)(named('the events that it made are named, and each is in the log'), async () => {
    await using olga = await openOlga()
    const { page } = olga
    const { plan, apply } = await openFile(page)
    await plan((text) => text.replace(/state: active(?=\n)/, 'state: paused'))
    await apply()

    await page
      .locator('#said')
      .getByText(/Applied\. Event [\da-f-]{36}\.$/)
      .waitFor()
    const shown = (await page.locator('#said').textContent()) ?? ''
    const [id = ''] = /[\da-f-]{36}/.exec(shown) ?? []
    const campaigns = await firm.service.send<readonly { id: string }[]>('GET', `${ofFirm}/campaigns`)
    const logs = campaigns.body.data.map(async (each) => firm.service.parts.eventLog.read(`campaign-${each.id}`, {}))
    const changed = (await Promise.all(logs)).flat().filter(({ type }) => type === 'CampaignChanged')
    expect(changed.at(-1)).toMatchObject({ id, data: { state: 'paused' } })
  })

  test.skipIf(found === undefined)(
    named('a mistake is told with its line, and a secret that is missing is asked for'),
    async () => {
      await using olga = await openOlga()
      const { page } = olga
      const { plan, steps } = await openFile(page)
      const toLive = (text: string) =>
        text
          .replace(/payment_accounts:\n {6}- mode: test/, (begin) => begin.replace('test', 'live'))
          .replace('pk_test_demo', 'pk_live_demo')
      await plan((text) => toLive(text).replace('time_zone: Europe/London', 'time_zone: Nowhere'))
      await page.getByText(/line \d+: .*\(organisations\[0\]\.time_zone\)/).waitFor()
      await plan(toLive)
      const asked = page.getByLabel('The secret payment_accounts.test.secret_key')
      await asked.fill('sk_live_typed')
      await page.getByLabel('The secret payment_accounts.test.webhook_secret').fill('whsec_typed')
      await page.getByRole('button', { name: 'Show what it changes' }).click()

      await steps.first().waitFor()
      expect(await steps.count()).toBe(1)
      expect((await steps.allTextContents()).join()).toContain('live')
      expect(await page.getByLabel('The set-up file', { exact: true }).inputValue()).not.toContain('sk_live_typed')
    },
  )

  test.skipIf(found === undefined)(named('where four eyes bind, it waits, with the way to its approval'), async () => {
    const token = firm.people.odo.key
    await firm.service.send('PATCH', `${ofFirm}/four_eyes`, { token, body: { release: true } })
    await using olga = await openOlga()
    const { page } = olga
    const { plan, apply, steps } = await openFile(page)
    await plan((text) => text.replace(/(slug: term-life\n[^]*?cooldown_days: )30/, '$114'))
    await steps.first().getByText('waits', { exact: true }).waitFor()
    const changed = page.getByRole('row', { name: 'cooldown_days' })
    expect(await changed.locator('td').allTextContents()).toEqual(['30', '14'])
    await apply()
    await page.getByRole('link', { name: 'See it in the approvals' }).click()

    await page.getByRole('heading', { level: 1, name: /release/i }).waitFor()
    await page.getByRole('button', { name: 'Withdraw' }).click()
    await page.locator('#said').getByText('Withdraw: done.').waitFor()
  })
})

describe('webhooks and integrations', () => {
  test('a connection is named where it is listed, on its page and with what was sent over it', async () => {
    const pages = await signedIn(firm.people.olga)
    const { html } = await follow(pages, '/endpoint_connections', 'demo-receiver')
    expect(html).toContain('http://127.0.0.1:4010/webhooks')
    await firm.sendQuote()

    const list = await vi.waitUntil(async () => {
      const shown = await pages('/deliveries')
      return shown.html.includes('application.started') ? shown : undefined
    }, patience)
    expect(list.html).toContain('<td data-title="Connection">demo-receiver</td>')
    expect((await follow(pages, '/deliveries', 'application.started')).html).toMatch(
      /endpoint_connections\/[\da-f-]{36}">demo-receiver</,
    )
  })

  test('what another system posted stands in the log, also where it was refused, and why', async () => {
    const pages = await signedIn(firm.people.aud)
    const { body } = await firm.service.send<readonly { id: string; name: string; delivery_url: string | null }[]>(
      'GET',
      `${ofFirm}/integration_connections`,
    )
    const inbound = body.data.find(({ delivery_url }) => delivery_url !== null)
    await fetch(inbound?.delivery_url ?? '', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })

    const shown = await vi.waitUntil(async () => {
      const { html } = await pages('/integration_logs?accepted=false')
      return html.includes('>refused<') ? html : undefined
    }, patience)
    expect(shown).toContain(`<td data-title="Connection">${inbound?.name}</td>`)
    expect((await pages('/integration_logs?accepted=true')).html).toContain('Nothing fits.')
  })

  test.skipIf(found === undefined)(
    named('an endpoint is connected, its secret shown once, and the event named'),
    async () => {
      await using olga = await openOlga()
      const { page } = olga
      await page.goto(`${origin}${own}/endpoint_connections`)
      await page.getByText('Connect an endpoint').first().click()
      await page.getByLabel('Name').fill('Ours')
      await page.getByLabel('Address').fill('https://firm.example/hooks')
      await page.getByRole('button', { name: 'Connect an endpoint' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Connect an endpoint' }).click()
      expect(await page.locator('dialog .secret').textContent()).toMatch(/^.{32,}$/)
      await page.getByRole('button', { name: 'I have kept it' }).click()
      await page.getByRole('link', { name: 'Ours' }).click()
      await page.getByText('Move it to another address').first().click()
      await page.getByLabel('Address').fill('https://firm.example/other')
      await page.getByRole('button', { name: 'Move it to another address' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Move it to another address' }).click()

      await page
        .locator('#said')
        .getByText(/done\. Event [\da-f-]{36}/)
        .waitFor()
      await page.locator('.timeline li.new', { hasText: 'Endpoint connection moved' }).waitFor()
    },
  )

  test.skipIf(found === undefined)(named('deliveries of a period are counted before they are sent again'), async () => {
    await using olga = await openOlga()
    const { page } = olga
    await page.goto(`${origin}${own}/delivery_recoveries`)
    await page.getByText('Send deliveries of a period again').first().click()
    await page.getByLabel('Of events from').fill('2020-01-01T00:00')
    await page.getByRole('button', { name: 'Send deliveries of a period again' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/^\d+ deliver(y|ies).*Each goes out once more/).waitFor()
    expect(
      (await firm.service.send('GET', `/admin/v1/delivery_recoveries?organisation_id=${organisation_id}`)).body.data,
    ).toEqual([])
    await dialog.getByRole('button', { name: 'Send deliveries of a period again' }).click()

    await page
      .locator('#said')
      .getByText(/done\./)
      .waitFor()
    await expect
      .poll(
        async () => {
          await page.reload()
          return page.getByRole('table', { name: 'Sent again' }).textContent()
        },
        { timeout: 10_000 },
      )
      .toContain('every connection')
  })
})

describe('API applications', () => {
  test.skipIf(found === undefined)(
    named('one is made once although the answer was lost, and its secret is then replaced'),
    async () => {
      await using olga = await openOlga()
      const { page } = olga
      await page.goto(`${origin}${own}/api_applications`)
      await page.getByText('Make an API application').first().click()
      await page.getByLabel('Name').fill('Once only')
      await page.getByLabel('Read').check()
      let isLost = false
      await page.route('**/api_applications', async (route) => {
        if (isLost || route.request().method() !== 'POST') return route.continue()
        isLost = true
        await route.fetch()
        await route.abort()
      })
      const make = async () => {
        await page.getByRole('button', { name: 'Make an API application' }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Make an API application' }).click()
      }
      await make()
      await page.getByText('No answer came').waitFor()
      await make()
      await page
        .locator('#said')
        .getByText('not done. An API application was made with this Idempotency-Key already.')
        .waitFor()
      const { body } = await firm.service.send<readonly { name: string }[]>('GET', `${ofFirm}/api_applications`)
      expect(body.data.filter(({ name }) => name === 'Once only')).toHaveLength(1)

      await page.getByRole('link', { name: 'Once only' }).click()
      await page.getByText('Replace the secret').first().click()
      await page.getByRole('button', { name: 'Replace the secret' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Replace the secret' }).click()
      expect(await page.locator('dialog .secret').textContent()).toMatch(/^.{32,}$/)
      await page.getByRole('button', { name: 'I have kept it' }).click()
      await page
        .locator('#said')
        .getByText(/Replace the secret: done\. Event/)
        .waitFor()
    },
  )
})

describe('a draft beside the release on sale', () => {
  beforeAll(async () => {
    const authorization = `Bearer ${firm.people.olga.key}`
    const exported = await fetch(`${origin}${ofFirm}/setup?format=yaml`, { headers: { authorization } })
    const [before = '', product = ''] = (await exported.text()).split(/(?=^.*slug: term-life$)/m)
    const held = product
      .replace('publish: true', 'publish: false')
      .replace('policy_fee_pence: 150', 'policy_fee_pence: 250')
    const headers = { authorization, 'content-type': 'application/yaml' }
    const body = before + held
    const applied = await fetch(`${origin}/admin/v1/setup?apply=true`, { method: 'POST', headers, body })
    if (!applied.ok) throw new Error(await applied.text())
  }, 60_000)
  const draft = async (...titles: readonly string[]) =>
    follow(await signedIn(firm.people.olga), '/products', 'Northlight Term Life', 'See the draft', ...titles)

  test('shows what differs, and each sample price before and after it', async () => {
    const { html } = await draft()

    expect(html).toMatch(/policy_fee_pence<\/code>.*?150.*?250/)
    expect(html).toMatch(/\d+ of \d+ sample prices differ/)
    expect(html).toContain('+£1.00 (+')
  })

  test('shows its journeys as customers would see them', async () => {
    const { status, html } = await draft('On our web pages')

    expect(status).toBe(200)
    expect(html).toContain('Have you used any nicotine in the last 12 months?')
  })

  test('of a product that was never published is all new; 404 of none', async () => {
    const pages = await signedIn(firm.people.olga)
    const { html } = await pages('/products/no-such/draft')
    const { html: list } = await pages('/products')
    const [, unpublished = ''] = /products\/([a-z-]+)"(?:(?!<\/tr>).)*not published/s.exec(list) ?? []

    expect(html).toContain('There is nothing here')
    expect((await pages(`/products/${unpublished}/draft`)).html).toContain(
      'Nothing was published yet: all of it is new.',
    )
  })
})

const looks = [
  { name: 'desktop, light', viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  { name: 'phone, dark', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
] as const

/** The pages of this test, by the path and the links that lead to them. */
const visited: readonly (readonly [path: string, ...titles: readonly string[]])[] = [
  ['/setup'],
  ['/setup_file'],
  ['/products'],
  ['/products', 'Northlight Term Life'],
  ['/products', 'Northlight Term Life', 'Release 1'],
  ['/products', 'Northlight Term Life', 'Release 1', 'On our web pages'],
  ['/products', 'Northlight Term Life', 'See the draft'],
  ['/products', 'Northlight Term Life', 'See the draft', 'On our web pages'],
  ['/rate_tables'],
  ['/rate_tables', 'life.level, version 1'],
  // Renamed above.
  ['/campaigns', 'Life cover, s[a-z]+'],
  ['/workflows', "Tell the team's system of new leads"],
  ['/lifecycle_actions', 'Notify the demo receiver'],
  ['/outreach_streams', 'Your quote is waiting'],
  ['/programmes', 'Northlight Active'],
  ['/endpoint_connections'],
  ['/endpoint_connections', 'demo-receiver'],
  ['/integration_connections'],
  ['/integration_logs'],
  ['/delivery_recoveries'],
  ['/deliveries'],
  ['/api_applications'],
  ['/api_applications', 'Northlight website server'],
]

for (const { name, ...look } of looks)
  test.skipIf(found === undefined)(named(`axe finds nothing on any page of the set-up: ${name}`), async () => {
    const pages = await signedIn(firm.people.olga)
    const asked: Look = { ...look, bypassCSP: true }
    await using olga = await openAs({ browser, origin, who: firm.people.olga, look: asked })
    for (const [path, ...titles] of visited) {
      let at = path
      for (const title of titles) at = linkTo((await pages(at)).html, title)
      expect([at, (await olga.page.goto(`${origin}${own}${at}`))?.status()]).toEqual([at, 200])
      await keepShot(olga.page, 'olga', [path, ...titles].join('-'))
      await unfold(olga.page)
      expect([at, await violations(olga.page)]).toEqual([at, []])
      await expectToFit(olga.page)
    }
  })
