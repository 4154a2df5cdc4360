import { canonicalJson } from '../canonical-json.ts'
import type { ComponentChoice, Provenance } from './events.ts'
import { evolveRecord, type ApplicationRecord, type ApplicationStreamEvent } from './record.ts'

/** An application as the command side knows it: what is shown, and what only decisions need. */
export type ApplicationState = {
  readonly record: ApplicationRecord
  readonly asked_for: Extract<ApplicationStreamEvent, { type: 'ApplicationStarted' }>['asked_for']
  readonly components: readonly ComponentChoice[]
  readonly provenance: Provenance | null
  readonly consent_answers: Readonly<Record<string, false>>
  readonly marketing_answers: Readonly<Record<string, boolean>>
  /** A visitor of a web page has had a hand in it, so it holds only what was typed into it. */
  readonly open_to_visitors: boolean
}

export const evolve = (
  state: ApplicationState | undefined,
  event: ApplicationStreamEvent,
  recorded: { readonly occurred_at: string },
): ApplicationState | undefined => {
  const record = evolveRecord(state?.record, event, recorded)
  if (!record) return undefined
  if (event.type === 'ApplicationStarted')
    return {
      record,
      asked_for: event.asked_for,
      components: [],
      provenance: event.provenance,
      consent_answers: {},
      marketing_answers: {},
      open_to_visitors: event.started_by === 'browser',
    }
  return state && { ...state, ...hiddenChange(state, event), record }
}

const hiddenChange = (state: ApplicationState, event: ApplicationStreamEvent): Partial<ApplicationState> => {
  if (event.type === 'CoverSaved') return { components: event.components }
  if (event.type === 'ProvenanceSaved') return { provenance: event.provenance }
  if (event.type !== 'CustomerSaved') return {}
  return {
    consent_answers: { ...state.consent_answers, ...event.consent_answers },
    marketing_answers: { ...state.marketing_answers, ...event.marketing_answers },
    open_to_visitors: state.open_to_visitors || event.by === 'browser',
  }
}

/** All that a price depends on, as canonical JSON. Two states with the same text have the same price. */
export const pricedInputs = ({ record, components }: ApplicationState): string =>
  canonicalJson({
    product_release_id: record.release_id,
    journey_id: record.journey_id,
    risk_factors: record.risk_factors,
    cover_amount_pence: record.cover_amount_pence,
    term_years: record.term_years,
    components,
    dob: record.customer?.dob ?? null,
    partner_dob: record.joint_customer?.dob ?? null,
  })

/** Whether it can still be worked on: neither ended nor with the team. */
export const isOpen = ({ status }: ApplicationRecord): boolean =>
  status === 'started' || status === 'anonymous' || status === 'in_capture' || status === 'quoted'
