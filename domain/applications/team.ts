import { isSameJson } from '../canonical-json.ts'
import { Rejection } from '../rejection.ts'
import type { ApplicationEvent, TeamLoading } from './events.ts'
import { quoteApplication, withdrawn, type QuoteApplication } from './quote.ts'
import { abandonedFrom, type ApplicationStreamEvent } from './record.ts'
import { evolve, isGivenUp, isOpen, pricedInputs, type ApplicationState } from './state.ts'

type Why = { readonly reason_code: string | null; readonly reason_message: string | null }

/** A decision of the team about an application. Repeating one changes nothing. */
export type TeamAct =
  /** Its quote is issued at once where a price can be made. */
  | (Omit<QuoteApplication, 'type'> & {
      readonly type: 'AcceptReferred'
      readonly loadings: readonly TeamLoading[]
      readonly reason_message: string | null
    })
  | ({ readonly type: 'DeclineReferred'; readonly now: string } & Why)
  | ({ readonly type: 'PostponeReferred'; readonly until: string | null; readonly now: string } & Why)
  | { readonly type: 'GiveBackReferred'; readonly reason_message: string | null }
  /** `today`: the date now, where the organisation is. */
  | { readonly type: 'ReopenPostponed'; readonly reason_message: string | null; readonly today: string }
  | { readonly type: 'WithdrawApplication'; readonly now: string }

/** Sent when nobody has worked on an application for as long as its release allows. */
export type AbandonInactive = { readonly type: 'AbandonInactive'; readonly now: string }

type Decision = readonly ApplicationStreamEvent[]
type Act<Type> = Extract<TeamAct, { type: Type }>

export const decideAsTeam = (act: TeamAct, state: ApplicationState): Decision => {
  const { record } = state
  switch (act.type) {
    case 'AcceptReferred':
      return accept(act, state)
    case 'DeclineReferred':
      if (record.status === 'declined') return []
      requireStatus(state, 'referred', 'declined')
      return [...withdrawn(state, 'application_closed', act.now), { ...because(act), type: 'ApplicationDeclined' }]
    case 'PostponeReferred':
      if (record.status === 'postponed') return []
      requireStatus(state, 'referred', 'postponed')
      return [
        ...withdrawn(state, 'application_closed', act.now),
        { ...because(act), type: 'ApplicationPostponed', until: act.until },
      ]
    case 'GiveBackReferred':
      if (record.status === 'in_capture' && record.decisions.at(-1)?.outcome === 'given_back') return []
      requireStatus(state, 'referred', 'given back')
      return [{ type: 'ApplicationGivenBack', reason_message: act.reason_message, ...lifeOf(state) }]
    case 'ReopenPostponed':
      return reopen(act, state)
    case 'WithdrawApplication':
      if (record.status === 'abandoned') return []
      if (!isOpen(record)) throw wrongStatus(state, 'an open', 'withdrawn')
      return [
        ...withdrawn(state, 'application_closed', act.now),
        { type: 'ApplicationAbandoned', reason: 'withdrawn', superseded_by: null },
      ]
  }
}

const because = ({ reason_code, reason_message }: Why) => ({ cause: 'team' as const, reason_code, reason_message })

const lifeOf = ({ record }: ApplicationState) => ({ inactive_after_days: record.inactive_after_days })

const wrongStatus = ({ record }: ApplicationState, wanted: string, act: string) =>
  new Rejection('conflict', `This application is ${record.status}. Only ${wanted} application can be ${act}.`)

const requireStatus = (state: ApplicationState, status: 'referred' | 'postponed', act: string): void => {
  if (state.record.status !== status) throw wrongStatus(state, `a ${status}`, act)
}

const accept = (
  { type: _type, loadings, reason_message, ...quoting }: Act<'AcceptReferred'>,
  state: ApplicationState,
): Decision => {
  const inputs_digest = quoting.digest(pricedInputs(state))
  if (isOpen(state.record) && isSameJson(state.accepted_terms, { inputs_digest, loadings })) return []
  requireStatus(state, 'referred', 'accepted')
  const accepted = (status: 'in_capture' | 'quoted'): ApplicationEvent => ({
    type: 'ApplicationAccepted',
    status,
    inputs_digest,
    loadings: [...loadings],
    reason_message,
    ...lifeOf(state),
  })
  const after = evolve(state, accepted('in_capture'), { occurred_at: quoting.now }) ?? state
  const quoted = unlessRefused(() => quoteApplication({ type: 'QuoteApplication', ...quoting }, after))
  const isQuoted = quoted.some(({ type }) => type === 'QuoteIssued')
  return isQuoted ? [accepted('quoted'), ...quoted] : [accepted('in_capture')]
}

/** Details that a price still needs are asked of the customer, not of the team. */
const unlessRefused = (decide: () => Decision): Decision => {
  try {
    return decide()
  } catch (error) {
    if (error instanceof Rejection) return []
    throw error
  }
}

const reopen = ({ reason_message, today }: Act<'ReopenPostponed'>, state: ApplicationState): Decision => {
  const { record } = state
  const last = record.decisions.at(-1)
  if (record.status === 'in_capture' && last?.outcome === 'reopened') return []
  requireStatus(state, 'postponed', 'opened again')
  if (last && last.until !== null && today < last.until)
    throw new Rejection(
      'conflict',
      `This application is postponed until ${last.until}. Open it again from that day on.`,
    )
  return [{ type: 'ApplicationReopened', from: 'postponed', status: 'in_capture', reason_message, ...lifeOf(state) }]
}

/** Only one that is open still and that nobody has worked on meanwhile. Its quote stays, should the customer come back. */
export const abandonInactive = ({ now }: AbandonInactive, { record }: ApplicationState): Decision => {
  const due = abandonedFrom(record.active_at, record.inactive_after_days)
  return isOpen(record) && Date.parse(now) >= Date.parse(due)
    ? [{ type: 'ApplicationAbandoned', reason: 'inactive', superseded_by: null }]
    : []
}

/** The customer of an application that was given up for inactivity has come back: it is as it was. */
export const comingBack = ({ record }: ApplicationState): readonly ApplicationEvent[] =>
  isGivenUp(record) && record.former_status !== null
    ? [
        {
          type: 'ApplicationReopened',
          from: 'abandoned',
          status: record.former_status,
          reason_message: null,
          inactive_after_days: record.inactive_after_days,
        },
      ]
    : []
