import { z } from 'zod'
import { VerifiableDetail } from '#domain/customers/events.ts'
import { isVerified, type Customer } from '#domain/customers/record.ts'
import { detailNames } from '#domain/customers/verification.ts'
import { Rejection, notFound } from '#domain/rejection.ts'
import { findableText } from '#domain/invisible-characters.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { verificationAskedBy, verificationTokenOf } from '#infra/crypto/verification-tokens.ts'
import { FileBody, route, type Route } from '#infra/http/route.ts'
import { teamContext, teamRoute, type Organisations } from '../operator.ts'
import { answered, escaped, form, publicPage } from '../public-page.ts'
import type { makePeople } from './people.ts'
import { realTime as databaseTime } from '#infra/clock.ts'

type Deps = {
  readonly people: Pick<ReturnType<typeof makePeople>, 'handle' | 'record'>
  readonly directory: Organisations
  readonly keys: Pick<Keys, 'links'>
  readonly baseUrl: string
  readonly realTime?: () => Date
}

const pageAddress = '/people/verification'
const linkLivesDays = 7

const path = z.object({ organisation_id: OrganisationId, contact_id: CustomerId })
const person = '/admin/v1/organisations/:organisation_id/people/:contact_id'

const Verification = z
  .object({ contact_id: CustomerId, email_verified: z.boolean(), phone_verified: z.boolean() })
  .meta({ id: 'Verification' })

/** Confirms that a detail is a person's: by the team, or by the person, with a link that was sent there. */
export const verificationRoutes = ({ people, directory, keys, baseUrl, realTime = databaseTime }: Deps): Route[] => {
  const existing = async (organisation_id: OrganisationId, contact_id: CustomerId): Promise<Customer> => {
    const record = await people.record(organisation_id, contact_id)
    if (!record) throw notFound('person')
    return record
  }

  /** The person and the detail that a link is about, as long as it works. */
  const found = async (token: string | undefined) => {
    const asked = token === undefined ? undefined : verificationAskedBy(keys, token)
    const { data } = path.safeParse(asked)
    if (!asked || !data || asked.expires_at <= realTime()) return undefined
    const record = await people.record(data.organisation_id, data.contact_id)
    const value = record?.[asked.detail]
    if (!record || typeof value !== 'string' || value === '' || !asked.isFor(value)) return undefined
    const firm = directory.organisations.get(data.organisation_id)?.name ?? 'the firm'
    return { ...data, detail: asked.detail, value, firm }
  }

  return [
    route(
      {
        ...teamRoute('leads', 'policies'),
        method: 'post',
        address: `${person}/verification`,
        summary: 'Record that the email address or telephone number of a person is theirs, or take that back',
        path,
        body: z.object({
          detail: VerifiableDetail,
          verified: z.boolean().default(true).describe('false takes back what was confirmed.'),
          value: z
            .string()
            .overwrite(findableText)
            .min(1)
            .max(254)
            .optional()
            .describe('The address or number, as the person’s record has it. Needed to confirm it.'),
          method: z.string().trim().min(1).max(200).describe('How the team knows, for example `called back`.'),
        }),
        answers: { 200: z.object({ data: Verification }) },
      },
      async ({ path: { organisation_id, contact_id }, body, ...facts }) => {
        await existing(organisation_id, contact_id)
        const { detail, method, verified, value } = body
        const said = { detail, method, source: { type: 'operator' as const, id: null } }
        if (verified && value === undefined)
          throw new Rejection('validation_failed', `Say which ${detailNames[detail]} is confirmed.`, {
            value: 'required',
          })
        await people.handle(
          contact_id,
          verified && value !== undefined
            ? { type: 'VerifyDetail', ...said, value: detail === 'email' ? value.toLowerCase() : value }
            : { type: 'WithdrawVerification', ...said },
          teamContext(organisation_id, facts),
        )
        const record = await existing(organisation_id, contact_id)
        const data = {
          contact_id,
          email_verified: isVerified(record, 'email'),
          phone_verified: isVerified(record, 'phone_number'),
        }
        return { status: 200, body: { data } }
      },
    ),
    route(
      {
        ...teamRoute('leads', 'policies'),
        method: 'post',
        address: `${person}/verification_links`,
        summary:
          'Make a link by which a person confirms an address or number that is theirs. Send it there, and nowhere else',
        path,
        body: z.object({ detail: VerifiableDetail }),
        answers: {
          201: z.object({
            data: z.object({
              contact_id: CustomerId,
              detail: VerifiableDetail,
              url: z.url(),
              expires_at: z.iso.datetime(),
            }),
          }),
        },
      },
      async ({ path: { organisation_id, contact_id }, body: { detail } }) => {
        const { [detail]: value } = await existing(organisation_id, contact_id)
        if (value === null)
          throw new Rejection('validation_failed', `The person has no ${detailNames[detail]}.`, {
            detail: 'is not known of the person',
          })
        const expires_at = new Date(realTime().getTime() + linkLivesDays * 86_400_000)
        const token = verificationTokenOf(keys, { organisation_id, contact_id, detail, expires_at }, value)
        const url = `${baseUrl}${pageAddress}?t=${token}`
        return { status: 201, body: { data: { contact_id, detail, url, expires_at: expires_at.toISOString() } } }
      },
    ),
    route(
      {
        ...publicPage,
        tag: 'People',
        method: 'get',
        address: pageAddress,
        summary:
          'The page on which a person confirms what is theirs. Looking at it changes nothing: programs look, too',
        answers: { 200: FileBody },
      },
      async ({ query: { t } }) => {
        const link = await found(t)
        if (!link) return unknownLink()
        const what = `${detailNames[link.detail]} ${link.value}`
        return answered(
          'Is this yours?',
          `<p>${escaped(link.firm)} asks you to confirm that the ${escaped(what)} is yours.</p>
<form method="post" action="${pageAddress}?t=${escaped(t ?? '')}"><button>Yes, it is mine</button></form>`,
        )
      },
    ),
    route(
      {
        ...publicPage,
        tag: 'People',
        method: 'post',
        address: pageAddress,
        summary: 'Confirm what is theirs. Again, it changes nothing',
        textBody: form,
        answers: { 200: FileBody },
      },
      async ({ query: { t }, request_id, now }) => {
        const link = await found(t)
        if (!link) return unknownLink()
        const { organisation_id, contact_id, detail, value, firm } = link
        const said = { detail, value, method: 'verification link', source: { type: 'link' as const, id: null } }
        await people.handle(
          contact_id,
          { type: 'VerifyDetail', ...said },
          { organisation_id, actor: { type: 'system', id: 'link' }, correlation_id: request_id, now },
        )
        return answered('Thank you', `<p>${escaped(firm)} knows now that this is yours.</p>`)
      },
    ),
  ]
}

const unknownLink = () =>
  answered(
    'This link does not work',
    '<p>Use the whole link of the message that you received, or ask for a new one.</p>',
  )
