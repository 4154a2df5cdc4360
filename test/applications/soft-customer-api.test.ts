import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { as, applicationApis, type Fixture } from './fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await applicationApis()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const started = async (headers?: Record<string, string>) =>
  (await fixture.start({ presentation_slug: 'guided' }, headers)).body.data

describe('PATCH /api/v1/applications/{id}/soft_customer', () => {
  test('200: the details are kept, and the application has no customer for it', async () => {
    const application = await started()
    const body = { customer: { first_name: ' Anna ', postal_code: 'yo17hh', dob: '1984-05-06' } }
    const { status, body: answered } = await fixture.saveSoftCustomer(application.id, body)
    expect(status).toBe(200)
    expect(answered.data).toMatchObject({ id: application.id, status: 'anonymous', customer: null })

    const customer = { last_name: 'Ash', email: 'soft@example.org' }
    const { body: saved } = await fixture.saveCustomer(application.id, { customer })
    expect(saved.data.customer).toMatchObject({ first_name: 'Anna', postal_code: 'YO1 7HH', dob: '1984-05-06' })
  })

  test('an extension of a telephone number has no place: the answer names it, and the number is kept', async () => {
    const { id } = await started()
    const phone = { phone_number: '0113 496 0000 ext. 12' }
    const early = await fixture.saveSoftCustomer(id, { customer: phone })
    const saved = await fixture.saveCustomer(id, {
      customer: { ...phone, first_name: 'Anna', last_name: 'Ash', email: 'ext@example.org' },
    })
    expect([early.headers.get('x-ignored-fields'), saved.headers.get('x-ignored-fields')]).toEqual([
      'customer.phone_number.extension',
      'customer.phone_number.extension',
    ])
    expect(saved.body.data.customer).toMatchObject({ phone_number: '+441134960000' })
  })

  test.each([['server'], ['browser']] as const)(
    '200: from a %s, the email address that was told early names the customer, also of a second application',
    async (kind) => {
      const email = `early-${kind}@example.org`
      const save = async () => {
        const { id, share_token = '' } = await started(as(kind))
        const headers = as(kind, { 'x-share-token': share_token })
        const early = { first_name: 'Anna', last_name: 'Ash', email, country: 'FR' }
        await fixture.saveSoftCustomer(id, { customer: early }, headers)
        const { status, body } = await fixture.saveCustomer(
          id,
          { customer: { dob: '1984-05-06', postal_code: '75001' } },
          headers,
        )
        expect([status, body.data.status]).toEqual([200, 'in_capture'])
        return body.data.customer
      }
      const first = await save()
      expect(first).toMatchObject({ first_name: 'Anna', last_name: 'Ash', email, dob: '1984-05-06', country: 'FR' })
      expect((await save())?.id).toBe(first?.id)
    },
  )

  test('422 customer_invalid: no email address was told at all', async () => {
    const application = await started()
    await fixture.saveSoftCustomer(application.id, { customer: { first_name: 'Anna', last_name: 'Ash' } })
    const { status, body } = await fixture.saveCustomer(application.id, { customer: { dob: '1984-05-06' } })
    expect([status, body.error.fields]).toEqual([422, { 'customer.email': 'is needed' }])
  })

  test.each([
    [{}, 'customer'],
    [{ customer: 'Anna' }, 'customer'],
    [{ customer: { email: 'anna' } }, 'customer.email'],
    [{ customer: { dob: '2099-01-01' } }, 'customer.dob'],
  ])('422 validation_failed: %j', async (body, field) => {
    const application = await started()
    const { status, body: answered } = await fixture.saveSoftCustomer(application.id, body)
    expect(status).toBe(422)
    expect(answered.error.code).toBe('validation_failed')
    expect(Object.keys(answered.error.fields ?? {})).toEqual([field])
    expect((await fixture.get(application.id)).body.data).toEqual(application)
  })

  test('200, unchanged: an application that has ended', async () => {
    const application = await started()
    const { body: ended } = await fixture.save(application.id, { answers: { work: 'stuntman' } })
    const { status, body } = await fixture.saveSoftCustomer(application.id, { customer: { first_name: 'Anna' } })
    expect(status).toBe(200)
    expect(body.data).toEqual(ended.data)
  })

  test('404: a web page without the share token', async () => {
    const application = await started(as('browser'))
    const { status } = await fixture.saveSoftCustomer(application.id, { customer: {} }, as('browser'))
    expect(status).toBe(404)
  })
})

describe('PATCH /api/v1/applications/{id}/interstitial_choice', () => {
  test('200: by the key of the stage or its position', async () => {
    const application = await started()
    const byKey = { choice_key: 'fork_go', stage_key: 'fork' }
    const byPosition = { choice_key: 'end_call', stage_position: 2 }
    for (const body of [byKey, byPosition]) {
      const { status, body: answered } = await fixture.chooseInterstitial(application.id, body)
      expect(status).toBe(200)
      expect(answered.data).toMatchObject({ id: application.id, status: 'anonymous' })
    }
  })

  test.each([
    [{ stage_key: 'fork' }, 'choice_key'],
    [{ choice_key: 'fork_go', stage_key: 'nowhere' }, 'stage_key'],
    [{ choice_key: 'fork_go', stage_position: 7 }, 'stage_position'],
    [{ choice_key: 'end_go', stage_key: 'fork' }, 'choice_key'],
  ])('422 validation_failed: %j', async (body, field) => {
    const application = await started()
    const { status, body: answered } = await fixture.chooseInterstitial(application.id, body)
    expect(status).toBe(422)
    expect(answered.error.code).toBe('validation_failed')
    expect(Object.keys(answered.error.fields ?? {})).toEqual([field])
  })
})
