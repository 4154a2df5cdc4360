import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openCheckout, runsOutAt, quotedAt, type Checkout } from './checkout.ts'

let checkout: Checkout
beforeAll(async () => {
  checkout = await openCheckout()
})
afterAll(async () => checkout[Symbol.asyncDispose]())

const account = { account_holder_name: 'Anna Ash', sort_code: '08-99-99', account_number: '66374958' }
const other = { account_holder_name: 'Anna Ash', sort_code: '107999', account_number: '88837491' }
const send = (id: string, direct_debit: object | undefined, headers?: Record<string, string>) =>
  checkout.post(id, 'direct_debit_details', { direct_debit }, headers)
const types = async (id: Parameters<Checkout['eventsOf']>[0]) => (await checkout.eventsOf(id)).map(({ type }) => type)

describe('bank details', () => {
  test('are saved, and answered with the sort code in dashed form and the last four digits of the account', async () => {
    const { quote_id, application_id } = await checkout.quoted({ inline_bacs_mandate: false })

    const { status, body } = await send(quote_id, { ...account, address_line1: '1 High Street' })

    expect(status).toBe(201)
    expect(body).toEqual({
      data: {
        id: expect.stringMatching(/^[\da-f-]{36}$/) as unknown,
        account_holder_name: 'Anna Ash',
        sort_code: '08-99-99',
        account_number_last4: '4958',
      },
    })
    const saved = (await checkout.eventsOf(application_id)).at(-1)
    expect(saved).toMatchObject({
      type: 'BankDetailsSaved',
      data: {
        quote_id,
        bank_details: { sort_code: '089999', account_number: '66374958', address_line1: '1 High Street' },
      },
    })
  })

  test('are encrypted at rest: what is stored holds neither the name nor the account', async () => {
    const { quote_id, application_id } = await checkout.quoted()
    await send(quote_id, account)

    const stored = JSON.stringify((await checkout.stored.read(`application-${application_id}`)).at(-1)?.data)

    expect(stored).toContain('$personal')
    for (const secret of ['Anna', '66374958', '089999', '08-99-99']) expect(stored).not.toContain(secret)
  })

  test('that are sent again replace the former, and the same ones change nothing', async () => {
    const { quote_id, application_id } = await checkout.quoted()
    const first = await send(quote_id, account)
    const again = await send(quote_id, { ...account, sort_code: '08 99 99' })
    const before = (await types(application_id)).length

    const replaced = await send(quote_id, other)

    expect(again.body).toEqual(first.body)
    expect(replaced.body.data).toMatchObject({ id: first.body.data['id'], account_number_last4: '7491' })
    expect(await types(application_id)).toHaveLength(before + 1)
  })

  test('that are sent by two at once are saved once', async () => {
    const { quote_id, application_id } = await checkout.quoted()

    const answers = await Promise.all([send(quote_id, account), send(quote_id, account)])

    expect(answers.map(({ status }) => status)).toEqual([201, 201])
    expect((await types(application_id)).filter((type) => type === 'BankDetailsSaved')).toHaveLength(1)
  })

  test('can be saved before there is a customer', async () => {
    const { quote_id } = await checkout.quoted({ customer: null })
    expect((await send(quote_id, account)).status).toBe(201)
  })
})

describe('422 direct_debit_invalid', () => {
  const refused = async (changes: object, stripe_test_mode = false) => {
    const { quote_id, application_id } = await checkout.quoted({ stripe_test_mode })
    const before = await types(application_id)
    const { status, body } = await send(quote_id, { ...account, ...changes })
    expect(await types(application_id)).toEqual(before)
    expect({ status, code: body.error.code }).toEqual({ status: 422, code: 'direct_debit_invalid' })
    return body.error.fields
  }

  test('names both fields when the sort code and the account number do not belong together', async () => {
    const reason = 'the sort code and the account number do not belong together'
    expect(await refused({ account_number: '66374959' })).toEqual({
      'direct_debit.sort_code': reason,
      'direct_debit.account_number': reason,
    })
  })

  test('names each field that is missing or not in its form', async () => {
    expect(
      await refused({ account_holder_name: ' ', sort_code: '12-34-5', account_number: 1, address_city: 'x\u0007' }),
    ).toEqual({
      'direct_debit.account_holder_name': 'must not be empty',
      'direct_debit.sort_code': 'must be six digits, with or without dashes',
      'direct_debit.account_number': 'must be text',
      'direct_debit.address_city': 'must not hold control characters',
    })
    expect(await refused({ sort_code: undefined })).toEqual({ 'direct_debit.sort_code': 'required' })
  })

  test('refuses the accounts that the provider publishes for trying, but with its test account', async () => {
    const trial = { sort_code: '10-88-00', account_number: '00012345' }
    expect(Object.keys((await refused(trial)) ?? {})).toHaveLength(2)

    const { quote_id } = await checkout.quoted({ stripe_test_mode: true })
    expect((await send(quote_id, { ...account, ...trial })).status).toBe(201)
  })
})

describe('bank details are refused', () => {
  test('with validation_failed when direct_debit is missing', async () => {
    const { quote_id } = await checkout.quoted()
    const { status, body } = await checkout.post(quote_id, 'direct_debit_details', {})
    expect({ status, error: body.error }).toMatchObject({
      status: 422,
      error: { code: 'validation_failed', fields: { direct_debit: 'required' } },
    })
  })

  test('with quote_not_bindable when the quote was rejected, and quote_expired when its time is over', async () => {
    const rejected = await checkout.quoted()
    await checkout.append(rejected.application_id, [
      { type: 'QuoteRejected', quote_id: rejected.quote_id, reason: null },
    ])
    const { status, body } = await send(rejected.quote_id, account)
    expect([status, body.error.code]).toEqual([409, 'quote_not_bindable'])

    const { quote_id } = await checkout.quoted()
    checkout.clock(runsOutAt)
    const late = await send(quote_id, account)
    checkout.clock(quotedAt)
    expect([late.status, late.body.error.code]).toEqual([409, 'quote_expired'])
  })

  test('with not_found for an unknown quote, another organisation’s, and a web page without the share token', async () => {
    const { quote_id, share } = await checkout.quoted()
    const codes = await Promise.all([
      send(randomUUID(), account),
      send(quote_id, account, { 'x-caller': 'stranger' }),
      send(quote_id, account, { 'x-caller': 'browser' }),
      send(quote_id, account, { 'x-caller': 'browser', 'x-share-token': 'a'.repeat(43) }),
    ])
    expect(codes.map(({ status, body }) => [status, body.error.code])).toEqual(Array(4).fill([404, 'not_found']))
    expect((await send(quote_id, account, { 'x-caller': 'browser', 'x-share-token': share })).status).toBe(201)
  })
})
