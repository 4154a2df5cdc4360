import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { Application } from '#domain/applications/record.ts'
import type { CustomerGiven } from '#domain/applications/save-customer.ts'
import { canStart, unprovenReplay, type StartApplication } from '#domain/applications/start.ts'
import type { ApplicationState } from '#domain/applications/state.ts'
import { ApplicationId, type ApiApplicationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { route, write, type RequestFacts, type Route } from '#infra/http/route.ts'
import { NewCustomerInput, notKept } from '../customer-input.ts'
import { IdempotencyKey, keyInHeader } from '../idempotency-key.ts'
import { ProvenanceInput } from '../provenance-input.ts'
import type { Context } from '../writing/handle.ts'
import type { Applications } from './applications.ts'
import { claimEmail, readPerson, type People } from './customer-given.ts'
import { AnswersInput, ConsentAnswersInput } from './inputs.ts'

const RequiredSlug = z.string().min(1, 'required')

const StartRequest = z.object({
  product_slug: RequiredSlug,
  journey_slug: RequiredSlug,
  presentation_slug: z.string().nullish().describe('Left out, or unknown: the default presentation.'),
  answers: AnswersInput.nullish(),
  customer: NewCustomerInput.nullish().describe('Needs at least first name, last name and email address.'),
  consent_answers: ConsentAnswersInput.nullish(),
  provenance: ProvenanceInput,
  idempotency_key: IdempotencyKey.nullish().describe('For clients that cannot set headers; Idempotency-Key wins.'),
  replaces_idempotency_key: IdempotencyKey.nullish().describe('The key of an earlier request that was never answered.'),
  outreach_landing: z
    .unknown()
    .optional()
    .describe('Text: the token of an outreach link. Whatever else is sent is ignored.'),
})

const Answer = z.object({ data: Application })

/** "No such stream yet" is what makes a key start one application, however many requests race. */
const idFor = (api_application_id: ApiApplicationId, key: string): ApplicationId =>
  derivedId('application', api_application_id, key) as ApplicationId

const KeyInBody = z.object({ idempotency_key: IdempotencyKey.nullish() })

/** The key of a request that may have nothing else that can be used; undefined when it has none either. */
const keyIfAny = (facts: RequestFacts, body: unknown): string | undefined => {
  const inHeader = IdempotencyKey.safeParse(facts.header('idempotency-key')?.trim())
  const inBody = KeyInBody.safeParse(body)
  return (inHeader.success && inHeader.data) || (inBody.success && inBody.data.idempotency_key) || undefined
}

const keyOf = (facts: RequestFacts, inBody: string | null | undefined): string =>
  [keyInHeader(facts), inBody].find((key) => key !== undefined && key !== null && key !== '') ?? uuidv7()

const landingToken = (sent: unknown): string | null =>
  typeof sent === 'string' && /^[\w.~-]{1,500}$/.test(sent) ? sent : null

type Deps = { readonly applications: Applications; readonly people: People }

export const startRoute = ({ applications, people }: Deps): Route => {
  const { handle, load, catalogue, organisationOf, contextOf, todayOf, answer } = applications

  /** Comes after the start, so that there is one application at every moment; a repeated start tries it again. */
  const giveUp = async (id: ApplicationId, { record }: ApplicationState, context: Context): Promise<void> => {
    await handle(id, { type: 'SupersedeApplication', by: record, now: context.now }, context)
  }

  return route(
    {
      method: 'post',
      address: '/api/v1/applications',
      tag: 'Applications',
      summary: 'Start an application; the same key again finds the one that it started',
      access: { kind: 'application', scopes: write, serverOnly: false },
      headers: {
        'Idempotency-Key': 'Starts one application however often it is sent; generated when none is.',
        'X-Share-Token': 'From a browser application that repeats a request: the share token of its first answer.',
      },
      body: StartRequest,
      example: { body: { product_slug: 'term-life', journey_slug: 'standard' } },
      answers: { 200: Answer, 201: Answer },
      errors: ['not_found', 'idempotency_key_conflict', 'idempotency_replay_unproven', 'customer_invalid'],
    },
    async ({ body, caller, ...facts }) => {
      const { organisation_id, api_application_id } = caller
      const { product_slug, journey_slug, presentation_slug, answers, customer, consent_answers, provenance } = body
      const idempotency_key = keyOf(facts, body.idempotency_key)
      const application_id = idFor(api_application_id, idempotency_key)
      const today = todayOf(caller, facts)
      const context = contextOf(caller, facts)
      const command: StartApplication = {
        type: 'StartApplication',
        application_id,
        organisation_id,
        api_application_id,
        idempotency_key,
        caller: caller.kind,
        is_proven: facts.isProven(application_id),
        asked_for: { product_slug, journey_slug, presentation_slug: presentation_slug ?? null },
        product: catalogue.current(organisation_id, product_slug),
        stripe_test_mode: organisationOf(organisation_id).stripe_test_mode,
        answers: answers ?? undefined,
        customer: undefined,
        consent_answers: consent_answers ?? undefined,
        provenance,
        outreach_landing: landingToken(body.outreach_landing),
        today,
      }
      const read = customer ? await readPerson(customer, { caller, today, held: null }, people) : undefined
      const isAccepted = (given: CustomerGiven) => canStart({ ...command, customer: given })
      const given = read && (await claimEmail(read, { people, context, isAccepted }))
      const { state, events } = await handle(application_id, { ...command, customer: given }, context)
      if (!state) throw new Error(`Application ${application_id} was not started.`)
      const { replaces_idempotency_key: replaced } = body
      if (replaced) await giveUp(idFor(api_application_id, replaced), state, context)

      const isFirst = events.length > 0
      const ignored = customer ? notKept('customer', customer) : []
      return { status: isFirst ? 201 : 200, body: { data: await answer(state, caller, isFirst) }, ignored }
    },
    // A web page that does not prove that the application is its own gets the same refusal for any request.
    async ({ body, caller, ...facts }) => {
      const key = caller.kind === 'browser' ? keyIfAny(facts, body) : undefined
      if (key === undefined) return
      const id = idFor(caller.api_application_id, key)
      if (!facts.isProven(id) && (await load(id))) throw unprovenReplay()
    },
  )
}
