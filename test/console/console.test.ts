import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import { findBrowser, openBrowser } from '../explorer/browser.ts'
import { freePort } from '../journeys/service-process.ts'
import { expectToFit, violations, withKeyboard } from '../sales-page/visitor.ts'
import type { Member } from '../users/team.ts'
import { openAs, unfold, type Look } from './colleague.ts'
import { openFirm, organisation_id, type Firm } from './firm.ts'
import { keepShot } from './shots.ts'

/** People of a firm at work, each in a Chromium. */

const found = await findBrowser()
const named = (title: string) =>
  found === undefined ? `${title} (SKIPPED: no Chromium was found; set CHROMIUM)` : title

const own = `/console/organisations/${organisation_id}`

/** Of a path of the organisation, or of the console. */
const addressOf = (path: string): string => (path.startsWith('/console/') ? path : `${own}${path}`)

let firm: Firm
let origin: string
let browser: Browser
beforeAll(async () => {
  const port = await freePort()
  origin = `http://localhost:${port}`
  firm = await openFirm({ PORT: String(port), BASE_URL: origin, SIGN_IN_ATTEMPTS: '1000' })
  if (found) browser = await openBrowser(found)
}, 120_000)
afterAll(async () => {
  await browser.close()
  await firm[Symbol.asyncDispose]()
})

/** A colleague at work in a browser of their own. */
const open = (who: Member, look?: Look) => openAs({ browser, origin, who, look })

const said = (page: Page) => page.locator('#said')

const eventsOf = async (stream: string) => firm.service.parts.eventLog.read(stream, {})

test.skipIf(found === undefined)(
  named('a call is recorded from the list of work on, and the page names the event that it made'),
  async () => {
    const contact_id = await firm.sendLead('Carla', 'Called')
    await using lee = await open(firm.people.lee)
    const { page, reported } = lee

    await page.getByRole('link', { name: 'Carla Called' }).first().click()
    await page.getByText('Record a call or note').first().click()
    await page.getByLabel('What was said').fill('She asks for a price.')
    await page.getByRole('button', { name: 'Record a call or note' }).click()

    await said(page)
      .getByText(/done\. Event/)
      .waitFor()
    const recorded = (await eventsOf(`lead-${contact_id}`)).findLast(({ type }) => type === 'LeadActivityRecorded')
    expect(recorded?.metadata.actor).toEqual({ type: 'user', id: firm.people.lee.id })
    expect(await said(page).textContent()).toContain(recorded?.id)
    await page.locator(`#event-${recorded?.id}.new`).waitFor()
    expect(reported).toEqual([])
  },
)

test.skipIf(found === undefined)(
  named('a button that is pressed twice, and an answer that is lost, do the act once'),
  async () => {
    const contact_id = await firm.sendLead('Dora', 'Doubled')
    await using lee = await open(firm.people.lee)
    const { page } = lee
    await page.goto(`${origin}${own}/leads/${contact_id}`)
    await page.getByText('Add a task').first().click()
    await page.getByLabel('Task').fill('Send the brochure')
    let isLost = false
    await page.route('**/acts', async (route) => {
      if (isLost) return route.continue()
      isLost = true
      await route.fetch()
      await route.abort()
    })

    await page.getByRole('button', { name: 'Add a task' }).dblclick()
    await page.getByText('No answer came').waitFor()
    await page.getByRole('button', { name: 'Add a task' }).dblclick()

    await said(page).getByText('Add a task: done.').waitFor()
    const added = (await eventsOf(`lead-${contact_id}`)).filter(({ type }) => type === 'LeadTaskAdded')
    expect(added).toHaveLength(1)
  },
)

test.skipIf(found === undefined)(
  named('an underwriter decides a referral by the keyboard alone, and is asked before'),
  async () => {
    const id = await firm.sendReferral('Keyed')
    await using uma = await open(firm.people.uma)
    const { page } = uma
    await page.goto(`${origin}${own}/applications/${id}`)
    const { fill, press } = withKeyboard(page)
    await press('Decline')
    await fill('act-decline-reason_message', 'We cannot offer cover.')
    await press('Decline')
    const dialog = page.getByRole('dialog', { name: 'Decline' })
    await dialog.getByText('The application ends, and the customer is told.').waitFor()
    await page.keyboard.press('Enter')

    await said(page).getByText('Decline: done.').waitFor()
    expect((await eventsOf(`application-${id}`)).map(({ type }) => type)).toContain('ApplicationDeclined')
  },
)

test.skipIf(found === undefined)(
  named('of two who decide differently the second is told so, and sees who was first'),
  async () => {
    const id = await firm.sendReferral('Both')
    await using first = await open(firm.people.uma)
    await using second = await open(firm.people.una)
    const decide = async ({ page }: { readonly page: Page }, decision: string) => {
      await page.getByRole('button', { name: decision }).click()
      await page.getByRole('dialog').getByRole('button', { name: decision }).click()
    }
    for (const [{ page }, decision] of [
      [first, 'Decline'],
      [second, 'Postpone'],
    ] as const) {
      await page.goto(`${origin}${own}/applications/${id}`)
      await page.getByText(decision, { exact: true }).first().click()
    }

    await decide(first, 'Decline')
    await said(first.page).getByText('Decline: done.').waitFor()
    await decide(second, 'Postpone')

    await said(second.page).getByText('Postpone: not done.').waitFor()
    const latest = second.page.locator('.timeline li').first()
    expect(await latest.textContent()).toContain('Application declined by Uma Underwriter')
    expect((await eventsOf(`application-${id}`)).map(({ type }) => type)).not.toContain('ApplicationPostponed')
  },
)

test.skipIf(found === undefined)(
  named('a part of a premium is given back, after the page has said what will happen, once'),
  async () => {
    const policy_id = await firm.sellPolicy()
    await using fin = await open(firm.people.fin)
    const { page } = fin
    await page.goto(`${origin}${own}/premiums?status=collected`)
    await page.locator(`a[href*="${policy_id}"]`).click()
    await page.getByText('Give a part back').first().click()
    await page.getByLabel('Amount in pounds').fill('10.50')
    await page.getByLabel('Reason').first().fill('Charged too much.')
    await page.getByRole('button', { name: 'Give a part back' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('The amount goes back to the account or card that paid it.').waitFor()
    await dialog.getByText(/, policy .+: Premium 1 of £28\.75, due on /).waitFor()
    await dialog.getByText('£10.50', { exact: true }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Give a part back' }).dblclick()

    await said(page).getByText('Give a part back: done.').waitFor()
    const owed = (await eventsOf(`policy-${policy_id}`)).filter(({ type }) => type === 'PremiumRefundOwed')
    expect(owed.map(({ data }) => data['refund_pence'])).toEqual([1_050])
    expect(owed[0]?.metadata.actor.id).toBe(firm.people.fin.id)
  },
)

test.skipIf(found === undefined)(
  named('a policy is suspended after the page has said what that does to money and cover'),
  async () => {
    const policy_id = await firm.sellPolicy('active')
    await using pat = await open(firm.people.pat)
    const { page, reported } = pat
    await page.goto(`${origin}${own}/policies/${policy_id}`)
    await page.getByRole('button', { name: 'Suspend the cover' }).click()
    const dialog = page.getByRole('dialog', { name: 'Suspend the cover' })
    await dialog.getByText('Policy: active → suspended').waitFor()
    await dialog.getByText(/^Next premiums, as before: £28\.75 on /).waitFor()
    await dialog.getByText('Given back: nothing').waitFor()
    expect((await eventsOf(`policy-${policy_id}`)).map(({ type }) => type)).not.toContain('PolicySuspended')
    await dialog.getByRole('button', { name: 'Suspend the cover' }).click()

    await said(page).getByText('Suspend the cover: done.').waitFor()
    expect((await eventsOf(`policy-${policy_id}`)).map(({ type }) => type)).toContain('PolicySuspended')
    expect(reported).toEqual([])
  },
)

test.skipIf(found === undefined)(named('a claim is opened and declined on the page of its policy'), async () => {
  const policy_id = await firm.sellPolicy()
  await using cleo = await open(firm.people.cleo)
  const { page } = cleo
  await page.goto(`${origin}${own}/policies/${policy_id}`)
  await page.getByText('Open a claim').first().click()
  await page.getByLabel('Cover', { exact: true }).selectOption({ index: 1 })
  await page.getByLabel('Happened on').fill('2026-03-01')
  await page.getByRole('button', { name: 'Open a claim' }).click()
  await said(page).getByText('Open a claim: done.').waitFor()

  await page.goto(`${origin}${own}/work`)
  await page.locator(`a[href*="${policy_id}"]`).click()
  await page.getByText('Decline', { exact: true }).first().click()
  await page.locator('textarea:visible').fill('It was before the cover began.')
  await page.getByRole('button', { name: 'Decline' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Decline' }).click()

  await said(page).getByText('Decline: done.').waitFor()
  expect((await eventsOf(`policy-${policy_id}`)).map(({ type }) => type)).toContain('ClaimDeclined')
})

test.skipIf(found === undefined)(
  named('an owner adds a colleague, who signs in with the key that was shown once'),
  async () => {
    await using olga = await open(firm.people.olga)
    const { page } = olga
    await page.goto(`${origin}${own}/people`)
    await page.getByText('Add a colleague').first().click()
    await page.getByLabel('Name').fill('Nell New')
    await page.getByLabel('Email').fill('nell@firm.test')
    await page.getByLabel('Claims').check()
    await page.getByRole('button', { name: 'Add a colleague' }).click()
    await page.getByRole('link', { name: 'Nell New' }).click()
    await page.getByRole('button', { name: 'Make a key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Make a key' }).click()
    const key = (await page.locator('dialog .secret').textContent()) ?? ''
    await page.getByRole('button', { name: 'I have kept it' }).click()
    await said(page).getByText('Make a key: done.').waitFor()

    await using nell = await open({ id: '', email: 'nell@firm.test', key })
    expect(await nell.page.getByRole('navigation', { name: 'Areas' }).getByRole('link').allTextContents()).toEqual([
      'Work',
      'Figures',
      'Policies',
      'Claims',
      'Premiums',
    ])
  },
)

test.skipIf(found === undefined)(named('an auditor sees who did what to a record, and what it changed'), async () => {
  const contact_id = await firm.sendLead('Harriet', 'History')
  await firm.service.send('POST', `/admin/v1/organisations/${organisation_id}/leads/${contact_id}/acts`, {
    token: firm.people.lee.key,
    body: { acts: [{ act: 'change_status', status: 'lost', reason: 'price' }] },
  })
  await using aud = await open(firm.people.aud)
  const { page } = aud
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByLabel('Record').selectOption('lead')
  await page.getByLabel('Its id').fill(contact_id)
  await page.getByRole('button', { name: 'Show its history' }).click()

  const changed = page.locator('.timeline li', { hasText: 'user · Lee Leads' }).filter({ hasText: 'shown.status' })
  await changed.getByText(/values? changed/).click()
  expect(await changed.textContent()).toMatch(/status.*open.*lost/s)
})

test.skipIf(found === undefined)(
  named('an auditor goes through the moments of a record with the keyboard, and each has an address'),
  async () => {
    const contact_id = await firm.sendLead('Sally', 'Slider')
    await firm.service.send('POST', `/admin/v1/organisations/${organisation_id}/leads/${contact_id}/acts`, {
      token: firm.people.lee.key,
      body: { acts: [{ act: 'change_status', status: 'lost', reason: 'price' }] },
    })
    await using aud = await open(firm.people.aud)
    const { page, reported } = aud
    await page.goto(`${origin}${own}/leads/${contact_id}`)
    const slider = page.getByRole('slider', { name: 'As it was after' })
    const status = page.locator('.facts div', { hasText: 'Status' }).first()
    await status.getByText('lost').waitFor()
    await slider.focus()
    await page.keyboard.press('Home')

    await page.waitForURL(/position=/)
    await status.getByText('open').waitFor()
    expect(await slider.getAttribute('aria-valuetext')).toContain('Lead created')
    await page.keyboard.press('End')
    await page.waitForURL((url) => !url.search.includes('position='))
    await status.getByText('lost').waitFor()
    expect(reported).toEqual([])
  },
)

test.skipIf(found === undefined)(named('the history of a record is taken away as one file'), async () => {
  const contact_id = await firm.sendLead('Fay', 'File')
  await using aud = await open(firm.people.aud)
  const { page, reported } = aud
  await page.goto(`${origin}${own}/history?record=lead-${contact_id}`)
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'These events' }).click(),
  ])

  const content = JSON.parse(await readFile(await file.path(), 'utf8')) as { data: { event_id: string }[] }
  const events = await eventsOf(`lead-${contact_id}`)
  expect(content.data.map(({ event_id }) => event_id).toSorted()).toEqual(events.map(({ id }) => id).toSorted())
  expect(reported).toEqual([])
})

test.skipIf(found === undefined)(named('a consent is withdrawn on the page of the person'), async () => {
  const contact_id = await firm.sendLead('Wanda', 'Withdraws')
  await using lee = await open(firm.people.lee)
  const { page } = lee
  await page.goto(`${origin}${own}/leads/${contact_id}`)
  await page.getByText('Record a withdrawal or a new consent').first().click()
  await page.getByLabel('What they said', { exact: true }).selectOption('withdrawn')
  await page.getByLabel('Channel').selectOption('email')
  await page.getByLabel('What it is about', { exact: true }).selectOption({ index: 1 })
  await page.getByLabel('How they said so').fill('by phone')
  await page.getByRole('button', { name: 'Record a withdrawal or a new consent' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Wanda Withdraws').waitFor()
  expect(await dialog.locator('dd').allTextContents()).toEqual([
    'withdraw their consent',
    'Email',
    'Service messages',
    'by phone',
  ])
  await dialog.getByRole('button', { name: 'Record a withdrawal' }).click()

  await said(page).getByText('done.').waitFor()
  expect(await page.getByRole('table', { name: 'Consent' }).textContent()).toContain('withdrawn')
})

test.skipIf(found === undefined)(
  named('a lead is given to somebody, is then on their list, and what is known of it is recorded'),
  async () => {
    const contact_id = await firm.sendLead('Gina', 'Given')
    await using lee = await open(firm.people.lee)
    const { page } = lee
    const doAct = async (title: string, fill: () => Promise<unknown>) => {
      await page.getByText(title, { exact: true }).first().click()
      await fill()
      await page.getByRole('button', { name: title }).click()
      await said(page).getByText(`${title}: done. Event`).waitFor()
    }
    await page.goto(`${origin}${own}/leads/${contact_id}`)
    await doAct('Give it to somebody of the team', () => page.getByLabel('Who works it').selectOption('Peter Page'))
    await doAct('Set the next action', () => page.getByLabel('Due').first().fill('2031-05-01T09:30'))
    await doAct('Record what is known', () => page.getByLabel('Interested in').selectOption('critical_illness'))
    expect(await page.locator('.facts').first().textContent()).toContain('critical illness')

    await page.goto(`${origin}${own}/leads/due`)
    await page.getByLabel('Worked by').selectOption('Peter Page')
    await page.getByRole('button', { name: 'Show' }).click()
    const row = page.getByRole('row', { name: 'Gina Given' })
    expect(await row.textContent()).toContain('1 May 2031')
  },
)

test.skipIf(found === undefined)(
  named('of two who give the same lead to somebody the second is told who has it, and changes nothing'),
  async () => {
    const contact_id = await firm.sendLead('Tina', 'Taken')
    await using lee = await open(firm.people.lee)
    const { page } = lee
    await page.goto(`${origin}${own}/leads/${contact_id}`)
    await page.getByText('Give it to somebody of the team', { exact: true }).first().click()
    const choice = page.getByLabel('Who works it')
    const { body } = await firm.service.send<{ team_members: readonly { id: string }[] }>(
      'GET',
      `/admin/v1/organisations/${organisation_id}/pipeline`,
    )
    const [first = '', second = ''] = body.data.team_members.map(({ id }) => id)
    const taken = await firm.service.send(
      'POST',
      `/admin/v1/organisations/${organisation_id}/leads/${contact_id}/acts`,
      {
        token: firm.people.lee.key,
        body: { acts: [{ act: 'assign_owner', owner_id: first, from_owner_id: null }] },
      },
    )
    expect(taken.status).toBe(200)

    await choice.selectOption(second)
    await page.getByRole('button', { name: 'Give it to somebody of the team' }).click()

    await said(page).getByText('Give it to somebody of the team: not done. By now').waitFor()
    const assigned = (await eventsOf(`lead-${contact_id}`)).filter(({ type }) => type === 'LeadOwnerAssigned')
    expect(assigned.map(({ data }) => data['to'])).toEqual([first])
  },
)

test.skipIf(found === undefined)(named('a lead that is held is taken in, and becomes a lead'), async () => {
  const ingest_id = await firm.sendHeld()
  await using lee = await open(firm.people.lee)
  const { page } = lee
  await page.getByRole('heading', { name: 'Sent leads that are held' }).waitFor()
  await page.locator(`a[href*="${ingest_id}"]`).click()
  await page.getByRole('cell', { name: 'is not an email address' }).waitFor()
  await page.getByRole('button', { name: 'Take it in' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Take it in' }).click()
  await said(page).getByText('Take it in: done.').waitFor()

  await expect
    .poll(async () => {
      await page.reload()
      return page.locator('main').textContent()
    })
    .toContain('applied')
})

test.skipIf(found === undefined)(
  named('an underwriter sees how a price came about, and the steps add up to it'),
  async () => {
    const { application_id } = await firm.sendQuote()
    await using uma = await open(firm.people.uma)
    const { page } = uma
    await page.goto(`${origin}${own}/applications/${application_id}`)
    await page.getByRole('link', { name: 'How it came about' }).click()

    await page.getByRole('heading', { name: 'How a price came about' }).waitFor()
    const pence = await page.locator('td[data-title="Pence"]').allTextContents()
    const sum = pence.reduce((total, each) => total + Number(each), 0)
    expect(await page.locator('.facts').last().textContent()).toContain(`£${(Math.round(sum) / 100).toFixed(2)}`)
  },
)

test.skipIf(found === undefined)(named('an auditor sees an application as it was before it was decided'), async () => {
  const id = await firm.sendReferral('Earlier')
  const before = (await eventsOf(`application-${id}`)).at(-1)
  const decided = await firm.service.send('POST', `/admin/v1/team_applications/${id}/decisions`, {
    token: firm.people.uma.key,
    body: { decision: 'decline', reason_message: 'No.' },
  })
  expect(decided.status).toBe(200)
  await using aud = await open(firm.people.aud)
  const { page } = aud
  await page.goto(`${origin}${own}/history?type=application&id=${id}`)
  await page.locator(`#event-${before?.id}`).getByRole('link', { name: 'The record then' }).click()

  await page.getByText('As it was after the event').waitFor()
  expect(await page.locator('.facts').first().textContent()).toContain('referred')
  await page.getByRole('link', { name: 'Show it now' }).click()
  await page.locator('.facts .badge', { hasText: 'declined' }).waitFor()
})

test.skipIf(found === undefined)(
  named('a record is found by any of its numbers, from any page, with the keyboard'),
  async () => {
    const contact_id = await firm.sendLead('Fiona', 'Found')
    await using aud = await open(firm.people.aud)
    const { page } = aud
    const lookFor = async (term: string) => {
      await page.goto(`${origin}${own}/work`)
      await page.keyboard.press('/')
      await page.keyboard.type(term)
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/leads/${contact_id}`)
      expect(page.url()).not.toContain('example.com')
    }

    await lookFor(contact_id)
    await lookFor('fiona@example.com')
    await using lee = await open(firm.people.lee)
    await lee.page.getByRole('button', { name: /^Find a person, policy/ }).click()
    await lee.page.keyboard.type('Fiona@Example.com')
    await lee.page.keyboard.press('Enter')
    await lee.page.waitForURL(`**/leads/${contact_id}`)
    const [event] = await eventsOf(`lead-${contact_id}`)
    await page.goto(`${origin}${own}/work`)
    await page.keyboard.press('/')
    await page.keyboard.type(event?.id ?? '')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/history/events/${event?.id}`)
    await page.goto(`${origin}${own}/work`)
    const application_id = await firm.sendReferral('Found')
    await page.keyboard.press('/')
    await page.keyboard.type(`${application_id.slice(-8, -4)}-${application_id.slice(-4)}`.toUpperCase())
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/applications/${application_id}`)
    const { application_id: quoted, quote_id } = await firm.sendQuote()
    await page.goto(`${origin}${own}/work`)
    await page.keyboard.press('/')
    await page.keyboard.type(quote_id)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/applications/${quoted}/quotes/${quote_id}`)
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.type('nothing-of-the-kind')
    await page.keyboard.press('Enter')
    await page.getByText('Nothing was found that you may see.').waitFor()
  },
)

test.skipIf(found === undefined)(
  named('signed out in one window, the other is asked to sign in, and comes back to its page'),
  async () => {
    const contact_id = await firm.sendLead('Olive', 'Opened')
    await using lee = await open(firm.people.lee)
    const { page } = lee
    const other = await page.context().newPage()
    await other.goto(`${origin}${own}/leads/${contact_id}`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(/sign_in/)

    await other.reload()
    await other.waitForURL(/sign_in\?opens=/)
    await other.fill('#key', firm.people.lee.key)
    await other.press('#key', 'Enter')

    await other.getByRole('heading', { level: 1, name: 'Olive Opened' }).waitFor()
    expect(new URL(other.url()).pathname).toBe(`${own}/leads/${contact_id}`)
  },
)

/** The number beside an area, as it is shown now. */
const beside = (page: Page, area: string) =>
  page.locator('nav li', { has: page.getByRole('link', { name: area, exact: true }) }).locator('.count [data-count]')
const reads = async (page: Page, area: string, number: number) =>
  beside(page, area).getByText(String(number), { exact: true }).waitFor()
const openStreams = async () => (await firm.service.parts.metrics.openStreams.get()).values[0]?.value

test.skipIf(found === undefined)(
  named('an operator resumes the record that a read model has set aside, once what was wrong is put right'),
  async () => {
    const { pool } = firm.service.database
    await pool.query(`alter table applications add constraint no_referrals check (status <> 'referred') not valid`)
    await firm.sendReferral('Aside')
    await using opal = await open(firm.people.opal)
    const { page, reported } = opal
    await page.getByRole('link', { name: 'Operations' }).click()
    await expect
      .poll(async () => {
        await page.reload()
        return page.locator('main').textContent()
      })
      .toContain('records set aside')
    await page.getByRole('link', { name: 'applications', exact: true }).first().click()
    await page.getByText('error 23514').first().waitFor()
    await pool.query('alter table applications drop constraint no_referrals')
    const requests: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/resume')) requests.push(request.url())
    })

    await page.getByRole('button', { name: 'Resume all records' }).click()
    await page.getByText('What waits is handled in the order of the log.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume all records' }).dblclick()

    await said(page).getByText('Resume all records: done.').waitFor()
    expect(requests).toHaveLength(1)
    await expect
      .poll(async () => {
        await page.reload()
        return page.locator('main').textContent()
      })
      .toContain('running')
    expect(reported).toEqual([])
  },
)

test.skipIf(found === undefined)(
  named('an operator has a read model rebuilt, once however often that is pressed, and sees that it was'),
  async () => {
    await using opal = await open(firm.people.opal)
    const { page } = opal
    await page.goto(`${origin}/console/consumers/payments`)
    await page.getByRole('button', { name: 'Rebuild' }).click()
    await page.getByText('All of it is made again from the first event').waitFor()
    let isLost = false
    await page.route('**/rebuild', async (route) => {
      if (isLost) return route.continue()
      isLost = true
      await route.fetch()
      await route.abort()
    })
    await page.getByRole('dialog').getByRole('button', { name: 'Rebuild' }).dblclick()
    await page.getByText('No answer came').waitFor()
    const asked = async () =>
      (
        await firm.service.database.pool.query<{ id: string }>(
          `select id from requested_rebuild where name = 'payments'`,
        )
      ).rows
    const [first] = await asked()
    await expect
      .poll(async () => {
        const { rows } = await firm.service.database.pool.query(
          'select from requested_rebuild where finished_at is null',
        )
        return rows.length
      })
      .toBe(0)

    await page.getByRole('button', { name: 'Rebuild' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rebuild' }).click()

    await said(page).getByText('Rebuild: done.').waitFor()
    await expect
      .poll(async () => {
        await page.reload()
        return page.locator('.facts').last().textContent()
      })
      .toContain('done')
    expect(await asked()).toEqual([first])
  },
)

test.skipIf(found === undefined)(
  named('the tabs of a browser share one stream: their numbers change, and what is read stays as it is'),
  async () => {
    await firm.sendReferral('Waits')
    await using uma = await open(firm.people.uma)
    const { page: first, reported } = uma
    await first.locator('.count', { hasText: /\d/ }).waitFor()
    const count = Number(await beside(first, 'Applications').textContent())
    expect(await first.locator('.tally').textContent()).toContain(`${count} in all`)
    const second = await first.context().newPage()
    await second.goto(`${origin}${own}/applications?status=referred`)
    await reads(second, 'Applications', count)
    await vi.waitUntil(async () => (await openStreams()) === 1, { timeout: 10_000 })
    const heading = await second.locator('h1').boundingBox()

    await firm.sendReferral('Newcomer')

    await reads(first, 'Applications', count + 1)
    await first.locator('.tally', { hasText: `${count + 1} in all. The list has changed` }).waitFor()
    await second.getByText('The list has changed').waitFor()
    expect(await second.getByText('Newcomer').count()).toBe(0)
    expect(await second.locator('h1').boundingBox()).toEqual(heading)
    await second.getByRole('link', { name: 'load it again' }).click()
    await second.getByText('Newcomer').waitFor()

    await first.close()
    await vi.waitUntil(async () => (await openStreams()) === 1, { timeout: 10_000 })
    await firm.sendReferral('Later')
    await reads(second, 'Applications', count + 2)
    expect(reported).toEqual([])
  },
)

test.skipIf(found === undefined)(
  named('what was counted before a page was made says nothing about it: a list that is right is not called changed'),
  async () => {
    await firm.sendHeld()
    await using lee = await open(firm.people.lee)
    const { page } = lee
    const told = (read_at: string, work: string, count: number) =>
      `data: ${JSON.stringify({ data: { waiting: [{ work, count, is_more: false, first_id: null }], read_at } })}\n\n`
    const earlier = told('2001-01-01T00:00:00.000Z', 'held_ingests', 0)
    const later = told('2999-01-01T00:00:00.000Z', 'open_leads', 77)
    await page.route('**/work', async (route) =>
      route.request().resourceType() === 'eventsource'
        ? route.fulfill({ contentType: 'text/event-stream', body: `retry: 600000\n${earlier}${later}` })
        : route.continue(),
    )
    await page.reload()
    await reads(page, 'Leads', 77)

    const held = page.locator('section', { hasText: 'Sent leads that are held' })
    expect(await held.locator('.tally').textContent()).toMatch(/^[1-9]\d* in all\. $/)
    expect(await page.locator('section', { hasText: 'Leads that are open' }).locator('.tally').textContent()).toContain(
      '77 in all. The list has changed',
    )
  },
)

test.skipIf(found === undefined)(named('where no stream comes through, the numbers are asked for'), async () => {
  await using una = await open(firm.people.una)
  const { page } = una
  await page.clock.install()
  await page.route('**/work', async (route) =>
    route.request().resourceType() === 'eventsource' ? route.abort() : route.continue(),
  )
  await page.goto(`${origin}${own}/applications`)
  await page.clock.fastForward(10_000)
  await page.locator('.count', { hasText: /\d/ }).waitFor()
  const count = Number(await beside(page, 'Applications').textContent())
  await firm.sendReferral('Polled')

  await page.clock.fastForward(30_000)
  await page.waitForRequest((request) => request.resourceType() === 'eventsource')
  await page.clock.fastForward(10_000)

  await reads(page, 'Applications', count + 1)
  expect(await openStreams()).toBe(0)
})

test.skipIf(found === undefined)(named('a page whose session has ended elsewhere says so by itself'), async () => {
  await using cleo = await open(firm.people.cleo)
  const { page } = cleo
  await page.getByRole('heading', { name: 'Work' }).waitFor()
  await vi.waitUntil(async () => (await openStreams()) === 1, { timeout: 10_000 })

  await firm.service.database.pool.query('delete from user_session where user_id = $1', [firm.people.cleo.id])

  await said(page).getByText('You are signed out.').waitFor()
  await page.getByRole('button', { name: 'Sign in again' }).click()
  await page.waitForURL(/sign_in/)
  expect(new URL(page.url()).searchParams.get('opens')).toBe(`${own}/work`)
})

test.skipIf(found === undefined)(named('lists and records are read without script'), async () => {
  const contact_id = await firm.sendLead('Nora', 'Noscript')
  await using lee = await open(firm.people.lee)
  const cookies = await lee.page.context().cookies()
  const context = await browser.newContext({ javaScriptEnabled: false })
  await context.addCookies(cookies)
  const page = await context.newPage()

  await page.goto(`${origin}${own}/leads`)
  await page.getByRole('link', { name: 'Nora Noscript' }).click()

  await page.getByText('Lead created').waitFor()
  expect(page.url()).toContain(contact_id)
  await context.close()
})

type Visit = { readonly who: keyof Firm['people']; readonly paths: readonly string[]; readonly status: number }

const looks = [
  { name: 'desktop, light', viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  { name: 'phone, dark', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
] as const

for (const { name, ...look } of looks)
  test.skipIf(found === undefined)(named(`axe finds nothing on any page: ${name}`), async () => {
    const lead = await firm.sendLead('Axel', 'Accessible')
    const application = await firm.sendReferral('Accessible')
    const policy = await firm.sellPolicy()
    const active = await firm.sellPolicy('active')
    const proposal = await firm.proposeAccount()
    const held = await firm.sendHeld()
    const { application_id, quote_id } = await firm.sendQuote()
    await firm.service.database.pool.query(
      `insert into consumer_set_aside (consumer, record, stream, revision, event_id, type, reason)
       values ('erased-people', 'erasure-1', 'erasure-1', 0, gen_random_uuid(), 'ErasureRequested', 'TypeError at x.ts:1')
       on conflict do nothing`,
    )
    const request = (await eventsOf(`application-${application_id}`))[0]?.metadata.correlation_id ?? ''
    const visits: readonly Visit[] = [
      {
        who: 'lee',
        paths: ['/work', '/leads', `/leads/${lead}`, '/leads?status=duplicate', '/ingests', `/ingests/${held}`],
        status: 200,
      },
      {
        who: 'uma',
        paths: [
          '/work',
          '/applications',
          `/applications/${application}`,
          `/applications/${application_id}/quotes/${quote_id}`,
        ],
        status: 200,
      },
      { who: 'olga', paths: ['/work', '/approvals', `/approvals/${proposal}`], status: 200 },
      { who: 'odo', paths: [`/approvals/${proposal}`], status: 200 },
      { who: 'cleo', paths: ['/claims', `/policies/${active}`], status: 200 },
      { who: 'pat', paths: [`/policies/${active}`, '/figures'], status: 200 },
      { who: 'fin', paths: ['/policies', `/policies/${policy}`, '/claims', '/premiums'], status: 200 },
      { who: 'olga', paths: ['/deliveries', '/people', `/people/${firm.people.lee.id}`], status: 200 },
      {
        who: 'aud',
        paths: [
          '/figures',
          '/history',
          '/history?recorded_until=2001-01-01T00:00',
          '/history/accesses',
          '/history/log',
          `/history/records/lead/${lead}`,
          `/history/records/lead/${lead}/difference?from_known_at=2026-01-01T00:00`,
          `/history/records/quote/${quote_id}/then?known_at=2100-01-01T00:00`,
          `/history/requests/${request}`,
          `/leads/${lead}?known_at=2100-01-01T00:00`,
        ],
        status: 200,
      },
      {
        who: 'opal',
        paths: [
          '/console/operations',
          '/console/consumers/applications',
          '/console/consumers/erased-people',
          '/console/erasures',
          '/erasures',
          '/console/checkpoints',
        ],
        status: 200,
      },
      { who: 'olga', paths: ['/console/operations'], status: 403 },
      { who: 'olga', paths: ['/approvals?status=unheard_of'], status: 422 },
      { who: 'olga', paths: ['/leads'], status: 403 },
    ]
    for (const { who, paths, status } of visits) {
      // The checker is put into the page, which its policy does not allow.
      await using colleague = await open(firm.people[who], { ...look, bypassCSP: true })
      for (const path of paths) {
        const answer = await colleague.page.goto(`${origin}${addressOf(path)}`)
        expect([path, answer?.status()]).toEqual([path, status])
        await keepShot(colleague.page, who, path)
        await unfold(colleague.page)
        expect([path, await violations(colleague.page)]).toEqual([path, []])
        await expectToFit(colleague.page)
      }
    }
  })
