import { z } from 'zod'
import { JointBasis } from '../catalogue/events.ts'
import { CustomerDetails } from '../customers/events.ts'
import { Loading } from '../rating/events.ts'
import { event, personal, type EventOf, type Json } from '../event.ts'
import {
  ApiApplicationId,
  ApplicationId,
  CalendarDate,
  CoverId,
  CoverType,
  CustomerId,
  JourneyId,
  OrganisationId,
  Pence,
  PolicyId,
  PresentationId,
  ProductId,
  Provenance,
  ReleaseId,
} from '../values.ts'

export const Answer = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])
export type Answer = z.infer<typeof Answer>

export const Answers = z.record(z.string(), Answer)
export type Answers = Readonly<z.infer<typeof Answers>>

/** The figures of one cover; what is null falls back to the application's own. */
export const ComponentChoice = z.object({
  cover_id: CoverId,
  cover_amount_pence: Pence.nullable(),
  term_years: z.int().nullable(),
  /** The customer wants this cover; null: not said. */
  selected: z.boolean().nullable(),
})
export type ComponentChoice = z.infer<typeof ComponentChoice>

export const CallerKind = z.enum(['server', 'browser'])
export type CallerKind = z.infer<typeof CallerKind>

export const AbandonedReason = z.enum(['superseded_by_retry', 'inactive', 'withdrawn'])

/** In version 1 the id of a person was among their details, and so was lost with them when the person was erased. */
const withIdBeside =
  (name: 'customer' | 'partner') =>
  ({ [name]: person, ...data }: Json): Json => {
    const { id, ...details } = person as Json
    return { ...data, customer_id: id, [name]: details }
  }

/** An addition to the price on which the team accepts an application. */
export const TeamLoading = Loading.extend({
  /** Null: every rated cover. */
  cover_types: z.array(CoverType).nullable(),
  /** The first or the second person. */
  life: z.literal([1, 2]),
})
export type TeamLoading = z.infer<typeof TeamLoading>

const untilAbandoned = { inactive_after_days: z.int().min(1) }

/** Cause and reason of an application's end or referral: an answer that was given, an underwriting rule, or the team's own. */
const ending = {
  cause: z.enum(['answer', 'underwriting', 'team']),
  /** Reveals what the person answered. */
  reason_code: personal(z.string()).nullable(),
  reason_message: personal(z.string()).nullable(),
}

/** Stream `application-<application id>`, which also holds the events of its quotes. */
export const applicationEvents = {
  ApplicationStarted: event(
    {
      application_id: ApplicationId,
      organisation_id: OrganisationId,
      api_application_id: ApiApplicationId,
      started_by: CallerKind,
      /** Chosen by the caller, who may put an email address into it. */
      idempotency_key: personal(z.string()),
      /** As sent: identifies a repeated request even after the product was published again. */
      asked_for: z.object({
        product_slug: z.string(),
        journey_slug: z.string(),
        /** Need not be one of the product's. */
        presentation_slug: personal(z.string()).nullable(),
      }),
      product_id: ProductId,
      release_id: ReleaseId,
      journey_id: JourneyId,
      presentation_id: PresentationId.nullable(),
      inline_bacs_mandate: z.boolean(),
      direct_debit_first: z.boolean(),
      stripe_test_mode: z.boolean(),
      provenance: personal(Provenance).nullable(),
      /** The token of the outreach link that the visitor came by. */
      outreach_landing: personal(z.string()).nullable(),
      ...untilAbandoned,
    },
    { upcasts: [(data) => ({ ...data, inactive_after_days: 30 })] },
  ),
  /** Derived answers are among those saved and removed. */
  AnswersSaved: event({ saved: personal(Answers), removed: z.array(z.string()) }),
  /** All figures as they are from now on. */
  CoverSaved: event({
    cover_amount_pence: Pence.nullable(),
    term_years: z.int().nullable(),
    components: z.array(ComponentChoice),
  }),
  CustomerSaved: event(
    {
      customer_id: CustomerId,
      /** The application's own copy of the details, as it is from now on. */
      customer: personal(CustomerDetails),
      /** Those of the details that this request sent. */
      sent: personal(CustomerDetails.partial()),
      by: CallerKind,
      /** The opt-out boxes that were ticked, and the answers to the marketing question; null: not sent. */
      consent_answers: personal(z.record(z.string(), z.literal(false))).nullable(),
      marketing_answers: personal(z.record(z.string(), z.boolean())).nullable(),
    },
    { subject: ({ customer_id }) => customer_id, upcasts: [withIdBeside('customer')] },
  ),
  /** The second person of joint cover. */
  PartnerSaved: event(
    {
      customer_id: CustomerId,
      /** The application's own copy of the details, as it is from now on. */
      partner: personal(CustomerDetails),
      /** Those of the details that this request sent. */
      sent: personal(CustomerDetails.partial()),
      by: CallerKind,
      /** As the release has it: by this, what is read knows whether there is a second person. */
      joint: JointBasis,
    },
    { subject: ({ customer_id }) => customer_id, upcasts: [withIdBeside('partner')] },
  ),
  /** The second person's own answers, under the same keys as the first person's; derived ones are among them. */
  PartnerAnswersSaved: event(
    {
      /** The second person; null in version 1, which is sealed under the key of the application. */
      customer_id: CustomerId.nullable(),
      saved: personal(Answers),
      removed: z.array(z.string()),
    },
    { subject: ({ customer_id }) => customer_id, upcasts: [(v1) => ({ ...v1, customer_id: null })] },
  ),
  /** A visitor's details before they are a customer, whole: they replace those saved before. */
  SoftCustomerSaved: event({ soft_customer: personal(CustomerDetails), by: CallerKind }),
  /** The last choice on a stage counts. */
  InterstitialChosen: event({ stage_key: z.string(), choice_key: z.string() }),
  ProvenanceSaved: event({ provenance: personal(Provenance) }),
  /** The team's acceptance no longer fits the answers: the application is in capture again. */
  AcceptanceOutdated: event({ application_id: ApplicationId }),
  ApplicationDeclined: event(ending, { upcasts: [(data) => data] }),
  /** From that day on the team can open it again. */
  ApplicationPostponed: event(
    { ...ending, until: CalendarDate.nullable() },
    { upcasts: [(data) => ({ ...data, until: null })] },
  ),
  ApplicationReferred: event(ending, { upcasts: [(data) => data] }),
  /** The team accepts what was referred, as long as nothing that a price depends on changes. */
  ApplicationAccepted: event({
    /** `quoted`: a quote on these terms follows. */
    status: z.enum(['in_capture', 'quoted']),
    inputs_digest: personal(z.string()),
    loadings: personal(z.array(TeamLoading)),
    reason_message: personal(z.string()).nullable(),
    ...untilAbandoned,
  }),
  /** The team asks for other answers. */
  ApplicationGivenBack: event({ reason_message: personal(z.string()).nullable(), ...untilAbandoned }),
  /** By the team after it was postponed, or because the customer came back. */
  ApplicationReopened: event({
    from: z.enum(['postponed', 'abandoned']),
    status: z.enum(['started', 'anonymous', 'in_capture', 'quoted']),
    reason_message: personal(z.string()).nullable(),
    ...untilAbandoned,
  }),
  /** A policy was set up. */
  ApplicationBound: event({ policy_id: PolicyId, policy_number: z.string().regex(/^[A-Z0-9]{1,10}-\d{9}$/) }),
  ApplicationAbandoned: event({ reason: AbandonedReason, superseded_by: ApplicationId.nullable() }),
}
export type ApplicationEvent = EventOf<typeof applicationEvents>
