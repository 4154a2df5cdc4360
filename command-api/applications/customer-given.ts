import { randomUUID } from 'node:crypto'
import type { CustomerGiven } from '#domain/applications/save-customer.ts'
import type { CustomerDetails } from '#domain/customers/events.ts'
import { CustomerId, type OrganisationId } from '#domain/values.ts'
import type { Caller } from '#infra/http/route.ts'
import { readCustomer } from '../customer-input.ts'
import type { Context } from '../writing/handle.ts'

type Email = { readonly organisation_id: OrganisationId; readonly kind: 'email'; readonly value: string }

/** The details in a person's own record, and when it last changed. */
export type PersonKnown = { readonly known: CustomerDetails; readonly known_at: string }

const nothing = { known: undefined, known_at: undefined }

/** The people of the organisations, as applications know them by their email addresses. */
export type People = {
  readonly find: (email: Email) => Promise<CustomerId | undefined>
  /** Assigns the email address to a person, unless it is another's already. Returns the person who has it. */
  readonly claim: (email: Email, person: CustomerId, context: Context) => Promise<CustomerId>
  readonly known: (person: CustomerId) => Promise<PersonKnown | undefined>
}

/** Random, without a time: who sends an email address gets the id, and must not learn since when it is known. */
export const newPersonId = (): CustomerId => CustomerId.parse(randomUUID())

type Facts = {
  readonly caller: Caller
  readonly today: string
  /** The customer that the application already has. */
  readonly held: { readonly id: CustomerId; readonly email: string | null; readonly country: string | null } | null
  /** Details given before there was a customer: with an email address, it names them. */
  readonly soft?: Pick<CustomerDetails, 'email' | 'country'> | null
}

export type PersonRead = {
  readonly given: CustomerGiven
  /** The email address that was sent, if no person has it yet. */
  readonly unclaimed: Email | undefined
}

/** The details that a request sent of a person, tidied, with what the caller may know of the person they name. */
export const readPerson = async (
  sent: Readonly<Record<string, unknown>>,
  { caller, today, held, soft }: Facts,
  people: People,
): Promise<PersonRead> => {
  const { details: told, refused } = readCustomer(sent, { today, country: (held ?? soft)?.country ?? null })
  const early = held || refused['email'] !== undefined ? null : soft?.email
  const details = told.email === undefined && early ? { ...told, email: early } : told
  const { email } = details
  if (typeof email !== 'string' || email === held?.email) {
    const known = (caller.kind === 'server' && held ? await people.known(held.id) : undefined) ?? nothing
    // Without an email address it is the person whom the application names when the command is handled.
    const customer_id = email === held?.email ? held?.id : undefined
    return { given: { details, refused, customer_id, ...known }, unclaimed: undefined }
  }
  const identity: Email = { organisation_id: caller.organisation_id, kind: 'email', value: email }
  const found = await people.find(identity)
  const known = (caller.kind === 'server' && found ? await people.known(found) : undefined) ?? nothing
  const customer_id = found ?? (held?.email === null ? held.id : newPersonId())
  return { given: { details, refused, customer_id, ...known }, unclaimed: found ? undefined : identity }
}

type Claiming = {
  readonly people: People
  readonly context: Context
  /** True where a command with these details would be accepted: refused details claim no email address. */
  readonly isAccepted: (given: CustomerGiven) => boolean
}

/** The details with the person to whom the email address now belongs. Of two who claim it at once, one is that person. */
export const claimEmail = async (
  { given, unclaimed }: PersonRead,
  { people, context, isAccepted }: Claiming,
): Promise<CustomerGiven> =>
  unclaimed && given.customer_id && isAccepted(given)
    ? { ...given, customer_id: await people.claim(unclaimed, given.customer_id, context) }
    : given
