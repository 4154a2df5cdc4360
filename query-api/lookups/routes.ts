import { z } from 'zod'
import type { OpenAccount } from '#domain/provider-accounts/record.ts'
import { ApplicationId } from '#domain/values.ts'
import { Problem } from '#infra/http/problem.ts'
import { readOrWrite, route, type Caller, type RequestFacts, type Route } from '#infra/http/route.ts'
import { anyText } from '#infra/http/unusable-texts.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { makeAddressLookup, type AddressProviders } from './address-lookup.ts'
import { boundedCalls } from '#infra/bounded-calls.ts'
import { defaultSettings, makePhoneCheck, PhoneCheck, settingsReader, type LookUpLine } from './phone-check.ts'

/** Look-ups by outside parties. */
export type LookupProviders = AddressProviders & {
  readonly openAccount: OpenAccount
  readonly twilio_lookup: LookUpLine
}

type Deps = { readonly db: Database; readonly lookups: LookupProviders }

const access = { kind: 'application', scopes: readOrWrite, serverOnly: false } as const
const headers = { 'X-Share-Token': 'From a browser application that names an application_id: its share token.' }
const applicationId = anyText(
  z.string().optional().describe('One that is unknown, or is not the caller’s, is ignored.'),
)

const AddressLookup = z.object({
  addresses: z.array(
    z.object({
      address_line1: z.string(),
      address_line2: z.string().describe('Further lines joined by commas; empty when there are none.'),
      city: z.string().describe('The post town.'),
      postal_code: z.string().describe('With its space.'),
      country: z.string(),
    }),
  ),
  valid: z.boolean().describe('Whether the postcode has at least one address.'),
  town: z.string().nullable(),
})

const required = (name: string) =>
  new Problem('validation_failed', `Send ${name} as a query parameter.`, { fields: { [name]: 'required' } })

/** Telephone numbers and postcodes, looked up with the organisation's own accounts. */
export const lookupRoutes = ({ db, lookups: { openAccount, twilio_lookup, ...providers } }: Deps): Route[] => {
  const calls = boundedCalls({ all: 200, each: 20 })
  const checkPhone = makePhoneCheck({ openAccount, lookUpLine: twilio_lookup, calls })
  const lookUpAddresses = makeAddressLookup({ openAccount, providers, calls })

  const readSettings = settingsReader(db)

  const settingsFor = async (
    { caller, isProven }: Pick<RequestFacts, 'isProven'> & { readonly caller: Caller },
    sent: string | undefined,
  ) => {
    const id = ApplicationId.safeParse(sent).data
    const isOwn = id !== undefined && (caller.kind === 'server' || isProven(id))
    return (isOwn && (await readSettings(caller.organisation_id, id))) || defaultSettings
  }

  return [
    route(
      {
        method: 'get',
        address: '/api/v1/customers/validate_phone',
        tag: 'Lookups',
        summary: 'Check a telephone number; one that cannot be looked up at the moment is accepted',
        access,
        headers,
        query: z.object({
          phone: anyText(
            z
              .string()
              .optional()
              .meta({
                description: 'Without a country code: a number of the United Kingdom.',
                param: { required: true },
              }),
          ),
          application_id: applicationId,
        }),
        example: { query: { phone: '020 7183 8750' } },
        answers: { 200: z.object({ data: PhoneCheck }) },
        errors: ['validation_failed'],
      },
      async ({ query: { phone, application_id }, ...request }) => {
        if (phone === undefined) throw required('phone')
        const settings = await settingsFor(request, application_id)
        return { status: 200, body: { data: await checkPhone(request.caller.organisation_id, phone, settings) } }
      },
    ),
    route(
      {
        method: 'get',
        address: '/api/v1/addresses/lookup',
        tag: 'Lookups',
        summary: 'Find the addresses at a postcode; none when it is not known or cannot be looked up',
        access,
        headers,
        query: z.object({
          postcode: anyText(
            z
              .string()
              .optional()
              .meta({ description: 'With or without its space.', param: { required: true } }),
          ),
          application_id: applicationId,
        }),
        example: { query: { postcode: 'ID1 1QD' } },
        answers: { 200: z.object({ data: AddressLookup }) },
        errors: ['validation_failed'],
      },
      async ({ query: { postcode }, caller }) => {
        if (postcode === undefined) throw required('postcode')
        const addresses = await lookUpAddresses(caller.organisation_id, postcode)
        const data = { addresses: [...addresses], valid: addresses.length > 0, town: addresses[0]?.city ?? null }
        return { status: 200, body: { data } }
      },
    ),
  ]
}
