import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { applicationStreamEvents } from '#domain/applications/record.ts'
import { productEvents } from '#domain/catalogue/events.ts'
import type { Provider } from '#domain/provider-accounts/events.ts'
import { PresentationId } from '#domain/values.ts'
import { idealPostcodes } from '#infra/addresses/ideal-postcodes.ts'
import { osPlaces } from '#infra/addresses/os-places.ts'
import type { OpenedAccount } from '#infra/ask-json.ts'
import { shareTokenOf } from '#infra/crypto/share-token.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { twilioLookup } from '#infra/phone-validation/twilio.ts'
import { applications } from '../../projections/applications/projection.ts'
import { releases } from '../../projections/catalogue/projection.ts'
import { lookupRoutes } from '../../query-api/lookups/routes.ts'
import { outsideHttp } from '../outside-http.ts'
import { startAddresses } from '../../stand-ins/addresses.ts'
import { startPhoneValidation } from '../../stand-ins/phone-validation.ts'
import { application_id, started } from '../applications/builders.ts'
import { fullJourney, organisation_id, release, standardPresentation } from '../applications/release.ts'
import { readModel } from '../read-model.ts'
import { recorded } from '../recorded.ts'
import { browserCaller, serve, serverCaller } from '../serve.ts'

const strict = {
  ...standardPresentation,
  id: PresentationId.parse('70000000-0000-4000-8000-000000000009'),
  stages: standardPresentation.stages.map((stage) => ({
    ...stage,
    config: { ...stage.config, phone_check: { enabled: true, reject_switched_off: true } },
  })),
}
const unchecked = {
  ...standardPresentation,
  id: PresentationId.parse('70000000-0000-4000-8000-000000000008'),
  stages: standardPresentation.stages.map((stage) => ({
    ...stage,
    config: { ...stage.config, phone_check: { enabled: false, reject_switched_off: false } },
  })),
}
const uncheckedId = application_id.replace('a0', 'a1')

const open = async () => {
  const database = await readModel(applications, releases)
  const presentations = [strict, unchecked]
  const published = { ...release, journeys: [{ ...fullJourney, presentations }] }
  const of = { organisation_id }
  await database.apply([
    ...recorded(productEvents, `product-${release.product_id}`, [{ type: 'ReleasePublished', release: published }], of),
    ...recorded(
      applicationStreamEvents,
      `application-${application_id}`,
      [started({ presentation_id: strict.id })],
      of,
    ),
    ...recorded(
      applicationStreamEvents,
      `application-${uncheckedId}`,
      [started({ presentation_id: unchecked.id })],
      of,
    ),
  ])

  const phones = await startPhoneValidation()
  const addresses = await startAddresses()
  const outside = outsideHttp(({ url }) => /96(\?|$)|1AD/.test(url), { bodyLimitBytes: 2 ** 20 })
  const accounts = new Map<Provider, OpenedAccount>()
  const lookups = {
    openAccount: (of: string, provider: Provider) => (of === organisation_id ? accounts.get(provider) : undefined),
    twilio_lookup: twilioLookup(outside),
    ideal_postcodes: idealPostcodes(outside),
    os_places: osPlaces(outside),
  }
  const keys = deriveKeys(randomBytes(32).toString('base64'))
  const served = await serve(
    lookupRoutes({ db: database.pool, lookups }),
    (request) => (request.get('x-caller') === 'browser' ? browserCaller() : serverCaller()),
    { keys },
  )
  const ask = async (path: string, query: Record<string, string>, headers?: Record<string, string>) => {
    const { status, body } = await served.get(`/api/v1/${path}?${new URLSearchParams(query).toString()}`, headers)
    return { status, body: body as { data: unknown; error: { code: string; fields: unknown } } }
  }
  return {
    phones,
    addresses,
    accounts,
    shareToken: shareTokenOf(keys, application_id),
    validate: async (query: Record<string, string>, headers?: Record<string, string>) =>
      ask('customers/validate_phone', query, headers),
    lookUp: async (postcode: string) => ask('addresses/lookup', { postcode }),
    ask,
    [Symbol.asyncDispose]: async () => {
      await served[Symbol.asyncDispose]()
      await Promise.all([phones.close(), addresses.close(), outside.close()])
      await database[Symbol.asyncDispose]()
    },
  }
}

let fixture: Awaited<ReturnType<typeof open>>
beforeAll(async () => {
  fixture = await open()
  fixture.accounts.set('twilio_lookup', { base_url: fixture.phones.url, account: 'AC1', secret: 'token' })
})
afterAll(() => fixture[Symbol.asyncDispose]())

const phone = (lastTwo: string) => `020 7183 87${lastTwo}`
const normalised = (lastTwo: string) => `+4420718387${lastTwo}`

describe('GET /api/v1/customers/validate_phone', () => {
  test.each([
    ['50', { valid: true, normalised: normalised('50') }],
    ['91', { valid: false, reason: 'invalid_number' }],
    ['92', { valid: true, normalised: normalised('92') }],
    ['93', { valid: true, normalised: normalised('93') }],
    ['94', { valid: false, reason: 'invalid_number' }],
    ['95', { valid: true, normalised: normalised('95'), reason: 'lookup_unavailable' }],
    ['96', { valid: true, normalised: normalised('96'), reason: 'lookup_unavailable' }],
  ])('200: a number that ends in %s', async (lastTwo, data) => {
    const { status, body } = await fixture.validate({ phone: phone(lastTwo) })
    expect(status).toBe(200)
    expect(body).toEqual({ data })
  })

  test.each([
    ['', 'blank'],
    ['call me', 'format_invalid'],
    ['020 71', 'too_short'],
    ['020 7183 8750 1234 5678', 'too_long'],
    ['01111 111111', 'invalid_number'],
    ['020 7946 0123', 'drama_number'],
  ])('200: %j is %s, and nobody is asked about it', async (sent, reason) => {
    const before = fixture.phones.requests.length
    const { body } = await fixture.validate({ phone: sent })
    expect(body.data).toEqual({ valid: false, reason })
    expect(fixture.phones.requests.length).toBe(before)
  })

  test('422 validation_failed: no phone', async () => {
    const { status, body } = await fixture.validate({})
    expect(status).toBe(422)
    expect(body.error).toMatchObject({ code: 'validation_failed', fields: { phone: 'required' } })
  })

  describe('with an application the settings of its presentation apply', () => {
    const rejected = { valid: false, reason: 'invalid_number' }
    const accepted = { valid: true, normalised: normalised('92') }
    const query = { phone: phone('92'), application_id }

    test('a number that is switched off is invalid where the presentation says so', async () => {
      expect((await fixture.validate(query)).body.data).toEqual(rejected)
    })
    test('nobody is asked where the presentation wants no check', async () => {
      const { body } = await fixture.validate({ phone: phone('91'), application_id: uncheckedId })
      expect(body.data).toEqual({ valid: true, normalised: normalised('91') })
    })
    test('from a browser application only with its share token', async () => {
      const browser = { 'x-caller': 'browser' }
      expect((await fixture.validate(query, browser)).body.data).toEqual(accepted)
      const proven = { ...browser, 'x-share-token': fixture.shareToken }
      expect((await fixture.validate(query, proven)).body.data).toEqual(rejected)
    })
    test.each(['b0000000-0000-4000-8000-000000000009', 'nonsense'])(
      'one that is unknown is ignored: %s',
      async (id) => {
        expect((await fixture.validate({ ...query, application_id: id })).body.data).toEqual(accepted)
      },
    )
  })

  test('200: without an account the number is accepted', async () => {
    const account = fixture.accounts.get('twilio_lookup')
    fixture.accounts.delete('twilio_lookup')
    const { body } = await fixture.validate({ phone: phone('50') })
    if (account) fixture.accounts.set('twilio_lookup', account)
    expect(body.data).toEqual({ valid: true, normalised: normalised('50'), reason: 'lookup_unavailable' })
  })
})

describe('GET /api/v1/addresses/lookup', () => {
  const nothing = { addresses: [], valid: false, town: null }
  const ideal = () =>
    fixture.accounts.set('ideal_postcodes', { base_url: fixture.addresses.url, account: null, secret: 'k' })
  const places = () =>
    fixture.accounts.set('os_places', { base_url: fixture.addresses.url, account: null, secret: 'k' })

  afterEach(() => {
    fixture.accounts.delete('ideal_postcodes')
    fixture.accounts.delete('os_places')
    fixture.addresses.misbehave(undefined)
  })

  test('200: the addresses at a postcode, with or without its space', async () => {
    ideal()
    const { status, body } = await fixture.lookUp(' st11aa')
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ valid: true, town: 'Stoke-on-Trent' })
    expect((body.data as { addresses: unknown[] }).addresses[1]).toEqual({
      address_line1: '2 POTTERY LANE',
      address_line2: 'HANLEY',
      city: 'Stoke-on-Trent',
      postal_code: 'ST1 1AA',
      country: 'United Kingdom',
    })
  })

  test('200: of OS Places the lines are made from the parts', async () => {
    places()
    const { body } = await fixture.lookUp('M1 1AE')
    expect((body.data as { addresses: unknown[] }).addresses[2]).toEqual({
      address_line1: 'Flat 3',
      address_line2: 'Imperial Mill, Ducie Street',
      city: 'Manchester',
      postal_code: 'M1 1AE',
      country: 'United Kingdom',
    })
  })

  test('200: a hundred addresses are all there', async () => {
    ideal()
    const { body } = await fixture.lookUp('CF10 1EP')
    expect((body.data as { addresses: unknown[] }).addresses).toHaveLength(100)
  })

  test('200: a postcode is asked for once', async () => {
    ideal()
    const first = await fixture.lookUp('LS1 4AP')
    const asked = fixture.addresses.requests.length
    expect((await fixture.lookUp('ls14ap')).body).toEqual(first.body)
    expect(fixture.addresses.requests.length).toBe(asked)
  })

  test.each(['nonsense', 'GIR 0AA x', ''])('200: %j is no postcode, and nobody is asked', async (postcode) => {
    ideal()
    const asked = fixture.addresses.requests.length
    expect((await fixture.lookUp(postcode)).body.data).toEqual(nothing)
    expect(fixture.addresses.requests.length).toBe(asked)
  })

  test('200: a postcode that nobody knows has no addresses', async () => {
    ideal()
    expect((await fixture.lookUp('ZZ99 9ZZ')).body.data).toEqual(nothing)
  })

  test.each([
    ['a balance that is used up', 'ZZ1 1AA'],
    ['an outage', 'ZZ1 1AB'],
    ['no answer in time', 'ZZ1 1AD'],
  ])('200: %s gives no addresses', async (_what, postcode) => {
    ideal()
    const { status, body } = await fixture.lookUp(postcode)
    expect(status).toBe(200)
    expect(body.data).toEqual(nothing)
  })

  test('200: an outage is not remembered', async () => {
    ideal()
    fixture.addresses.misbehave(() => ({ status: 503, body: {} }))
    expect((await fixture.lookUp('EH1 1YZ')).body.data).toEqual(nothing)
    fixture.addresses.misbehave(undefined)
    expect((await fixture.lookUp('EH1 1YZ')).body.data).toMatchObject({ valid: true, town: 'Edinburgh' })
  })

  test('200: where the first provider cannot be asked, the second is', async () => {
    ideal()
    places()
    fixture.addresses.misbehave(({ url }) => (url.pathname.startsWith('/v1/') ? { status: 503, body: {} } : undefined))
    expect((await fixture.lookUp('BT1 5GS')).body.data).toMatchObject({ valid: true, town: 'Belfast' })
  })

  const ofIdeal = { line_1: '1 Park Row', line_2: '', line_3: '', post_town: 'LEEDS', postcode: 'LS1 4AQ' }
  const ofOs = { DPA: { BUILDING_NUMBER: '1', THOROUGHFARE_NAME: 'PARK ROW', POST_TOWN: 'LEEDS', POSTCODE: 'LS1 4AR' } }
  test.each([
    ['Ideal Postcodes', 'LS1 4AQ', ideal, { code: 2000, result: [{ ...ofIdeal, post_town: null }, ofIdeal, 7] }],
    ['OS Places', 'LS1 4AR', places, { results: [{ DPA: { ...ofOs.DPA, POST_TOWN: null } }, ofOs, { LPI: {} }] }],
  ])('200: an address of %s that cannot be read is left out alone', async (_provider, postcode, account, answer) => {
    account()
    fixture.addresses.misbehave(() => ({ status: 200, body: answer }))
    expect((await fixture.lookUp(postcode)).body.data).toMatchObject({
      valid: true,
      town: 'Leeds',
      addresses: [{ address_line1: '1 Park Row', postal_code: postcode }],
    })
  })

  test('200: where none of them can be read, the second provider is asked', async () => {
    ideal()
    places()
    fixture.addresses.misbehave(({ url }) =>
      url.pathname.startsWith('/v1/') ? { status: 200, body: { code: 2000, result: [{}] } } : undefined,
    )
    expect((await fixture.lookUp('SW1A 2AA')).body.data).toMatchObject({ valid: true, town: 'London' })
  })

  test('200: without an account there are no addresses', async () => {
    expect((await fixture.lookUp('PE30 1AA')).body.data).toEqual(nothing)
  })

  test('422 validation_failed: no postcode', async () => {
    const { status, body } = await fixture.ask('addresses/lookup', {})
    expect(status).toBe(422)
    expect(body.error).toMatchObject({ code: 'validation_failed', fields: { postcode: 'required' } })
  })
})
