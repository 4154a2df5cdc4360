import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { demoId } from '../../demo/demo.ts'
import { findBrowser, openBrowser } from '../explorer/browser.ts'
import { freePort, startServiceProcess, type ServiceProcess } from '../journeys/service-process.ts'
import { expectToFit, takePicture, violations, withKeyboard, withMouse, type Visitor } from './visitor.ts'

const operatorKey = 'the operator key of these tests'

let directory: string
let pageAddress: string
let service: ServiceProcess
let origin: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'coverstream-sales-page-'))
  await chmod(directory, 0o755)
  const dataDir = join(directory, 'data')
  const port = await freePort()
  origin = `http://localhost:${port}`
  service = startServiceProcess({ dataDir, port, environment: { RATE_LIMIT_REQUESTS: '0', OPERATOR_KEY: operatorKey } })
  await service.ready
  const page = z.object({ port: z.int() }).parse(JSON.parse(await readFile(join(dataDir, 'sales-page.json'), 'utf8')))
  pageAddress = `http://localhost:${page.port}`
}, 120_000)

afterAll(async () => {
  await service.kill('family')
  await rm(directory, { recursive: true, force: true })
})

const found = await findBrowser()
const named = (title: string) =>
  found === undefined ? `${title} (SKIPPED: no Chromium was found; set CHROMIUM)` : title

/** From the first question to the policy number. Each screen is looked at as the visitor has it before going on. */
const buy = async (
  page: Page,
  { fill, pick, press }: Visitor,
  look: (name: string) => Promise<void>,
): Promise<string> => {
  const at = async (title: string) => {
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
    await look(title)
  }
  await at('How much cover would you like?')
  await fill('cover_amount_pence', '250,000')
  await pick('term_years', '25')
  await press('Next')

  await at('About you')
  await answer({ fill, pick, press })
  await press('Next')

  await at('Your details')
  await fill('first_name', 'Grace')
  await fill('last_name', 'Okafor')
  await fill('dob', '1992-03-10')
  await fill('email', `grace.${Date.now()}@example.com`)
  await fill('phone_number', '020 7183 8750')
  await fill('postal_code', 'ID1 1QD')
  await press('Find address')
  await page.waitForSelector('select[name="found_address"]')
  await pick('found_address', '0')
  await pick('marketing', 'no')
  await press('Next')

  await at('Check your answers')
  await press('My answers are right')
  await at('Your price')
  expect(await page.locator('.price').textContent()).toBe('£12.50')
  await press('Continue')

  await at('Please read this first')
  await pick('confirmed', 'yes')
  await press('Confirm')

  await at('Your Direct Debit')
  await fill('account_holder_name', 'Grace Okafor')
  await fill('sort_code', '08-99-99')
  await fill('account_number', '66374958')
  await pick('collection_day', '14')
  await press('Buy this cover')

  // Its documents are made a moment later.
  await page.getByRole('link', { name: 'Policy schedule' }).waitFor()
  await at('You are covered')
  const number = (await page.locator('#policy-number').textContent()) ?? ''
  await page.reload()
  await page.getByText(number, { exact: true }).waitFor()
  return number
}

describe('a page takes a customer from the first question to a policy without a person’s help', () => {
  test.skipIf(found === undefined).for([
    { how: 'with a mouse at desktop width', width: 1280, height: 900, visitor: withMouse },
    { how: 'with the keyboard alone at phone width', width: 390, height: 844, visitor: withKeyboard },
  ])(
    named('$how, and the accessibility checker finds nothing'),
    { timeout: 180_000 },
    async ({ width, height, visitor }) => {
      await using browser = await openBrowser(found)
      const page = await browser.newPage({ viewport: { width, height }, locale: 'en-GB' })
      const faults: string[] = []
      page.on('pageerror', ({ message }) => faults.push(message))
      page.on('console', (message) => {
        if (message.type() === 'error') faults.push(message.text())
      })
      await page.goto(pageAddress)

      const number = await buy(page, visitor(page), async (name) => {
        for (const { id, help, nodes } of await violations(page))
          faults.push(`${name}: ${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`)
        await expectToFit(page)
        await takePicture(page, `sales-${width}-${name.toLowerCase().replaceAll(/\W+/g, '-')}`)
      })

      expect(number).toMatch(/^NLT-\d{9}$/)
      expect(faults).toEqual([])
    },
  )
})

/** Answers what the page asks of one person about health and work. */
const answer = async ({ fill, pick }: Visitor) => {
  await pick('smoker', 'no')
  await fill('alcohol_units', '6')
  await pick('hazardous_pursuits', 'false')
  await fill('height_cm', '178')
  await fill('weight_kg', '74.5')
  await pick('blood_pressure', 'none')
  await pick('serious_illness', 'none')
  await pick('family_history', 'false')
  await fill('occupation', 'Teacher')
}

const introduce = async ({ fill }: Visitor, first_name: string, dob: string) => {
  await fill('first_name', first_name)
  await fill('last_name', 'Okafor')
  await fill('dob', dob)
}

const ownScreens = [
  'Which cover would you like?',
  'The second person',
  'Check your answers',
  'Your Direct Debit',
  'Your payments',
  'All providers',
  'We cannot show a price yet',
  'Your application is on its way',
]

type Walk = Visitor & { readonly at: (title: string) => Promise<void>; readonly page: Page }

const otherWays: Readonly<Record<string, (walk: Walk) => Promise<void>>> = {
  'joint-term-life': async (walk) => {
    const { at, fill, pick, press, page } = walk
    await at('How much cover would you like?')
    await press('Next')
    await at('About you')
    await answer(walk)
    await press('Next')
    await at('Your details')
    await giveDetails(walk, 'grace.joint')
    await press('Next')
    await at('The second person')
    await introduce(walk, 'Ada', '1990-05-20')
    await answer(walk)
    // What this person has answered differently is priced.
    await pick('smoker', 'yes')
    await press('Next')
    await page.waitForSelector('.summary')
    await pick('nicotine_products', 'cigarettes')
    await press('Next')
    await pressWhenChecked(walk)
    await at('Your price')
    await press('Continue')
    // On the payment provider's own form, which does not take this account.
    await page.waitForSelector('.form-of-provider')
    await fill('sort_code', '10-88-00')
    await fill('account_number', '00044444')
    await at('Your Direct Debit')
    await press('Buy this cover')
    await page.getByText('this account cannot be used').first().waitFor()
    await fill('account_number', '00012345')
    await press('Buy this cover')
    await at('You are covered')
  },
  'child-cover': async (walk) => {
    const { at, fill, pick, press, page } = walk
    await at('How much cover would you like?')
    await pick('cover_amount_pence', '2000000')
    await press('Next')
    await at('Your details')
    await giveDetails(walk, 'grace.card')
    await press('Next')
    await pressWhenChecked(walk)
    await at('Your price')
    await press('Continue')
    await page.waitForSelector('#card_number')
    await fill('card_number', '4000 0000 0000 0002')
    await bankDetails(walk, 'Your payments')
    await page.getByText('your card was declined').first().waitFor()
    await fill('card_number', '4242 4242 4242 4242')
    await press('Buy this cover')
    await at('You are covered')
  },
  'income-cover': async (walk) => {
    const { at, fill, pick, press, page } = walk
    await at('How much cover would you like?')
    expect(await page.locator('#cover_amount_pence-hint').textContent()).toBe('From £6,000 to £60,000.')
    await fill('cover_amount_pence', '24,000')
    await press('Next')
    await at('About you')
    await pick('smoker', 'no')
    await fill('annual_income', '48000')
    await pick('deferred_weeks', '13')
    await pick('occupation_kind', 'office')
    await press('Next')
    await at('Your details')
    // Too old by a slip of the finger.
    await introduce(walk, 'Grace', '1929-03-10')
    await fill('email', `grace.income.${Date.now()}@example.com`)
    await fill('address_line1', '1 High Street')
    await fill('city', 'London')
    await fill('postal_code', 'SW1A 1AA')
    await press('Next')
    await pressWhenChecked(walk)
    await at('We cannot show a price yet')
    await press('Change my details')
    await at('Your details')
    await fill('dob', '1992-03-10')
    await press('Next')
    await pressWhenChecked(walk)
    await at('Your price')
    // The amount was asked by the year and is paid by the month.
    expect(await page.locator('dl').textContent()).toContain('We pay out£2,000 a month')
  },
  'team-health': async (walk) => {
    const { at, fill, pick, press, page } = walk
    const step = () => page.locator('.step').textContent()
    await at('Which cover would you like?')
    await pick('level', '1')
    expect(await step()).toBe('Step 1 of 7')
    await press('Next')
    await at('About you')
    await fill('employee_count', '12')
    await pick('wants_dental', 'false')
    await press('Next')
    await at('Your details')
    await giveDetails(walk, 'grace.team')
    await press('Next')
    await pressWhenChecked(walk)
    await at('Your price')
    expect(await page.locator('.price').textContent()).toBe('£294')
    expect(await step()).toBe('Step 5 of 7')
    await press('Continue')
    // There is nothing to read before buying: that is no step, and nobody goes back to it.
    await page.waitForSelector('#sort_code')
    expect(await step()).toBe('Step 6 of 6')
    await press('Back')
    await at('Your price')
    await press('Continue')
    await bankDetails(walk, 'Your payments')
    await at('You are covered')
  },
  'market-term': async (walk) => {
    const { at, fill, pick, press, page } = walk
    await at('How much cover would you like?')
    await press('Next')
    await at('About you')
    await pick('smoker', 'no')
    await press('Next')
    await at('Your details')
    await introduce(walk, 'Grace', '1992-03-10')
    await fill('email', `grace.market.${Date.now()}@example.com`)
    await press('Next')
    await pressWhenChecked(walk)
    await at('All providers')
    const value = await page.locator('input[name="result_id"]').first().getAttribute('value')
    await pick('result_id', value ?? '')
    await press('Go on with this provider')
    await at('Your application is on its way')
  },
}

const pressWhenChecked = async ({ at, press }: Walk) => {
  await at('Check your answers')
  await press('My answers are right')
}

const bankDetails = async ({ at, fill, press }: Walk, title: string) => {
  await fill('account_holder_name', 'Grace Okafor')
  await fill('sort_code', '08-99-99')
  await fill('account_number', '66374958')
  await at(title)
  await press('Buy this cover')
}

test.skipIf(found === undefined)(
  named(
    'for two people, with the first premium by card, for an income, for a team, and to the provider that the visitor chose of all',
  ),
  { timeout: 180_000 },
  async () => {
    await using browser = await openBrowser(found)
    const faults: string[] = []
    const visit = async ([product, walk]: [string, (walk: Walk) => Promise<void>], index: number) => {
      const viewport = index === 1 ? { width: 1280, height: 900 } : { width: 390, height: 844 }
      const page = await browser.newPage({ viewport, locale: 'en-GB' })
      page.on('pageerror', ({ message }) => faults.push(`${product}: ${message}`))
      await page.goto(`${pageAddress}/?product=${product}`)
      const at = async (title: string) => {
        await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
        // The screens of all products are checked above.
        for (const size of ownScreens.includes(title) ? sizes : [viewport]) {
          await page.setViewportSize(size)
          for (const { id, help } of await violations(page)) faults.push(`${product}: ${title}: ${id}: ${help}`)
          await expectToFit(page)
          await takePicture(page, `${product}-${size.width}-${title.toLowerCase().replaceAll(/\W+/g, '-')}`)
        }
      }
      await walk({ ...withMouse(page), at, page })
    }

    await Promise.all(Object.entries(otherWays).map(visit))

    expect(faults).toEqual([])
  },
)

/** Of desktops and of telephones. */
const sizes = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
]

/** The checker finds nothing, and nothing is cut off, on a desktop and on a telephone. */
const expectAccessible = async (page: Page, name: string): Promise<void> => {
  for (const size of sizes) {
    await page.setViewportSize(size)
    expect(await violations(page)).toEqual([])
    await expectToFit(page)
    await takePicture(page, `sales-${size.width}-${name}`)
  }
}

/** From the amount to the answers about health, of which some are otherwise. */
const answerAll = async (page: Page, otherwise: Readonly<Record<string, string>> = {}) => {
  const visitor = withMouse(page)
  await page.waitForSelector('#cover_amount_pence')
  await visitor.press('Next')
  await page.waitForSelector('#smoker')
  await answer(visitor)
  for (const [name, value] of Object.entries(otherwise))
    if (name === 'alcohol_units') await visitor.fill(name, value)
    else await visitor.pick(name, value)
  await visitor.press('Next')
}

const endings = [
  {
    answered: 'cancer',
    title: 'Our underwriters look at your application',
    because: 'Our underwriters need to know more about your treatment first.',
    next: 'We do not know yet how to reach you.',
  },
  {
    answered: 'heart_or_stroke',
    title: 'We cannot offer you this cover',
    because: 'We cannot offer cover within five years of a heart attack, angina or a stroke.',
    next: 'Another insurer may decide otherwise.',
  },
  {
    answered: 'awaiting_results',
    title: 'We cannot offer you this cover yet',
    because: 'Please come back when you have your results.',
    next: 'we decide again when some time has passed',
  },
]

test.skipIf(found === undefined)(
  named(
    'an answer that ends an application says so at once, why, with a reference, what is next, and another is started',
  ),
  { timeout: 120_000 },
  async () => {
    await using browser = await openBrowser(found)
    const references = new Set<string>()
    for (const { answered, title, because, next } of endings) {
      const page = await browser.newPage({ locale: 'en-GB', viewport: { width: 390, height: 844 } })
      await page.goto(pageAddress)
      await answerAll(page, { serious_illness: answered })

      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
      const said = (await page.locator('main').textContent()) ?? ''
      for (const each of [because, next, 'What happens next']) expect(said).toContain(each)
      references.add((await page.locator('#reference').textContent()) ?? '')
      await expectAccessible(page, `ended-${answered.replaceAll('_', '-')}`)
      await page.reload()
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
      await withMouse(page).press('Start another application')
      await page.getByRole('heading', { level: 1, name: 'How much cover would you like?', exact: true }).waitFor()
    }
    expect([...references].filter((each) => /^[\dA-F]{4}-[\dA-F]{4}$/.test(each))).toHaveLength(endings.length)
  },
)

/** What an underwriter does who was told a reference. */
const decide = async (reference: string, decision: string): Promise<number> => {
  const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' }
  const query = `organisation_id=${await demoId()}&reference=${reference.replace('-', '').toLowerCase()}`
  const answer = await fetch(`${origin}/admin/v1/team_applications?${query}`, { headers })
  const { data } = z.object({ data: z.array(z.object({ id: z.uuid() })) }).parse(await answer.json())
  const decided = await fetch(`${origin}/admin/v1/team_applications/${data[0]?.id}/decisions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ decision }),
  })
  return decided.status
}

test.skipIf(found === undefined)(
  named('a referral by underwriting is told in place of the price, and goes on with what was decided'),
  { timeout: 120_000 },
  async () => {
    await using browser = await openBrowser(found)
    const page = await browser.newPage({ locale: 'en-GB', viewport: { width: 1280, height: 900 } })
    await page.goto(pageAddress)
    await answerAll(page, { alcohol_units: '31' })
    await page.waitForSelector('#first_name')
    const visitor = withMouse(page)
    await giveDetails(visitor, 'grace.referred')
    await visitor.press('Next')
    await visitor.press('My answers are right')

    await page.getByText('We write to grace.referred').waitFor()
    expect(await page.locator('h1').textContent()).toBe('Our underwriters look at your application')
    await expectAccessible(page, 'referred')
    expect(await decide((await page.locator('#reference').textContent()) ?? '', 'accept')).toBe(200)
    await visitor.press('Look again')
    await page.locator('.price').filter({ hasText: '£' }).waitFor()
  },
)

/** The details of somebody who can buy. */
const giveDetails = async (visitor: Visitor, email: string) => {
  await introduce(visitor, 'Grace', '1992-03-10')
  await visitor.fill('email', `${email}.${Date.now()}@example.com`)
  await visitor.fill('address_line1', '1 High Street')
  await visitor.fill('city', 'London')
  await visitor.fill('postal_code', 'SW1A 1AA')
}

const focused = (page: Page) => page.evaluate('document.activeElement?.id || document.activeElement?.name')

/** As if an answer were gone that was given at an earlier step. */
const takeAnswerAway = async (page: Page, key: string): Promise<void> => {
  const kept = z
    .object({ id: z.string(), share_token: z.string() })
    .parse(JSON.parse(String(await page.evaluate('Object.values(sessionStorage)[0]'))))
  const given = await fetch(`${pageAddress}/token`, { method: 'POST' })
  const { access_token, api } = z.object({ access_token: z.string(), api: z.string() }).parse(await given.json())
  const answer = await fetch(`${api}/api/v1/applications/${kept.id}`, {
    method: 'PATCH',
    headers: {
      authorization: `Bearer ${access_token}`,
      'content-type': 'application/json',
      origin: pageAddress,
      'x-share-token': kept.share_token,
    },
    body: JSON.stringify({ answers: { [key]: null } }),
  })
  expect(answer.status).toBe(200)
}

test.skipIf(found === undefined)(
  named('all answers are shown before the price; who changes one comes back to them, and what is missing is asked for'),
  { timeout: 120_000 },
  async () => {
    await using browser = await openBrowser(found)
    const page = await browser.newPage({ locale: 'en-GB', viewport: { width: 1280, height: 900 } })
    const visitor = withMouse(page)
    const isChecked = async (term: string, answer: string) => {
      await page.getByRole('heading', { level: 1, name: 'Check your answers', exact: true }).waitFor()
      await page.locator('.answers > div', { hasText: term }).getByText(answer, { exact: true }).waitFor()
    }
    await page.goto(pageAddress)
    await answerAll(page)
    await page.waitForSelector('#first_name')
    await giveDetails(visitor, 'grace.checks')
    await visitor.press('Next')

    await isChecked('Date of birth', '10 March 1992')
    await isChecked('How tall are you', '178 cm (5 ft 10 in)')
    await page.getByRole('link', { name: 'Change How tall are you' }).click()
    await page.waitForSelector('#height_cm-ft')
    await page.getByRole('group', { name: 'Or in feet and inches' }).getByLabel('Inches').fill('11')
    expect(await page.inputValue('#height_cm')).toBe('180')
    await page.fill('#weight_kg', '')
    expect(await page.inputValue('#weight_kg-st')).toBe('')
    await visitor.press('Next')
    await page.waitForSelector('#weight_kg[aria-invalid]')
    await page.fill('#weight_kg-st', '12')
    await page.fill('#weight_kg-lb', '3')
    expect(await page.locator('.summary').count()).toBe(0)
    await expectAccessible(page, 'units')
    await visitor.press('Next')
    await isChecked('How tall are you', '180 cm (5 ft 11 in)')
    await isChecked('What do you weigh', '77.6 kg (12 st 3 lb)')
    await page.getByRole('link', { name: 'Change For how many years?' }).click()
    await page.waitForSelector('select#term_years')
    expect(await focused(page)).toBe('term_years')
    await page.reload()
    await page.waitForSelector('select#term_years')
    await visitor.pick('term_years', '20')
    await visitor.press('Next')

    await isChecked('For how many years?', '20 years')
    await page.getByRole('link', { name: 'Change Have you used any nicotine' }).click()
    await visitor.pick('smoker', 'yes')
    await visitor.pick('nicotine_products', 'cigarettes')
    await visitor.press('Back')
    await isChecked('Have you used any nicotine', 'No')

    await takeAnswerAway(page, 'occupation')
    await page.reload()
    await isChecked('What is your occupation?', 'Not answered yet')
    await expectAccessible(page, 'check-missing')
    await visitor.press('Answer what is missing')
    await page.waitForSelector('#occupation')
    expect(await focused(page)).toBe('occupation')
    await visitor.fill('occupation', 'Chef')
    await visitor.press('Next')
    await isChecked('What is your occupation?', 'Chef')
    await visitor.press('My answers are right')
    await page.waitForSelector('.price')
    await visitor.press('Change my cover')
    await page.waitForSelector('#cover_amount_pence')
    await visitor.press('Next')
    await isChecked('How much should we pay out?', '£200,000')
  },
)

test.skipIf(found === undefined)(
  named('an error names the part of a date, and goes as soon as its input is answered'),
  { timeout: 120_000 },
  async () => {
    await using browser = await openBrowser(found)
    const page = await browser.newPage({ locale: 'en-GB', viewport: { width: 390, height: 844 } })
    const visitor = withMouse(page)
    const errors = () => page.locator('.summary a').allTextContents()
    await page.goto(pageAddress)
    await answerAll(page)
    await page.waitForSelector('#first_name')
    await visitor.press('Next')
    await page.waitForSelector('.summary')
    const all = await errors()
    expect(all).toContain('Date of birth: Fill this in')

    await visitor.fill('first_name', 'Grace')
    expect(await errors()).toEqual(all.filter((each) => !each.startsWith('First name')))
    expect(await page.locator('#first_name-error, #first_name[aria-invalid]').count()).toBe(0)
    await visitor.fill('postal_code', 'ID1 1QD')
    await visitor.press('Find address')
    await page.waitForSelector('select[name="found_address"]')
    await visitor.pick('found_address', '0')
    expect((await errors()).filter((each) => /^(Postcode|House|Town)/.test(each))).toEqual([])
    await giveDetails(visitor, 'grace.corrects')
    await page.locator('.summary').waitFor({ state: 'detached' })
    expect(await page.locator('.error, [aria-invalid]').count()).toBe(0)

    await page.fill('#dob-month', '13')
    await page.fill('#dob-year', '92')
    await visitor.press('Next')
    await page.waitForSelector('.summary')
    expect(await errors()).toEqual([
      'Date of birth: Enter a month from 1 to 12',
      'Date of birth: Enter a year with four digits',
    ])
    expect(await page.evaluate("[...document.querySelectorAll('[aria-invalid]')].map(({ id }) => id)")).toEqual([
      'dob-month',
      'dob-year',
    ])
    await expectAccessible(page, 'date-errors')
    await visitor.fill('dob', '1992-02-31')
    expect(await errors()).toEqual([])
    await visitor.press('Next')
    await page.getByRole('link', { name: 'Date of birth: Enter a day that this month has' }).waitFor()
    await visitor.fill('dob', '2092-02-28')
    await visitor.press('Next')
    await page.getByRole('link', { name: /^Date of birth: / }).waitFor()
    expect(await page.locator('#dob[aria-invalid]').count()).toBe(1)
    await page.fill('#dob-year', '1992')
    expect(await page.locator('.summary').count()).toBe(0)
    await visitor.press('Next')
    await page.getByRole('heading', { level: 1, name: 'Check your answers', exact: true }).waitFor()
  },
)

test.skipIf(found === undefined)(
  named('what must be corrected is named at its input and at the top, and a reload goes on where the visitor was'),
  { timeout: 120_000 },
  async () => {
    await using browser = await openBrowser(found)
    const page = await browser.newPage({ locale: 'en-GB' })
    await page.goto(pageAddress)
    await page.waitForSelector('#cover_amount_pence')
    const { fill, press, pick } = withMouse(page)

    await fill('cover_amount_pence', '5')
    await press('Next')
    await page.waitForSelector('.summary')
    expect(await page.locator('#cover_amount_pence').getAttribute('aria-invalid')).toBe('true')
    expect(await page.locator('#cover_amount_pence-error').textContent()).not.toBe('')
    await expectAccessible(page, 'correct')
    await press('£300,000')
    expect(await page.locator('.summary, [aria-invalid]').count()).toBe(0)

    await fill('cover_amount_pence', '250,000')
    await press('Next')
    await page.getByRole('heading', { level: 1, name: 'About you', exact: true }).waitFor()
    await press('Next')
    await page.waitForSelector('.summary')
    expect(await page.locator('.summary a').count()).toBeGreaterThan(5)
    await pick('smoker', 'yes')
    await page.waitForSelector('#nicotine_products:not([hidden])')

    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'About you', exact: true }).waitFor()
    expect(await page.locator('#smoker').count()).toBe(1)
  },
)

test.skipIf(found === undefined)(
  named('whoever is over the request limit is told how long to wait, and goes on where they were'),
  { timeout: 120_000 },
  async () => {
    await using browser = await openBrowser(found)
    const page = await browser.newPage({ locale: 'en-GB' })
    const isOver = { token: true }
    await page.route('**/token', (route) =>
      isOver.token ? route.fulfill({ status: 429, headers: { 'Retry-After': '190' } }) : route.continue(),
    )
    await page.goto(pageAddress)

    await page.getByText('Please try again in 4 minutes.').waitFor()
    isOver.token = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.waitForSelector('#cover_amount_pence')
    expect(await page.locator('h1').textContent()).toBe('How much cover would you like?')
  },
)

test('the page’s server gives a token to its own page, and keeps the secret', async () => {
  const answer = await fetch(`${pageAddress}/token`, { method: 'POST' })
  const given = z.record(z.string(), z.unknown()).parse(await answer.json())

  expect(Object.keys(given).toSorted()).toEqual(['access_token', 'api'])
  for (const path of ['/server.ts', '/../server.ts', '/page/main.ts', '/%2e%2e/start.ts', '/unknown.ts'])
    expect([path, (await fetch(`${pageAddress}${path}`)).status]).toEqual([path, 404])
  expect((await fetch(`${pageAddress}/main.ts`)).headers.get('content-type')).toContain('text/javascript')
})
