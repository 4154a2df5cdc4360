import { z } from 'zod'
import { ComponentInput } from '#domain/applications/cover.ts'
import { application } from '#domain/applications/application.ts'
import { Application } from '#domain/applications/record.ts'
import type { CustomerGiven, SaveCustomer } from '#domain/applications/save-customer.ts'
import type { SavePartner } from '#domain/applications/save-partner.ts'
import type { ApplicationState } from '#domain/applications/state.ts'
import { ApplicationId, Pence } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import { AnyCustomerInput, notKept, readCustomer } from '../customer-input.ts'
import { accessToApplication as access, type Applications } from './applications.ts'
import { claimEmail, newPersonId, readPerson, type People } from './customer-given.ts'
import { ProvenanceInput } from '../provenance-input.ts'
import { AnswersInput, ConsentAnswersInput, MarketingAnswersInput } from './inputs.ts'

const tag = 'Applications'
const path = z.object({ id: ApplicationId })
const answers = { 200: z.object({ data: Application }) }

const SaveRequest = z
  .object({
    answers: AnswersInput.optional(),
    cover_amount_pence: Pence.nullish().describe('For a monthly benefit, the yearly amount.'),
    term_years: z.int().nullish(),
    components: z
      .array(ComponentInput)
      .max(50)
      .optional()
      .describe('Figures of single covers. What is not given falls back to those of the application.'),
    provenance: ProvenanceInput,
  })
  .refine((body) => Object.values(body).some((part) => part !== undefined), {
    error: 'must have at least one of answers, cover_amount_pence, term_years, components and provenance',
  })
  .meta({
    anyOf: ['answers', 'cover_amount_pence', 'term_years', 'components', 'provenance'].map((name) => ({
      required: [name],
    })),
  })

const CustomerRequest = z.object({
  customer: AnyCustomerInput.describe('Merged over what the application holds.'),
  consent_answers: ConsentAnswersInput.optional(),
  marketing_answers: MarketingAnswersInput.optional(),
  provenance: ProvenanceInput,
})

type Deps = { readonly applications: Applications; readonly people: People }

const PartnerRequest = z.object({
  partner: AnyCustomerInput.describe(
    'The second person; merged over what the application holds. Needs first name, last name and date of birth.',
  ),
  answers: AnswersInput.optional(),
})

const SoftCustomerRequest = z.object({
  customer: AnyCustomerInput.describe('Any details; merged over those told before.'),
})

const InterstitialRequest = z.object({
  choice_key: z.string().min(1, 'required').describe('The key of the option.'),
  stage_key: z.string().nullish().describe('The key of the stage.'),
  stage_position: z.int().nullish().describe('The position of the stage, when no key is sent.'),
})

const isThere = (state: ApplicationState | undefined): ApplicationState => {
  if (!state) throw new Error('An application that was found no longer exists.')
  return state
}

export const saveRoutes = ({ applications, people }: Deps): Route[] => {
  const { handle, find, findFixed, releaseOf, contextOf, todayOf, answer } = applications

  return [
    route(
      {
        method: 'patch',
        address: '/api/v1/applications/:id',
        tag,
        summary: 'Save answers and cover',
        access,
        path,
        body: SaveRequest,
        example: { body: { answers: { smoker: 'no' }, cover_amount_pence: 25_000_000, term_years: 25 } },
        answers,
        errors: ['application_closed'],
      },
      async ({ path: { id }, body, caller, ...facts }) => {
        const fixed = await findFixed(id, caller)
        const { state } = await handle(
          id,
          {
            type: 'SaveApplication',
            release: await releaseOf(fixed),
            answers: body.answers,
            cover_amount_pence: body.cover_amount_pence,
            term_years: body.term_years,
            components: body.components,
            provenance: body.provenance,
            today: todayOf(caller, facts),
            now: facts.now,
          },
          contextOf(caller, facts),
        )
        return { status: 200, body: { data: await answer(isThere(state), caller) } }
      },
    ),

    route(
      {
        method: 'patch',
        address: '/api/v1/applications/:id/customer',
        tag,
        summary: 'Save the customer',
        access,
        path,
        body: CustomerRequest,
        example: {
          body: {
            customer: { first_name: 'Grace', last_name: 'Okafor', email: 'grace@example.com', dob: '1992-03-10' },
          },
        },
        answers,
        errors: ['application_closed', 'customer_invalid'],
      },
      async ({ path: { id }, body, caller, ...facts }) => {
        const before = await find(id, caller)
        const { customer: held, soft_customer: soft } = before.record
        const context = contextOf(caller, facts)
        const release = await releaseOf(before.record)
        const commandWith = (customer: CustomerGiven): SaveCustomer => ({
          type: 'SaveCustomer',
          caller: caller.kind,
          release,
          customer,
          consent_answers: body.consent_answers,
          marketing_answers: body.marketing_answers,
          provenance: body.provenance,
        })
        const read = await readPerson(body.customer, { caller, today: todayOf(caller, facts), held, soft }, people)
        const isAccepted = (given: CustomerGiven) => application.decide(commandWith(given), before).length > 0
        const given = await claimEmail(read, { people, context, isAccepted })
        const { state } = await handle(id, commandWith(given), context)
        const ignored = notKept('customer', body.customer)
        return { status: 200, body: { data: await answer(isThere(state), caller) }, ignored }
      },
    ),

    route(
      {
        method: 'patch',
        address: '/api/v1/applications/:id/soft_customer',
        tag,
        summary: 'Save early details, which make nobody a customer; an application that has ended stays as it is',
        access,
        path,
        body: SoftCustomerRequest,
        example: { body: { customer: { first_name: 'Grace', postal_code: 'SW1A 1AA' } } },
        answers,
      },
      async ({ path: { id }, body, caller, ...facts }) => {
        const { record } = await find(id, caller)
        const facing = { today: todayOf(caller, facts), country: record.soft_customer?.country ?? null }
        const { details, refused } = readCustomer(body.customer, facing)
        const command = { type: 'SaveSoftCustomer', caller: caller.kind, details, refused } as const
        const { state } = await handle(id, command, contextOf(caller, facts))
        const ignored = notKept('customer', body.customer)
        return { status: 200, body: { data: await answer(isThere(state), caller) }, ignored }
      },
    ),

    route(
      {
        method: 'patch',
        address: '/api/v1/applications/:id/interstitial_choice',
        tag,
        summary: 'Record the option chosen on an interstitial stage; an application that has ended stays as it is',
        access,
        path,
        body: InterstitialRequest,
        example: { body: { choice_key: 'start', stage_key: 'fork' } },
        answers,
      },
      async ({ path: { id }, body, caller, ...facts }) => {
        const fixed = await findFixed(id, caller)
        const { choice_key, stage_key, stage_position } = body
        const command = {
          type: 'ChooseInterstitial',
          release: await releaseOf(fixed),
          choice_key,
          stage_key: stage_key ?? undefined,
          stage_position: stage_position ?? undefined,
        } as const
        const { state } = await handle(id, command, contextOf(caller, facts))
        return { status: 200, body: { data: await answer(isThere(state), caller) } }
      },
    ),

    route(
      {
        method: 'patch',
        address: '/api/v1/applications/:id/partner',
        tag,
        summary: 'Save the second person of joint cover, with their own answers',
        access,
        path,
        body: PartnerRequest,
        answers,
        errors: ['application_closed', 'not_joint_basis', 'partner_invalid'],
      },
      async ({ path: { id }, body, caller, ...facts }) => {
        const before = await find(id, caller)
        const held = before.record.partner
        const context = contextOf(caller, facts)
        const today = todayOf(caller, facts)
        const release = await releaseOf(before.record)
        const new_person_id = newPersonId()
        const commandWith = (partner: CustomerGiven): SavePartner => ({
          type: 'SavePartner',
          caller: caller.kind,
          release,
          partner,
          new_person_id,
          answers: body.answers,
          today,
          now: facts.now,
        })
        const read = await readPerson(body.partner, { caller, today, held }, people)
        const isAccepted = (given: CustomerGiven) => application.decide(commandWith(given), before).length > 0
        const given = await claimEmail(read, { people, context, isAccepted })
        const { state } = await handle(id, commandWith(given), context)
        const ignored = notKept('partner', body.partner)
        return { status: 200, body: { data: await answer(isThere(state), caller) }, ignored }
      },
    ),
  ]
}
