import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test, vi } from 'vitest'
import express from 'express'
import { makeStripe, type Outcome } from '#infra/stripe/provider.ts'
import { startStripe, type StripeStandIn } from '../../stand-ins/stripe/stripe.ts'
import { outsideHttp } from '../outside-http.ts'
import { serveApp } from '../serve.ts'

const soon = { timeout: 60_000, interval: 20 }

const newBooks = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-books-'))
  return {
    file: join(directory, 'stripe.jsonl'),
    [Symbol.asyncDispose]: async () => rm(directory, { recursive: true }),
  }
}
const providerAt = (url: string) =>
  makeStripe(outsideHttp(() => false))({ base_url: url, secret_key: 'sk_test_one', stripe_account: null })
const done = <Value>(outcome: Outcome<Value>): Value => {
  if (outcome.outcome !== 'done') throw new Error(JSON.stringify(outcome))
  return outcome.value
}
const address = { line1: '1 High Street', line2: null, city: 'Leeds', postal_code: 'LS1 4AP', country: 'GB' }
const payer = { customer_id: 'c1', email: 'anna@example.org', name: 'Anna Ash', address }
const bank_details = { account_holder_name: 'Anna Ash', sort_code: '089999', account_number: '66374958' }
const metadata = { premium_id: 'p1' }
const act = async ({ url }: StripeStandIn, path: string, fields: Record<string, string> = {}) =>
  fetch(`${url}/stand-in/${path}`, { method: 'POST', body: new URLSearchParams(fields) })

/** Asks for the same, however often it is called. */
const askFor = async (url: string) => {
  const provider = providerAt(url)
  const provider_customer_id = done(await provider.createCustomer(payer))
  const card = {
    provider_customer_id,
    amount_pence: 1250,
    currency_code: 'GBP',
    capture: 'automatic',
    metadata,
  } as const
  const opened = done(await provider.openPayment('pay 1', card))
  const mandate = done(
    await provider.setUpMandate('mandate 1', { provider_customer_id, bank_details, payer, metadata }),
  )
  const collection = {
    provider_customer_id,
    provider_payment_method_id: mandate?.provider_payment_method_id ?? '',
    provider_mandate_id: mandate?.mandate?.id ?? null,
    amount_pence: 1250,
    currency_code: 'GBP',
    metadata,
  }
  const debit = done(await provider.collect(collection, 'collect 1'))
  return { opened, debit, mandate: mandate?.mandate?.id ?? '', collection }
}

test('what was made, paid and given back is found again after a restart, and what is asked again is answered as before', async () => {
  await using books = await newBooks()
  const before = await startStripe(0, { file: books.file })
  const asked = await askFor(before.url)
  await act(before, `payment_intents/${asked.opened.id}/confirm`, { payment_method: 'pm_card_visa' })
  const refund = done(await providerAt(before.url).refund(asked.opened.id, 400, 'refund 1', { refund_id: 'ours' }))
  await act(before, `payment_intents/${asked.debit.id}/settle`)
  await act(before, `payment_intents/${asked.debit.id}/dispute`)
  const known = before.objects()
  await before.close()

  const after = await startStripe(0, { file: books.file })
  const provider = providerAt(after.url)

  expect(after.objects()).toEqual(JSON.parse(JSON.stringify(known)))
  expect(await askFor(after.url)).toEqual(asked)
  expect(done(await provider.refund(asked.opened.id, 400, 'refund 1', { refund_id: 'ours' }))).toEqual(refund)
  expect(done(await provider.readPayment(asked.opened.id))).toMatchObject({ status: 'succeeded', refunded_pence: 400 })
  expect(after.objects()).toHaveLength(known.length)
  expect(await provider.refund(asked.opened.id, 500, 'refund 1')).toMatchObject({ code: 'idempotency_error' })
  await after.close()
})

test('the books are for their owner alone, and name nobody’s key', async () => {
  await using books = await newBooks()
  const standIn = await startStripe(0, { file: books.file })
  await askFor(standIn.url)
  await standIn.close()
  expect((await stat(books.file)).mode & 0o777).toBe(0o600)
  expect(await readFile(books.file, 'utf8')).not.toContain('sk_test_one')
})

test('a last line that was written in part is left out; one in the middle that cannot be read ends the start', async () => {
  await using books = await newBooks()
  const before = await startStripe(0, { file: books.file })
  const { opened } = await askFor(before.url)
  await before.close()
  await appendFile(books.file, '{"account":"a","objects":[{"id":"pi_torn","obj')

  const after = await startStripe(0, { file: books.file })
  await act(after, `payment_intents/${opened.id}/confirm`, { payment_method: 'pm_card_visa' })
  await after.close()

  const again = await startStripe(0, { file: books.file })
  expect(done(await providerAt(again.url).readPayment(opened.id)).status).toBe('succeeded')
  await again.close()
  await writeFile(books.file, `{"account":\n${await readFile(books.file, 'utf8')}`)
  await expect(startStripe(0, { file: books.file })).rejects.toThrow(`Line 1 of ${books.file} cannot be read`)
})

test('news that was not taken before a restart is posted after it, once', async () => {
  await using books = await newBooks()
  let isUp = false
  const heard: { id: string; type: string }[] = []
  await using service = await serveApp(
    express().post('/', express.json(), (request, response) => {
      if (isUp) heard.push(request.body as { id: string; type: string })
      response.sendStatus(isUp ? 200 : 503)
    }),
  )
  const endpoints = [{ url: service.origin, secret: 'whsec' }]
  const before = await startStripe(0, { file: books.file, endpoints })
  const { opened } = await askFor(before.url)
  await act(before, `payment_intents/${opened.id}/confirm`, { payment_method: 'pm_card_visa' })
  await before.close()
  isUp = true

  const after = await startStripe(0, { file: books.file, endpoints })
  await after.announced()
  await after.close()
  const told = heard.map(({ type }) => type)
  expect(told.toSorted()).toEqual(['payment_intent.processing', 'payment_intent.succeeded', 'setup_intent.succeeded'])
  const again = await startStripe(0, { file: books.file, endpoints })
  await again.announced()
  await again.close()
  expect(heard).toHaveLength(told.length)
})

test('the banks answer after a restart what they were given before it', async () => {
  await using books = await newBooks()
  const before = await startStripe(0, { file: books.file, banks: { afterMs: 60_000 } })
  const { debit, mandate } = await askFor(before.url)
  await before.close()

  const after = await startStripe(0, { file: books.file, banks: { afterMs: 1 } })
  const provider = providerAt(after.url)
  await vi.waitFor(async () => {
    expect(done(await provider.readPayment(debit.id)).status).toBe('succeeded')
    expect(done(await provider.readMandate(mandate)).network_status).toBe('accepted')
  }, soon)
  await after.close()
})

const program = `
import { startStripe } from './stand-ins/stripe/stripe.ts'
const { url } = await startStripe(0, { file: process.argv[1] })
console.log(url)
`

test(
  'a process that is killed while it writes starts again with all that it answered',
  { timeout: 60_000 },
  async () => {
    await using books = await newBooks()
    const answered = new Set<string>()
    for (let kill = 0; kill < 2; kill++) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program, books.file], {
        cwd: join(import.meta.dirname, '..', '..'),
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const lines = createInterface({ input: child.stdout })
      const [url] = (await once(lines, 'line')) as [string]
      const ended = once(child, 'close')
      const provider = providerAt(url)
      for (const id of answered) done(await provider.readPayment(id))
      const { collection } = await askFor(url)
      const enough = answered.size + 30
      let asked = 0
      const ask = async (worker: number) => {
        for (;;) {
          const taken = await provider.collect(collection, `collect ${kill} ${worker} ${asked++}`)
          if (taken.outcome !== 'done') return
          answered.add(taken.value.id)
          if (answered.size === enough) child.kill('SIGKILL')
        }
      }
      await Promise.all([1, 2, 3, 4].map(ask))
      await ended
    }
    const standIn = await startStripe(0, { file: books.file })
    const known = new Set(standIn.objects().map(({ id }) => id))
    await standIn.close()
    expect([...answered].filter((id) => !known.has(id))).toEqual([])
  },
)
