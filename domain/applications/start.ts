import { isSameJson } from '../canonical-json.ts'
import type { Release, ReleaseJourney, LifecycleState } from '../catalogue/events.ts'
import { presentationOf } from '../catalogue/record.ts'
import { Rejection } from '../rejection.ts'
import { refuseOtherContent, type Difference } from '../same-key.ts'
import type { ApiApplicationId, ApplicationId, OrganisationId } from '../values.ts'
import { changeAnswers, terminalOf } from './answers.ts'
import { consentFaults } from './consent.ts'
import { endedBy } from './endings.ts'
import type { ApplicationEvent, CallerKind } from './events.ts'
import { tidyProvenance } from '../provenance.ts'
import { refuseInputs } from './refusals.ts'
import { customerSaved, type CustomerGiven } from './save-customer.ts'
import { answersSaved } from './save.ts'
import type { ApplicationState } from './state.ts'

export type StartApplication = {
  readonly type: 'StartApplication'
  readonly application_id: ApplicationId
  readonly organisation_id: OrganisationId
  readonly api_application_id: ApiApplicationId
  readonly idempotency_key: string
  readonly caller: CallerKind
  /** The request carried the share token of the application with this key. */
  readonly is_proven: boolean
  readonly asked_for: {
    readonly product_slug: string
    readonly journey_slug: string
    readonly presentation_slug: string | null
  }
  /** The release now under the product's slug; undefined when nothing is published. */
  readonly product: { readonly release: Release; readonly lifecycle_state: LifecycleState } | undefined
  readonly stripe_test_mode: boolean
  readonly answers: Readonly<Record<string, unknown>> | undefined
  readonly customer: CustomerGiven | undefined
  readonly consent_answers: Readonly<Record<string, unknown>> | undefined
  readonly provenance: unknown
  readonly outreach_landing: string | null
  /** The date now, where the organisation is, `YYYY-MM-DD`. */
  readonly today: string
}

/** An application is started once for each idempotency key; the same request again finds it and changes nothing. */
export const startApplication = (
  command: StartApplication,
  existing: ApplicationState | undefined,
): readonly ApplicationEvent[] => {
  if (!existing) return start(command)
  refuseUnproven(command)
  if (command.customer) customerOfStart(command, command.customer)
  refuseOtherContent('started an application', differences(command, existing))
  return []
}

/** It would start an application if none was started with its key yet. */
export const canStart = (command: StartApplication): boolean => {
  try {
    return start(command).length > 0
  } catch (error) {
    if (error instanceof Rejection) return false
    throw error
  }
}

export const unprovenReplay = () =>
  new Rejection(
    'idempotency_replay_unproven',
    'This idempotency key already started an application. Send the share token of its first answer in X-Share-Token, or use a new key.',
  )

/** Anyone may guess a key, so a web page must prove that the application is its own before it gets any other answer. */
const refuseUnproven = ({ caller, is_proven }: StartApplication): void => {
  if (caller === 'browser' && !is_proven) throw unprovenReplay()
}

const start = (command: StartApplication): readonly ApplicationEvent[] => {
  const { release, journey } = onSale(command)
  const presentation = presentationOf(journey, command.asked_for.presentation_slug ?? undefined)

  const answered = changeAnswers(journey.questions, {}, command.answers ?? {}, command.today)
  refuseInputs('validation_failed', {
    ...answered.fields,
    ...consentFaults(presentation, command.consent_answers, undefined),
  })
  const terminal = terminalOf(journey.questions, {}, answered.change.saved)
  return [
    {
      type: 'ApplicationStarted',
      application_id: command.application_id,
      organisation_id: command.organisation_id,
      api_application_id: command.api_application_id,
      started_by: command.caller,
      idempotency_key: command.idempotency_key,
      asked_for: command.asked_for,
      product_id: release.product_id,
      release_id: release.id,
      journey_id: journey.id,
      presentation_id: presentation?.id ?? null,
      inline_bacs_mandate: release.checkout.inline_bacs_mandate,
      direct_debit_first: release.checkout.direct_debit_first,
      stripe_test_mode: release.checkout.stripe_test_mode ?? command.stripe_test_mode,
      provenance: tidyProvenance(command.provenance),
      outreach_landing: command.outreach_landing,
      inactive_after_days: release.inactive_after_days,
    },
    ...answersSaved(answered.change),
    ...(command.customer ? [customerOfStart(command, command.customer)] : []),
    ...(terminal ? [endedBy('answer', terminal.outcome, terminal)] : []),
  ]
}

/** Refuses details of a customer that cannot start an application. */
const customerOfStart = ({ consent_answers, caller }: StartApplication, customer: CustomerGiven): ApplicationEvent => {
  const noCustomer = { record: { customer: null, soft_customer: null }, open_to_visitors: caller === 'browser' }
  return customerSaved(customer, { consent_answers, marketing_answers: undefined }, caller, noCustomer)
}

type OnSale = { readonly release: Release; readonly journey: ReleaseJourney }

/** Sandbox products and journeys can be tried with the payment provider's test account, and only with that. */
const onSale = ({ asked_for, product, stripe_test_mode }: StartApplication): OnSale => {
  const isTest = product?.release.checkout.stripe_test_mode ?? stripe_test_mode
  const isOffered = (state: LifecycleState) => state === 'production' || (state === 'sandbox' && isTest)
  if (!product || !isOffered(product.lifecycle_state)) throw notOnSale('product', 'product_slug')

  const { release } = product
  const journey = release.journeys.find(({ slug }) => slug === asked_for.journey_slug)
  if (!journey || !isOffered(journey.lifecycle_state)) throw notOnSale('journey', 'journey_slug')
  return { release, journey }
}

const notOnSale = (what: string, input: string) => {
  const reason = `There is no ${what} on sale with this slug. Check ${input}.`
  return new Rejection('not_found', reason, { [input]: `no ${what} on sale has this slug` })
}

/**
 * Differences between a repeated request and the application of its key. A field that is left out makes none, nor does an
 * answer that the application does not hold (any more, or yet).
 */
const differences = (
  { asked_for, product, customer, answers = {} }: StartApplication,
  { record, asked_for: formerly, first_email }: ApplicationState,
): readonly Difference[] => {
  const journey = product?.release.journeys.find(({ slug }) => slug === asked_for.journey_slug)
  const presentation = journey && presentationOf(journey, asked_for.presentation_slug ?? undefined)
  const isSameProduct =
    asked_for.product_slug === formerly.product_slug || product?.release.product_id === record.product_id
  const isSameJourney = asked_for.journey_slug === formerly.journey_slug || journey?.id === record.journey_id
  const isSamePresentation =
    asked_for.presentation_slug === formerly.presentation_slug || presentation?.id === record.presentation_id
  const email = customer?.details.email
  const conflicting = Object.entries(answers).filter(
    ([key, answer]) => answer !== null && isHeldOtherwise(record.risk_factors[key], answer),
  )
  return [
    ...(isSameProduct ? [] : [{ what: 'product', input: 'product_slug' }]),
    ...(isSameJourney ? [] : [{ what: 'journey', input: 'journey_slug' }]),
    ...(isSamePresentation ? [] : [{ what: 'presentation', input: 'presentation_slug' }]),
    ...(!customer || email === record.customer?.email || email === first_email
      ? []
      : [{ what: 'customer', input: 'customer.email' }]),
    ...conflicting.map(([key]) => ({ what: `answer to ${key}`, input: `answers.${key}` })),
  ]
}

const isHeldOtherwise = (held: unknown, sent: unknown): boolean => {
  if (held === undefined) return false
  // As answers are tidied when they are saved: texts without space around them, selections without an order.
  if (typeof sent === 'string') return sent.trim() !== held
  if (Array.isArray(sent) && Array.isArray(held)) return new Set(sent).symmetricDifference(new Set(held)).size > 0
  return !isSameJson(sent, held)
}
