import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Browser, Locator, Page } from 'playwright-core'
import { sql } from '#infra/postgres/postgres.ts'
import { startDeliveryWorker } from '../../delivery-worker/delivery-worker.ts'
import { findBrowser, openBrowser } from '../explorer/browser.ts'
import { freePort } from '../journeys/service-process.ts'
import { takePicture } from '../sales-page/visitor.ts'
import type { Member } from '../users/team.ts'
import { openAs } from './colleague.ts'
import { openFirm, organisation_id, setUpText, type Firm } from './firm.ts'

/** Ten tasks of a day, each done from the list of work on, in at most so many clicks, fields and pages together. */
const most = 12

const found = await findBrowser()
const named = (title: string) =>
  found === undefined ? `${title} (SKIPPED: no Chromium was found; set CHROMIUM)` : title

const admin = `/admin/v1/organisations/${organisation_id}`

/** A receiver that has no use for what it gets, until it is mended. */
const openReceiver = async () => {
  let status = 400
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status).end(status === 400 ? 'unknown field: premium' : ''))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`, // of a server that listens on a port
    mend: () => (status = 200),
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

const ending = new AbortController()
let worker: Awaited<ReturnType<typeof startDeliveryWorker>>
let receiver: Awaited<ReturnType<typeof openReceiver>>
let firm: Firm
let origin: string
let browser: Browser
beforeAll(async () => {
  const port = await freePort()
  origin = `http://localhost:${port}`
  receiver = await openReceiver()
  firm = await openFirm({ PORT: String(port), BASE_URL: origin }, { receiver: receiver.address })
  worker = await startDeliveryWorker({ ...firm.service.parts, signal: ending.signal })
  if (found) browser = await openBrowser(found)
}, 120_000)
afterAll(async () => {
  await browser.close()
  ending.abort()
  await worker.stop()
  await firm[Symbol.asyncDispose]()
  await receiver.close()
})

/** The hand of a colleague: what it does is counted, and before each act a picture is taken. */
const handOf = (page: Page, task: string) => {
  let acts = 0
  const act = async (target: Locator, what: string, use: () => Promise<unknown>) => {
    await target.waitFor()
    await takePicture(page, `${task}-${String(acts).padStart(2, '0')}-${what.replaceAll(/[^\w]+/g, '-')}`)
    acts++
    await use()
  }
  page.on('framenavigated', (frame) => {
    if (frame === page.mainFrame()) acts++
  })
  return {
    acts: () => acts,
    press: async (target: Locator) => act(target, `press ${await target.first().textContent()}`, () => target.click()),
    type: async (label: string | RegExp, text: string) => {
      const field = page.getByLabel(label).locator('visible=true').first()
      await act(field, `type ${text}`, () => field.fill(text))
    },
    choose: async (label: string | RegExp, option: string) => {
      const field = page.getByLabel(label, { exact: true }).locator('visible=true').first()
      await act(field, `choose ${option}`, () => field.selectOption({ label: option }))
    },
    tick: async (label: string) => {
      const box = page.getByLabel(label, { exact: true })
      await act(box, `tick ${label}`, () => box.check())
    },
    keys: async (keys: string) => {
      await takePicture(page, `${task}-${String(acts).padStart(2, '0')}-keys-${keys.replaceAll(/[^\w]+/g, '-')}`)
      acts++
      await page.keyboard.type(keys)
    },
  }
}
type Hand = ReturnType<typeof handOf>

type Task = {
  readonly title: string
  readonly who: keyof Firm['people']
  /** Makes what it is about; answers a name to look for. */
  readonly given: () => Promise<string>
  readonly when: (page: Page, hand: Hand, name: string) => Promise<void>
  readonly then: (page: Page, name: string) => Promise<unknown>
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).locator('visible=true')
const area = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Areas' }).getByRole('link', { name, exact: true })
const folded = (page: Page, name: string) => page.locator('summary', { hasText: name }).first()
const confirmed = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true })
const done = (page: Page, act: string) => page.locator('#said').getByText(`${act}: done.`).waitFor()

const send = async (who: Member, method: string, path: string, body: object | string) => {
  const { status, body: answer } = await firm.service.send(method, path, { token: who.key, body })
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(answer)}`)
}

const patience = { timeout: 30_000, interval: 50 }

const tasks: readonly Task[] = [
  {
    title: 'decide a referral',
    who: 'uma',
    given: async () => {
      await firm.sendReferral('Riley')
      return 'Rita Riley'
    },
    when: async (page, { press, type }, name) => {
      await press(page.getByRole('link', { name }))
      await press(folded(page, 'Decline'))
      await type('What the customer reads', 'We cannot offer cover at present.')
      await press(button(page, 'Decline'))
      await press(confirmed(page, 'Decline'))
    },
    then: async (page) => done(page, 'Decline'),
  },
  {
    title: 'find why a webhook failed, and send it again',
    who: 'olga',
    given: async () => {
      await firm.sendQuote()
      await vi.waitUntil(async () => {
        const path = `/admin/v1/deliveries?organisation_id=${organisation_id}&state=failed`
        const { body } = await firm.service.send<readonly unknown[]>('GET', path, { token: firm.people.olga.key })
        return body.data.length > 0
      }, patience)
      return 'unknown field: premium'
    },
    when: async (page, { press }, answer) => {
      const failed = page.locator('section', { hasText: 'Webhooks that have failed' })
      await press(failed.getByRole('row').getByRole('link').first())
      await page.getByText(answer).first().waitFor()
      receiver.mend()
      await press(button(page, 'Send it again'))
      await press(confirmed(page, 'Send it again'))
    },
    then: async (page) => {
      await done(page, 'Send it again')
      await expect
        .poll(async () => {
          await page.reload()
          return page.locator('.facts').first().textContent()
        })
        .toContain('delivered')
    },
  },
  {
    title: 'withdraw a consent',
    who: 'lee',
    given: async () => {
      await firm.sendLead('Wilma', 'Withdraws')
      return 'Wilma Withdraws'
    },
    when: async (page, { press, choose, type }, name) => {
      const act = 'Record a withdrawal or a new consent'
      await press(page.getByRole('link', { name }).first())
      await press(folded(page, act))
      await choose('What they said', 'withdraw their consent')
      await choose('Channel', 'Email')
      await choose('What it is about', 'Our own marketing')
      await type('How they said so', 'by phone')
      await press(button(page, act))
      await press(confirmed(page, act))
    },
    then: async (page) => done(page, 'Record a withdrawal or a new consent'),
  },
  {
    title: 'explain a price',
    who: 'uma',
    given: async () => {
      await firm.sendQuote()
      return 'Quentin Quoted'
    },
    when: async (page, { press }, name) => {
      await press(area(page, 'Applications'))
      await press(page.getByRole('link', { name }).first())
      await press(page.getByRole('link', { name: 'How it came about' }).first())
    },
    then: async (page) => page.getByRole('heading', { name: 'How a price came about' }).waitFor(),
  },
  {
    title: 'show an application as it was yesterday',
    who: 'aud',
    given: async () => {
      const id = await firm.sendReferral('Yesterday')
      const { pool } = firm.service.parts
      const people = firm.service.parts.eventLog.read(`application-${id}`, {})
      const customer_id = (await people).map(({ data }) => data['customer_id']).find((each) => typeof each === 'string')
      const streams = [`application-${id}`, `customer-${String(customer_id)}`]
      await pool.query(sql`
        update event_log.event set recorded_at = recorded_at - interval '3 days' where stream = any(${streams}::text[])`)
      await send(firm.people.uma, 'POST', `/admin/v1/team_applications/${id}/decisions`, {
        decision: 'decline',
        reason_message: 'No.',
      })
      return 'Rita Yesterday'
    },
    when: async (page, { press, type }, name) => {
      await press(area(page, 'Applications'))
      await press(page.getByRole('link', { name }))
      await page.locator('.facts .badge', { hasText: 'declined' }).waitFor()
      await type('As it was on', `${new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)}T12:00`)
      await press(button(page, 'Show it then'))
    },
    then: async (page) => page.locator('.facts .badge', { hasText: 'referred' }).waitFor(),
  },
  {
    title: 'give a part of one premium back',
    who: 'fin',
    given: async () => firm.sellPolicy(),
    when: async (page, { press, type }, policy_id) => {
      await press(area(page, 'Premiums'))
      await press(page.locator(`a[href*="${policy_id}"]`).first())
      await press(folded(page, 'Give a part back'))
      await type('Amount in pounds', '10.50')
      await type(/^Reason/, 'Charged too much.')
      await press(button(page, 'Give a part back'))
      await press(confirmed(page, 'Give a part back'))
    },
    then: async (page) => done(page, 'Give a part back'),
  },
  {
    title: 'approve a release',
    who: 'odo',
    given: async () => {
      await send(firm.people.olga, 'PATCH', `${admin}/four_eyes`, { release: true })
      const changed = (await setUpText())
        .replace('name: Northlight Term Life', 'name: Northlight Term Life Plus')
        .replace('release: false', 'release: true')
      await send(firm.people.olga, 'POST', '/admin/v1/setup?apply=true', changed)
      return 'term-life'
    },
    when: async (page, { press }, name) => {
      await page.reload()
      await press(page.getByRole('link', { name: new RegExp(name) }).first())
      await press(button(page, 'Approve'))
      await press(confirmed(page, 'Approve'))
    },
    then: async (page) => done(page, 'Approve'),
  },
  {
    title: 'find who changed a status',
    who: 'aud',
    given: async () => {
      const contact_id = await firm.sendLead('Stella', 'Status')
      await send(firm.people.lee, 'POST', `${admin}/leads/${contact_id}/acts`, {
        acts: [{ act: 'change_status', status: 'lost', reason: 'price' }],
      })
      return 'stella@example.com'
    },
    when: async (page, { press, keys }, email) => {
      await press(page.locator('[data-find]'))
      await keys(email)
      await page.keyboard.press('Enter')
      await page.waitForURL('**/leads/*')
    },
    then: async (page) => page.locator('.timeline li', { hasText: /status changed.*Lee Leads/i }).waitFor(),
  },
  {
    title: 'add a colleague',
    who: 'olga',
    given: async () => 'Nadia New',
    when: async (page, { press, type, tick }, name) => {
      await press(area(page, 'People'))
      await press(folded(page, 'Add a colleague'))
      await type('Name', name)
      await type('Email', 'nadia@firm.test')
      await tick('Claims')
      await press(button(page, 'Add a colleague'))
    },
    then: async (page, name) => page.getByRole('link', { name }).waitFor(),
  },
  {
    title: 'take in a lead that is held',
    who: 'lee',
    given: async () => firm.sendHeld(),
    when: async (page, { press }, ingest_id) => {
      await press(page.locator(`a[href*="${ingest_id}"]`))
      await press(button(page, 'Take it in'))
      await press(confirmed(page, 'Take it in'))
    },
    then: async (page) => done(page, 'Take it in'),
  },
]

test.skipIf(found === undefined).each(tasks)(
  named(`$title: in at most ${most} acts`),
  async ({ title, who, given, when, then }) => {
    const name = await given()
    await using colleague = await openAs({ browser, origin, who: firm.people[who] })
    const { page, reported } = colleague
    const hand = handOf(page, title.replaceAll(/[^a-z]+/g, '-'))

    await when(page, hand, name)

    await then(page, name)
    expect(reported).toEqual([])
    expect(hand.acts()).toBeLessThanOrEqual(most)
    if (process.env['SCREENSHOTS'] !== undefined) process.stderr.write(`${hand.acts()} acts: ${title}\n`)
  },
)
